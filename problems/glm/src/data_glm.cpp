// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/data_glm.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/data_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/fixed_dimension.hpp"

namespace dpsosp {
namespace {

/// The first `count` places of a uniform permutation of `available` records.
std::vector<Index> permuted_rows(Index available, Index count, std::uint64_t data_seed) {
  std::vector<Index> rows(static_cast<std::size_t>(available));
  std::iota(rows.begin(), rows.end(), Index{0});
  Stream stream({.seed = data_seed, .purpose = Purpose::data});
  for (Index k = 0; k < count; ++k)
    std::swap(rows[static_cast<std::size_t>(k)],
              rows[static_cast<std::size_t>(k + stream.below(available - k))]);
  rows.resize(static_cast<std::size_t>(count));
  return rows;
}

}  // namespace

Fields DataGlmFamily::fields() {
  Fields all = data_fields();
  loss.add_fields(all);
  all.push_back(field("bias", bias, "a last feature that is constant"));
  all.push_back(field("permuted", permuted, "records in an order drawn from the data seed"));
  all.push_back(field("radius",
                      radius,
                      range::positive_or_infinite,
                      "of the domain |w| <= radius; inf for all of R^d"));
  start.add_fields(all);
  return all;
}

std::string DataGlmFamily::missing() const {
  for (const std::filesystem::path& file : files()) {
    const std::filesystem::path path = data_folder() / file;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      return fmt::format("{} is missing; fetch it with ./run data", path.string());
  }
  return {};
}

PublicFacts DataGlmFamily::build_facts(const InstanceSpec& spec) const {
  return public_facts(spec, *loss.make());
}

PublicFacts DataGlmFamily::public_facts(const InstanceSpec& spec, const ScalarLoss& phi) const {
  if (spec.records > available())
    reject(name(),
           "records",
           static_cast<double>(spec.records),
           fmt::format("at most {}, the size of the data set", available()));
  const Index d = raw_features() + (bias ? 1 : 0);
  check_fixed_dimension(name(), spec, d, fmt::format("{}, the number of features", d));

  PublicFacts facts;
  facts.name = name();
  facts.dimension = d;
  facts.records = spec.records;
  const bool bounded = std::isfinite(radius);
  facts.domain = bounded ? Domain::ball(radius) : Domain{};
  facts.initial_point = start.pick(name(),
                                   {.standard = Vector::Zero(d),
                                    .random_spread = 1 / std::sqrt(static_cast<double>(d)),
                                    .far_radius = bounded ? radius : 10.0},
                                   facts.domain,
                                   spec.seed);
  facts.constants = glm_constants(phi, loss.regulariser, d);
  facts.feature_bound = loss.regulariser == 0 ? 1.0 : 0.0;
  const ScalarLoss::Bound start_loss = phi.largest(facts.initial_point.norm());
  facts.constants.set(constant::suboptimality,
                      {start_loss.value + ratio_penalty(loss.regulariser, facts.initial_point),
                       Origin::proved,
                       "initial point",
                       start_loss.why + " At t = ⟨x₀, x⟩, |t| ≤ ‖x₀‖; and min F ≥ 0.",
                       gap_attained()});
  check_finite(facts);
  return facts;
}

Problem DataGlmFamily::build(const InstanceSpec& spec) const {
  const GlmModel model{std::string(name()), loss.make(), loss.regulariser};
  Problem problem;
  problem.facts = public_facts(spec, *model.loss);
  if (const std::string what = missing(); !what.empty())
    throw InputError(fmt::format("{}: {}", name(), what));
  std::vector<Index> rows(static_cast<std::size_t>(spec.records));
  if (permuted)
    rows = permuted_rows(available(), spec.records, spec.data_seed);
  else
    std::iota(rows.begin(), rows.end(), Index{0});
  auto data = std::make_shared<GlmData>(load(rows));
  if (bias) {  // (x, 1)/√2 is in the unit ball with x
    data->features.conservativeResize(problem.facts.dimension, Eigen::NoChange);
    data->features.bottomRows(1).setOnes();
    data->features /= std::sqrt(2.0);
  }
  problem.extremes = glm_records(
      model, std::make_shared<GlmData>(glm_extremes(problem.facts.dimension, Vector{{0, 1}})));
  problem.empirical = glm_objective(model, data);
  problem.records = glm_records(model, std::move(data));
  return problem;
}

}  // namespace dpsosp
