// SPDX-License-Identifier: Apache-2.0
// Expressions have the values of the C library's functions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/expression.hpp"

namespace dpsosp::expression_test {
namespace {

const double inf = std::numeric_limits<double>::infinity();

Expression t() { return Expression::score(); }
Expression y() { return Expression::label(); }

double at(const Expression& expression, double score, double label) {
  Vector out(1);
  expression.evaluate(Vector::Constant(1, score), Vector::Constant(1, label), out);
  return out[0];
}

/// An expression, and the same by plain C++.
struct Case {
  std::string name;
  Expression expression;
  std::function<double(double, double)> expected;
};

std::vector<Case> cases() {
  const auto s = [](double u) { return u >= 0 ? 1.0 : 0.0; };
  return {
      {"constant", 2.5, [](double, double) { return 2.5; }},
      {"score", t(), [](double a, double) { return a; }},
      {"label", y(), [](double, double b) { return b; }},
      {"add", t() + y(), [](double a, double b) { return a + b; }},
      {"subtract", t() - y(), [](double a, double b) { return a - b; }},
      {"multiply", t() * y(), [](double a, double b) { return a * b; }},
      {"divide", t() / y(), [](double a, double b) { return a / b; }},
      {"negate", -t(), [](double a, double) { return -a; }},
      {"abs", abs(t()), [](double a, double) { return std::abs(a); }},
      {"square", square(t()), [](double a, double) { return a * a; }},
      {"sqrt", sqrt(abs(t())), [](double a, double) { return std::sqrt(std::abs(a)); }},
      {"exp", exp(t()), [](double a, double) { return std::exp(a); }},
      {"expm1", expm1(t()), [](double a, double) { return std::expm1(a); }},
      {"log1p", log1p(abs(t())), [](double a, double) { return std::log1p(std::abs(a)); }},
      {"max", max(t(), y()), [](double a, double b) { return std::max(a, b); }},
      {"choose", where_not_negative(t(), 1.0, 0.0), [s](double a, double) { return s(a); }},
      {"choose the other way", where_not_negative(t() - y(), t(), y()),
       [](double a, double b) { return a - b >= 0 ? a : b; }},
      {"nested", (t() - 3.0 * y()) / (1.0 + square(t())) - t() * y(),
       [](double a, double b) { return (a - 3 * b) / (1 + a * a) - a * b; }},
  };
}

TEST(Expression, MatchesTheCLibrary) {
  Stream stream({.seed = 1, .purpose = Purpose::test});
  for (const Case& c : cases())
    for (const Index n : {1, 2, 31, 32, 33, 64, 97}) {
      Vector scores(n), labels(n), out(n);
      stream.fill_normal(3.0, scores);
      stream.fill_normal(3.0, labels);
      c.expression.evaluate(scores, labels, out);
      for (Index i = 0; i < n; ++i) {
        const double expected = c.expected(scores[i], labels[i]);
        EXPECT_NEAR(out[i], expected, 4e-15 * std::abs(expected)) << c.name << ' ' << i;
      }
    }
}

TEST(Expression, HasTheEndsOfEveryFunction) {
  EXPECT_EQ(at(exp(t()), -800, 0), 0);
  EXPECT_EQ(at(exp(t()), -708.5, 0), 0) << "below the least normal number";
  EXPECT_GT(at(exp(t()), -708.3, 0), 0);
  EXPECT_EQ(at(exp(t()), 800, 0), inf);
  EXPECT_EQ(at(exp(t()), 0, 0), 1);
  EXPECT_EQ(at(expm1(t()), -800, 0), -1);
  EXPECT_EQ(at(log1p(t()), 0, 0), 0);
  EXPECT_EQ(at(log1p(t()), -1, 0), -inf);
  EXPECT_EQ(at(t() / y(), 1, 0), inf);
  EXPECT_EQ(at(t() / -y(), 1, 0), -inf);
  EXPECT_EQ(at(1.0 / Expression(-0.0) + 0.0 * Expression(0.0), 0, 0), -inf) << "-0 is not 0";
  EXPECT_EQ(at(where_not_negative(t(), 2.0, 3.0), -0.0, 0), 2);
  EXPECT_TRUE(std::isnan(at(t() - t(), inf, 0)));
}

/// Steps that occur twice are made once, and neither operand is lost.
TEST(Expression, SharesEqualParts) {
  const Expression e = exp(-abs(t()));
  const Expression both = (e + e) * (e - 2.0 * e) + e;
  const double v = std::exp(-1.7);
  EXPECT_NEAR(at(both, 1.7, 0), 2 * v * -v + v, 1e-15);
  EXPECT_EQ(at((t() + y()) * (t() + t()), 3, 5), 8 * 6) << "an equal first operand";
  EXPECT_EQ(at(where_not_negative(y(), t() - y(), y() - t()) + (t() - 2.0), 3, 5), -2 + 1);
  Expression tower = t();
  for (int k = 0; k < 50; ++k) tower = tower * 0.5 + y();
  EXPECT_NEAR(at(tower, 3, 1), 2 + std::ldexp(1, -50), 1e-14);
  Expression same = t();  // of 2^60 steps, were none shared
  for (int k = 0; k < 60; ++k) same = 0.5 * (same + same);
  EXPECT_EQ(at(same, 3, 0), 3);
}

/// A record's value is that of its own score and label, whoever its neighbours are.
TEST(Expression, IsOfEachRecordAlone) {
  const Expression e = log1p(exp(-abs(t()))) * y() + sqrt(abs(t()));
  Stream stream({.seed = 2, .purpose = Purpose::test});
  Vector scores(67), labels(67), before(67), after(67);
  stream.fill_normal(1.0, scores);
  stream.fill_normal(1.0, labels);
  e.evaluate(scores, labels, before);
  scores[40] = std::nan("");
  labels[41] = inf;
  e.evaluate(scores, labels, after);
  for (Index i = 0; i < 67; ++i)
    if (i != 40 && i != 41) {
      EXPECT_EQ(before[i], after[i]) << i;
    }
}

/// The bits do not depend on how many others there are, nor on the record's place among them.
TEST(Expression, HasTheSameBitsAtEveryPlace) {
  Stream stream({.seed = 3, .purpose = Purpose::test});
  for (const Case& c : cases())
    for (const double spread : {1.0, 100.0, 1e-310}) {
      Vector scores(71), labels(71), all(71);
      stream.fill_normal(spread, scores);
      stream.fill_normal(spread, labels);
      c.expression.evaluate(scores, labels, all);
      for (Index first = 0; first < 71; ++first) {
        const Index size = std::min<Index>(71 - first, 1 + first % 35);
        Vector some(size);
        c.expression.evaluate(scores.segment(first, size), labels.segment(first, size), some);
        for (Index k = 0; k < size; ++k)
          EXPECT_EQ(std::bit_cast<std::uint64_t>(some[k]),
                    std::bit_cast<std::uint64_t>(all[first + k]))
              << c.name << ' ' << first << ' ' << k;
      }
    }
}

TEST(Expression, ThatWasMovedFromIsWhole) {
  Expression e = exp(Expression::score());
  const Expression moved = std::move(e);
  const Vector scores = Vector::Zero(3);
  Vector values(3);
  e.evaluate(scores, scores, values);  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_EQ(values, Vector::Ones(3));
}

}  // namespace
}  // namespace dpsosp::expression_test
