// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/algorithm_check.hpp"

namespace dpsosp {
namespace {

using Settings = std::map<std::string, std::string>;

RunSpec at(std::string algorithm,
           std::string problem,
           Index records,
           Index dimension,
           Settings problem_settings = {},
           Settings settings = {}) {
  RunSpec spec;
  spec.algorithm = std::move(algorithm);
  spec.problem = std::move(problem);
  spec.settings = std::move(settings);
  spec.problem_settings = std::move(problem_settings);
  spec.records = records;
  spec.dimension = dimension;
  return spec;
}

/// The cosine saddle, from its saddle: what second-order methods leave and first-order ones may not.
RunSpec from_saddle(std::string algorithm, Index records, Settings settings = {}) {
  return at(std::move(algorithm), "cosine-saddle", records, 10, {}, std::move(settings));
}

/// The same landscape from a random point; the records are drawn from the exact law of their sums.
RunSpec from_anywhere(std::string algorithm, Index records, Settings settings = {}) {
  return at(std::move(algorithm),
            "cosine-saddle",
            records,
            10,
            {{"sampling", "whole"}, {"start", "random"}},
            std::move(settings));
}

/// One pass over a stream of simulated records.
RunSpec one_pass(std::string algorithm, Index records, Settings settings = {}) {
  return at(std::move(algorithm),
            "cosine-saddle",
            records,
            10,
            {{"sampling", "stream"}},
            std::move(settings));
}

RunSpec minimax(std::string algorithm, Index records) {
  RunSpec spec = at(std::move(algorithm), "cosine-minimax", records, 20);
  spec.dimension.reset();
  spec.epsilon = 2;
  return spec;
}

}  // namespace

const std::vector<QuickRun>& quick_runs() {
  static const std::vector<QuickRun> runs{
      {minimax("xu-2026/dp-rgda", 100000)},
      {from_saddle("ganesh-2023/stochastic-spider", 100000)},
      {one_pass("liu-talwar-2025/adaptive-spider", 1000000)},
  };
  return runs;
}

}  // namespace dpsosp
