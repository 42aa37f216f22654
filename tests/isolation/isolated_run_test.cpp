// SPDX-License-Identifier: Apache-2.0
// An isolated run is the run: every handle of the curator answers the same through the socket.
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/run_json.hpp"

namespace dpsosp::isolated_run_test {
namespace {

using Settings = std::map<std::string, std::string>;

struct Case {
  std::string name, algorithm, problem;
  Index records;
  std::optional<Index> dimension;
  Settings settings = {}, problem_settings = {};
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Settings random_start{{"start", "random"}};
const Settings long_trees{{"batch_rule", "fixed"},      {"steps", "40"},
                          {"refresh_batch", "100"},     {"increment_batch", "40"},
                          {"drift_threshold", "100"},   {"escape_threshold", "5"},
                          {"escape_steps", "5"},        {"escapes_per_refresh", "5"},
                          {"escape_radius", "2"},       {"hessian_batch", "100"},
                          {"hessian_batch_rate", "10"}, {"max_leaves", "64"}};

RunSpec spec_of(const Case& c) {
  RunSpec spec;
  spec.algorithm = c.algorithm;
  spec.problem = c.problem;
  spec.records = c.records;
  spec.dimension = c.dimension;
  spec.settings = c.settings;
  spec.problem_settings = c.problem_settings;
  spec.epsilon = 4;
  spec.seed = 7;
  spec.data_seed = 3;
  spec.observations = 20;
  return spec;
}

class EveryHandle : public testing::TestWithParam<Case> {};

TEST_P(EveryHandle, AnswersTheSameInAnotherProcess) {
  const RunDescription d = describe(spec_of(GetParam()));
  const nlohmann::json here = compute_run(d), there = compute_run(d, Isolation{});
  EXPECT_EQ(here, there);
  EXPECT_GT(here.at("privacy").at("queries"), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Isolation, EveryHandle,
    testing::Values(
        Case{"PoissonBatches", "abadi-2016/dp-sgd", "double-well", 60, 2},
        Case{"FixedSizeSamples",
             "zhang-2017/rrpsgd",
             "double-well",
             60,
             2,
             {{"sampling", "sample"}, {"batch", "8"}}},
        Case{"Duals", "xu-2026/dp-rgda", "cosine-minimax", 80, {}},
        Case{"DualsQueried",
             "zhang-2025/private-diff",
             "cosine-minimax",
             80,
             {},
             {{"ascent", "queried"}}},
        Case{"Combinations", "tran-cutkosky-2022/momentum-aggregation", "cosine-saddle", 80, 4},
        Case{
            "Hessians", "wang-xu-2020/dp-trust-region", "cosine-saddle", 4000, 4, {}, random_start},
        Case{"TreesAndHessianSums", "liu-talwar-2025/adaptive-spider", "cosine-saddle", 4000, 4,
             long_trees, random_start},
        Case{"TreesAndHessianProducts", "liu-talwar-2025/adaptive-spider", "cosine-saddle", 4000, 4,
             [] {
               Settings lazy = long_trees;
               lazy["hessian_mode"] = "lazy";
               return lazy;
             }(),
             random_start},
        Case{"HessianProductsAndLineSearches",
             "gao-wright-2023/short-steps",
             "cosine-saddle",
             4000,
             4,
             {{"curvature", "products"}, {"step_rule", "line_search"}},
             random_start},
        Case{"StationarityTests",
             "ganesh-2023/stochastic-spider",
             "cosine-saddle",
             80,
             4,
             {},
             random_start},
        Case{"IndependentTests",
             "avdiukhin-2024/dp-sgd",
             "cosine-saddle",
             80,
             4,
             {{"selection_form", "independent"}, {"selection_share", "0.5"}},
             random_start},
        Case{"ChoicesFromNets", "lowy-2024/exponential-mechanism", "ripple-location", 80, 2},
        Case{"ChoicesFromGrids",
             "lowy-2024/exponential-mechanism",
             "separable-pl",
             80,
             2,
             {{"candidates", "product"}}},
        Case{"ChoicesOfVertices",
             "wang-xu-2019/dp-frank-wolfe",
             "separable-pl",
             80,
             2,
             {{"set", "l1_ball"}, {"linear_oracle", "exponential"}}},
        Case{"GibbsDraws", "ganesh-2023/exponential-mechanism", "ripple-location", 80, 2},
        Case{"Children", "lowy-2024/warm-kl", "radial-ripple", 300, 4, {{"fallback", "false"}}},
        Case{"Projections",
             "lowy-2024/warm-glm",
             "glm-sigmoid",
             300,
             12,
             {{"fallback", "false"}},
             {{"features", "low_rank"}, {"rank", "3"}}},
        Case{"UnclippedQueries", "arora-2023/dp-spider", "cosine-saddle", 80, 4}),
    [](const auto& of) { return of.param.name; });

TEST(IsolatedRun, RefusesWhatTheRunRefuses) {
  const auto refusal = [](const RunDescription& d, const std::optional<Isolation>& isolation) {
    try {
      compute_run(d, isolation);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("nothing is refused");
  };
  RunSpec spec = spec_of({"", "abadi-2016/dp-sgd", "double-well", 60, 2});
  spec.settings["steps"] = "-1";
  const RunDescription steps = describe(spec);
  EXPECT_EQ(refusal(steps, {}), refusal(steps, Isolation{}));
  EXPECT_NE(refusal(steps, {}), "nothing is refused");
  spec.settings = {{"clip", "0"}};
  spec.problem = "matrix-sensing";
  spec.algorithm = "xu-2026/dp-rgda";
  spec.settings.clear();
  spec.dimension.reset();
  const RunDescription dual = describe(spec);
  EXPECT_EQ(refusal(dual, {}), refusal(dual, Isolation{}));
}

TEST(IsolatedRun, SaysWhichProgramIsMissing) {
  const RunDescription d = describe(spec_of({"", "abadi-2016/dp-sgd", "double-well", 60, 2}));
  try {
    compute_run(d, Isolation{.program = {}, .starter = "/nowhere/dpsosp-guest"});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "isolated run: /nowhere/dpsosp-guest: No such file or directory");
  }
}

}  // namespace
}  // namespace dpsosp::isolated_run_test
