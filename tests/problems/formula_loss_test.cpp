// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/formula_loss.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/glm.hpp"

// Losses as text: derivatives, bounds of them, refusals.
namespace dpsosp::formula_loss_test {
namespace {

constexpr LossRange unit_labels{.reach = 10, .label_least = 0, .label_most = 1};
constexpr LossRange symmetric{.reach = 8, .label_least = -2, .label_most = 2};

struct Known {
  std::string name, text;
  LossRange range;
  double first, second, third;  ///< sup of the derivatives over the range
};

double s(double t) { return 1 / (1 + std::exp(-t)); }
const double e = std::numbers::e, root3 = std::sqrt(3.0), root5 = std::sqrt(5.0);

// Suprema in closed form; all are attained inside of the ranges.
const std::vector<Known> literature{
    {"logistic",
     "max(t, 0) + log1p(exp(-abs(t))) - y*t",
     unit_labels,
     s(10),
     0.25,
     1 / (6 * root3)},
    {"sigmoid square",
     "0.5*(sigmoid(t) - y)^2",
     unit_labels,
     4.0 / 27,
     [] {
       const double v = (15 - std::sqrt(33.0)) / 24;
       return v * v * (1 - v) * (2 - 3 * v);
     }(),
     0.1010146},
    {"Welsch", "0.5*(-expm1(-(t - y)^2))", symmetric, 1 / std::sqrt(2 * e), 1, 1.9517766},
    {"Tukey", "(1 - max(1 - (t - y)^2/4, 0)^3)*4/6", symmetric, 32 / (25 * root5), 1, 4},
    {"Cauchy",
     "0.5*log1p((t - y)^2)",
     symmetric,
     0.5,
     1,
     [] {  // φ‴ = 2u(u² − 3)/(1 + u²)³, stationary at u⁴ − 6u² + 1 = 0
       const double u = std::sqrt(3 - 2 * std::sqrt(2.0));
       return 2 * u * (3 - u * u) / std::pow(1 + u * u, 3);
     }()},
    {"Geman-McClure",
     "(t - y)^2/(1 + (t - y)^2)",
     symmetric,
     3 * root3 / 8,
     2,
     [] {  // φ‴ = 24u(u² − 1)/(1 + u²)⁴, stationary at u² = 1 − 2/√5
       const double v = 1 - 2 / root5;
       return 24 * std::sqrt(v) * (1 - v) / std::pow(1 + v, 4);
     }()},
    {"pseudo-Huber",
     "sqrt(1 + (t - y)^2) - 1",
     symmetric,
     10 / std::sqrt(101.0),
     1,
     3 * 0.5 / std::pow(1.25, 2.5)},
    {"log-cosh",
     "abs(t - y) + log1p(exp(-2*abs(t - y)))",
     symmetric,
     std::tanh(10.0),
     1,
     4 / (3 * root3)},
    {"squared", "0.5*(t - y)^2", symmetric, 10, 1, 0},
    {"smoothed 0-1", "sigmoid(-3*t*(2*y - 1))", unit_labels, 0.75, 9 / (6 * root3), 27.0 / 8},
    {"exponential", "exp(-t)", {.reach = 2}, std::exp(2.0), std::exp(2.0), std::exp(2.0)},
    {"savage", "1/square(1 + exp(t))", {.reach = 6}, 8.0 / 27, 0.1540654, 0.2020293},
};

TEST(FormulaLoss, BoundsAreNeverBelowAndWithinFivePercentOfThoseInClosedForm) {
  for (const Known& k : literature) {
    SCOPED_TRACE(k.name);
    const auto loss = formula_loss(k.text, k.range);
    const double known[] = {k.first, k.second, k.third};
    for (int order = 1; order <= 3; ++order) {
      const double bound = loss->bound(order).value, sup = known[order - 1];
      EXPECT_GE(bound, sup * (1 - 1e-6)) << order;
      EXPECT_LE(bound, 1.05 * sup + 1e-12) << order;
    }
  }
}

TEST(FormulaLoss, DerivativesAreThoseOfTheZoo) {
  struct Pair {
    std::string text;
    std::shared_ptr<const ScalarLoss> zoo;
  };
  const std::vector<Pair> pairs{{"max(t, 0) + log1p(exp(-abs(t))) - y*t", logistic_loss()},
                                {"0.5*(sigmoid(t) - y)^2", sigmoid_square_loss()},
                                {"-0.5*1.5^2*expm1(-((t - y)/1.5)^2)", welsch_loss(1.5)},
                                {"(1 - max(1 - ((t - y)/2)^2, 0)^3)*2/3", tukey_loss(2)}};
  Stream random({.seed = 3});
  Vector t(999), y(999), ours(999), theirs(999);
  for (Index i = 0; i < t.size(); ++i) {
    t[i] = 16 * random.uniform() - 8;
    y[i] = random.uniform();
  }
  for (const Pair& p : pairs) {
    const auto loss = formula_loss(p.text, unit_labels);
    for (int order = 0; order < 3; ++order) {
      loss->derivative(order, t, y, ours);
      p.zoo->derivative(order, t, y, theirs);
      EXPECT_LE((ours - theirs).cwiseAbs().maxCoeff(), 4e-15) << p.text << ", order " << order;
    }
  }
  Vector same(999);
  formula_loss(pairs[0].text, unit_labels)->derivative(0, t, y, ours);
  pairs[0].zoo->derivative(0, t, y, same);
  EXPECT_TRUE((ours.array() == same.array()).all()) << "the same formula in other bits";
}

/// A formula of the grammar, smooth, with `depth` operations within each other.
std::string random_formula(Stream& random, int depth) {
  if (depth == 0) {
    const auto leaf = random.below(3);
    return leaf == 0 ? "t" : leaf == 1 ? "y" : fmt::format("{:.3g}", 2 * random.uniform());
  }
  const auto a = [&] { return random_formula(random, depth - 1); };
  switch (random.below(9)) {
    case 0:
      return "(" + a() + " + " + a() + ")";
    case 1:
      return "(" + a() + " - " + a() + ")";
    case 2:
      return "(" + a() + " * " + a() + ")";
    case 3:
      return "(" + a() + ") / (1 + (" + a() + ")^2)";
    case 4:
      return "exp(-(" + a() + ")^2)";
    case 5:
      return "log1p((" + a() + ")^2)";
    case 6:
      return "sqrt(1 + (" + a() + ")^2)";
    case 7:
      return "sigmoid(" + a() + ")";
    default:
      return "tanh(" + a() + ")";
  }
}

TEST(FormulaLoss, BoundsHoldAtSamplesOfRandomFormulas) {
  Stream random({.seed = 11});
  int read = 0;
  for (int k = 0; k < 60; ++k) {
    const std::string text = random_formula(random, 1 + static_cast<int>(random.below(3)));
    std::shared_ptr<const ScalarLoss> loss;
    try {
      loss = formula_loss(text, {.reach = 3, .label_least = 0, .label_most = 1});
    } catch (const InputError&) {
      continue;  // no bound is found
    }
    ++read;
    Vector t(64), y(64), value(64), below(64), above(64);
    for (Index i = 0; i < t.size(); ++i) {
      t[i] = 6 * random.uniform() - 3;
      y[i] = random.uniform();
    }
    constexpr double h = 1e-5;
    for (int order = 1; order < 3; ++order) {
      loss->derivative(order, t, y, value);
      const double bound = loss->bound(order).value;
      EXPECT_LE(value.cwiseAbs().maxCoeff(), bound * (1 + 1e-12)) << text << ", order " << order;
      loss->derivative(order - 1, (t.array() + h).matrix(), y, above);
      loss->derivative(order - 1, (t.array() - h).matrix(), y, below);
      const double scale = 1 + loss->bound(3).value + bound;
      EXPECT_LE(((above - below) / (2 * h) - value).cwiseAbs().maxCoeff(), 1e-5 * scale)
          << text << ", order " << order;
    }
    loss->derivative(2, (t.array() + h).matrix(), y, above);
    loss->derivative(2, (t.array() - h).matrix(), y, below);
    EXPECT_LE((above - below).cwiseAbs().maxCoeff() / (2 * h),
              loss->bound(3).value * (1 + 1e-9) + 1e-5)
        << text;
  }
  EXPECT_GE(read, 45);
}

void refuses(const std::string& text,
             const std::string& says,
             const LossRange& range = unit_labels) {
  try {
    formula_loss(text, range);
    ADD_FAILURE() << text << " is taken";
  } catch (const InputError& refusal) {
    EXPECT_NE(std::string(refusal.what()).find(says), std::string::npos) << refusal.what();
  }
}

TEST(FormulaLoss, NamesTheColumnOfWhatItCannotRead) {
  refuses("t + ", "column 5: the end, expected a number");
  refuses("2*(t - y", "column 9: the end, expected ')'");
  refuses("t + logg(y)", "column 5: 'logg', expected t, y or one of abs");
  refuses("t^2.5", "column 3");
  refuses("t^17", "column 3");
  refuses("max(t)", "column 6: ')', expected ','");
  refuses("t y", "column 3: 'y', expected an operator");
  refuses("1e999*t", "column 1");
  refuses("", "column 1: the end");
  refuses(std::string(200, '(') + "t" + std::string(200, ')'), "parentheses");
  refuses(std::string(3000, '-') + "t", "at most 2000");
}

TEST(FormulaLoss, RefusesKinksAndDerivativesWithoutBound) {
  refuses("abs(t - y)", "its first derivative jumps from -1 to 1");
  refuses("max(1 - t*(2*y - 1), 0)", "its first derivative jumps");
  refuses("where(1 - abs(t - y), 0.5*(t - y)^2, abs(t - y) - 0.5)", "its second derivative jumps");
  refuses("where(t, 1, 0)", "the loss jumps from 0 to 1 at t = 0");
  refuses("sqrt(t + 10)", "no bound of its first derivative");
  refuses("1/t", "no bound");
  refuses("log1p(t)", "no bound");
  refuses("exp(exp(exp(t)))", "no bound");
  refuses("t^2", "bounded domain", {.reach = std::numeric_limits<double>::infinity()});
}

TEST(FormulaLoss, OfARegulariserIsAPenaltyOfEachCoordinate) {
  LossOption option{.text = "logistic", .regulariser = 0.7, .penalty = "t^2/(1 + t^2)"};
  const Penalty ours = option.make_penalty(5);
  option.penalty = "ratio";
  const Penalty theirs = option.make_penalty(5);
  const Vector w{{-1.3, 0, 0.2, 4}};
  Vector slopes = Vector::Zero(4), curvatures = Vector::Zero(4);
  ours.add_gradient(w, slopes);
  ours.add_curvature(w, curvatures);
  EXPECT_NEAR(ours.value(w), theirs.value(w), 1e-14);
  theirs.add_gradient(-w, slopes);
  theirs.add_curvature(w, curvatures);
  EXPECT_LE(slopes.norm(), 1e-14);
  Vector once = Vector::Zero(4);
  theirs.add_curvature(w, once);
  EXPECT_LE((curvatures - 2 * once).norm(), 1e-14);
  const Constants a = glm_constants(*logistic_loss(), ours, 9),
                  b = glm_constants(*logistic_loss(), theirs, 9);
  for (const auto name : {constant::lipschitz, constant::smoothness, constant::hessian_lipschitz}) {
    EXPECT_GE(a[name], b[name] * (1 - 1e-12)) << name;
    EXPECT_LE(a[name], b[name] * 1.05) << name;
  }
  EXPECT_EQ(a.at(constant::lipschitz).region, "|x| <= 5");
  EXPECT_EQ(b.at(constant::lipschitz).region, "everywhere");
  option.penalty = "t*y";
  EXPECT_THROW(option.make_penalty(5), InputError);
  option.penalty = "abs(t)";
  EXPECT_THROW(option.make_penalty(5), InputError);
}

}  // namespace
}  // namespace dpsosp::formula_loss_test
