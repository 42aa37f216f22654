// SPDX-License-Identifier: Apache-2.0
#include "loss_composition.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include <fftw3.h>

namespace dpsosp {
namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
constexpr double kMassError = 1e-13;  // relative, of a lattice mass

struct Free {
  void operator()(void* memory) const { fftw_free(memory); }
};

std::mutex planner;  // FFTW's planner is not thread-safe, its execution is

// A real signal and its spectrum in one place, FFTW's in-place layout. The memory is aligned by
// FFTW and the plans are estimated, so equal input gives equal bits.
class Signal {
 public:
  explicit Signal(std::size_t points)
      : points_(points), memory_(fftw_alloc_real(2 * (points / 2 + 1))) {
    std::fill_n(memory_.get(), 2 * (points / 2 + 1), 0.0);
  }

  std::span<double> values() { return {memory_.get(), points_}; }
  std::span<std::complex<double>> spectrum() {
    return {reinterpret_cast<std::complex<double>*>(memory_.get()), points_ / 2 + 1};
  }
  void to_spectrum() {
    run([&] { return fftw_plan_dft_r2c_1d(size(), memory_.get(), complex(), FFTW_ESTIMATE); });
  }
  void to_values() {
    run([&] { return fftw_plan_dft_c2r_1d(size(), complex(), memory_.get(), FFTW_ESTIMATE); });
  }

 private:
  int size() const { return static_cast<int>(points_); }
  fftw_complex* complex() { return reinterpret_cast<fftw_complex*>(memory_.get()); }

  template <class MakePlan>
  static void run(const MakePlan& make_plan) {
    fftw_plan plan = nullptr;
    {
      const std::lock_guard lock(planner);
      plan = make_plan();
    }
    fftw_execute(plan);
    const std::lock_guard lock(planner);
    fftw_destroy_plan(plan);
  }

  std::size_t points_;
  std::unique_ptr<double, Free> memory_;
};

// ln of the masses of a lattice loss, for sums under any tilt
class LogMasses {
 public:
  explicit LogMasses(const LossDistribution& loss) : loss_(loss), log_(loss.mass.size()) {
    std::ranges::transform(loss.mass, log_.begin(), [](double m) { return std::log(m); });
  }
  std::size_t size() const { return log_.size(); }
  std::int64_t point(std::size_t i) const { return loss_.first + static_cast<std::int64_t>(i); }
  // ln(mass·e^{order·loss}), −∞ where there is no mass
  double tilted(std::size_t i, double order) const {
    return log_[i] + order * loss_.step * static_cast<double>(point(i));
  }
  // ln Σ mass·e^{order·loss}; a power of it is taken, so the sum is compensated
  double moment(double order) const {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < size(); ++i) largest = std::max(largest, tilted(i, order));
    double sum = 0;
    double lost = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const double term = std::exp(tilted(i, order) - largest) - lost;
      const double next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    return largest + std::log(sum);
  }

 private:
  const LossDistribution& loss_;
  std::vector<double> log_;
};

std::size_t modulo(std::int64_t k, std::size_t points) {
  return static_cast<std::size_t>(k) & (points - 1);  // points is a power of 2
}

}  // namespace

LossComposition::LossComposition(const LossWindow& window)
    : window_(window),
      log_modulus_(window.points / 2 + 1, 0.0),
      log_modulus_bound_(window.points / 2 + 1, 0.0),
      phase_(window.points / 2 + 1, 0.0) {}

void LossComposition::add(const LossDistribution& loss, std::int64_t count) {
  const auto times = static_cast<double>(count);
  const LogMasses masses(loss);
  const double moment = masses.moment(window_.tilt);
  moment_.tilt += times * moment;
  moment_.beyond += times * masses.moment(window_.beyond);
  moment_.above += times * masses.moment(window_.above);
  moment_.below += times * masses.moment(window_.below);
  log_finite_ += times * std::log1p(-loss.infinite);

  std::vector<double> tilted(masses.size());
  double mean = 0;
  for (std::size_t i = 0; i < tilted.size(); ++i) {
    tilted[i] = std::exp(masses.tilted(i, window_.tilt) - moment);
    mean += tilted[i] * static_cast<double>(masses.point(i));
  }
  const auto centre = static_cast<std::int64_t>(std::round(mean));  // keeps the phases small
  shift_ += count * centre;
  Signal signal(window_.points);
  for (std::size_t i = 0; i < tilted.size(); ++i)
    signal.values()[modulo(masses.point(i) - centre, window_.points)] += tilted[i];
  count_ += times;
  single_.clear();
  if (count_ == 1) single_.assign(signal.values().begin(), signal.values().end());
  signal.to_spectrum();
  // the error of a coefficient, and of its logarithm, whose multiple is rounded too
  const double error = kUnit * (6 * std::log2(static_cast<double>(window_.points)) + 16);
  for (std::size_t j = 0; j < phase_.size(); ++j) {
    const double modulus = std::max(std::abs(signal.spectrum()[j]), 1e-300);
    log_modulus_[j] += times * std::log(modulus);
    log_modulus_bound_[j] += times * std::log(modulus + error);
    phase_[j] += times * std::arg(signal.spectrum()[j]);
  }
}

LossComposition::Sum LossComposition::transformed() const {
  if (!single_.empty()) return in_window(single_, 1, 0);
  Signal signal(window_.points);
  double error = 0;
  double norm = 0;
  for (std::size_t j = 0; j < phase_.size(); ++j) {
    const double bound = std::exp(log_modulus_bound_[j]);
    const double both = j == 0 || j + 1 == phase_.size() ? 1 : 2;  // j and points − j
    norm += both * bound;
    error += both * -bound * std::expm1(log_modulus_[j] - log_modulus_bound_[j]);
    signal.spectrum()[j] = std::polar(std::exp(log_modulus_[j]), phase_[j]);
  }
  signal.to_values();
  const auto points = static_cast<double>(window_.points);
  const double rounding = (error + 6 * std::log2(points) * kUnit * norm) / points;
  return in_window(signal.values(), 1 / points, rounding);
}

LossComposition::Sum LossComposition::in_window(std::span<const double> cyclic, double factor,
                                                double rounding) const {
  Sum sum{.mass = std::vector<double>(window_.points), .rounding = rounding};
  for (std::size_t i = 0; i < sum.mass.size(); ++i)
    sum.mass[i] =
        factor *
        cyclic[modulo(window_.first + static_cast<std::int64_t>(i) - shift_, window_.points)];
  if (!std::isfinite(std::accumulate(sum.mass.begin(), sum.mass.end(), rounding + moment_.tilt)))
    throw std::runtime_error("pld: a sum of losses is not finite");
  return sum;
}

// ln of the P-mass of one unit of tilted mass there
double LossComposition::log_weight(double point) const {
  return moment_.tilt - window_.tilt * window_.step * point;
}

// ln of what the errors of the masses and of the exponents can do to delta
double LossComposition::slack() const { return kMassError * count_ + 1e-9; }

// Walks down the window while D, δ at the lattice point l_k, stays below the target:
// δ(ε) = D + B(1 − e^{ε−l_k}) on [l_{k−1}, l_k] with B = Σ_{j>=k} mass_j e^{−(l_j−l_k)}, all of it
// sums of terms >= 0. Returns ε with δ(ε) = target, or −∞.
template <class Target>
double LossComposition::crossing(const Sum& sum, double rounding, const Target& target) const {
  const double shrink = std::exp(-window_.step);
  const double rise = -std::expm1(-window_.step);
  double delta = 0;
  double above = 0;
  for (std::size_t i = sum.mass.size(); i-- > 0;) {
    const auto point = static_cast<double>(window_.first + static_cast<std::int64_t>(i));
    const double mass = sum.mass[i] + rounding;
    above *= shrink;
    if (mass > 0) above += mass * std::exp(log_weight(point));
    const double goal = target(point);
    if (delta + above * rise > goal) {
      const double fall = std::max((goal - delta) / above, 0.0);
      return point * window_.step + std::log1p(-fall);
    }
    delta += above * rise;
  }
  return -std::numeric_limits<double>::infinity();
}

// E[(1 − e^{ε−L})₊] of the masses in the window, each with `rounding` more
double LossComposition::delta(const Sum& sum, double rounding, double epsilon) const {
  double delta = 0;
  for (std::size_t i = sum.mass.size(); i-- > 0;) {
    const auto point = static_cast<double>(window_.first + static_cast<std::int64_t>(i));
    const double excess = point * window_.step - epsilon;
    if (excess <= 0) break;
    const double mass = sum.mass[i] + rounding;
    if (mass > 0) delta += mass * std::exp(log_weight(point)) * -std::expm1(-excess);
  }
  return delta;
}

double LossComposition::delta_above(double epsilon) const {
  if (!(epsilon >= window_.step * static_cast<double>(window_.first - 1)))
    throw std::logic_error("pld: epsilon lies below the window");
  const Sum sum = transformed();
  const double inside = delta(sum, sum.rounding, epsilon) + tail();
  return std::min(inside * std::exp(slack()) - std::expm1(log_finite_), 1.0);
}

double LossComposition::delta_below(double epsilon) const {
  const Sum sum = transformed();
  const double from = std::max(epsilon, window_.step * static_cast<double>(window_.first));
  const auto [above, below] = wrapped();
  const double inside = delta(sum, -sum.rounding, from) - std::exp(above - window_.above * from) -
                        std::exp(below - window_.below * from);
  return std::max(inside * std::exp(-slack()), 0.0);
}

// bound on the P-mass of losses above the window
double LossComposition::tail() const {
  const double edge =
      window_.step * static_cast<double>(window_.first + static_cast<std::int64_t>(window_.points));
  return std::exp(moment_.beyond - window_.beyond * edge);
}

// ln of what wraps from above and from below, but for the factors e^{−tε}
std::pair<double, double> LossComposition::wrapped() const {
  const double width = window_.step * static_cast<double>(window_.points);
  return {moment_.above - (window_.above - window_.tilt) * width,
          moment_.below - (window_.tilt - window_.below) * width};
}

double LossComposition::epsilon_above(double delta) const {
  const Sum sum = transformed();
  const double goal = (delta + std::expm1(log_finite_)) * std::exp(-slack()) - tail();
  if (!(goal > 0)) return std::numeric_limits<double>::infinity();
  const double epsilon = crossing(sum, sum.rounding, [&](double) { return goal; });
  const double lowest = window_.step * static_cast<double>(window_.first - 1);
  return std::max({epsilon, lowest, 0.0});
}

double LossComposition::epsilon_below(double delta) const {
  const Sum sum = transformed();
  const double goal = delta * std::exp(slack());
  const auto wraps = wrapped();
  return crossing(sum, -sum.rounding, [&](double point) {
    const double lowest = window_.step * (point - 1);
    return goal + std::exp(wraps.first - window_.above * lowest) +
           std::exp(wraps.second - window_.below * lowest);
  });
}

}  // namespace dpsosp
