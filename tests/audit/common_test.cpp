// SPDX-License-Identifier: Apache-2.0
// Checks of what all claims rest on, each with something wrong.
#include "common.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/problems/altered_records.hpp"
#include "dpsosp/problems/registry.hpp"
#include "replay/failures.hpp"
#include "replay/returned.hpp"
#include "replay/sources.hpp"
#include "replay/sums.hpp"

namespace dpsosp::audit_test {
namespace {

using namespace audit;

class CommonChecks : public testing::TestWithParam<std::string> {};

TEST_P(CommonChecks, FindNothingWrong) {
  for (const std::uint32_t seed : {3U, 4U}) {
    const CheckLine line = audit_common({.check = GetParam(), .little = true, .seed = seed});
    EXPECT_TRUE(line.passed) << line.detail;
  }
}

INSTANTIATE_TEST_SUITE_P(Audit, CommonChecks, testing::ValuesIn(audit_common_checks()),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(CommonChecks, HaveTheNamesThatAreListed) {
  EXPECT_THROW(audit_common({.check = "accountant", .little = true, .seed = {}}), InputError);
}

/// Records of which sums over many lack the last one, or take the wrong ones of a list.
std::unique_ptr<const AnyRecords> wrong(std::unique_ptr<const AnyRecords> right, bool list) {
  const Index n = right->size();
  return std::make_unique<AlteredRecords>(
      std::move(right), n,
      [list](const AnyRecords& of, const Summand& s, const BatchView& batch, double limit,
             VectorRef out) {
        const Index last = batch.size() - 1;
        if (last < 100 || batch.is_list() != list) return of.add(s, batch, limit, out);
        const BatchView other = list ? BatchView(0, last + 1) : BatchView(batch[0], batch[last]);
        return of.add(s, other, limit, out);
      });
}

TEST(Sums, ThatAreNotOfTheirRecordsAreSeen) {
  const auto made = [] {
    return find_problem("double-well")->make({.records = 2000, .dimension = 3});
  };
  EXPECT_LE(furthest_sum(made(), 2000), 1e-10);
  for (const bool list : {false, true}) {
    Problem problem = made();
    problem.records = wrong(std::move(problem.records), list);
    EXPECT_GT(furthest_sum(problem, 2000), 1e-5);
  }
}

TEST(DiscreteNoise, HasSignsAndBitsThatAreSeenToBeUnfair) {
  const auto said = [](auto change) {
    return complaint_of_discrete_noise(1, 4000, [&](WordSource& words, std::int64_t sigma) {
      return change(discrete_gaussian(words, sigma));
    });
  };
  EXPECT_EQ(said([](std::int64_t value) { return value; }), "");
  EXPECT_NE(said([](std::int64_t value) {  // the sign is the lowest bit
              const std::int64_t size = std::abs(value);
              return size % 2 == 0 ? size : -size;
            }),
            "");
  EXPECT_NE(said([](std::int64_t value) { return value & ~std::int64_t{1}; }), "");
  EXPECT_NE(said([](std::int64_t value) { return value | std::int64_t{1} << 9U; }), "");
  EXPECT_NE(said([](std::int64_t value) { return std::abs(value); }), "");
}

TEST(Published, IsTheSameOfOtherRecords) {
  const auto said = [](const std::function<void(Release&, std::uint64_t data_seed)>& change) {
    return complaint_of_published([&](const RunDescription& run) {
      Release release = compute_release(run);
      change(release, run.data_seed);
      return release;
    });
  };
  EXPECT_EQ(said([](Release&, std::uint64_t) {}), "");
  EXPECT_NE(said([](Release& r, std::uint64_t seed) {
              r.algorithm.counts["clipped"] = static_cast<std::int64_t>(seed);
            }),
            "");
  EXPECT_NE(said([](Release& r, std::uint64_t seed) { r.algorithm.steps += seed == 2 ? 1 : 0; }),
            "");
  EXPECT_NE(said([](Release& r, std::uint64_t seed) { r.privacy.queries += seed == 1 ? 1 : 0; }),
            "");
}

}  // namespace
}  // namespace dpsosp::audit_test
