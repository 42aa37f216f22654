// SPDX-License-Identifier: Apache-2.0
#include "script_privacy.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

namespace dpsosp::lowy_2024_exhibit {
namespace {

constexpr double set_aside = 1e-6;  // of the probabilities, for the rounding of the transforms
constexpr double negligible = 1e-16;

enum class Rounding { down, up };

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// A loss on the lattice first·step, …; what rounds up beyond it is infinite, what rounds down
/// below it is dropped.
class LatticeLoss {
 public:
  LatticeLoss(double step, std::int64_t first, std::size_t points, Rounding rounding)
      : step_(step), first_(first), rounding_(rounding), mass_(points, 0.0) {}

  void add(double loss, double mass) {
    const double at = loss / step_;
    put(static_cast<std::int64_t>(rounding_ == Rounding::up ? std::ceil(at) : std::floor(at)),
        mass);
  }
  void add_infinite(double mass) { infinite_ += mass; }

  /// The sum of this loss and an independent one.
  LatticeLoss plus(const LatticeLoss& other) const {
    const std::size_t points = 2 * mass_.size();  // a power of 2
    std::vector<std::complex<double>> roots(points / 2), both(points), product(points);
    for (std::size_t k = 0; k < roots.size(); ++k)
      roots[k] = std::polar(
          1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points));
    for (std::size_t k = 0; k < mass_.size(); ++k) both[k] = {mass_[k], other.mass_[k]};
    transform(both, roots);
    // the transforms of the two real parts, multiplied; the inverse is the transform of conjugates
    for (std::size_t k = 0; k < points; ++k) {
      const std::complex<double> here = both[k], there = std::conj(both[(points - k) % points]);
      product[k] = std::conj((here * here - there * there) / std::complex<double>(0, 4));
    }
    transform(product, roots);
    LatticeLoss sum(step_, first_, mass_.size(), rounding_);
    for (std::size_t k = 0; k < points; ++k)
      sum.put(2 * first_ + static_cast<std::int64_t>(k),
              std::max(0.0, product[k].real() / static_cast<double>(points)));
    if (rounding_ == Rounding::up) sum.infinite_ += infinite_ + other.infinite_;
    return sum;
  }

  /// E[(1 − e^{ε − loss})₊]
  double delta(double epsilon) const {
    double sum = infinite_;
    for (std::size_t k = 0; k < mass_.size(); ++k) {
      const double loss = step_ * static_cast<double>(first_ + static_cast<std::int64_t>(k));
      if (loss > epsilon) sum += mass_[k] * -std::expm1(epsilon - loss);
    }
    return sum;
  }

  /// The ε at which delta(ε), with what is set aside, is `wanted`; delta falls with ε.
  double epsilon(double wanted) const {
    const double at = wanted + (rounding_ == Rounding::up ? -set_aside : set_aside);
    double low = 0, high = step_ * static_cast<double>(first_ + std::ssize(mass_));
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (low + high);
      (delta(middle) > at ? low : high) = middle;
    }
    return rounding_ == Rounding::up ? high : low;
  }

 private:
  void put(std::int64_t index, double mass) {
    const std::int64_t k = index - first_;
    if (k >= std::ssize(mass_)) {
      (rounding_ == Rounding::up ? infinite_ : mass_.back()) += mass;
    } else if (k >= 0) {
      mass_[static_cast<std::size_t>(k)] += mass;
    } else if (rounding_ == Rounding::up) {
      mass_.front() += mass;
    }
  }

  static void transform(std::vector<std::complex<double>>& x,
                        const std::vector<std::complex<double>>& roots) {
    const std::size_t n = x.size();
    for (std::size_t i = 1, j = 0; i < n; ++i) {
      std::size_t bit = n / 2;
      for (; (j & bit) != 0; bit /= 2) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(x[i], x[j]);
    }
    for (std::size_t half = 1; half < n; half *= 2)
      for (std::size_t block = 0; block < n; block += 2 * half)
        for (std::size_t k = 0; k < half; ++k) {
          const std::complex<double> odd = x[block + half + k] * roots[k * (n / (2 * half))];
          x[block + half + k] = x[block + k] - odd;
          x[block + k] += odd;
        }
  }

  double step_;
  std::int64_t first_;
  Rounding rounding_;
  std::vector<double> mass_;
  double infinite_ = 0;
};

LatticeLoss composed(const LatticeLoss& one, int count) {
  LatticeLoss power = one;
  for (; count % 2 == 0; count /= 2) power = power.plus(power);
  LatticeLoss sum = power;
  for (count /= 2; count > 0; count /= 2) {
    power = power.plus(power);
    if (count % 2 == 1) sum = sum.plus(power);
  }
  return sum;
}

/// P[Bin(n, q) = k], k = 0..n
std::vector<double> binomial(int n, double q) {
  std::vector<double> p;
  for (int k = 0; k <= n; ++k) {
    const double choose = std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
    p.push_back(q < 1 ? std::exp(choose + k * std::log(q) + (n - k) * std::log1p(-q))
                      : (k == n ? 1.0 : 0.0));
  }
  return p;
}

struct Component {
  double mean, weight;
};

double mass_between(const std::vector<Component>& mixture, double from, double to) {
  double sum = 0;
  for (const Component& c : mixture)
    sum += c.weight * (from > c.mean ? normal_below(c.mean - from) - normal_below(c.mean - to)
                                     : normal_below(to - c.mean) - normal_below(from - c.mean));
  return sum;
}

/// ln of the mixture's density over that of N(0, 1); rises in x where all means are >= 0.
double log_ratio(const std::vector<Component>& mixture, double x) {
  double largest = -1e300, sum = 0;
  for (const Component& c : mixture)
    largest = std::max(largest, std::log(c.weight) + c.mean * (x - 0.5 * c.mean));
  for (const Component& c : mixture)
    sum += std::exp(std::log(c.weight) + c.mean * (x - 0.5 * c.mean) - largest);
  return largest + std::log(sum);
}

struct Lattice {
  double step;
  std::int64_t first;
  std::size_t points;
};

/// The pair of `lower`: the law of one step's answer on either data set, in units of the noise.
std::vector<Component> worst_answer(const ScriptQueries& q) {
  const int n = static_cast<int>(q.records);
  const double included = q.rate / -std::expm1(n * std::log1p(-q.rate));
  const std::vector<double> others = binomial(n - 1, q.rate);
  std::vector<Component> mixture{{0.0, 1 - included}};
  for (int s = 0; s < n; ++s)
    if (included * others[static_cast<std::size_t>(s)] > negligible)
      mixture.push_back(
          {1 / (q.deviation * (s + 1)), included * others[static_cast<std::size_t>(s)]});
  return mixture;
}

/// The record is in P's batch (or in Q's, if `reverse`).
LatticeLoss lower_step(const std::vector<Component>& mixture, const Lattice& at, bool reverse) {
  constexpr int cells = 1 << 16;
  LatticeLoss loss(at.step, at.first, at.points, Rounding::down);
  double top = 9;
  for (const Component& c : mixture) top = std::max(top, std::min(c.mean, 20.0) + 9);
  const double from = -9, width = (top - from) / cells;
  const std::vector<Component> unit{{0.0, 1.0}};
  double before = log_ratio(mixture, from);
  for (int k = 0; k < cells; ++k) {
    const double x = from + k * width, next = log_ratio(mixture, x + width);
    loss.add(reverse ? -next : before, mass_between(reverse ? unit : mixture, x, x + width));
    before = next;
  }
  return loss;  // beyond the cells: dropped
}

/// γ-sampled, sensitivity 1 over noise z: adds weight times the loss of the pair of fixed-size
/// samples, N(0) and N(1) being 1/z apart.
void add_fixed_size(LatticeLoss& loss, double rate, double z, double weight) {
  constexpr int cells = 1 << 13;
  const double mean = 1 / z, middle = 0.5 * mean, top = mean + 9, width = (top - middle) / cells;
  const std::vector<Component> mixture{{0.0, 1 - rate}, {mean, rate}}, unit{{0.0, 1.0}};
  const auto ratio = [&](double x) {
    return rate < 1 ? std::log1p(rate * std::expm1(mean * (x - middle))) : mean * (x - middle);
  };
  loss.add(0, weight * (1 - rate) * (1 - 2 * normal_below(-middle)));
  for (int k = 0; k < cells; ++k) {
    const double x = middle + k * width;
    loss.add(ratio(x + width), weight * mass_between(mixture, x, x + width));
    loss.add(-ratio(x), weight * mass_between(unit, x, x + width));
  }
  loss.add_infinite(weight * mass_between(mixture, top, top + 30));
}

LatticeLoss upper_step(const ScriptQueries& q, const Lattice& at) {
  const int n = static_cast<int>(q.records);
  const double some = -std::expm1(n * std::log1p(-q.rate));  // P[the batch is not empty]
  const std::vector<double> others = binomial(n - 1, q.rate);
  LatticeLoss loss(at.step, at.first, at.points, Rounding::up);
  for (int s = 0; s < n; ++s) {
    const double weight = (s == 0 ? q.rate : 1.0) * others[static_cast<std::size_t>(s)] / some;
    if (weight < negligible) {
      loss.add_infinite(weight);
    } else {
      add_fixed_size(loss, s == 0 ? 1.0 : q.rate, q.deviation * (s + 1), weight);
    }
  }
  return loss;
}

/// From −top/2 to top.
Lattice lattice_to(double top, std::size_t points) {
  return {1.5 * top / static_cast<double>(points), -static_cast<std::int64_t>(points / 3), points};
}

}  // namespace

EpsilonInterval script_epsilon(const ScriptQueries& q, double delta) {
  constexpr std::size_t coarse = 1 << 13, fine = 1 << 17;
  double top = 64;  // of the losses
  for (int pass = 0; pass < 2; ++pass) {
    const double upper = composed(upper_step(q, lattice_to(top, coarse)), q.steps).epsilon(delta);
    top = std::min(top, std::max(2 * upper, 0.5) + 3);
  }
  const Lattice at = lattice_to(top, fine);
  const std::vector<Component> answer = worst_answer(q);
  EpsilonInterval interval{0, composed(upper_step(q, at), q.steps).epsilon(delta)};
  for (const bool reverse : {false, true})
    interval.lower =
        std::max(interval.lower, composed(lower_step(answer, at, reverse), q.steps).epsilon(delta));
  return interval;
}

}  // namespace dpsosp::lowy_2024_exhibit
