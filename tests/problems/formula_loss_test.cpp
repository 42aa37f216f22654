// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/formula_loss.hpp"

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/glm.hpp"
#include "formula_graph.hpp"
#include "random_formulas.hpp"

// Losses as text: derivatives, bounds of them, refusals.
namespace dpsosp::formula_loss_test {
namespace {

using random_formulas::bounds_hold;

constexpr LossRange unit_labels{.reach = 10, .label_least = 0, .label_most = 1};
constexpr LossRange symmetric{.reach = 8, .label_least = -2, .label_most = 2};

using Big = boost::multiprecision::cpp_bin_float_100;

struct Known {
  std::string name, text;
  LossRange range;
  double first, second, third;  ///< sup of the derivatives over the range
  std::function<Big(const Big& t, const Big& y)> exact;
};

double s(double t) { return 1 / (1 + std::exp(-t)); }
const double e = std::numbers::e, root3 = std::sqrt(3.0), root5 = std::sqrt(5.0);

// Suprema in closed form; all are attained inside of the ranges.
const std::vector<Known> literature{
    {"logistic", "max(t, 0) + log1p(exp(-abs(t))) - y*t", unit_labels, s(10), 0.25, 1 / (6 * root3),
     [](const Big& t, const Big& y) -> Big { return log(1 + exp(t)) - y * t; }},
    {"sigmoid square", "0.5*(sigmoid(t) - y)^2", unit_labels, 4.0 / 27,
     [] {
       const double v = (15 - std::sqrt(33.0)) / 24;
       return v * v * (1 - v) * (2 - 3 * v);
     }(),
     0.1010146,
     [](const Big& t, const Big& y) -> Big {
       const Big r = 1 / (1 + exp(-t)) - y;
       return r * r / 2;
     }},
    {"Welsch", "0.5*(-expm1(-(t - y)^2))", symmetric, 1 / std::sqrt(2 * e), 1, 1.9517766,
     [](const Big& t, const Big& y) -> Big {
       const Big u = t - y;
       return (1 - exp(-u * u)) / 2;
     }},
    {"Tukey", "(1 - max(1 - (t - y)^2/4, 0)^3)*4/6", symmetric, 32 / (25 * root5), 1, 4,
     [](const Big& t, const Big& y) -> Big {
       const Big v = (t - y) * (t - y) / 4;
       return v > 1 ? Big(2) / 3 : Big((1 - (1 - v) * (1 - v) * (1 - v)) * 2 / 3);
     }},
    {"Cauchy", "0.5*log1p((t - y)^2)", symmetric, 0.5, 1,
     [] {  // φ‴ = 2u(u² − 3)/(1 + u²)³, stationary at u⁴ − 6u² + 1 = 0
       const double u = std::sqrt(3 - 2 * std::sqrt(2.0));
       return 2 * u * (3 - u * u) / std::pow(1 + u * u, 3);
     }(),
     [](const Big& t, const Big& y) -> Big {
       const Big u = t - y;
       return log(1 + u * u) / 2;
     }},
    {"Geman-McClure", "(t - y)^2/(1 + (t - y)^2)", symmetric, 3 * root3 / 8, 2,
     [] {  // φ‴ = 24u(u² − 1)/(1 + u²)⁴, stationary at u² = 1 − 2/√5
       const double v = 1 - 2 / root5;
       return 24 * std::sqrt(v) * (1 - v) / std::pow(1 + v, 4);
     }(),
     [](const Big& t, const Big& y) -> Big {
       const Big u = t - y;
       return u * u / (1 + u * u);
     }},
    {"pseudo-Huber", "sqrt(1 + (t - y)^2) - 1", symmetric, 10 / std::sqrt(101.0), 1,
     3 * 0.5 / std::pow(1.25, 2.5),
     [](const Big& t, const Big& y) -> Big {
       const Big u = t - y;
       return sqrt(1 + u * u) - 1;
     }},
    {"log-cosh", "abs(t - y) + log1p(exp(-2*abs(t - y)))", symmetric, std::tanh(10.0), 1,
     4 / (3 * root3),
     [](const Big& t, const Big& y) -> Big { return log(exp(t - y) + exp(y - t)); }},
    {"squared", "0.5*(t - y)^2", symmetric, 10, 1, 0,
     [](const Big& t, const Big& y) -> Big { return (t - y) * (t - y) / 2; }},
    {"smoothed 0-1", "sigmoid(-3*t*(2*y - 1))", unit_labels, 0.75, 9 / (6 * root3), 27.0 / 8,
     [](const Big& t, const Big& y) -> Big { return 1 / (1 + exp(3 * t * (2 * y - 1))); }},
    {"exponential",
     "exp(-t)",
     {.reach = 2},
     std::exp(2.0),
     std::exp(2.0),
     std::exp(2.0),
     [](const Big& t, const Big&) -> Big { return exp(-t); }},
    {"savage",
     "1/square(1 + exp(t))",
     {.reach = 6},
     8.0 / 27,
     0.1540654,
     0.2020293,
     [](const Big& t, const Big&) -> Big {
       const Big v = 1 + exp(t);
       return 1 / (v * v);
     }},
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

/// The derivative of an order by central differences, with an error below 1e-35.
Big derivative(const Known& loss, int order, const Big& t, const Big& y) {
  const Big h("1e-20");
  const auto at = [&](int steps) { return loss.exact(t + steps * h, y); };
  switch (order) {
    case 0:
      return at(0);
    case 1:
      return (at(1) - at(-1)) / (2 * h);
    case 2:
      return (at(1) - 2 * at(0) + at(-1)) / (h * h);
    default:
      return (at(2) - 2 * at(1) + 2 * at(-1) - at(-2)) / (2 * h * h * h);
  }
}

TEST(FormulaLoss, DerivativesAreThoseOfClosedFormsInHundredDigits) {
  Stream random({.seed = 5});
  constexpr Index samples = 200;
  for (const Known& k : literature) {
    const LossRange& range = k.range;
    Vector t(samples), y(samples), values(samples);
    for (Index i = 0; i < samples; ++i) {
      t[i] = range.reach * (2 * random.uniform() - 1);
      y[i] = range.label_least + (range.label_most - range.label_least) * random.uniform();
    }
    t.head(3) << 0, range.reach, -range.reach;
    y.head(3) << (range.label_least + range.label_most) / 2, range.label_least, range.label_most;
    formula::Graph graph;
    int node = parse(graph, k.text);
    for (int order = 0; order <= 3; ++order) {
      graph.expression(node).evaluate(t, y, values);
      for (Index i = 0; i < samples; ++i) {
        const auto exact = static_cast<double>(derivative(k, order, t[i], y[i]));
        EXPECT_NEAR(values[i], exact, 1e-12 * std::max(1.0, std::abs(exact)))
            << k.name << ", order " << order << " at t = " << t[i] << ", y = " << y[i];
      }
      node = graph.derivative(node);
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
  const std::vector<Pair> same{pairs[0],
                               pairs[1],
                               {"-0.5*expm1(-(t - y)^2)", welsch_loss(1)},
                               {"1/6*(1 - max(1 - (t - y)^2, 0)^3)", tukey_loss(1)}};
  for (const Pair& p : same) {
    formula_loss(p.text, unit_labels)->derivative(0, t, y, ours);
    p.zoo->derivative(0, t, y, theirs);
    EXPECT_EQ(ours, theirs) << p.text << " in other bits";
  }
}

/// The logistic loss of labels 0 and 1, written with kinks that cancel.
TEST(FormulaLoss, BranchesOfASignAndOfItsNegativeAgreeWhereItIsZero) {
  const std::vector<std::string> texts{
      "max(-t, 0) + log1p(exp(-abs(t))) + (1 - y)*t",
      "log1p(exp(-abs(t))) - min(t, 0) + (1 - y)*t",
      "log1p(exp(-abs(-t))) + max(0, t) - y*t",
      "max(t, -t)/2 + t/2 + log1p(exp(-abs(t))) - y*t",
      "max(-3*t, 0)/3 + log1p(exp(-abs(t/2)*2)) + (1 - y)*t",
      "max(-t*(2*y - 1), 0) + log1p(exp(-abs((2*y - 1)*t)))",
      "max(t*(1 - 2*y), 0) + log1p(exp(-abs(t*(2*y - 1))))",
      "where(-t, -t, 0) + log1p(exp(-abs(t))) + (1 - y)*t",
      "where(t, 0, -t) + log1p(exp(-abs(-t))) + (1 - y)*t",
      "tanh(-t) + where(t, t, 0) + log1p(exp(-abs(t))) + tanh(t) - y*t",
      "sigmoid(tanh(-t)) + where(t, t, 0) + log1p(exp(-abs(t))) - sigmoid(tanh(-t)) - y*t",
      "max(-t, 0) + log1p(exp(-abs(t))) + (1 - y)*t + 1e-3*(tanh(t) + tanh(-t))"};
  const Vector t{{0, -0.0, 1e-300, -1e-300, 1e-9, -1e-9, 0.3, -0.3, 7, -7, 10, -10}};
  Vector ours(t.size()), theirs(t.size());
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    const auto loss = formula_loss(text, unit_labels);
    for (const double label : {0.0, 1.0}) {
      const Vector y = Vector::Constant(t.size(), label);
      for (int order = 0; order < 3; ++order) {
        loss->derivative(order, t, y, ours);
        logistic_loss()->derivative(order, t, y, theirs);
        EXPECT_LE((ours - theirs).cwiseAbs().maxCoeff(), 4e-15)
            << "order " << order << ", y = " << label;
      }
    }
    const double known[] = {s(10), 0.25, 1 / (6 * root3)};
    for (int order = 1; order <= 3; ++order) {
      EXPECT_GE(loss->bound(order).value, known[order - 1] * (1 - 1e-6)) << order;
      EXPECT_LE(loss->bound(order).value, 1.05 * known[order - 1]) << order;
    }
  }
}

TEST(FormulaLoss, BoundsHoldAtSamplesOfRandomFormulas) {
  Stream random({.seed = 11});
  int bounded = 0;
  for (int k = 0; k < 60; ++k) bounded += bounds_hold(random) ? 1 : 0;
  EXPECT_GE(bounded, 45);
}

TEST(FormulaLoss, ADifferenceIsOneVariableWhereNothingElseIs) {
  const LossRange range{.reach = 1, .label_least = 2, .label_most = 3};
  EXPECT_GE(formula_loss("(t - y)^2 - t^2", range)->bound(1).value, 6);  // φ′ = −2y
  EXPECT_GE(formula_loss("(t - y)^2 - y*t", range)->bound(1).value, 11);
  EXPECT_GE(formula_loss("(t - y)^2", range)->bound(1).value, 8);
  EXPECT_LE(formula_loss("(t - y)^2", range)->bound(1).value, 8.1);
}

TEST(FormulaLoss, StatesWhatIsMetOfALooseBound) {
  const Constants made = glm_constants(
      *formula_loss("log1p(t^2)*(t^2 + 1e-10)^2/(t^2 + 1e-10)^2", unit_labels), {}, 3);
  EXPECT_TRUE(made.at(constant::lipschitz).tight());
  const Constant& loose = made.at(constant::hessian_lipschitz);
  EXPECT_GE(loose.value, 100);  // 2.8 is the truth
  EXPECT_LE(loose.attained, 3 / loose.value);
  const Constants linear = glm_constants(*formula_loss("exp(t)*exp(-t)*t", unit_labels), {}, 3);
  EXPECT_GT(linear.at(constant::smoothness).attained, 0);
}

TEST(FormulaLoss, OfAQuadraticStatesNoThirdConstant) {
  const Constants made = glm_constants(*formula_loss("0.5*(t - y)^2", symmetric), {}, 3);
  EXPECT_TRUE(made.contains(constant::smoothness));
  EXPECT_FALSE(made.contains(constant::hessian_lipschitz));
}

void refuses(const std::string& text, const std::string& says,
             const LossRange& range = unit_labels) {
  try {
    formula_loss(text, range);
    ADD_FAILURE() << text << " is taken";
  } catch (const InputError& refusal) {
    EXPECT_NE(std::string(refusal.what()).find(says), std::string::npos) << refusal.what();
  }
}

TEST(FormulaLoss, ReadsTheGrammarOfItsPage) {
  struct Read {
    std::string text;
    double (*value)(double t, double y);
  };
  const std::vector<Read> all{
      {"t - y + 2 - 3*t", [](double t, double y) { return ((t - y) + 2) - 3 * t; }},
      {"t/(2 + y)*3/7", [](double t, double y) { return ((t / (2 + y)) * 3) / 7; }},
      {"-t^2 - -y", [](double t, double y) { return -(t * t) + y; }},
      {" 2 *-(t)^3+ +y ", [](double t, double y) { return -2 * (t * t * t) + y; }},
      {"t^7", [](double t, double) { return std::pow(t, 7); }},
      {"t ^ 16", [](double t, double) { return std::pow(t, 16); }},
      {".5e-1*t + 1E1", [](double t, double) { return 0.05 * t + 10; }},
      {"min(t, y) - 2*max(y, t)",
       [](double t, double y) { return std::min(t, y) - 2 * std::max(t, y); }},
      {"where(t - y, t, 2*y)", [](double t, double y) { return t >= y ? t : 2 * y; }},
      {"square(abs(t))*sqrt(1 + y)", [](double t, double y) { return t * t * std::sqrt(1 + y); }},
      {"exp(-t) + expm1(y) - log1p(t^2)",
       [](double t, double y) { return std::exp(-t) + std::expm1(y) - std::log1p(t * t); }},
      {"tanh(t) + sigmoid(t)", [](double t, double) { return std::tanh(t) + s(t); }}};
  const Vector t{{-3, -0.7, 0, 0.2, 1.9}}, y{{0.5, -0.7, 0, 1, 0.1}};
  for (const Read& r : all) {
    formula::Graph graph;
    Vector values(t.size());
    graph.expression(parse(graph, r.text)).evaluate(t, y, values);
    for (Index i = 0; i < t.size(); ++i) {
      const double expected = r.value(t[i], y[i]);
      EXPECT_NEAR(values[i], expected, 2e-14 * std::max(1.0, std::abs(expected))) << r.text;
    }
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
  refuses(std::string("t\0 + log1p(-2)", 14), "column 2");
  refuses(std::string(1500, '9') + "*t", "column 1: '" + std::string(40, '9') + "', expected");
}

TEST(FormulaLoss, RefusesKinksAndDerivativesWithoutBound) {
  refuses("abs(t - y)", "its first derivative jumps from -1 to 1");
  refuses("max(1 - t*(2*y - 1), 0)", "its first derivative jumps");
  refuses("where(1 - abs(t - y), 0.5*(t - y)^2, abs(t - y) - 0.5)", "its second derivative jumps");
  refuses("where(t, 1, 0)", "the loss jumps from 0 to 1 at t = 0");
  refuses("where(t - y, 0, y)", "the loss jumps");  // not where y = 0
  refuses("max(-t^2, 0)", "its second derivative jumps from 0 to -2 at t = 0");
  // a sign that is 0 at 0 alone, to rounding
  refuses("min(sigmoid(log1p(t^2)), 0.5)*(1 + y)", "its second derivative jumps from 0 to 0.5");
  // kinks of one sign that do not cancel
  refuses("max(-t, 0) + max(t, 0)", "its first derivative jumps from -1 to 1 at t = 0");
  refuses("max(-t, 0) + log1p(exp(-2*abs(t)))", "its first derivative jumps");
  refuses("abs(t) + min(t, 0)", "its first derivative jumps");
  refuses("where(-t, -t, 0) + max(t, 0)", "its first derivative jumps from -1 to 1");
  refuses("sqrt(t + 10)", "no bound of its first derivative");
  refuses("1/t", "no bound");
  refuses("log1p(t)", "no bound");
  refuses("exp(exp(exp(t)))", "no bound");
  refuses("t^2", "bounded domain", {.reach = std::numeric_limits<double>::infinity()});
}

TEST(FormulaLoss, RefusesKinksOfAnyHeight) {
  refuses("1e-10*abs(t)", "its first derivative jumps from -1e-10 to 1e-10 at t = 0");
  refuses("t^2 + 1e-10*abs(t - y)", "its first derivative jumps from -1e-10 to 1e-10");
  refuses("1e-11*max(1 - t*(2*y - 1), 0)", "its first derivative jumps from 0 to 1e-11 at t = -1");
}

TEST(FormulaLoss, TakesForNoKinkWhatRoundingMakesOfASmoothFunction) {
  const auto steep = formula_loss("sigmoid(10000*t)", unit_labels),
             high = formula_loss("1e9*(max(t, 0) + log1p(exp(-abs(t))) - y*t)", unit_labels),
             nested = formula_loss("tanh(3*tanh(3*tanh(3*t)))", unit_labels);
  EXPECT_NEAR(steep->bound(2).value, 1e8 / (6 * root3), 1e5);
  EXPECT_NEAR(high->bound(2).value, 0.25e9, 0.01e9);
  EXPECT_NEAR(nested->bound(1).value, 27, 0.5);
}

TEST(FormulaLoss, RefusesKinksAtAnyOneOfTheLabelsOfTheSearch) {
  for (int k = 0; k <= 8; ++k)
    refuses(fmt::format("where(-square(y - {}), abs(t), t^2)", k / 8.0),
            "its first derivative jumps");
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
