// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/checks/algorithm_check.hpp"

#include <algorithm>

#include "dpsosp/algorithms/registry.hpp"

namespace dpsosp {
namespace {

using Settings = std::map<std::string, std::string>;

RunSpec at(std::string algorithm, std::string problem, Index records, Index dimension,
           Settings problem_settings = {}, Settings settings = {}) {
  RunSpec spec;
  spec.algorithm = std::move(algorithm);
  spec.problem = std::move(problem);
  spec.settings = std::move(settings);
  spec.problem_settings = std::move(problem_settings);
  spec.records = records;
  spec.dimension = dimension;
  return spec;
}

/// The cosine saddle, from its saddle: what second-order methods leave and first-order ones may
/// not.
RunSpec from_saddle(std::string algorithm, Index records, Settings settings = {}) {
  return at(std::move(algorithm), "cosine-saddle", records, 10, {}, std::move(settings));
}

/// The same landscape from a random point; the records are drawn from the exact law of their sums.
RunSpec from_anywhere(std::string algorithm, Index records, Settings settings = {}) {
  return at(std::move(algorithm), "cosine-saddle", records, 10,
            {{"sampling", "whole"}, {"start", "random"}}, std::move(settings));
}

/// One pass over a stream of simulated records.
RunSpec one_pass(std::string algorithm, Index records, Settings settings = {}) {
  return at(std::move(algorithm), "cosine-saddle", records, 10, {{"sampling", "stream"}},
            std::move(settings));
}

/// A generalised linear model of rank 3 in 400 dimensions.
RunSpec low_rank(std::string algorithm, Settings settings) {
  RunSpec spec = at(std::move(algorithm), "glm-sigmoid", 3000, 400,
                    {{"features", "low_rank"}, {"rank", "3"}}, std::move(settings));
  spec.epsilon = 4;
  return spec;
}

RunSpec minimax(std::string algorithm, std::string problem, Index records) {
  RunSpec spec = at(std::move(algorithm), std::move(problem), records, 20);
  spec.dimension.reset();
  spec.epsilon = 2;
  return spec;
}

/// Where none is chosen. Programs get records one by one: sums that are drawn whole clip nothing,
/// which only a limit above the problem's own allows.
RunSpec general_run(const AlgorithmEntry& entry) {
  const AlgorithmCard card = entry.create()->card();
  if (!card.is_program()) return from_anywhere(entry.key, 100000);
  if (card.needs_dual) return minimax(entry.key, "auc", 2000);
  return at(entry.key, "cosine-saddle", 2000, 10, {{"start", "random"}});
}

/// Runs that show an algorithm at work; where none is listed, one on the cosine saddle is taken.
std::vector<QuickRun> chosen_runs() {
  return {
      {minimax("xu-2026/dp-rgda", "cosine-minimax", 100000)},
      {from_saddle("ganesh-2023/stochastic-spider", 50000)},
      {at("ganesh-2023/exponential-mechanism", "multi-well", 10000, 2)},
      {at("ganesh-2023/discrete-exponential", "multi-well", 10000, 2)},
      {one_pass("liu-talwar-2025/adaptive-spider", 1000000)},
      {at("lowy-2024/exponential-mechanism", "ripple-location", 100000, 16)},
      {at("lowy-2024/quasar-dp-sgd", "radial-ripple", 5000, 8)},
      {at("lowy-2024/warm-exponential", "ripple-location", 100000, 16, {{"sampling", "whole"}})},
      {at("lowy-2024/warm-quasar", "radial-ripple", 3000, 16, {}, {{"fallback", "false"}})},
      {at("lowy-2024/warm-kl", "radial-ripple", 10000, 4, {}, {{"fallback", "false"}})},
      {at("lowy-2024/warm-population", "ripple-location", 10000000, 1, {{"sampling", "stream"}})},
      {low_rank("lowy-2024/warm-glm", {{"rank", "3"}, {"fallback", "false"}}),
       "Where both promises are compared (`fallback = true`) the second stage alone promises more "
       "at this size."},
      {low_rank("lowy-2024/warm-glm-exponential",
                {{"rank", "3"}, {"rank_rule", "proportional"}, {"fallback", "false"}}),
       "k = 3, the rank, so that a net of R^k can be enumerated."},
      {at("lowy-2024/published-experiment", "trig-radial", 10000, 100)},
      {at("avdiukhin-2024/dp-sgd", "double-well", 10000, 10)},
      {at("avdiukhin-2024/noisy-sgd", "double-well", 10000, 10, {},
          {{"deviation", "1"}, {"largest_deviation", "1"}})},
      {from_saddle("wang-chen-xu-2019/dp-gd", 100000)},
      {from_saddle("wang-xu-2020/dp-trust-region", 100000)},
      {from_saddle("gao-wright-2023/short-steps", 100000)},
      {one_pass("tao-2025/ada-dp-spider", 100000000)},
      {from_anywhere("arora-2023/dp-spider", 100000)},
      {at("arora-2023/tree-spider", "separable-pl", 10000000, 16, {{"sampling", "stream"}})},
      {low_rank("arora-2023/jl-dp-spider", {{"rank", "3"}})},
      {at("wang-2023/dp-srm", "ramp", 3000, 10)},
      {from_anywhere("tran-cutkosky-2022/momentum-aggregation", 100000)},
      {from_anywhere("wang-ye-xu-2017/dp-gd", 100000)},
      {from_anywhere("wang-ye-xu-2017/dp-svrg", 100000)},
      {from_anywhere("zhang-2017/rrpsgd", 100000)},
      {from_anywhere("wang-xu-2019/dp-prox-gd", 100000)},
      {at("wang-xu-2019/dp-frank-wolfe", "separable-pl", 100000, 16)},
      {from_anywhere("zhou-2020/dp-sgd", 100000)},
      {from_anywhere("zhou-2020/dp-rmsprop", 100000)},
      {from_anywhere("zhou-2020/dp-adam", 100000)},
      {at("wang-chen-xu-2019/dp-gld", "ripple-location", 10000, 4)},
      {at("menart-2024/kl-spider", "radial-ripple", 300000, 16)},
      {from_anywhere("abadi-2016/dp-sgd", 100000)},
      {from_anywhere("abadi-2016/dp-adam", 100000)},
      {minimax("zhang-2025/private-diff", "auc", 20000)},
      {minimax("yang-2022/dp-sgda", "auc", 20000),
       "From the saddle of cosine-minimax it moves away instead, as does the reference without "
       "privacy."},
      {from_anywhere("cutkosky-orabona-2019/dp-storm", 100000)},
      {from_saddle("tracked-descent/tracked-descent", 10000)},
      {from_anywhere("zhang-bu-2025/disk", 100000)},
      {from_saddle("avella-medina-2023/noisy-newton", 100000)},
      {minimax("reference/gradient-descent-ascent", "auc", 2000)},
      {at("reference/sgd", "cosine-saddle", 2000, 10, {{"start", "random"}})},
      {at("reference/spider", "cosine-saddle", 2000, 10, {{"start", "random"}})},
      {from_saddle("reference/perturbed-gd", 2000)},
  };
}

}  // namespace

const std::vector<QuickRun>& quick_runs() {
  static const std::vector<QuickRun> runs = [] {
    const std::vector<QuickRun> chosen = chosen_runs();
    std::vector<QuickRun> all;
    for (const AlgorithmEntry& entry : algorithm_registry()) {
      const auto of_entry = [&](const QuickRun& run) { return run.spec.algorithm == entry.key; };
      const auto found = std::ranges::find_if(chosen, of_entry);
      all.push_back(found != chosen.end() ? *found : QuickRun{general_run(entry)});
    }
    return all;
  }();
  return runs;
}

}  // namespace dpsosp
