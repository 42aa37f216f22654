// SPDX-License-Identifier: Apache-2.0
// What a tree adds, and what it costs in privacy.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/lemmas/liu_talwar_2025.hpp"
#include "dpsosp/lemmas/liu_talwar_2025/series.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"

namespace dpsosp {
namespace {

using namespace liu_talwar_2025_claims;
using namespace liu_talwar_2025_probe;

/// Epsilon of a zCDP cost at δ = 1e-6, by the bound that the paper's own conversion is.
double epsilon_of_zcdp(double rho) { return rho + 2 * std::sqrt(rho * std::log(1e6)); }

constexpr int tree_dimensions[] = {1, 2, 4, 16};

std::vector<JobCell> tree_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const int d : tree_dimensions)
    for (JobCell& cell : tree_noise(study, d)) cells.push_back(std::move(cell));
  cells.push_back(probe_cell(study, TreeNoise{.leaves = 64,
                                              .trees = study.scale == Scale::smoke ? 200 : 4000,
                                              .dimension = 4,
                                              .covariance = true}));
  return cells;
}

Finding tree_finding(const Evidence& e) {
  const double worst = number(e.cells.back(), &TreeNoise::Result::worst_standard_errors);
  std::vector<double> most;
  double first = 0, last = 0;
  for (const int d : tree_dimensions) {
    const Curve largest =
        curve_of(e.cells, "leaves", &TreeNoise::Result::mean_largest, {{"dimension", d}});
    first = largest.x.front();
    last = largest.x.back();
    most.push_back(0);
    for (std::size_t k = 0; k < largest.x.size(); ++k)
      most.back() = std::max(most.back(), largest.y[k] / std::sqrt(std::log2(largest.x[k])));
  }
  return finding(
      worst <= 5 && std::ranges::max(most) <= 2,
      fmt::format("covariance within {:.2g} standard errors of the common nodes; largest norm over "
                  "σ√(d log_{{2}} Σ) at most {:.2f} at d = {} for Σ = {:g}..{:g}",
                  worst, fmt::join(most, ", "), fmt::join(tree_dimensions, ", "), first, last),
      "√log Σ is missing where d is below log Σ");
}

Finding printed_tree_finding() {
  std::vector<std::int64_t> missing;
  for (std::int64_t most = 1; most <= 64; ++most) {
    bool misses = false;
    for (std::int64_t t = 1; t <= most; ++t) {
      const auto nodes = liu_talwar_2025_probe::printed_nodes(t, most);
      misses = misses || nodes.empty() || nodes.back().second != t;
    }
    if (misses) missing.push_back(most);
  }
  return finding(missing.empty(),
                 fmt::format("an element is missed for Σ = {}", fmt::join(missing, ", ")));
}

/// Bit length: the nodes of a full tree that hold its first leaf.
double levels_of(double leaves) { return std::floor(std::log2(leaves)) + 1; }

/// Smallest ε at δ of a record that moves each of `nodes` releases of a Gaussian mechanism by
/// `ratio` deviations: exact, so a lower bound for the pair of neighbours and an upper one.
double exact_epsilon(double nodes, double ratio, double delta) {
  return gaussian_epsilon(delta, std::sqrt(nodes) * ratio);
}

Finding printed_noise_finding() {
  const auto noise = liu_talwar_2025_probe::printed_noise(0.05, 16, 1);
  // Counted as the paper does, a record against one that contributes nothing; and replace-one.
  const auto interval = [&](double nodes, double delta) {
    const double zero_out = exact_epsilon(nodes, noise.refresh, delta);
    return fmt::format("[{0:.2f}, {0:.2f}] (replace-one [{1:.2f}, {1:.2f}])", zero_out,
                       exact_epsilon(nodes, 2 * noise.refresh, delta));
  };
  bool kept = true;
  for (const auto& [nodes, delta] :
       {std::pair{1.0, 1e-6}, std::pair{1.0, 1e-14}, std::pair{levels_of(8), 1e-6}})
    kept = kept && exact_epsilon(nodes, noise.refresh, delta) <= 1;
  const double tenth =
      exact_epsilon(1, liu_talwar_2025_probe::printed_noise(0.05, 16, 0.1).refresh, 1e-6);
  kept = kept && tenth <= 0.1;
  return finding(
      kept,
      fmt::format(
          "ε of a record of the first refresh, zero-out: in one release {0} at δ = "
          "1e-6, {1} at 1e-14; in a tree of 8 leaves {2} at 1e-6, of T = {3:g} {4}; where 0.1 is "
          "stated, in one release [{5:.2f}, {5:.2f}] at 1e-6",
          interval(1, 1e-6), interval(1, 1e-14), interval(levels_of(8), 1e-6), noise.steps,
          interval(levels_of(noise.steps), 1e-6), tenth),
      "the noise does not depend on δ");
}

/// Lemma 3.13 at ε = 1, δ = 1e-6: a record whose term of its sum leads moves each node's release by
/// 1/ln(1/δ) deviations, and by half of that where both terms are equal.
Finding sum_noise_finding() {
  const double delta = 1e-6, alone = 1 / std::log(1 / delta);
  std::vector<double> epsilons;
  for (const double nodes : {4.0, 10.0, 12.0})
    epsilons.push_back(exact_epsilon(nodes, alone, delta));
  int equal = 0;
  while (exact_epsilon(equal + 1, alone / 2, delta) <= 1) ++equal;
  return finding(std::ranges::max(epsilons) <= 1,
                 fmt::format("a record whose term leads has exactly ε = {:.2f} in 4, 10, 12 nodes; "
                             "with equal terms the noise is enough up to {} nodes",
                             fmt::join(epsilons, ", "), equal),
                 "the noise does not grow with the leaves");
}

Finding lemma_noise_finding() {
  double most = 0, most_replaced = 0;
  for (const double alpha : {0.2, 0.05, 0.01, 0.001})
    for (const double d : {4.0, 16.0, 256.0})
      for (const double epsilon : {0.1, 1.0})
        for (const double delta : {1e-6, 1e-9}) {
          const auto noise = liu_talwar_2025_probe::printed_noise(alpha, d, epsilon);
          const double nodes = levels_of(noise.steps), larger = 2 * std::log(1 / delta);
          const auto share = [&](double neighbours) {
            return std::max({exact_epsilon(nodes, neighbours * noise.refresh / larger, delta),
                             exact_epsilon(nodes, neighbours * noise.increment / larger, delta),
                             exact_epsilon(noise.products, neighbours * noise.product / larger,
                                           delta)}) /
                   epsilon;
          };
          most = std::max(most, share(1));
          most_replaced = std::max(most_replaced, share(2));
        }
  const auto at = liu_talwar_2025_probe::printed_noise(0.05, 16, 1);
  const double ratio = at.increment / (2 * std::log(1e6));
  const double zcdp = levels_of(at.steps) * ratio * ratio / 2;
  return finding(
      most <= 1,
      fmt::format("at most {0:.3f} of ε (exact, zero-out; replace-one {1:.3f}); at α = 0.05, d = "
                  "16, ε = 1 an increment's record pays {2:.2g} of zCDP (replace-one {3:.2g})",
                  most, most_replaced, zcdp, 4 * zcdp));
}

Finding tree_privacy_finding() {
  double most = 0;
  for (const double leaves : {2.0, 16.0, 1024.0, 1048576.0})
    for (const double epsilon : {0.1, 1.0, 8.0}) {
      const double sigma = 4 * std::sqrt(std::log(leaves) * std::log(1e6)) / epsilon;
      most = std::max(most, epsilon_of_zcdp(levels_of(leaves) / (2 * sigma * sigma)) / epsilon);
    }
  return finding(most <= 1, fmt::format("the tree costs at most {:.2f} of ε", most));
}

}  // namespace

std::vector<Predicate> liu_talwar_2025_tree_predicates() {
  return {
      {"liu-talwar-2025/1", tree_cells, tree_finding},
      by_formulas("liu-talwar-2025/1-printed", printed_tree_finding),
      by_formulas("liu-talwar-2025/1-privacy", printed_noise_finding),
      by_formulas("liu-talwar-2025/1-privacy-lemma-3-13", sum_noise_finding),
      by_formulas("liu-talwar-2025/1-privacy-lemma-3-14", lemma_noise_finding),
      by_formulas("liu-talwar-2025/1-privacy-tree", tree_privacy_finding),
  };
}

}  // namespace dpsosp
