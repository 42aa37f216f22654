// SPDX-License-Identifier: Apache-2.0
// Formulas drawn from the grammar of docs/own-loss.md, and what must hold of each.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/formula_loss.hpp"
#include "formula_graph.hpp"

namespace dpsosp::random_formulas {

/// A formula with two continuous derivatives and `depth` operations within each other.
inline std::string random_formula(Stream& random, int depth,
                                  const std::vector<std::string>& leaves) {
  if (depth == 0) {
    const auto leaf = static_cast<std::size_t>(random.below(std::ssize(leaves) + 1));
    return leaf < leaves.size() ? leaves[leaf] : fmt::format("{:.3g}", 2 * random.uniform());
  }
  static constexpr const char* shapes[] = {"({0} + {1})",
                                           "({0} - {1})",
                                           "({0} * {1})",
                                           "({0}) / (1 + ({1})^2)",
                                           "exp(-({0})^2)",
                                           "log1p(({0})^2)",
                                           "sqrt(1 + ({0})^2)",
                                           "sigmoid({0})",
                                           "tanh({0})",
                                           "expm1(-square({0}))",
                                           "max({0}, 0)^3",
                                           "-min({0}, 0.5)^3/abs(2 + square({1}))",
                                           "abs({0})^3",
                                           "where({0}, ({0})^3, -({0})^4)",
                                           "(log1p(exp(-abs({0}))) + max({0}, 0))",  // kinks cancel
                                           "({0})^2"};
  const std::string first = random_formula(random, depth - 1, leaves),
                    second = random_formula(random, depth - 1, leaves);
  return fmt::format(fmt::runtime(shapes[random.below(16)]), first, second);
}

/// The bounds of a formula at samples of a random box, and its derivatives against differences.
/// \return whether bounds were found
inline bool bounds_hold(Stream& random) {
  static const std::vector<std::string> leaves[] = {
      {"t", "y"}, {"(t - y)", "t"}, {"(t - y)"}, {"t"}};
  const int depth = 1 + static_cast<int>(random.below(3));
  const std::string text = random_formula(random, depth, leaves[random.below(4)]);
  const double label = 2 * random.uniform() - 1;
  const LossRange range{.reach = std::pow(10.0, -1.5 + 2 * random.uniform()),
                        .label_least = label,
                        .label_most = label + (random.bernoulli(0.2) ? 0 : random.uniform())};
  std::shared_ptr<const ScalarLoss> loss;
  try {
    loss = formula_loss(text, range);
  } catch (const InputError&) {
    return false;
  }
  constexpr Index samples = 64;
  const double h = 1e-6 * range.reach;
  Vector t(samples), y(samples);
  for (Index i = 0; i < samples; ++i) {
    t[i] = (range.reach - 2 * h) * (2 * random.uniform() - 1);
    y[i] = range.label_least + (range.label_most - range.label_least) * random.uniform();
  }
  t.head(3) << range.reach - 2 * h, 2 * h - range.reach, 0;
  formula::Graph graph;
  int node = parse(graph, text);
  double scale = 1;
  for (int order = 0; order <= 3; ++order) {
    SCOPED_TRACE(fmt::format("{}, order {}", text, order));
    const Expression here = graph.expression(node);
    Vector value(samples), below(samples), above(samples);
    here.evaluate(t, y, value);
    const double bound =
        order == 0 ? loss->largest_fall(range.reach).value : loss->bound(order).value;
    if (order == 0)
      EXPECT_LE(value.maxCoeff() - value.minCoeff(), bound * (1 + 1e-12) + 1e-300);
    else
      EXPECT_LE(value.cwiseAbs().maxCoeff(), bound * (1 + 1e-12) + 1e-300);
    scale += bound + value.cwiseAbs().maxCoeff();
    if (order == 3) break;
    const double rounding = 1e-8 * scale / range.reach;
    here.evaluate((t.array() + h).matrix(), y, above);
    here.evaluate((t.array() - h).matrix(), y, below);
    node = graph.derivative(node);
    const Vector difference = (above - below) / (2 * h);
    if (order == 2) {  // the third derivative may jump
      EXPECT_LE(difference.cwiseAbs().maxCoeff(), loss->bound(3).value + rounding);
      continue;
    }
    graph.expression(node).evaluate(t, y, value);
    EXPECT_LE((difference - value).cwiseAbs().maxCoeff(),
              h * loss->bound(order + 2).value + rounding);
  }
  return true;
}

}  // namespace dpsosp::random_formulas
