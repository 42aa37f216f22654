// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// A function of a record's score and label, written by ordinary arithmetic before there are
/// records and evaluated by the sums over them. No code of its author runs while records are read,
/// so its value at a record depends on that record alone.
class Expression {
 public:
  Expression(double constant);  // NOLINT(google-explicit-constructor): a number is an expression
  // Copied alone: one that was moved from would have no steps.
  Expression(const Expression&) = default;
  Expression& operator=(const Expression&) = default;
  static Expression score();
  static Expression label();

  friend Expression operator+(const Expression& a, const Expression& b);
  friend Expression operator-(const Expression& a, const Expression& b);
  friend Expression operator*(const Expression& a, const Expression& b);
  friend Expression operator/(const Expression& a, const Expression& b);
  friend Expression operator-(const Expression& a);
  friend Expression abs(const Expression& a);
  friend Expression square(const Expression& a);
  friend Expression sqrt(const Expression& a);
  friend Expression exp(const Expression& a);
  friend Expression expm1(const Expression& a);
  friend Expression log1p(const Expression& a);
  friend Expression max(const Expression& a, const Expression& b);
  /// `yes` where sign ≥ 0, else `no`.
  friend Expression where_not_negative(const Expression& sign, const Expression& yes,
                                       const Expression& no);

  /// out_i = the value at scores_i and labels_i; the three have the same size. The bits are
  /// the same for any i and any size.
  void evaluate(ConstVectorRef scores, ConstVectorRef labels, VectorRef out) const;

 private:
  enum class Operation {
    constant,
    score,
    label,
    add,
    subtract,
    multiply,
    divide,
    negate,
    abs,
    square,
    sqrt,
    exp,
    expm1,
    log1p,
    max,
    choose
  };
  /// Applies an operation to the values of earlier steps.
  struct Step {
    Operation operation;
    int a = -1, b = -1, c = -1;
    double value = 0;  ///< of a constant
    bool operator==(const Step& other) const;
  };

  explicit Expression(Operation leaf);
  Expression(Operation operation, const Expression& a);
  Expression(Operation operation, const Expression& a, const Expression& b);

  int last() const { return static_cast<int>(steps_.size()) - 1; }
  /// Appends the steps of another expression, equal ones once. \return the number of its value
  int append(const Expression& other);
  template <int fixed>
  const double* run(double* registers, const double* scores, const double* labels,
                    Index size) const;

  std::vector<Step> steps_;  // the last one is the value
};

}  // namespace dpsosp
