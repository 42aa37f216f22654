// SPDX-License-Identifier: Apache-2.0
// Objectives keep what they made of the last point. No answer may show it.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::repeat_test {
namespace {

constexpr Index records = 60;

/// An instance of the family; none where its data are not here.
std::optional<Problem> made(const std::string& name) {
  try {
    return find_problem(name)->make({.records = records, .data_seed = 3});
  } catch (const InputError&) {
    return {};
  }
}

Vector inner_point(const PublicFacts& facts, std::uint64_t seed) {
  Vector x(facts.dimension);
  Stream({.seed = seed}).fill_normal(0.2, x);
  facts.domain.project(x);
  return x;
}

class RepeatedPoints : public testing::TestWithParam<std::string> {};

TEST_P(RepeatedPoints, HessianProductsDoNotDependOnEarlierPoints) {
  const auto asked = made(GetParam()), fresh = made(GetParam());
  if (!asked) GTEST_SKIP() << "its data are not here";
  const Vector x = inner_point(asked->facts, 1), other = inner_point(asked->facts, 2);
  const Vector v = inner_point(asked->facts, 4);
  const auto product = [&](const Problem& p, const Vector& at) {
    Vector out(v.size());
    p.objective().hessian_product(at, v, out);
    return out;
  };
  const Vector first = product(*asked, x), second = product(*asked, other);
  EXPECT_EQ(product(*asked, x), first);
  EXPECT_EQ(product(*fresh, other), second);
  EXPECT_EQ(product(*fresh, x), first);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : problem_registry()) all.push_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Problems, RepeatedPoints, testing::ValuesIn(names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace dpsosp::repeat_test
