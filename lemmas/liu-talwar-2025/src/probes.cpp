// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lemmas/liu_talwar_2025/probes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/lemmas/liu_talwar_2025.hpp"
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/tree_stream.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "lab.hpp"

namespace dpsosp {
namespace liu_talwar_2025_probe {

namespace {

struct Setting {
  Ablation shown;
  liu_talwar_2025::Switches switches;
};

const std::vector<Setting>& all_settings() {
  constexpr auto proportional = SpiderNoise::gaussian_proportional;
  constexpr auto kick = EscapeKind::isotropic_reuse;
  static const std::vector<Setting> all{
      {{"V1",
        "Gaussian noise, fixed batches, quadratic drift; the kick reuses the estimate (Ganesh et "
        "al., repaired)",
        -3.0 / 7, -1.0 / 3},
       {proportional, SpiderBatch::fixed, DriftKind::quadratic, kick}},
      {{"V1′", "V1 with a fresh O1 at each escape (Ganesh et al., as printed)", -2.0 / 5, -2.0 / 7},
       {proportional, SpiderBatch::fixed, DriftKind::quadratic, EscapeKind::isotropic_fresh}},
      {{"V2", "tree, fixed batches, quadratic drift", -3.0 / 7, -1.0 / 3},
       {SpiderNoise::tree, SpiderBatch::fixed, DriftKind::quadratic, kick}},
      {{"V2′", "tree, fixed batches, linear drift", -2.0 / 5, -3.0 / 10},
       {SpiderNoise::tree, SpiderBatch::fixed, DriftKind::linear, kick}},
      {{"V3", "Gaussian noise, adaptive batches, linear drift", -3.0 / 7, -1.0 / 3},
       {SpiderNoise::gaussian_fixed, SpiderBatch::adaptive, DriftKind::linear, kick}},
      {{"V4", "tree, adaptive batches, repaired τ (the paper's method)", -1.0 / 2, -1.0 / 3}, {}},
      {{"V4′", "V4 with one escape a refresh", -2.0 / 5, -2.0 / 7},
       {.tau_mode = liu_talwar_2025::TauMode::one}}};
  return all;
}

}  // namespace

const std::vector<Ablation>& ablations() {
  static const std::vector<Ablation> all = [] {
    std::vector<Ablation> list;
    for (const Setting& s : all_settings()) list.push_back(s.shown);
    return list;
  }();
  return all;
}

PrintedNoise printed_noise(double alpha, double dimension, double epsilon) {
  const ProblemNumbers f{1e8, dimension, 1, 1, 1, 1};
  const auto t = liu_talwar_2025::theorem_3_17_at(f, epsilon, alpha, false);
  // b_t is in proportion to the step w/M but for its least value, 1.
  const double rate = 1 / liu_talwar_2025::theorem_3_17_rate(f, epsilon, t);
  return {.steps = t.steps,
          .refresh = 1 / t.refresh_batch / t.deviation,
          .increment = rate / t.deviation,
          .product = (1 / t.refresh_batch + rate) * t.radius / t.deviation,
          .products = std::ceil(t.escape_steps)};
}

std::vector<std::pair<std::int64_t, std::int64_t>> printed_nodes(std::int64_t t,
                                                                 std::int64_t most) {
  std::vector<std::pair<std::int64_t, std::int64_t>> nodes;
  std::int64_t k = 0;
  const auto ceiling_log2 = std::bit_width(static_cast<std::uint64_t>(most - 1));
  for (int level = static_cast<int>(ceiling_log2) - 1; level >= 0 && k < t; --level) {
    const std::int64_t size = std::int64_t{1} << level;
    if (k + size > t) continue;
    nodes.emplace_back(k + 1, k + size);
    k += size;
  }
  return nodes;
}

Problem make_problem(const std::string& name, const std::map<std::string, std::string>& settings,
                     Index records, Index dimension, std::uint64_t seed) {
  return find_problem(name, settings)
      ->make({.records = records, .dimension = dimension, .seed = seed, .data_seed = seed});
}

/// A standard normal direction, made a unit vector.
Vector direction(Index d, Stream& stream) {
  Vector v(d);
  stream.fill_normal(1.0, v);
  return v / v.norm();
}

Matrix hessian_of(const Objective& f, const Vector& x) {
  const Index d = x.size();
  Matrix h(d, d);
  for (Index j = 0; j < d; ++j) f.hessian_product(x, Vector::Unit(d, j), h.col(j));
  return h;
}

}  // namespace liu_talwar_2025_probe

namespace {

using namespace liu_talwar_2025_probe;

/// The schedule's α over n, or, for given α, the records N(α) that it plans.
SolvedSchedule::Result solved_schedule(const SolvedSchedule& p, std::uint64_t) {
  const std::string name = p.variant;
  const auto found =
      std::ranges::find_if(all_settings(), [&](const Setting& s) { return s.shown.name == name; });
  if (found == all_settings().end())
    throw InputError("solved-schedule: there is no variant " + name);
  const double epsilon = p.epsilon;
  // Beyond ε = 1000 the statistical part alone counts.
  const double phi = epsilon > 1000 ? 1e9 : zcdp_budget({epsilon, 1e-6}, Calibrator::bun_steinke);
  SolvedSchedule::Result out;
  const auto note = [&](const liu_talwar_2025::Numbers& s) {
    out.alpha.push_back(s.alpha);
    out.records.push_back(s.records);
  };
  ProblemNumbers f{0, p.dimension, 1, 1, 1, 1};
  if (p.alpha)
    for (const double alpha : *p.alpha)
      note(liu_talwar_2025::numbers_at(f, phi, alpha, f.G, found->switches));
  else
    for (const double n : p.records.value()) {
      f.n = n;
      note(liu_talwar_2025::solve(f, phi, n, found->switches));
    }
  return out;
}

/// Noise of the tree stream itself, with records that contribute nothing.
TreeNoise::Result largest_tree_noise(const TreeNoise& p, std::uint64_t seed) {
  const Index d = p.dimension;
  const Problem problem =
      make_problem("cosine-saddle", {{"sampling", "stream"}}, Index{1} << 40, d, seed);
  UnsoundCurator curator(problem.facts, *problem.simulated, {.seed = seed},
                         {.no_filter = true, .no_data = true});
  TreeStream tree(curator, 1.0, p.leaves);
  const GradientQuery query{
      .limit = problem.facts.constants[constant::lipschitz], .noise = {}, .block = Block::x};
  const Vector x = problem.facts.initial_point;
  const Index many = p.covariance ? p.leaves : 0;
  Matrix sum = Matrix::Zero(many, many), squares = Matrix::Zero(many, many);
  Matrix path(many, d);
  std::vector<double> largest;
  Vector out(d);
  for (std::int64_t k = 0; k < p.trees; ++k) {
    tree.restart();
    double top = 0;
    for (std::int64_t t = 0; t < p.leaves; ++t) {
      tree.push_gradient(Point(x), curator.draw(BatchPolicy::fresh(1)), query, out);
      top = std::max(top, out.norm() / std::sqrt(static_cast<double>(d)));
      if (p.covariance) path.row(t) = out.transpose();
    }
    largest.push_back(top);
    for (Index j = 0; p.covariance && j < d; ++j) {
      const Matrix product = path.col(j) * path.col(j).transpose();
      sum += product;
      squares += product.cwiseAbs2();
    }
  }
  double mean = 0;
  for (const double l : largest) mean += l / static_cast<double>(p.trees);
  TreeNoise::Result result{.mean_largest = mean, .worst_standard_errors = {}};
  if (!p.covariance) return result;
  const auto count = static_cast<double>(p.trees * d);
  double worst = 0;
  for (Index s = 0; s < p.leaves; ++s)
    for (Index t = 0; t < p.leaves; ++t) {
      const auto a = tree_nodes(s + 1), b = tree_nodes(t + 1);
      const auto common = static_cast<double>(std::ranges::count_if(
          a, [&](const auto& node) { return std::ranges::find(b, node) != b.end(); }));
      const double found = sum(s, t) / count;
      const double error = std::sqrt((squares(s, t) / count - found * found) / count);
      worst = std::max(worst, std::abs(found - common) / error);
    }
  result.worst_standard_errors = worst;
  return result;
}

/// 95 % quantiles of the sampling errors of O1 to O4 on cosine-saddle, whose Hessian is diagonal.
OracleErrors::Result oracle_errors(const OracleErrors& p, std::uint64_t seed) {
  constexpr Index d = 10;
  const Problem problem = make_problem(
      "cosine-saddle", {{"sampling", "stream"}, {"start", "random"}}, p.draws * p.batch, d, seed);
  const Objective& f = *problem.population;
  const double all = std::numeric_limits<double>::infinity();
  const Vector x = problem.facts.initial_point;
  Stream stream({.seed = seed, .purpose = Purpose::evaluation});
  const Vector y = x + p.distance * direction(d, stream);
  const Vector one = Vector::Ones(d);
  Vector at_x(d), at_y(d), hessian_x(d), hessian_y(d);
  f.gradient(x, at_x);
  f.gradient(y, at_y);
  f.hessian_product(x, one, hessian_x);
  f.hessian_product(y, one, hessian_y);
  std::array<std::vector<double>, 4> errors;
  for (Index k = 0; k < p.draws; ++k) {
    const BatchView view(k * p.batch, (k + 1) * p.batch);
    const auto note = [&](std::size_t oracle, const Vector& sum, const Vector& truth) {
      const Vector error = sum / static_cast<double>(p.batch) - truth;
      errors[oracle].push_back(oracle < 2 ? error.norm() : error.cwiseAbs().maxCoeff());
    };
    Vector sum = Vector::Zero(d);
    problem.simulated->add_gradients(Point(y), Block::x, view, all, sum);
    note(0, sum, at_y);
    sum.setZero();
    problem.simulated->add_gradient_differences(Point(y), Point(x), Block::x, view, all, sum);
    note(1, sum, at_y - at_x);
    sum.setZero();
    problem.simulated->add_hessian_products(Point(y), one, view, all, sum);
    note(2, sum, hessian_y);
    sum.setZero();
    problem.simulated->add_hessian_difference_products(Point(y), Point(x), one, view, all, sum);
    note(3, sum, hessian_y - hessian_x);
  }
  OracleErrors::Result result{};
  for (std::size_t oracle = 0; oracle < errors.size(); ++oracle) {
    std::vector<double>& e = errors[oracle];
    std::ranges::sort(e);
    result.quantiles[oracle] = e[static_cast<std::size_t>(0.95 * static_cast<double>(e.size()))];
  }
  return result;
}

/// Lemma 3.14's Hessian half: O3 at a random point of cosine-saddle, and O4 along random steps of
/// length α/M until the drift is κ = G, each with the batches of the practical schedule. The
/// Hessian is diagonal there. Of each epoch the largest error over √(ρα)/2.
HessianErrors::Result hessian_errors(const HessianErrors& p, std::uint64_t seed) {
  constexpr Index d = 10;
  const double alpha = p.alpha, epsilon = p.epsilon;
  const Problem problem = make_problem(
      "cosine-saddle", {{"sampling", "stream"}, {"start", "random"}}, Index{1} << 50, d, seed);
  const Objective& f = *problem.population;
  const ProblemNumbers numbers = numbers_of(problem.facts);
  const auto s = liu_talwar_2025::numbers_at(numbers, zcdp_budget({epsilon, 1e-6}, Calibrator::cks),
                                             alpha, numbers.G);
  const double all = std::numeric_limits<double>::infinity();
  const Vector one = Vector::Ones(d);
  Stream stream({.seed = seed, .purpose = Purpose::evaluation});
  Index used = 0;
  const auto draw = [&](double batch) {
    const auto size = static_cast<Index>(std::ceil(batch));
    used += size;
    return BatchView(used - size, used);
  };
  std::vector<double> largest;
  for (int k = 0; k < p.epochs; ++k) {
    Vector x = problem.facts.initial_point, estimate = Vector::Zero(d), exact(d), sum(d);
    const auto note = [&] {
      f.hessian_product(x, one, exact);
      largest.back() = std::max(largest.back(), (estimate - exact).cwiseAbs().maxCoeff() /
                                                    (std::sqrt(numbers.rho * alpha) / 2));
    };
    largest.push_back(0);
    problem.simulated->add_hessian_products(Point(x), one, draw(s.hessian_batch), all, estimate);
    estimate /= std::ceil(s.hessian_batch);
    note();
    const double step = alpha / numbers.M;
    for (double drift = 0; drift < s.drift_threshold; drift += alpha) {
      const Vector next = x + step * direction(d, stream);
      sum.setZero();
      const double batch = std::max(1.0, s.hessian_batch_rate * step);
      problem.simulated->add_hessian_difference_products(Point(next), Point(x), one, draw(batch),
                                                         all, sum);
      estimate += sum / std::ceil(batch);
      x = next;
      note();
    }
  }
  const auto within = static_cast<std::int64_t>(
      std::ranges::count_if(largest, [](double ratio) { return ratio <= 1; }));
  return {.median = median(largest), .within = within, .epochs = p.epochs};
}

/// Gradient descent of step 1/M without noise on a ramp of slope 4γ: steps until ‖∇F‖ ≤ γ.
RampSteps::Result ramp_steps(const RampSteps& p, std::uint64_t seed) {
  const double gamma = p.gamma, drop = p.drop;
  const Problem problem = make_problem("ramp",
                                       {{"sampling", "whole"},
                                        {"slope", fmt::format("{}", 4 * gamma)},
                                        {"drop", fmt::format("{}", drop)}},
                                       1000000, 4, seed);
  const double M = problem.facts.constants[constant::smoothness];
  Vector x = problem.facts.initial_point, g(x.size());
  Index steps = 0;
  for (problem.population->gradient(x, g); g.norm() > gamma;
       problem.population->gradient(x, g), ++steps)
    x -= g / M;
  return {.steps = steps};
}

/// sup over the box of ‖∇F_D − ∇F_P‖: on ripple-location every coordinate depends on its own x_j
/// alone, so that the supremum is taken coordinate by coordinate over a grid.
UniformGap::Result uniform_gap(const UniformGap& p, std::uint64_t seed) {
  const auto d = p.dimension;
  const Problem problem =
      make_problem("ripple-location", {{"sampling", "independent"}}, p.records, d, seed);
  constexpr int points = 200;
  Vector largest = Vector::Zero(d), here(d), population(d);
  const double reach = 2.0 / std::sqrt(static_cast<double>(d));
  for (int k = 0; k <= points; ++k) {
    const Vector x = Vector::Constant(d, reach * (2.0 * k / points - 1.0));
    problem.empirical->gradient(x, here);
    problem.population->gradient(x, population);
    largest = largest.cwiseMax((here - population).cwiseAbs());
  }
  return {.gap = largest.norm()};
}

}  // namespace

std::vector<ProbeEntry> liu_talwar_2025_step_probes() {
  return {probe_entry<solved_schedule>(), probe_entry<largest_tree_noise>(),
          probe_entry<oracle_errors>(),   probe_entry<hessian_errors>(),
          probe_entry<ramp_steps>(),      probe_entry<uniform_gap>()};
}

}  // namespace dpsosp
