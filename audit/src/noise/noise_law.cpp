// SPDX-License-Identifier: Apache-2.0
#include "noise/noise_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <fmt/format.h>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/poisson.hpp>

namespace dpsosp::audit {
namespace {

/// The fourth power, of numbers up to 4: beyond, its law has tails too heavy for a bound, and the
/// counts of tails see more.
double fourth_power(double z) {
  const double square = std::min(z * z, 16.0);
  return square * square;
}

/// The Chernoff bound of a mean: I(m) = sup_t (t m − ψ(t)) over a grid of t, so never too large.
class Chernoff {
 public:
  /// \param psi  log moment-generating function; +∞ where there is none
  template <class Psi>
  Chernoff(double least, double most, const Psi& psi) {
    for (double t = least; t <= most; t *= 1.05)
      for (const double sign : {-1.0, 1.0}) grid_.emplace_back(sign * t, psi(sign * t));
  }
  double two_sided(double mean, std::int64_t n) const {
    double rate = 0;
    for (const auto& [t, psi] : grid_) rate = std::max(rate, t * mean - psi);
    return std::min(1.0, 2 * std::exp(-rate * static_cast<double>(n)));
  }

 private:
  std::vector<std::pair<double, double>> grid_;
};

const Chernoff& of_fourth_power() {
  static const Chernoff bound(1e-7, 10, [](double t) {
    // Simpson's rule on [0, 4], and the atom beyond; from the largest exponent.
    constexpr int steps = 2000;
    constexpr double h = 4.0 / steps;
    const double most = std::max(0.0, 256 * t);
    double sum = std::erfc(4 / std::numbers::sqrt2) * std::exp(256 * t - most);
    for (int k = 0; k <= steps; ++k) {
      const double z = k * h, weight = k == 0 || k == steps ? 1 : 2 + 2 * (k % 2);
      sum += weight * h / 3 * std::sqrt(2 / std::numbers::pi) *
             std::exp(t * fourth_power(z) - 0.5 * z * z - most);
    }
    return most + std::log(sum);
  });
  return bound;
}

double mean_fourth_power() {
  // E min(z², 16)², from the moments of the normal law cut at 4.
  static const double mean = [] {
    const double density = std::exp(-8.0) / std::sqrt(2 * std::numbers::pi);
    const double tail = std::erfc(4 / std::numbers::sqrt2);
    return 3 * (1 - tail) - 2 * (64 + 12) * density + 256 * tail;
  }();
  return mean;
}

const Chernoff& of_products() {
  static const Chernoff bound(1e-5, 0.9999, [](double t) { return -0.5 * std::log1p(-t * t); });
  return bound;
}

/// Where cells of equal probability of |z| begin, and what the normal score of |z| is in them on
/// average.
struct CellsOfSize {
  static constexpr std::size_t count = NormalLaw::cells / 2;
  static constexpr double step = 1.0 / 64, far = 4;  // of the table of first guesses
  std::array<double, count> begin{}, score{};
  std::array<std::uint8_t, static_cast<std::size_t>(far / step)> guess{};

  CellsOfSize() {
    const auto density = [](double z) {
      return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    };
    constexpr auto n = static_cast<double>(count);
    for (std::size_t k = 0; k < count; ++k) {
      const auto at = static_cast<double>(k);
      begin[k] = k == 0 ? 0.0 : normal_score(0.5 + 0.5 * at / n);
      const double low = k == 0 ? 0.0 : density(normal_score(at / n));
      const double high = k + 1 == count ? 0.0 : density(normal_score((at + 1) / n));
      score[k] = n * (low - high);
    }
    for (std::size_t k = 0, cell = 0; k < guess.size(); ++k) {
      while (cell + 1 < count && begin[cell + 1] <= static_cast<double>(k) * step) ++cell;
      guess[k] = static_cast<std::uint8_t>(cell);
    }
  }
  std::size_t of(double size) const {
    std::size_t cell = size < far ? guess[static_cast<std::size_t>(size / step)] : count - 1;
    while (cell + 1 < count && size >= begin[cell + 1]) ++cell;
    return cell;
  }
};

const CellsOfSize& cells_of_size() {
  static const CellsOfSize cells;
  return cells;
}

std::string per_number(std::string_view what, double value, std::int64_t n, const std::string& of) {
  return fmt::format("{} {:.4g} over {} numbers of {}", what, value, n, of);
}

}  // namespace

double two_sided(double z) { return std::erfc(std::abs(z) / std::numbers::sqrt2); }

double two_sided_chi_squared(double value, std::int64_t degrees) {
  const auto n = static_cast<double>(degrees);
  return two_sided_squares(value, n, 2 * n);
}

double two_sided_squares(double value, double mean, double variance) {
  if (mean <= 0 || variance <= 0) return 1.0;  // rounding puts a variance of 0 on either side
  if (!(value > 0 && std::isfinite(value))) return 0.0;  // as likely as 0; what overflows is found
  const double scale = 0.5 * variance / mean, degrees = mean / scale;
  value /= scale;
  if (degrees > 1000) {  // the cube root is normal enough (Wilson and Hilferty)
    const double k = 2.0 / (9.0 * degrees);
    return two_sided((std::cbrt(value / degrees) - 1.0 + k) / std::sqrt(k));
  }
  const boost::math::chi_squared_distribution<> law(degrees);
  return std::min(1.0, 2.0 * std::min(boost::math::cdf(law, value),
                                      boost::math::cdf(boost::math::complement(law, value))));
}

double two_sided_binomial(std::int64_t count, std::int64_t trials, double probability) {
  const boost::math::binomial_distribution<> law(static_cast<double>(trials), probability);
  const auto k = static_cast<double>(count);
  const double below = boost::math::cdf(law, k);
  const double above = count == 0 ? 1.0 : boost::math::cdf(boost::math::complement(law, k - 1));
  return std::min(1.0, 2 * std::min(below, above));
}

double crowding(std::int64_t count, double trials, double most_likely) {
  // A union over which number is first: the others fall into its place.
  return std::min(1.0, std::exp(std::log(trials) +
                                static_cast<double>(count - 1) * std::log(trials * most_likely) -
                                std::lgamma(static_cast<double>(count))));
}

double probability_of_products(double mean, std::int64_t n) {
  return of_products().two_sided(mean, n);
}

double probability_of_sum(double sum, double squares) {
  constexpr std::array scales{1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  double most = -std::numeric_limits<double>::infinity(), mean = 0;
  std::array<double, scales.size()> logs{};
  for (std::size_t k = 0; k < scales.size(); ++k) {
    const double c = scales[k];
    logs[k] = 0.5 * (sum * sum / (c + squares) - std::log1p(squares / c));
    most = std::max(most, logs[k]);
  }
  for (const double log : logs) mean += std::exp(log - most) / scales.size();
  return std::min(1.0, std::exp(-most) / mean);
}

double mean_score_of_size(double z) {
  const CellsOfSize& cells = cells_of_size();
  return cells.score[cells.of(std::abs(z))];
}

double normal_score_of_laplace(double x) {
  const double tail = 0.5 * std::exp(-std::abs(x));
  return std::copysign(tail == 0 ? 40.0 : normal_lower_quantile(tail), x);
}

double normal_score(double u) {
  return u <= 0.5 ? normal_lower_quantile(std::max(u, 1e-300))
                  : -normal_lower_quantile(std::max(1 - u, 1e-300));
}

void NormalLaw::add(double z) {
  ++count_;
  sum_ += z;
  squares_ += z * z;
  fourth_ += fourth_power(z);
  largest_ = std::max(largest_, std::abs(z));
  const std::size_t cell = cells_of_size().of(std::abs(z));
  ++in_cell_[z < 0 ? cells / 2 - 1 - cell : cells / 2 + cell];
  for (std::size_t k = 0; k < limits.size() && std::abs(z) > limits[k]; ++k) ++beyond_[k];
  constexpr std::size_t most_kept = 500;
  if (std::abs(z) > extreme && extremes_.size() < most_kept) extremes_.push_back(std::abs(z));
}

void NormalLaw::test(const std::string& of, std::vector<Finding>& findings) const {
  if (count_ == 0) return;
  const auto n = static_cast<double>(count_);
  findings.push_back({two_sided(sum_ / std::sqrt(n)), per_number("mean", sum_ / n, count_, of)});
  findings.push_back(
      {two_sided_chi_squared(squares_, count_), per_number("variance", squares_ / n, count_, of)});
  findings.push_back({of_fourth_power().two_sided(fourth_ / n, count_),
                      fmt::format("fourth moment {:.4g} for {:.4g} over {} numbers of {}",
                                  fourth_ / n, mean_fourth_power(), count_, of)});
  double below = 0, distance = 0;
  for (std::size_t k = 0; k < cells; ++k) {
    below += static_cast<double>(in_cell_[k]);
    distance = std::max(distance, std::abs(below / n - static_cast<double>(k + 1) / cells));
  }
  findings.push_back({std::min(1.0, 2 * std::exp(-2 * n * distance * distance)),  // Massart (1990)
                      per_number("distance of distributions", distance, count_, of)});
  const auto [least, most] = std::ranges::minmax_element(in_cell_);
  for (const auto* cell : {least, most})
    findings.push_back({std::min(1.0, cells * two_sided_binomial(*cell, count_, 1.0 / cells)),
                        fmt::format("{} of {} numbers of {} in a cell of probability 1/{}", *cell,
                                    count_, of, cells)});
  for (std::size_t k = 0; k < limits.size(); ++k)
    findings.push_back({two_sided_binomial(beyond_[k], count_, two_sided(limits[k])),
                        fmt::format("{} of {} numbers of {} beyond {} deviations, {:.4g} expected",
                                    beyond_[k], count_, of, limits[k], n * two_sided(limits[k]))});
  const double all_less = n * std::log1p(-two_sided(largest_));
  findings.push_back({std::min(1.0, 2 * std::min(std::exp(all_less), -std::expm1(all_less))),
                      per_number("largest", largest_, count_, of)});
}

void Products::test(const std::string& of, std::vector<Finding>& findings) const {
  if (pairs_ == 0) return;
  findings.push_back({probability_of_sum(sum_, squares_),
                      fmt::format("correlation {:.4g} of {}, {} pairs",
                                  sum_ / static_cast<double>(pairs_), of, pairs_)});
}

void Coincidences::add(double z) {
  constexpr std::size_t most_remembered = 1'000'000;
  if (seen_.size() < most_remembered) seen_.push_back(std::min(std::abs(z), 1e9));
}

void Coincidences::test(const std::string& of, std::vector<Finding>& findings) const {
  if (seen_.size() < 2) return;
  const auto sorted = seen_.begin() + static_cast<std::ptrdiff_t>(in_order_);
  std::sort(sorted, seen_.end());
  std::inplace_merge(seen_.begin(), sorted, seen_.end());
  in_order_ = seen_.size();
  std::int64_t pairs = 0, most = 0, here = 0;
  double most_at = 0;
  for (std::size_t k = 0; k < seen_.size(); ++k) {
    const auto place = [&](std::size_t i) { return std::round(seen_[i] / resolution_); };
    here = k > 0 && place(k) == place(k - 1) ? here + 1 : 1;
    pairs += here - 1;
    if (here > most) {
      most = here;
      most_at = seen_[k];
    }
  }
  // |z| has density at most √(2/π), and two of them coincide with ∫ (2φ)² = 1/√π.
  const auto n = static_cast<double>(seen_.size());
  if (most > 1)
    findings.push_back(
        {crowding(most, n, std::sqrt(2 / std::numbers::pi) * resolution_),
         fmt::format("{} of {} numbers of {} are {:.6g}", most, seen_.size(), of, most_at)});
  const double expected = 0.5 * n * n * resolution_ / std::sqrt(std::numbers::pi);
  const boost::math::poisson_distribution<> law(expected);
  if (pairs > 0)
    findings.push_back(
        {boost::math::cdf(boost::math::complement(law, static_cast<double>(pairs - 1))),
         fmt::format("{} pairs of {} numbers of {} coincide to {:.0e}, {:.3g} "
                     "expected",
                     pairs, seen_.size(), of, resolution_, expected)});
}

// Beyond a the density of |z| is f(t) ≤ (a + 1/a) exp((a² − t²)/2), so ∫ f² ≤ (a + 1/a)²/(2a).
Finding coincidence_of_extremes(std::vector<double> extremes) {
  constexpr double near = 1e-9, a = NormalLaw::extreme;
  constexpr double squared_density = (a + 1 / a) * (a + 1 / a) / (2 * a);
  std::ranges::sort(extremes);
  std::int64_t pairs = 0;
  for (std::size_t k = 0; k < extremes.size(); ++k)
    for (std::size_t j = k + 1; j < extremes.size() && extremes[j] - extremes[k] < near; ++j)
      ++pairs;
  const auto n = static_cast<double>(extremes.size());
  const double expected = n * n * near * squared_density;
  Finding finding{1.0, fmt::format("{} pairs of {} coincide", pairs, extremes.size())};
  if (pairs > 0)
    finding.p = boost::math::cdf(boost::math::complement(
        boost::math::poisson_distribution<>(expected), static_cast<double>(pairs - 1)));
  return finding;
}

namespace {
double uniform_number(Stream& s) { return std::numbers::sqrt3 * (2 * s.uniform() - 1); }
double clamped_number(Stream& s, double most) { return std::clamp(s.normal(), -most, most); }
double student_number(Stream& s) {
  double squares = 0;
  for (int k = 0; k < 5; ++k) squares += std::pow(s.normal(), 2);
  return s.normal() * std::sqrt(3 / squares);
}
}  // namespace

const std::vector<WrongLaw>& wrong_laws() {
  static const std::vector<WrongLaw> all{
      {"uniform", uniform_number, 4000},
      {"clamped at 2.6", [](Stream& s) { return clamped_number(s, 2.6); }, 3000},
      {"clamped at 4", [](Stream& s) { return clamped_number(s, 4.0); }, 300'000},
      {"Student, 5 degrees", student_number, 20'000},
      {"1 % zeros", [](Stream& s) { return s.uniform() < 0.01 ? 0.0 : s.normal(); }, 2000},
      {"rounded to 0.001", [](Stream& s) { return std::round(s.normal() * 1e3) / 1e3; }, 300}};
  return all;
}

}  // namespace dpsosp::audit
