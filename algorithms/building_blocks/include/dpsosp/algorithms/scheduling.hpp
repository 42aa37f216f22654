// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string_view>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// The public numbers of a minimisation problem that schedules are functions of.
struct ProblemNumbers {
  double n;    ///< records
  double d;    ///< dimension
  double G;    ///< gradient bound
  double M;    ///< smoothness
  double rho;  ///< Hessian-Lipschitz constant; NaN if the problem states none
  double B;    ///< initial suboptimality
};
/// \throws MissingConstant for G, M or B, and for ρ if it is `needed`
ProblemNumbers numbers_of(const PublicFacts& facts, bool hessian_lipschitz_needed = true);

/// ⌈value⌉ as a count, at least 1; values within 1e-9 above an integer are that integer.
/// \throws InputError "OWNER: the schedule needs over 1e15 WHAT"
Index count_of(std::string_view owner, std::string_view what, double value);
/// ⌊value⌋ as a count, at least 1. \throws InputError as count_of
Index floor_of(std::string_view owner, std::string_view what, double value);

/// If alpha is no smaller than the trivial bound of its metric, says `vacuous` and why.
void mark_vacuous(Scheduled& scheduled, double trivial_bound,
                  std::string_view bound_name = "gradient bound");

/// The smallest α in [low, high] with fits(α), by bisection of ln α to 1e-12; fits must be
/// monotone. Returns high if nothing fits.
template <class Fits>
double smallest_alpha(double low, double high, const Fits& fits) {
  for (int k = 0; k < 200 && high > low * (1 + 1e-12); ++k) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

/// Which of the visited points a run returns.
enum class OutputRule { uniform, min_estimate, last };

constexpr auto words_of(OutputRule) {
  using enum OutputRule;
  return word_list<OutputRule>(
      "output rule", {{uniform, "uniform"}, {min_estimate, "min_estimate"}, {last, "last"}});
}
Field output_field(OutputRule& value);

/// Keeps the point that an output rule asks for while a run visits x_0, x_1, …, x_{T−1}.
class OutputKeeper {
 public:
  /// \param steps  T; the uniform index is drawn from `stream` here, once
  OutputKeeper(OutputRule rule, Index steps, Stream& stream);

  /// x_t and the estimate of ∇F(x_t) made there, in order of t.
  void visit(Index t, ConstVectorRef x, ConstVectorRef estimate);
  /// The kept point; `last` if the run ended before the uniform index.
  const Vector& point(const Vector& last) const;

 private:
  OutputRule rule_;
  Index chosen_ = 0;
  double least_ = 0.0;
  bool kept_ = false;
  Vector point_;
};

}  // namespace dpsosp
