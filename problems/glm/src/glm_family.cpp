// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/glm_family.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp {
namespace {

/// Parts of a data set, one stream each.
enum : std::uint64_t { planted_part = 0, feature_part = 1, label_part = 2, choice_part = 3 };

/// d × r with orthonormal columns.
Matrix draw_basis(Stream stream, Index d, Index r) {
  Matrix g(d, r);
  stream.fill_normal(1.0, g.reshaped());
  return thin_qr(g).q;
}

/// How many times the plainest rule's nodes a population objective needs, or 0 if that is too many.
/// Poles of the loss in t come as close as 1/‖w‖ and 1/‖w*‖ to the real axis, and so does a bump.
double needed_detail(FeatureLaw::Kind kind, double reach, double resolved) {
  const double finest = kind == FeatureLaw::Kind::gaussian ? 3 : 16;
  const double detail = std::max(1.0, reach / resolved);
  return detail <= finest ? detail : 0;
}

double smallest_eigenvalue(const Objective& F, const Vector& at) {
  const Index d = F.dimension();
  Matrix H(d, d);
  for (Index j = 0; j < d; ++j) F.hessian_product(at, Vector::Unit(d, j), H.col(j));
  return symmetric_eigenvalues(H)[0];
}

}  // namespace

Fields GlmFamily::fields() {
  using namespace range;
  Fields all = model_fields();
  all.push_back(field(
      "features", features.kind, "law of x; gaussian is shortened to length 1, low_rank is U xi"));
  all.push_back(
      field("spread", features.spread, positive, "gaussian features are N(0, spread^2/d I)"));
  all.push_back(field("rank", rank, at_least(1), "r of low_rank features"));
  all.push_back(field(
      "support", support, not_negative, "K, records are one of K atoms; 0 for a continuous law"));
  all.push_back(field("planted_norm", planted_norm, not_negative, "length of the planted w*"));
  all.push_back(field(
      "radius", radius, positive_or_infinite, "of the domain |w| <= radius; inf for all of R^d"));
  all.push_back(sampling_field(
      sampling, {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}));
  // The random numbers of a run are keyed by its description, which has this name since before the
  // other families' was chosen.
  all.back().stored_name = "simulate";
  all.back().stored_choices = {"none", "whole", "stream"};
  start.add_fields(all);
  return all;
}

Problem GlmFamily::build(const InstanceSpec& spec) const {
  const Index d = check_dimension(name(), spec, default_dimension());
  const bool low_rank = features.kind == FeatureLaw::Kind::low_rank;
  if (low_rank && rank > d)
    reject(name(), "rank", static_cast<double>(rank), fmt::format("in [1, {}]", d));
  if (planted_norm > radius)
    reject(name(), "planted_norm", planted_norm, fmt::format("in [0, radius = {}]", radius));
  if (simulated(sampling) && support == 0)
    reject(name(),
           "sampling",
           std::string(to_string(sampling)),
           "independent, or a support: sums have an exact law where records are atoms");
  const Model law = model();
  if (law.mirrored && support % 2 == 1)
    reject(name(),
           "support",
           static_cast<double>(support),
           "an even number: atoms come in mirrored pairs");
  const GlmModel shared{std::string(name()), law.loss, law.regulariser};

  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  const Index inside = low_rank ? rank : d;  // dimension of the features' space
  Stream planted_stream(key.child(planted_part));
  Vector direction(inside);
  planted_stream.fill_normal(1.0, direction);
  Vector planted = direction * (planted_norm / direction.norm());
  Matrix basis(d, 0);
  if (low_rank) {
    basis = draw_basis(planted_stream, d, rank);
    planted = basis * planted;
  }
  Stream feature_stream(key.child(feature_part)), label_stream(key.child(label_part));
  Vector drawn(inside);
  const auto draw = [&](Index count) {
    auto data = std::make_shared<GlmData>();
    data->features.resize(d, count);
    data->labels.resize(count);
    for (Index i = 0; i < count; ++i) {
      auto x = data->features.col(i);
      if (law.mirrored && support > 0 && i % 2 == 1) {
        x = data->features.col(i - 1);
        data->labels[i] = -data->labels[i - 1];
        continue;
      }
      features.draw(feature_stream, drawn);
      if (low_rank)
        x = basis * drawn;
      else
        x = drawn;
      data->labels[i] = law.draw(planted.dot(x), label_stream);
    }
    return std::shared_ptr<const GlmData>(std::move(data));
  };
  // without a domain, points beyond `usual` or twice w* are not what the rule is for
  constexpr double usual = 10;
  const double reach =
      planted_norm + (std::isfinite(radius) ? radius : std::max(usual, 2 * planted_norm));
  const double detail =
      law.analytic && support == 0 ? needed_detail(features.kind, reach, law.resolved) : 0;
  const PlaneRule rule = plane_rule(features, inside, std::max(1.0, detail));

  Problem problem;
  if (detail > 0)
    problem.population = glm_population(rule, law.expected, law.regulariser, planted, basis);
  if (support > 0) {
    const auto atoms = draw(support);
    problem.population = glm_objective(shared, atoms);
    std::vector<Index> counts(static_cast<std::size_t>(support));
    if (simulated(sampling)) {
      problem.records = glm_atom_records(shared, atoms, {spec.records, sampling, spec.data_seed});
      counts = atom_counts(support, spec.data_seed, 0, spec.records);
    } else {
      Stream choice(key.child(choice_part));
      auto data = std::make_shared<GlmData>();
      data->features.resize(d, spec.records);
      data->labels.resize(spec.records);
      for (Index i = 0; i < spec.records; ++i) {
        const Index k = choice.below(support);
        ++counts[static_cast<std::size_t>(k)];
        data->features.col(i) = atoms->features.col(k);
        data->labels[i] = atoms->labels[k];
      }
      problem.records = glm_records(shared, std::move(data));
    }
    if (sampling != RecordSampling::stream) {
      const auto times =
          Eigen::Map<const Eigen::Matrix<Index, Eigen::Dynamic, 1>>(counts.data(), support);
      problem.empirical =
          glm_objective(shared, atoms, times.cast<double>() / static_cast<double>(spec.records));
    }
  } else {
    const auto data = draw(spec.records);
    problem.empirical = glm_objective(shared, data);
    problem.records = glm_records(shared, data);
  }
  problem.extremes =
      glm_records(shared, std::make_shared<GlmData>(glm_extremes(d, law.extreme_labels)));

  const Vector origin = Vector::Zero(d);
  Starts starts{.standard = origin,
                .random_spread =
                    std::isfinite(radius) ? radius / (2 * std::sqrt(static_cast<double>(d))) : 1.0,
                .far_radius = std::isfinite(radius) ? radius : 10.0};
  if (law.mirrored) {
    // The law's curvature along w* decides, so that the start is public.
    Vector curvature(rule.along.size());
    law.expected(2, Vector::Zero(rule.along.size()), planted_norm * rule.along, curvature);
    if (curvature.cwiseProduct(rule.weight).dot(rule.along.cwiseAbs2()) < 0) starts.saddle = origin;
  }

  PublicFacts& facts = problem.facts;
  facts.name = name();
  facts.dimension = d;
  facts.records = spec.records;
  facts.domain = std::isfinite(radius) ? Domain::ball(radius) : Domain{};
  facts.initial_point = start.pick(name(), starts, facts.domain, spec.seed);
  facts.constants = glm_constants(*law.loss, law.regulariser, d);
  facts.feature_bound = law.regulariser == 0 ? 1.0 : 0.0;
  const ScalarLoss::Bound start_loss = law.loss->largest(facts.initial_point.norm());
  facts.constants.set(constant::suboptimality,
                      {start_loss.value + ratio_penalty(law.regulariser, facts.initial_point),
                       Origin::proved,
                       "initial point",
                       start_loss.why + " At t = ⟨x₀, x⟩, |t| ≤ ‖x₀‖; and min F ≥ 0.",
                       law.gap_attained});
  const Vector turned = planted_norm * Vector::Unit(inside, 0);
  const auto of_law =
      detail > 0 ? glm_population(rule, law.expected, 0.0, turned, Matrix(inside, 0)) : nullptr;
  describe(of_law.get(), turned, facts);
  check_finite(facts);

  const auto add_landmark =
      [&](std::string_view what, Landmark::Kind kind, Landmark::Of of, const Vector& point) {
        problem.landmarks.push_back({std::string(what), kind, of, point});
      };
  if (law.exact_fit && problem.empirical)
    add_landmark("w*", Landmark::Kind::minimiser, Landmark::Of::empirical, planted);
  if (law.exact_fit || (law.planted_minimises && support == 0 && problem.population))
    if (problem.population)
      add_landmark("w*", Landmark::Kind::minimiser, Landmark::Of::population, planted);
  if (law.mirrored && problem.population && smallest_eigenvalue(*problem.population, origin) < 0)
    add_landmark("origin", Landmark::Kind::strict_saddle, Landmark::Of::population, origin);
  if (d >= 2) {
    Vector across = Vector::Unit(d, 0);
    Vector along = planted_norm > 0 ? planted.normalized() : Vector(Vector::Unit(d, 1));
    if (std::abs(along[0]) > 0.9) across = Vector::Unit(d, 1);
    across -= along.dot(across) * along;
    const double side = std::isfinite(radius) ? radius : 2 * planted_norm + 1;
    problem.slice = Slice{"F in the plane of w* and an orthogonal direction",
                          origin,
                          along,
                          across.normalized(),
                          -side,
                          side,
                          -side,
                          side,
                          "along w*",
                          "orthogonal to w*"};
  }
  return problem;
}

}  // namespace dpsosp
