// SPDX-License-Identifier: Apache-2.0
// Allocations of the problems: none per record in a sum, O(n d) for records in memory,
// nothing that grows with n for simulated ones.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "heap.hpp"

namespace dpsosp::memory_test {
namespace {

using testing::heap;
constexpr double unlimited = std::numeric_limits<double>::infinity();

class EveryProblemsHeap : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!testing::heap_is_counted()) GTEST_SKIP() << "a sanitiser owns the heap";
    family_ = find_problem(GetParam());
    if (const std::string missing = family_->missing(); !missing.empty()) GTEST_SKIP() << missing;
  }
  /// Bytes that an instance of n records keeps.
  std::size_t size_of(Index n) const {
    const std::size_t before = heap().live_bytes;
    const Problem p = family_->make({.records = n});
    return heap().live_bytes - before;
  }
  bool simulate(const std::string& sampling) {
    Fields fields = family_->fields();
    const auto f = std::ranges::find(fields, "sampling", &Field::name);
    if (f == fields.end() || std::ranges::find(f->choices, sampling) == f->choices.end())
      return false;
    f->set(sampling);
    const auto support = std::ranges::find(fields, "support", &Field::name);
    if (support != fields.end()) support->set("6");  // a GLM simulates atoms alone
    return true;
  }
  std::unique_ptr<ProblemFamily> family_;
};

TEST_P(EveryProblemsHeap, SumsAllocateNothingPerRecord) {
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  const Problem p = family_->make({.records = 256});
  const Vector x = p.facts.initial_point;
  const Vector x_other = x + Vector::Constant(x.size(), 0.01);
  const Vector y = Vector::Constant(p.facts.dual_dimension, 0.1);
  Vector out(x.size());
  const auto allocations = [&](Index batch, bool difference) {
    out.setZero();
    const Point at(x, y), from(x_other, y);
    const std::size_t before = heap().allocations;
    if (difference)
      p.records->add_gradient_differences(at, from, Block::x, BatchView(0, batch), unlimited, out);
    else
      p.records->add_gradients(at, Block::x, BatchView(0, batch), unlimited, out);
    return heap().allocations - before;
  };
  for (const bool difference : {false, true}) {
    allocations(256, difference);  // what is made once
    EXPECT_EQ(allocations(256, difference), allocations(8, difference)) << difference;
  }
}

TEST_P(EveryProblemsHeap, GrowsLinearlyWithRecordsInMemory) {
  size_of(1000);  // what is made once
  const auto by_record = [&](Index n) {
    return (static_cast<double>(size_of(2 * n)) - static_cast<double>(size_of(n))) /
           static_cast<double>(n);
  };
  const double small = by_record(1000), large = by_record(4000);
  EXPECT_LE(large, 1.1 * small + 8);
  RecordProperty("bytes_per_record", std::to_string(large));
}

TEST_P(EveryProblemsHeap, DoesNotGrowWithSimulatedRecords) {
  for (const std::string sampling : {"whole", "stream"}) {
    if (!simulate(sampling)) return;  // the family has none
    size_of(1000);
    const std::size_t few = size_of(1000), many = size_of(10'000'000'000'000'000);
    EXPECT_LE(many, few + 256) << sampling;
    const Problem p = family_->make({.records = 10'000'000'000'000'000});
    const auto d = static_cast<std::size_t>(p.facts.dimension + p.facts.dual_dimension);
    EXPECT_LE(many, 8 * (40 * d + 4 * d * d) + 16384) << sampling;  // O(d) or O(d²)
  }
}

std::vector<std::string> all_problems() {
  std::vector<std::string> names;
  for (const auto& e : problem_registry()) names.push_back(e.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryProblemsHeap, ::testing::ValuesIn(all_problems()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace dpsosp::memory_test
