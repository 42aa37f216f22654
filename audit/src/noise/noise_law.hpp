// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/stream.hpp"

/// Tests of numbers against the standard normal law, and of pairs against independence. Every
/// probability is exact or an upper bound, but for those of sums of squares, which are right to a
/// few per cent. How many numbers are drawn may depend on them: sums of products of a number with a
/// later one are bounded whatever decides which are drawn (probability_of_sum), the other bounds
/// hold for a number of draws that was decided beforehand.
namespace dpsosp::audit {

/// What a test of goodness of fit says.
struct Finding {
  double p = 1;      ///< probability under the claimed law of what is as far off
  std::string what;  ///< in words
};

/// Probability of a standard normal number as far out as z, on either side.
double two_sided(double z);
/// Likewise of a sum of squares of `degrees` independent standard normal numbers.
double two_sided_chi_squared(double value, std::int64_t degrees);
/// Likewise of a sum of squares with this mean and variance, by the chi-squared law, scaled, that
/// has them.
double two_sided_squares(double value, double mean, double variance);
/// Likewise of `count` successes among `trials` ≥ 1 of the given probability.
double two_sided_binomial(std::int64_t count, std::int64_t trials, double probability);
/// Bound of the probability that m places of n equally likely to be hit at most p each hold any
/// `count` ≥ 2 hits.
double crowding(std::int64_t count, double trials, double most_likely);

/// The number with the same probability below it under the standard normal law as x has under the
/// Laplace law of scale 1.
double normal_score_of_laplace(double x);
/// Likewise of u in (0, 1) under the uniform law.
double normal_score(double u);

/// Bound of the probability that a mean of n products of independent standard normal numbers, each
/// in one product, is as far from 0, on either side.
double probability_of_products(double mean, std::int64_t n);

/// Bound of the probability that Σ a_i b_i is as far from 0 as `sum`, on either side, while Σ a_i²
/// is `squares`, where each b_i is standard normal and independent of all that is known when it is
/// drawn, a_i among it. What is known may decide whether it is drawn at all, so a number may be in
/// any number of products, and a sum may end where its own numbers say so.
///
/// exp(λ Σ ab − λ² Σ a²/2) is a supermartingale for every λ, and so is its mean over λ normal with
/// variance 1/c, √(c/(c + V)) exp(S²/(2(c + V))); this takes the mean over c = 1, 10, …, 10⁶. It
/// exceeds 1/p with probability at most p (Ville).
double probability_of_sum(double sum, double squares);

/// The normal score of |z|, whose sign and size are independent, as its mean over the 128th of the
/// law of |z| that holds it: so its exponential moments are at most those of a normal number.
double mean_score_of_size(double z);

/// Numbers of which each should be standard normal and independent of the others.
class NormalLaw {
 public:
  static constexpr std::size_t cells = 256;
  static constexpr std::array<double, 4> limits{3, 4, 5, 6};

  void add(double z);
  std::int64_t count() const { return count_; }
  double squares() const { return squares_; }
  std::int64_t beyond(std::size_t limit) const { return beyond_[limit]; }
  static constexpr double extreme = 4.5;
  /// Distances beyond `extreme`, the first few hundred.
  const std::vector<double>& extremes() const { return extremes_; }
  /// Mean, variance, fourth moment, distribution, cells of equal probability, tails, largest.
  /// Appends at least one finding. \param of  "entry 3"
  void test(const std::string& of, std::vector<Finding>& findings) const;

 private:
  std::int64_t count_ = 0;
  double sum_ = 0, squares_ = 0, fourth_ = 0, largest_ = 0;
  std::array<std::int64_t, cells> in_cell_{};
  std::array<std::int64_t, limits.size()> beyond_{};
  std::vector<double> extremes_;
};

/// Among numbers of which each is beyond NormalLaw::extreme, few should coincide.
Finding coincidence_of_extremes(std::vector<double> extremes);

/// Products of numbers with later ones, each standard normal and independent of what was before it.
class Products {
 public:
  /// \param squares  of the earlier factors
  void add(double product, double squares, std::int64_t pairs) {
    sum_ += product;
    squares_ += squares;
    pairs_ += pairs;
  }
  void test(const std::string& of, std::vector<Finding>& findings) const;

 private:
  double sum_ = 0, squares_ = 0;
  std::int64_t pairs_ = 0;
};

/// Numbers of a continuous law, of which few should coincide: finds atoms, grids, and numbers that
/// come again in other draws. Looks at the first million.
class Coincidences {
 public:
  /// \param resolution  of numbers that count as equal
  explicit Coincidences(double resolution = 1e-9) : resolution_(resolution) {}
  void add(double z);
  void test(const std::string& of, std::vector<Finding>& findings) const;

 private:
  double resolution_;
  mutable std::vector<double> seen_;  // distances from 0
  mutable std::size_t in_order_ = 0;  // how many of the first are sorted
};

/// Noise of the right variance and the wrong law.
struct WrongLaw {
  std::string_view name;
  double (*draw)(Stream&);  ///< one number of about unit variance
  std::int64_t numbers;     ///< that show it in at least 95 of 100 experiments, at p < 1e-9
};
/// What the power of the tests is stated for.
const std::vector<WrongLaw>& wrong_laws();

}  // namespace dpsosp::audit
