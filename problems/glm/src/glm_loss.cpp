// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/glm_loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/formula_loss.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {
namespace {

/// s(t), s′(t) and s″(t), without cancellation on either side.
struct Sigmoid {
  Expression t = Expression::score();
  Expression e = exp(-abs(t));
  Expression value = where_not_negative(t, 1.0, e) / (1.0 + e);
  Expression slope = e / square(1.0 + e);
  Expression curvature = slope * (1.0 - 2.0 * value);
};

std::array<Expression, 3> sigmoid_square() {
  const Sigmoid s;
  const Expression residual = s.value - Expression::label();
  return {0.5 * square(residual), residual * s.slope, square(s.slope) + residual * s.curvature};
}

std::array<Expression, 3> logistic() {
  const Sigmoid s;
  const Expression y = Expression::label();
  return {max(s.t, 0.0) + log1p(s.e) - y * s.t, s.value - y, s.slope};
}

std::array<Expression, 3> welsch(double c) {
  const Expression u = (Expression::score() - Expression::label()) / c, squared = square(u);
  return {(-0.5 * c * c) * expm1(-squared), c * u * exp(-squared),
          (1.0 - 2.0 * squared) * exp(-squared)};
}

std::array<Expression, 3> tukey(double c) {
  const Expression u = (Expression::score() - Expression::label()) / c;
  const Expression inside = max(1.0 - square(u), 0.0);
  return {(c * c / 6) * (1.0 - inside * square(inside)), c * u * square(inside),
          inside * (5.0 * inside - 4.0)};  // 1 − 5u² inside, 0 beyond
}

class SigmoidSquare final : public ScalarLoss {
 public:
  SigmoidSquare() : ScalarLoss(sigmoid_square()) {}

  Bound bound(int order) const override {
    switch (order) {
      case 1:
        return {4.0 / 27,
                "φ′ = (s − y)s′ is affine in y and y → 1 − y, t → −t mirrors it, so |φ′| is "
                "largest at y = 0: s²(1 − s) ≤ 4/27, at s = 2/3."};
      case 2: {
        const double s = (15 - std::sqrt(33.0)) / 24;
        return {
            s * s * (1 - s) * (2 - 3 * s),
            "φ″ = s′² + (s − y)s″ is affine in y and y → 1 − y, t → −t mirrors it; at y = 0 it "
            "is p(s) = s²(1 − s)(2 − 3s), with p′ = s(12s² − 15s + 4) = 0 at s = (15 ∓ √33)/24: "
            "0.07703 and −0.06011; p = 0 at the ends."};
      }
      default: {
        double s = 0.64;  // Newton's method for 60s³ − 108s² + 57s − 8 = 0, the root in the middle
        for (int i = 0; i < 50; ++i)
          s -= (((60 * s - 108) * s + 57) * s - 8) / ((180 * s - 216) * s + 57);
        return {-s * s * (1 - s) * ((12 * s - 15) * s + 4),
                "φ‴ is affine in y and mirrored up to sign; at y = 0 it is "
                "p′(s)s′ = s²(1 − s)(12s² − 15s + 4), stationary where 60s³ − 108s² + 57s = 8: "
                "s ≈ 0.2226, 0.6362, 0.9411, values 0.0484, −0.10102 and 0.0267; 0 at s = 0, 1."};
      }
    }
  }

  Bound largest_fall(double reach) const override {
    const double s = 1 / (1 + std::exp(-reach));
    return {0.5 * s * s, "0 ≤ ½(s − y)² ≤ ½ s(|t|)², with y at the far end of [0, 1]."};
  }
};

class Logistic final : public ScalarLoss {
 public:
  Logistic() : ScalarLoss(logistic()) {}

  Bound bound(int order) const override {
    switch (order) {
      case 1:
        return {1, "φ′ = s − y ∈ [−1, 1]."};
      case 2:
        return {0.25, "φ″ = s(1 − s) ≤ 1/4, at t = 0."};
      default:
        return {1 / (6 * std::sqrt(3.0)),
                "φ‴ = s(1 − s)(1 − 2s), largest at s = ½ ± 1/√12: 1/(6√3)."};
    }
  }

  Bound largest_fall(double reach) const override {
    return {reach + std::log1p(std::exp(-reach)),
            "0 ≤ ln(1 + e^t) − yt ≤ ln(1 + e^{|t|}), with y at an end of [0, 1]."};
  }
};

class Welsch final : public ScalarLoss {
 public:
  explicit Welsch(double scale) : ScalarLoss(welsch(scale)), c_(scale) {}

  Bound bound(int order) const override {
    switch (order) {
      case 1:
        return {c_ / std::sqrt(2 * std::numbers::e),
                "With u = (t − y)/c, φ′ = c u e^{−u²}, largest at u² = 1/2: c/√(2e)."};
      case 2:
        return {1, "φ″ = (1 − 2u²)e^{−u²} with u = (t − y)/c: 1 at u = 0, −2e^{−3/2} at u² = 3/2."};
      default: {
        const double square = (3 - std::sqrt(6.0)) / 2;
        return {(6 - 4 * square) * std::sqrt(square) * std::exp(-square) / c_,
                "φ‴ = (4u³ − 6u)e^{−u²}/c with u = (t − y)/c, stationary at u² = (3 ∓ √6)/2: "
                "1.9518/c and 0.5302/c in absolute value."};
      }
    }
  }

  Bound largest_fall(double) const override { return {0.5 * c_ * c_, "0 ≤ φ ≤ c²/2."}; }

 private:
  double c_;
};

class Tukey final : public ScalarLoss {
 public:
  explicit Tukey(double scale) : ScalarLoss(tukey(scale)), c_(scale) {}

  Bound bound(int order) const override {
    switch (order) {
      case 1:
        return {16 * c_ / (25 * std::sqrt(5.0)),
                "With u = (t − y)/c, |u| ≤ 1, φ′ = c u(1 − u²)², largest at u² = 1/5: 16c/(25√5)."};
      case 2:
        return {1, "φ″ = (1 − u²)(1 − 5u²) on |u| ≤ 1: 1 at u = 0, −4/5 at u² = 3/5; 0 beyond."};
      default:
        return {8 / c_,
                "φ″ is continuous and piecewise smooth in u = (t − y)/c with φ‴ = (20u³ − 12u)/c "
                "on |u| < 1: ±8/c at the ends, ∓8/(√5 c) where it turns, at u² = 1/5; 0 beyond."};
    }
  }

  Bound largest_fall(double) const override { return {c_ * c_ / 6, "0 ≤ φ ≤ c²/6."}; }

 private:
  double c_;
};

}  // namespace

std::shared_ptr<const ScalarLoss> sigmoid_square_loss() {
  return std::make_shared<SigmoidSquare>();
}
std::shared_ptr<const ScalarLoss> logistic_loss() { return std::make_shared<Logistic>(); }
std::shared_ptr<const ScalarLoss> welsch_loss(double scale) {
  return std::make_shared<Welsch>(scale);
}
std::shared_ptr<const ScalarLoss> tukey_loss(double scale) {
  return std::make_shared<Tukey>(scale);
}

namespace {

struct NamedLoss {
  std::string_view name;
  std::shared_ptr<const ScalarLoss> (*make)(double scale);
};
constexpr std::array<NamedLoss, 4> named_losses{
    NamedLoss{"sigmoid_square", [](double) { return sigmoid_square_loss(); }},
    NamedLoss{"logistic", [](double) { return logistic_loss(); }}, NamedLoss{"welsch", welsch_loss},
    NamedLoss{"tukey", tukey_loss}};

}  // namespace

void LossOption::add_fields(Fields& fields) {
  fields.push_back(field("loss", text,
                         "phi(t; y) of the score t = <w, x> and the label y: sigmoid_square, "
                         "logistic, welsch, tukey, or a formula (docs/own-loss.md)"));
  fields.push_back(field("scale", scale, range::positive, "c of the losses welsch and tukey"));
  fields.push_back(
      field("regulariser", regulariser, range::not_negative, "lambda of sum_j r(w_j)"));
  fields.push_back(
      field("penalty", penalty,
            "r(t) of the regulariser: ratio, which is t^2/(1 + t^2), or a formula of a "
            "coordinate t (docs/own-loss.md)"));
  fields.push_back(field("label_least", label_least, range::finite,
                         "with a formula, labels below are raised to it"));
  fields.push_back(field("label_most", label_most, range::finite,
                         "with a formula, labels above are lowered to it"));
}

bool LossOption::is_formula() const {
  return std::ranges::find(named_losses, text, &NamedLoss::name) == named_losses.end();
}

std::shared_ptr<const ScalarLoss> LossOption::make(double reach) const {
  const auto named = std::ranges::find(named_losses, text, &NamedLoss::name);
  if (named != named_losses.end()) return named->make(scale);
  return formula_loss(text, {.reach = reach, .label_least = label_least, .label_most = label_most});
}

Penalty LossOption::make_penalty(double reach) const {
  if (penalty == "ratio" || regulariser == 0) return {regulariser, {}};
  return {regulariser, formula_loss(penalty, {.reach = reach, .with_label = false})};
}

Constants glm_constants(const ScalarLoss& loss, const Penalty& penalty, Index dimension) {
  const double root_d = std::sqrt(static_cast<double>(dimension));
  struct Row {
    std::string_view name;
    std::string_view from;  ///< how the scalar bound bounds the record's loss
    double terms;           ///< of g, in the norm that counts
  };
  const std::array<Row, 3> rows{
      Row{constant::lipschitz, "∇f = φ′x and ‖x‖ ≤ 1. ", root_d},
      Row{constant::smoothness, "∇²f = φ″xxᵀ and ‖x‖ ≤ 1. ", 1},
      Row{constant::hessian_lipschitz,
          "‖∇²f(w) − ∇²f(w′)‖ = |φ″(t) − φ″(t′)|‖x‖² and |t − t′| ≤ ‖w − w′‖, ‖x‖ ≤ 1. ", 1}};
  // Formulas of both have the same region, the domain.
  const std::string region = loss.region() == everywhere ? penalty.region() : loss.region();
  Constants constants;
  for (int k = 0; k < 3; ++k) {
    const Row& row = rows[static_cast<std::size_t>(k)];
    const ScalarLoss::Bound bound = loss.bound(k + 1);
    std::string proof = std::string(row.from) + bound.why;
    double added = 0, met = bound.value * bound.attained;
    if (penalty.weight > 0) {
      const ScalarLoss::Bound term = penalty.bound(k + 1);
      added = penalty.weight * term.value * row.terms;
      met += added * term.attained;
      proof += ' ' + term.why;
    }
    if (const double all = bound.value + added; all > 0)  // a quadratic's third derivative is 0
      constants.set(row.name, proved(all, region, std::move(proof), met / all));
  }
  return constants;
}

}  // namespace dpsosp
