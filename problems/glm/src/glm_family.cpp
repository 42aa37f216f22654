// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/glm_family.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/finite_records.hpp"

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
  all.push_back(field("features", features.kind,
                      "law of x; gaussian is shortened to length 1, low_rank is U xi"));
  all.push_back(
      field("spread", features.spread, positive, "gaussian features are N(0, spread^2/d I)"));
  all.push_back(field("rank", rank, at_least(1), "r of low_rank features"));
  all.push_back(field("support", support, not_negative,
                      "K, records are one of K atoms; 0 for a continuous law"));
  all.push_back(field("planted_norm", planted_norm, not_negative, "length of the planted w*"));
  all.push_back(field("radius", radius, positive_or_infinite,
                      "of the domain |w| <= radius; inf for all of R^d"));
  all.push_back(sampling_field(
      sampling, {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}));
  // The random numbers of a run are keyed by its description, which has this name since before the
  // other families' was chosen.
  all.back().stored_name = "simulate";
  all.back().stored_choices = {"none", "whole", "stream"};
  start.add_fields(all);
  return all;
}

void GlmFamily::check_settings(Index d) const {
  if (low_rank() && rank > d)
    reject(name(), "rank", static_cast<double>(rank), fmt::format("in [1, {}]", d));
  if (planted_norm > radius)
    reject(name(), "planted_norm", planted_norm, fmt::format("in [0, radius = {}]", radius));
  if (simulated(sampling) && support == 0)
    reject(name(), "sampling", std::string(to_string(sampling)),
           "independent, or a support: sums have an exact law where records are atoms");
  if (model().mirrored && support % 2 == 1)
    reject(name(), "support", static_cast<double>(support),
           "an even number: atoms come in mirrored pairs");
}

double GlmFamily::detail(const Model& law) const {
  // without a domain, points beyond `usual` or twice w* are not what the rule is for
  constexpr double usual = 10;
  const double reach =
      planted_norm + (std::isfinite(radius) ? radius : std::max(usual, 2 * planted_norm));
  return law.analytic && support == 0 ? needed_detail(features.kind, reach, law.resolved) : 0;
}

PlaneRule GlmFamily::rule(const Model& law, Index dimension) const {
  return plane_rule(features, inside(dimension), std::max(1.0, detail(law)));
}

std::unique_ptr<const Objective> GlmFamily::turned_population(const Model& law,
                                                              Index dimension) const {
  if (detail(law) == 0) return nullptr;
  return glm_population(rule(law, dimension), law.expected, 0.0,
                        planted_norm * Vector::Unit(inside(dimension), 0),
                        Matrix(inside(dimension), 0));
}

void GlmFamily::settle(const Stream& random, PublicFacts& facts) const {
  const Index d = facts.dimension;
  const Model law = model();
  const bool bounded = std::isfinite(radius);
  facts.domain = bounded ? Domain::ball(radius) : Domain{};
  facts.feature_bound = law.regulariser == 0 ? 1.0 : 0.0;
  Starts starts{.standard = Vector::Zero(d),
                .random_spread = bounded ? radius / (2 * std::sqrt(static_cast<double>(d))) : 1.0,
                .far_radius = bounded ? radius : 10.0};
  if (law.mirrored) {
    // The law's curvature along w* decides, so that the start is public.
    const PlaneRule plane = rule(law, d);
    Vector curvature(plane.along.size());
    law.expected(2, Vector::Zero(plane.along.size()), planted_norm * plane.along, curvature);
    if (curvature.cwiseProduct(plane.weight).dot(plane.along.cwiseAbs2()) < 0)
      starts.saddle = Vector::Zero(d);
  }
  facts.initial_point = start.pick(facts, starts, random);
}

Constants GlmFamily::constants(const PublicFacts& facts) const {
  const Model law = model();
  Constants made =
      glm_constants(*law.loss, {law.regulariser, {}}, facts.initial_point, law.gap_attained);
  add_constants(law, facts, made);
  return made;
}

void GlmFamily::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const Model law = model();
  const GlmModel shared{std::string(name()), law.loss, {law.regulariser, {}}};

  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  Stream planted_stream(key.child(planted_part));
  Vector direction(inside(d));
  planted_stream.fill_normal(1.0, direction);
  Vector planted = direction * (planted_norm / direction.norm());
  Matrix basis(d, 0);
  if (low_rank()) {
    basis = draw_basis(planted_stream, d, rank);
    planted = basis * planted;
  }
  Stream feature_stream(key.child(feature_part)), label_stream(key.child(label_part));
  Vector drawn(inside(d));
  auto data = std::make_shared<GlmData>();
  const Index count = support > 0 ? support : spec.records;
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
    if (low_rank())
      x = basis * drawn;
    else
      x = drawn;
    data->labels[i] = law.draw(planted.dot(x), label_stream);
  }

  if (detail(law) > 0)
    problem.population =
        glm_population(rule(law, d), law.expected, law.regulariser, planted, basis);
  if (support > 0) {
    draw_atoms(law, spec, std::move(data), problem);
  } else {
    problem.empirical = glm_objective(shared, data);
    problem.records = glm_records(shared, std::move(data));
  }
  problem.extremes =
      glm_records(shared, std::make_shared<GlmData>(glm_extremes(d, law.extreme_labels)));
  add_landmarks(law, planted, problem);
  problem.slice = slice(planted);
}

void GlmFamily::draw_atoms(const Model& law, const InstanceSpec& spec,
                           std::shared_ptr<const GlmData> atoms, Problem& problem) const {
  const GlmModel shared{std::string(name()), law.loss, {law.regulariser, {}}};
  problem.population = glm_objective(shared, atoms);
  std::vector<Index> counts(static_cast<std::size_t>(support));
  if (simulated(sampling)) {
    problem.simulated = glm_atom_sums(shared, atoms, {spec.records, sampling, spec.data_seed});
    counts = atom_counts(support, spec.data_seed, 0, spec.records);
  } else {
    Stream choice(StreamKey{.seed = spec.data_seed, .purpose = Purpose::data}.child(choice_part));
    auto data = std::make_shared<GlmData>();
    data->features.resize(atoms->features.rows(), spec.records);
    data->labels.resize(spec.records);
    for (Index i = 0; i < spec.records; ++i) {
      const Index k = choice.below(support);
      ++counts[static_cast<std::size_t>(k)];
      data->features.col(i) = atoms->features.col(k);
      data->labels[i] = atoms->labels[k];
    }
    problem.records = glm_records(shared, std::move(data));
  }
  if (sampling != RecordSampling::stream)
    problem.empirical = glm_objective(shared, atoms, shares(counts, spec.records));
}

void GlmFamily::add_landmarks(const Model& law, const Vector& planted, Problem& problem) const {
  using enum Landmark::Kind;
  using enum Landmark::Of;
  if (law.exact_fit && problem.empirical)
    problem.landmarks.push_back({"w*", minimiser, empirical, planted});
  if (!problem.population) return;
  if (law.exact_fit || (law.planted_minimises && support == 0))
    problem.landmarks.push_back({"w*", minimiser, population, planted});
  const Vector origin = Vector::Zero(planted.size());
  if (law.mirrored && smallest_eigenvalue(*problem.population, origin) < 0)
    problem.landmarks.push_back({"origin", strict_saddle, population, origin});
}

std::optional<Slice> GlmFamily::slice(const Vector& planted) const {
  const Index d = planted.size();
  if (d < 2) return std::nullopt;
  Vector across = Vector::Unit(d, 0);
  const Vector along = planted_norm > 0 ? planted.normalized() : Vector(Vector::Unit(d, 1));
  if (std::abs(along[0]) > 0.9) across = Vector::Unit(d, 1);
  across -= along.dot(across) * along;
  const double side = std::isfinite(radius) ? radius : 2 * planted_norm + 1;
  return Slice{"F in the plane of w* and an orthogonal direction",
               Vector::Zero(d),
               along,
               across.normalized(),
               -side,
               side,
               -side,
               side,
               "along w*",
               "orthogonal to w*"};
}

}  // namespace dpsosp
