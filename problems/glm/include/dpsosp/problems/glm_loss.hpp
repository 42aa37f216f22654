// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/trusted/expression.hpp"

namespace dpsosp {

inline constexpr const char* everywhere = "everywhere";

/// A scalar loss φ(t; y) of a linear score t = ⟨w, x⟩ and a label y.
class ScalarLoss {
 public:
  virtual ~ScalarLoss() = default;

  /// φ, φ′ and φ″ in the score.
  const std::array<Expression, 3>& derivatives() const { return derivatives_; }
  /// out_i = φ^(order)(t_i; y_i) in t, order ∈ {0, 1, 2}; t, y and out have the same size.
  void derivative(int order, ConstVectorRef t, ConstVectorRef y, VectorRef out) const {
    derivatives_[static_cast<std::size_t>(order)].evaluate(t, y, out);
  }

  /// sup |φ^(order)| over every t ∈ R and every label of the loss's range, order ∈ {1, 2, 3}; for
  /// order 3 the smallest Lipschitz constant of φ″. `why` proves it, in Markdown.
  struct Bound {
    double value = 0;
    std::string why;
    double attained = 1;  ///< share of it that is met, in (0, 1]
  };
  virtual Bound bound(int order) const = 0;

  /// sup φ(t; y) over |t| ≤ reach and every label of the range, less the infimum of φ: what a
  /// record's loss falls by from such a point, at most.
  virtual Bound largest_fall(double reach) const = 0;
  /// Where the bounds hold.
  virtual std::string region() const { return everywhere; }

 protected:
  explicit ScalarLoss(std::array<Expression, 3> derivatives)
      : derivatives_(std::move(derivatives)) {}

 private:
  std::array<Expression, 3> derivatives_;
};

/// ½(s(t) − y)², s(t) = 1/(1 + e^{−t}), y ∈ [0, 1].
std::shared_ptr<const ScalarLoss> sigmoid_square_loss();
/// ln(1 + e^t) − y t, y ∈ [0, 1].
std::shared_ptr<const ScalarLoss> logistic_loss();
/// (c²/2)(1 − e^{−(t − y)²/c²}), y ∈ R; c > 0.
std::shared_ptr<const ScalarLoss> welsch_loss(double scale);
/// (c²/6)(1 − (1 − (t − y)²/c²)³) for |t − y| ≤ c, c²/6 beyond, y ∈ R; c > 0.
std::shared_ptr<const ScalarLoss> tukey_loss(double scale);

/// g(w) = λ Σ_j r(w_j), which is public and part of every record; λ ≥ 0.
struct Penalty {
  double weight = 0;                            ///< λ
  std::shared_ptr<const ScalarLoss> term = {};  ///< r(t), a formula without y; null: t²/(1 + t²)

  double value(ConstVectorRef w) const;
  /// out += ∇g(w).
  void add_gradient(ConstVectorRef w, VectorRef out) const;
  /// out += the diagonal of ∇²g(w), which has nothing else.
  void add_curvature(ConstVectorRef w, VectorRef out) const;
  /// sup |r^(order)|, order ∈ {1, 2, 3}.
  ScalarLoss::Bound bound(int order) const;
  /// Where the bounds hold.
  std::string region() const { return term && weight > 0 ? term->region() : everywhere; }
};

/// The loss as a setting: one of the four above by name, or a formula.
struct LossOption {
  std::string text = "sigmoid_square";
  double scale = 1.0;
  double regulariser = 0.0;
  std::string penalty = "ratio";           ///< r of the regulariser: t²/(1 + t²), or a formula
  double label_least = 0, label_most = 1;  ///< of a formula's labels, which are cut to them

  void add_fields(Fields& fields);
  bool is_formula() const;
  /// Whether labels are in [0, 1] and y = 1 is told by a score > 0.
  bool classifies() const { return text == "sigmoid_square" || text == "logistic"; }
  /// \param reach  bound of |⟨w, x⟩| on the domain, for a formula
  std::shared_ptr<const ScalarLoss> make(double reach) const;
  /// \param reach  bound of |w_j| on the domain, for a formula
  Penalty make_penalty(double reach) const;
};

/// G, M and ρ of φ(⟨w, x⟩; y) + g(w) for ‖x‖ ≤ 1, w ∈ R^d; `attained` is exact without g.
Constants glm_constants(const ScalarLoss& loss, const Penalty& penalty, Index dimension);

}  // namespace dpsosp
