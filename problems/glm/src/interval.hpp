// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace dpsosp {

/// All numbers from `least` to `most`, of which each may be infinite. Every function gives an
/// interval that holds its values at all arguments: results are rounded outwards, by one step where
/// the machine's operation is the nearest double, by four where it is the C library's.
struct Interval {
  double least = 0, most = 0;

  static Interval whole() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  bool contains(double x) const { return least <= x && x <= most; }
  double middle() const { return least == most ? least : 0.5 * least + 0.5 * most; }
  double width() const { return most - least; }
  bool bounded() const { return std::isfinite(least) && std::isfinite(most); }
  /// sup |x|.
  double largest() const { return std::max(std::abs(least), std::abs(most)); }
  /// inf |x|.
  double smallest() const { return contains(0) ? 0 : std::min(std::abs(least), std::abs(most)); }
};

namespace interval {

inline Interval outwards(double least, double most, int steps = 1) {
  if (std::isnan(least) || std::isnan(most)) return Interval::whole();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (int k = 0; k < steps; ++k) {
    least = std::nextafter(least, -infinity);
    most = std::nextafter(most, infinity);
  }
  return {least, most};
}
inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}
/// What both hold; one of them where rounding made them disjoint.
inline Interval both(const Interval& a, const Interval& b) {
  const Interval c{std::max(a.least, b.least), std::min(a.most, b.most)};
  return c.least <= c.most ? c : a;
}

inline Interval add(const Interval& a, const Interval& b) {
  return outwards(a.least + b.least, a.most + b.most);
}
inline Interval negate(const Interval& a) { return {-a.most, -a.least}; }
inline Interval subtract(const Interval& a, const Interval& b) { return add(a, negate(b)); }
inline Interval multiply(const Interval& a, const Interval& b) {
  const auto zero = [](const Interval& i) { return i.least == 0 && i.most == 0; };
  if ((zero(a) && b.bounded()) || (zero(b) && a.bounded())) return {0, 0};
  const double p[] = {a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most};
  for (const double x : p)
    if (std::isnan(x)) return Interval::whole();
  return outwards(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
}
inline Interval divide(const Interval& a, const Interval& b) {
  if (b.contains(0)) return Interval::whole();
  const double q[] = {a.least / b.least, a.least / b.most, a.most / b.least, a.most / b.most};
  for (const double x : q)
    if (std::isnan(x)) return Interval::whole();
  return outwards(*std::min_element(q, q + 4), *std::max_element(q, q + 4));
}
inline Interval abs(const Interval& a) { return {a.smallest(), a.largest()}; }
inline Interval square(const Interval& a) {
  const Interval s = abs(a), r = outwards(s.least * s.least, s.most * s.most);
  return {std::max(0.0, r.least), r.most};
}
/// What is less below 0 than a normal number is taken for rounding.
inline Interval sqrt(const Interval& a) {
  if (a.least < -std::numeric_limits<double>::min()) return Interval::whole();
  const Interval r = outwards(std::sqrt(std::max(0.0, a.least)), std::sqrt(a.most));
  return {std::max(0.0, r.least), r.most};
}
inline constexpr int of_library = 4;
inline Interval exp(const Interval& a) {
  const Interval r = outwards(std::exp(a.least), std::exp(a.most), of_library);
  return {std::max(0.0, r.least), r.most};
}
inline Interval expm1(const Interval& a) {
  const Interval r = outwards(std::expm1(a.least), std::expm1(a.most), of_library);
  return {std::max(-1.0, r.least), r.most};
}
inline Interval log1p(const Interval& a) {
  if (a.least <= -1) return Interval::whole();
  return outwards(std::log1p(a.least), std::log1p(a.most), of_library);
}

}  // namespace interval
}  // namespace dpsosp
