// SPDX-License-Identifier: Apache-2.0
// Formulas that mean harm: refused in one line, or harmless; what they say of a record is cut to
// its limit either way.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../trusted/neighbours.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/formula_loss.hpp"
#include "dpsosp/problems/glm.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "dpsosp/trusted/row_loss.hpp"
#include "formula_graph.hpp"

namespace dpsosp::formula_hostile_test {
namespace {

struct Hostile {
  std::string text;
  std::string refusal = {};  ///< a part of it; empty: the formula is taken
};

std::string repeated(const std::string& text, int times) {
  std::string made;
  for (int k = 0; k < times; ++k) made += text;
  return made;
}

const std::vector<Hostile> formulas{
    {repeated("sigmoid(", 60) + "t" + repeated(")", 60), "operations"},
    {repeated("t*", 900) + "t", "operations"},
    {"exp(exp(exp(t)))", "no bound of"},
    {"(t - 0.3)^2/(t - 0.3)", "no bound of"},
    {"where(t - 0.3, 1, 0)", "jumps from 0 to 1"},
    {"where((t - 0.3)*(t - 0.325), t, 1e6*t)", "jumps from"},
    {"where((t - 0.3001)*(t - 0.3002), t, 1e6*t)"},  // jumps, between two places of the search
    {"1e308*t*1e308", "no bound of"},
    {"1e300*t*(1 - y)"},
    {"exp(-1e5*t^2)*exp(1e5*t^2)", "no bound of"},
    {"0*exp(exp(exp(t)))"},
    {"where(t - y, y*t, t*y)"},
    {"sqrt(t^2)", "no bound of"},
    {"(1e-30*t)^16"},
    {"t/(1e-200*t)^2", "no bound of"},
    {"log1p(-2)", "no bound of"},
    {"sqrt(y - 0.5)*t", "no bound of"},
    {"abs(0)*exp(exp(exp(t)))", "no bound of"},
    {"where(t + 100, t, log1p(-2)*t)"},  // NaN beyond the range
    {"exp(1e4*y)*t", "no bound of"},
};

TEST(HostileFormulas, AreRefusedInOneLineOrTaken) {
  for (const Hostile& hostile : formulas) {
    SCOPED_TRACE(hostile.text.substr(0, 50));
    std::string line;
    try {
      const auto loss = formula_loss(hostile.text, {});
      for (int order = 1; order <= 3; ++order)
        EXPECT_TRUE(std::isfinite(loss->bound(order).value)) << order;
    } catch (const InputError& refusal) {
      line = refusal.what();
    }
    EXPECT_EQ(line.empty(), hostile.refusal.empty()) << line;
    EXPECT_NE(line.find(hostile.refusal), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_LE(line.size(), 200U) << line;
  }
}

/// Refused or not: the sums do not rest on what is proved of a formula.
TEST(HostileFormulas, MoveNoSumByMoreThanTheCharge) {
  using namespace trusted_tests;
  Stream stream({.seed = 6, .purpose = Purpose::test});
  double largest = 0;
  for (const Hostile& hostile : formulas) {
    if (hostile.refusal == "operations") continue;
    formula::Graph graph;
    const int loss = parse(graph, hostile.text), slope = graph.derivative(loss),
              curvature = graph.derivative(slope);
    const RowLoss rows{
        "hostile",
        {graph.expression(loss), graph.expression(slope), graph.expression(curvature)},
        nullptr};
    const bool as_penalty = hostile.refusal.empty() && hostile.text.find('y') == std::string::npos;
    const GlmModel penalised{
        "penalised",
        logistic_loss(),
        {0.3, as_penalty ? formula_loss(hostile.text, {.with_label = false}) : nullptr}};
    for (int trial = 0; trial < 200; ++trial) {
      const Index n = 1 + stream.below(6);
      const RecordColumns data = any_columns(stream, n);
      RecordColumns exchanged = data;
      const Index i = stream.below(n);
      exchanged.features.col(i) = any_vector(stream, d, -160, 160);
      exchanged.labels[i] = any_number(stream, -160, 160);
      const double limit = std::pow(10.0, -2 + 4 * stream.uniform());
      const auto compare = [&](const AnyRecords& one, const AnyRecords& other) {
        const Pairs pairs(
            one, other, [] {}, stream, limit);
        EXPECT_LE(pairs.largest_move(), 1 + 1e-8) << hostile.text << ", trial " << trial;
        largest = std::max(largest, pairs.largest_move());
      };
      compare(*admit(rows, RecordTable(data)), *admit(rows, RecordTable(exchanged)));
      if (as_penalty)
        compare(*glm_records(penalised, std::make_shared<const GlmData>(data)),
                *glm_records(penalised, std::make_shared<const GlmData>(exchanged)));
    }
  }
  EXPECT_GE(largest, 0.999) << "no pair comes near the charge";
}

}  // namespace
}  // namespace dpsosp::formula_hostile_test
