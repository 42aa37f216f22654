// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/data_glm.hpp"

#include <algorithm>
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

double RecordEnding::finish(VectorRef column, double label) const {
  if (bias) {
    column[column.size() - 1] = 1;
    column /= std::sqrt(2.0);
  }
  return std::clamp(label, least, most);
}

Fields DataGlmFamily::fields() {
  Fields all = data_fields();
  loss.add_fields(all);
  all.push_back(field("bias", bias, "a last feature that is constant"));
  all.push_back(field("permuted", permuted, "records in an order drawn from the data seed"));
  all.push_back(field("radius", radius, range::positive_or_infinite,
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

std::vector<Index> DataGlmFamily::rows_of(const InstanceSpec& spec) const {
  if (permuted) return permuted_rows(available(), spec.records, spec.data_seed);
  std::vector<Index> rows(static_cast<std::size_t>(spec.records));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

Index DataGlmFamily::dimension(const InstanceSpec& spec) const {
  if (spec.records > available())
    reject(name(), "records", static_cast<double>(spec.records),
           fmt::format("at most {}, the size of the data set", available()));
  const Index d = raw_features() + (bias ? 1 : 0);
  return check_fixed_dimension(name(), spec, d, fmt::format("{}, the number of features", d));
}

void DataGlmFamily::settle(const Stream& random, PublicFacts& facts) const {
  const Index d = facts.dimension;
  const bool bounded = std::isfinite(radius);
  facts.domain = bounded ? Domain::ball(radius) : Domain{};
  facts.feature_bound = loss.regulariser == 0 ? 1.0 : 0.0;
  facts.initial_point = start.pick(facts,
                                   {.standard = Vector::Zero(d),
                                    .random_spread = 1 / std::sqrt(static_cast<double>(d)),
                                    .far_radius = bounded ? radius : 10.0},
                                   random);
}

Constants DataGlmFamily::constants(const PublicFacts& facts) const {
  return glm_constants(*loss.make(radius), loss.make_penalty(radius), facts.initial_point,
                       gap_attained());
}

void DataGlmFamily::draw(const InstanceSpec& spec, Problem& problem) const {
  if (const std::string what = missing(); !what.empty())
    throw InputError(fmt::format("{}: {}", name(), what));
  RecordEnding ending{.bias = bias};
  Vector ends{{0, 1}};
  if (loss.is_formula()) {
    ends << loss.label_least, loss.label_most;
    ending.least = ends[0], ending.most = ends[1];
  }
  auto data = std::make_shared<GlmData>(load(rows_of(spec), ending));
  const GlmModel model{std::string(name()), loss.make(radius), loss.make_penalty(radius)};
  problem.extremes =
      glm_records(model, std::make_shared<GlmData>(glm_extremes(problem.facts.dimension, ends)));
  problem.empirical = glm_objective(model, data);
  problem.records = glm_records(model, std::move(data));
}

}  // namespace dpsosp
