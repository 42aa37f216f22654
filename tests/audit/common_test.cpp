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
#include "dpsosp/problems/registry.hpp"
#include "failures.hpp"
#include "returned.hpp"
#include "sources.hpp"
#include "sums.hpp"

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

INSTANTIATE_TEST_SUITE_P(Audit,
                         CommonChecks,
                         testing::ValuesIn(audit_common_checks()),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(CommonChecks, HaveTheNamesThatAreListed) {
  EXPECT_THROW(audit_common({.check = "accountant", .little = true, .seed = {}}), InputError);
}

/// Records whose sums have something wrong.
class Wrong final : public Records {
 public:
  enum class What { last_of_many, list, difference };
  Wrong(std::unique_ptr<const Records> right, What what) : right_(std::move(right)), what_(what) {}
  Index size() const override { return right_->size(); }
  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    return right_->add_gradients(
        point, block, what_ == What::difference ? batch : cut(batch), limit, out);
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    return right_->add_gradient_differences(point, previous, block, cut(batch), limit, out);
  }
  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    return right_->add_loss_differences(point, centre, batch, limit, out);
  }

 private:
  BatchView cut(const BatchView& batch) const {
    if (batch.size() < 500) return batch;
    if (what_ == What::list)
      return batch.is_list() ? BatchView(batch[0], batch[0] + batch.size()) : batch;
    return batch.is_list() ? batch : BatchView(batch.begin(), batch.begin() + batch.size() - 1);
  }
  std::unique_ptr<const Records> right_;
  What what_;
};

TEST(Sums, ThatAreNotOfTheirRecordsAreSeen) {
  const auto made = [] {
    return find_problem("double-well")->make({.records = 2000, .dimension = 3});
  };
  EXPECT_LE(furthest_sum(made()).distance, 1e-10);
  for (const auto what : {Wrong::What::last_of_many, Wrong::What::list, Wrong::What::difference}) {
    Problem problem = made();
    problem.records = std::make_unique<Wrong>(std::move(problem.records), what);
    EXPECT_GT(furthest_sum(problem).distance, 1e-5);
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
