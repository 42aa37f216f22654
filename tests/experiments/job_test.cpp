// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/job.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "dpsosp/experiments/probe.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::job_test {
namespace {

using nlohmann::json;

struct Sum {
  static constexpr ProbeName probe{"smith-2027/sum", 3};
  double a;
  Index b;
  struct Result {
    double sum;
  };
};
DPSOSP_MEMBERS(Sum, a, b);
DPSOSP_MEMBERS(Sum::Result, sum);

Sum::Result sum(const Sum& p, std::uint64_t seed) {
  return {.sum = p.a + static_cast<double>(p.b) + static_cast<double>(seed)};
}

TEST(Job, OfARunHasItsKeyAndIsReadBack) {
  RunDescription run;
  run.algorithm = "smith-2027/descent";
  run.epsilon = 0.5;
  run.seed = 7;
  const Job job = run;
  EXPECT_EQ(job.key(), RunKey(json(run)));
  const Job again(job.description());
  ASSERT_NE(again.run(), nullptr);
  EXPECT_EQ(*again.run(), run);
  EXPECT_EQ(again.probe(), nullptr);
  EXPECT_EQ(again.seed(), 7U);
  EXPECT_EQ(again, job);
}

TEST(Job, OfAProbeIsDescribedByCallAndVersions) {
  const ProbeCall call{.probe = "smith-2027/sum",
                       .parameters = {{"a", 1.0}, {"b", 2}},
                       .seed = 5,
                       .numbers_version = {.library = 4, .probe = 3}};
  const Job job = call;
  EXPECT_EQ(job.key().text(),
            R"({"numbers_version":{"library":4,"probe":3},"parameters":{"a":1,"b":2},)"
            R"("probe":"smith-2027/sum","seed":5})");
  const Job again(job.description());
  ASSERT_NE(again.probe(), nullptr);
  EXPECT_EQ(again.probe()->parameters, call.parameters);
  EXPECT_EQ(again.run(), nullptr);
  EXPECT_EQ(again.seed(), 5U);
}

TEST(Job, RefusesBadDescriptionsInOneLine) {
  EXPECT_EQ(refusal_of([] {
              Job(json{{"probe", "smith-2027/sum"}, {"seed", 1}});
            }),
            "description of a probe: parameters = nothing, expected a value");
  EXPECT_NE(refusal_of([] { Job(json{{"algorithm", "smith-2027/descent"}}); }), "");
  EXPECT_NE(refusal_of([] {
              Job(json{{"epsilon", std::numeric_limits<double>::infinity()}});
            }),
            "");
}

TEST(ProbeEntry, ComputesFromParametersToResult) {
  const ProbeEntry entry = probe_entry<sum>();
  EXPECT_EQ(entry.name, "smith-2027/sum");
  EXPECT_EQ(entry.numbers_version, 3);
  const json result = entry.compute({{"a", 1.5}, {"b", 2.0}}, 4);
  EXPECT_EQ(result.dump(), R"({"sum":7.5})");
  EXPECT_EQ(read_result<Sum>(result).sum, 7.5);
}

TEST(ProbeEntry, RefusalsNameProbeAndKey) {
  const ProbeEntry entry = probe_entry<sum>();
  EXPECT_EQ(refusal_of([&] {
              entry.compute({{"a", 1}}, 0);
            }),
            "probe smith-2027/sum: b = nothing, expected an integer");
  EXPECT_EQ(refusal_of([&] {
              entry.compute({{"a", 1}, {"b", 1}, {"c", 1}}, 0);
            }),
            "unknown key of probe smith-2027/sum 'c', expected one of a, b");
  EXPECT_EQ(refusal_of([] { read_result<Sum>(json::object()); }),
            "result of probe smith-2027/sum: sum = nothing, expected a number");
}

}  // namespace
}  // namespace dpsosp::job_test
