// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/probe.hpp"
#include "dpsosp/lemmas/lowy_2024.hpp"
#include "dpsosp/lowy_2024/exponential_warm_start.hpp"
#include "dpsosp/lowy_2024/published_experiment.hpp"
#include "dpsosp/lowy_2024/warm_population.hpp"
#include "script_privacy.hpp"

namespace dpsosp {
namespace lowy_2024_probe {

struct ScriptPrivacy {
  static constexpr ProbeName probe{"lowy-2024/script-privacy"};
  double epsilon, clip, difference;
  struct Result {
    double lower, upper, batch;
  };
};
DPSOSP_MEMBERS(ScriptPrivacy, epsilon, clip, difference);
DPSOSP_MEMBERS(ScriptPrivacy::Result, lower, upper, batch);

struct WorstPopulationExcess {
  static constexpr ProbeName probe{"lowy-2024/worst-population-excess"};
  double records;
  struct Result {
    double mechanism, minimiser, bound;
  };
};
DPSOSP_MEMBERS(WorstPopulationExcess, records);
DPSOSP_MEMBERS(WorstPopulationExcess::Result, mechanism, minimiser, bound);

struct ProjectionDeviation {
  static constexpr ProbeName probe{"lowy-2024/projection-deviation"};
  Index dimension, rank, projected;
  int maps;
  struct Result {
    std::vector<double> scaled;
  };
};
DPSOSP_MEMBERS(ProjectionDeviation, dimension, rank, projected, maps);
DPSOSP_MEMBERS(ProjectionDeviation::Result, scaled);

}  // namespace lowy_2024_probe

namespace {

using namespace lowy_2024_probe;

/// What the script's DP-SGD spends at a stated ε, from both sides; `difference` is the largest one
/// of two records' gradients.
ScriptPrivacy::Result script_privacy(const ScriptPrivacy& parameters, std::uint64_t) {
  constexpr int steps = 100;
  constexpr double n = 100;
  const double delta = std::pow(n, -1.5);
  const lowy_2024::ScriptSgd sgd =
      lowy_2024::script_sgd(n, parameters.epsilon, delta, steps, parameters.clip);
  const auto [lower, upper] =
      lowy_2024_exhibit::script_epsilon({.records = n,
                                         .rate = sgd.batch / n,
                                         .deviation = sgd.deviation / parameters.difference,
                                         .steps = steps},
                                        delta);
  return {.lower = lower, .upper = upper, .batch = sgd.batch};
}

/// Largest expected population excess over the laws x = ±1 of mean θ, of f = −x (LD/π) sin(πw/D) on
/// [−D/2, D/2] at ε = 1, of the mechanism over its net and of exact minimisation; L = D = 1. Exact:
/// the records enter by their sum alone.
WorstPopulationExcess::Result worst_population_excess(const WorstPopulationExcess& parameters,
                                                      std::uint64_t) {
  const double n = parameters.records;
  constexpr double pi = std::numbers::pi;
  const int points = static_cast<int>(std::ceil(1 / (2 * std::sqrt(2 / (pi * n)))));
  std::vector<double> sine;
  for (int k = 0; k < points; ++k) sine.push_back(std::sin(pi * ((k + 0.5) / points - 0.5)));
  // 1 − E sin under the law exp(κ sin), κ = λ x̄/π, λ = n/2
  const auto lost = [&](double mean) {
    const double kappa = 0.5 * n * mean / pi;
    double sum = 0, weighted = 0;
    for (const double s : sine) {
      const double p = std::exp(kappa * s - std::abs(kappa));
      sum += p;
      weighted += p * (1 - s);
    }
    return weighted / sum;
  };
  constexpr double reach = 11;  // standard deviations of the sum, for means up to 3
  const double first = std::max(0.0, std::floor(0.5 * n - 0.5 * reach * std::sqrt(n)));
  const double last = std::min(n, std::ceil(0.5 * n + 0.5 * reach * std::sqrt(n)));
  std::vector<double> by_sum;
  for (double k = first; k <= last; ++k) by_sum.push_back(lost(2 * k / n - 1));
  double of_mechanism = 0, of_minimiser = 0;
  for (double c = 0.25; c <= 3; c += 0.25) {
    const double theta = c / std::sqrt(n);
    double mechanism = 0, minimiser = 0;
    for (std::size_t i = 0; i < by_sum.size(); ++i) {
      const double k = first + static_cast<double>(i);
      const double p =
          std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                   k * std::log1p(theta) + (n - k) * std::log1p(-theta) - n * std::numbers::ln2);
      mechanism += p * by_sum[i];
      minimiser += p * (2 * k < n ? 2.0 : 2 * k > n ? 0.0 : 1.0);
    }
    of_mechanism = std::max(of_mechanism, theta / pi * mechanism);
    of_minimiser = std::max(of_minimiser, theta / pi * minimiser);
  }
  const double bound = lowy_2024::population_excess(std::log(points), 0.5 * n,
                                                    std::sqrt(2 / (pi * n)), 1, 1, n, 0.05);
  return {.mechanism = of_mechanism, .minimiser = of_minimiser, .bound = bound};
}

/// sqrt(k) times the largest | ‖Φv‖ − ‖v‖ | that an ascent over v = (1/n) Σ c_i x_i, |c_i| ≤ 1,
/// finds, a value a map; ‖x_i‖ = 1 in a subspace of dimension r.
ProjectionDeviation::Result projection_deviation(const ProjectionDeviation& parameters,
                                                 std::uint64_t seed) {
  constexpr Index records = 200;
  constexpr int starts = 4, steps = 40;
  const Index d = parameters.dimension, r = parameters.rank, k = parameters.projected;
  Stream stream({.seed = seed, .purpose = Purpose::test});
  Matrix basis(d, r), features(r, records);
  stream.fill_normal(1.0, basis.reshaped());
  stream.fill_normal(1.0, features.reshaped());
  const Matrix orthonormal = thin_qr(basis).q;
  features.colwise().normalize();
  const Matrix x = orthonormal * features;
  std::vector<double> scaled;
  for (int m = 0; m < parameters.maps; ++m) {
    Matrix map(k, d);
    stream.fill_normal(1.0 / std::sqrt(static_cast<double>(k)), map.reshaped());
    const Matrix z = map * x;
    double largest = 0;
    for (const double sign : {1.0, -1.0})
      for (int start = 0; start < starts; ++start) {
        Vector c(records);
        stream.fill_normal(1.0, c);
        c = c.cwiseSign();
        for (int t = 0; t < steps; ++t) {
          const Vector v = x * c / static_cast<double>(records);
          const Vector u = z * c / static_cast<double>(records);
          const double norm_v = v.norm(), norm_u = u.norm();
          largest = std::max(largest, sign * (norm_u - norm_v));
          if (!(norm_v > 0 && norm_u > 0)) break;
          // the gradient in c; the maximum of a linear function over the cube is at its signs
          const Vector g = sign * (z.transpose() * u / norm_u - x.transpose() * v / norm_v);
          const Vector next = g.cwiseSign();
          if (next == c) break;
          c = next;
        }
      }
    scaled.push_back(std::sqrt(static_cast<double>(k)) * largest);
  }
  return {.scaled = scaled};
}

std::vector<JobCell> c12_cells(const Study& study) {
  return probe_cells(study, "records", {1e3, 1e4, 1e5, 1e6},
                     [](double n) { return WorstPopulationExcess{.records = n}; });
}

Finding c12(const Evidence& e) {
  if (!e.all_finished()) return nothing_ran();
  std::vector<double> records, levels;
  std::vector<std::string> cells;
  bool leads = true, below = true;
  for (const JudgedCell& cell : e.cells) {
    const double n = cell.number_at("records"),
                 level = cell.numbers(&WorstPopulationExcess::Result::mechanism).front();
    const double minimiser = cell.numbers(&WorstPopulationExcess::Result::minimiser).front();
    const double bound = cell.numbers(&WorstPopulationExcess::Result::bound).front();
    below = below && level <= bound;
    cells.push_back(
        fmt::format("n = {:.0e}: {:.3g}, {:.3f} times exact minimisation's, {:.2g} of ψ", n, level,
                    level / minimiser, level / bound));
    if (n < 1e4) continue;
    leads = leads && level <= 1.5 * minimiser;
    records.push_back(n);
    levels.push_back(level);
  }
  const double slope = log_slope(records, levels);
  const bool holds = leads && below && std::abs(slope + 0.5) <= slope_tolerance;
  return {
      .verdict = holds ? Verdict::holds : Verdict::inconclusive,
      .measured = fmt::format("exponent {:+.4f} in n from 1e4 on; largest excess over the laws, "
                              "LD = 1: {}",
                              slope, fmt::join(cells, "; ")),
      .value = slope};
}

std::vector<JobCell> c14_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const int d : {100, 400, 1600})
    for (const int r : {5, 50, 200})
      for (const int k : {4, 16, 64, 256}) {
        if (r > d || (study.scale == Scale::smoke && (d > 100 || k > 16))) continue;
        cells.push_back(
            probe_cell(study, ProjectionDeviation{.dimension = d,
                                                  .rank = r,
                                                  .projected = k,
                                                  .maps = study.scale == Scale::full ? 20 : 5}));
      }
  return cells;
}

Finding c14(const Evidence& e) {
  if (!e.all_finished()) return nothing_ran();
  std::vector<double> medians, all;
  for (const JudgedCell& cell : e.cells) {
    const std::vector<double> scaled = cell.results<ProjectionDeviation::Result>().front().scaled;
    medians.push_back(median(scaled));
    all.insert(all.end(), scaled.begin(), scaled.end());
  }
  const auto above = std::ranges::count_if(all, [](double v) { return v > 1; });
  const bool holds = static_cast<double>(above) <= 0.05 * static_cast<double>(all.size());
  return {
      .verdict = holds_if(holds),
      .measured = fmt::format("√k × deviation over L: medians {:.2f} to {:.2f}, largest {:.2f}, "
                              "{} of {} above 1",
                              std::ranges::min(medians), std::ranges::max(medians),
                              std::ranges::max(all), above, all.size()),
      .reason = holds ? "" : "more than 5 % of the deviations found are above 1",
      .value = std::ranges::max(all)};
}

constexpr double largest_gradient = 5, difference_on_own_loss = 2;  // L; records are x, |x| <= 1

std::vector<JobCell> script_privacy_cells(const Study& study, double difference) {
  return probe_cells(study, "epsilon", {0.1, 1, 8}, [difference](double epsilon) {
    return ScriptPrivacy{.epsilon = epsilon, .clip = largest_gradient, .difference = difference};
  });
}

/// A stated ε is exceeded where the lower bound is above it, and kept where the upper one is not.
Finding c17_privacy(const Evidence& e) {
  if (!e.all_finished()) return nothing_ran();
  std::vector<std::string> cells, exceeded;
  bool kept = true;
  double largest = 0;
  for (const JudgedCell& cell : e.cells) {
    const double stated = cell.number_at("epsilon");
    const double lower = cell.numbers(&ScriptPrivacy::Result::lower).front(),
                 upper = cell.numbers(&ScriptPrivacy::Result::upper).front();
    kept = kept && upper <= stated;
    largest = std::max(largest, lower / stated);
    if (lower > stated) exceeded.push_back(fmt::format("{:g}", stated));
    cells.push_back(fmt::format("stated {:g}: [{:.3g}, {:.3g}]", stated, lower, upper));
  }
  return {.verdict = !exceeded.empty() ? Verdict::fails
                     : kept            ? Verdict::holds
                                       : Verdict::inconclusive,
          .measured = fmt::format("replace-one, δ = 1e-3: {}", fmt::join(cells, "; ")),
          .reason = exceeded.empty() ? ""
                                     : fmt::format("the lower bound is above ε at {}",
                                                   fmt::join(exceeded, " and ")),
          .value = largest};
}

}  // namespace

std::vector<Predicate> lowy_2024_lemma_predicates() {
  return {
      {"lowy-2024/c12", c12_cells, c12},
      {"lowy-2024/c14", c14_cells, c14},
      {"lowy-2024/c17-privacy",
       [](const Study& study) { return script_privacy_cells(study, 2 * largest_gradient); },
       c17_privacy},
      {"lowy-2024/c17-privacy-own-loss",
       [](const Study& study) { return script_privacy_cells(study, difference_on_own_loss); },
       c17_privacy},
  };
}

std::vector<ProbeEntry> lowy_2024_lemma_probes() {
  return {probe_entry<script_privacy>(), probe_entry<worst_population_excess>(),
          probe_entry<projection_deviation>()};
}

}  // namespace dpsosp
