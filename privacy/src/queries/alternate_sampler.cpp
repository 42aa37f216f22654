// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/alternate_sampler.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/special_functions/gamma.hpp>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view where = "gibbs sampler";
constexpr double most_log_trials = 18.0;  // e^18 = 6.6e7 proposals a draw

/// Φ(t).
double normal_below(double t) { return 0.5 * std::erfc(-t / std::sqrt(2.0)); }

/// Φ^{-1}(p), p in (0, 1).
double normal_quantile(double p) {
  return p <= 0.5 ? normal_lower_quantile(p) : -normal_lower_quantile(1.0 - p);
}

/// A standard normal in [low, high] with low + high ≤ 0.
double lower_normal(double low, double high, Stream& stream) {
  const double u = stream.uniform();
  if (high < -37.0)  // the tail is exponential to 1e-3, and the probabilities underflow
    return std::max(low, high + std::log(u) / -high);
  const double from = normal_below(low), to = normal_below(high);
  const double p = std::clamp(from + u * (to - from), 1e-300, 1.0 - 0x1p-53);
  return std::clamp(normal_quantile(p), low, high);
}

}  // namespace

double truncated_normal(double mean, double deviation, double low, double high, Stream& stream) {
  const double a = (low - mean) / deviation, b = (high - mean) / deviation;
  const double t = a + b <= 0 ? lower_normal(a, b, stream) : -lower_normal(-b, -a, stream);
  return std::clamp(mean + deviation * t, low, high);
}

AlternateSampler::AlternateSampler(const GibbsLaw& law) : law_(law) {
  const auto positive = [](std::string_view name, double value) {
    if (!(value >= 1e-100 && value <= 1e100)) reject(where, name, value, "in [1e-100, 1e100]");
  };
  positive("inverse_temperature", law.inverse_temperature);
  positive("bound", law.bound);
  if (!(law.regularizer >= 0 && law.regularizer <= 1e100))
    reject(where, "regularizer", law.regularizer, ">= 0, finite");
  if (law.domain.kind == Domain::Kind::everywhere)
    throw InputError("gibbs sampler: the law needs a bounded domain");
  positive("domain radius", law.domain.radius);
  if (law.method != GibbsMethod::rejection) {
    positive("step", law.step);
    if (law.rounds < 1) reject(where, "rounds", static_cast<double>(law.rounds), ">= 1");
  }
  const double log_trials = 2.0 * law.inverse_temperature * law.bound;
  if (law.method != GibbsMethod::stochastic && !(log_trials <= most_log_trials))
    reject(where, "inverse_temperature * range", log_trials,
           "<= 18 for exact draws, which take up to exp of it proposals; a lower temperature or "
           "the stochastic method");
}

void AlternateSampler::draw_prior(Stream& stream, VectorRef x) const {
  const double precision = law_.inverse_temperature * law_.regularizer, R = law_.domain.radius;
  if (law_.domain.kind == Domain::Kind::box) {
    for (double& entry : x)
      entry = precision > 0 ? truncated_normal(0, 1 / std::sqrt(precision), -R, R, stream)
                            : R * (2.0 * stream.uniform() - 1.0);
    return;
  }
  if (precision == 0) {
    stream.fill_ball(R, x);
    return;
  }
  // ‖x‖²·precision is a chi-square cut off at R²·precision
  const double half_d = 0.5 * static_cast<double>(x.size());
  const double all = boost::math::gamma_p(half_d, 0.5 * precision * R * R);
  const double half_square =
      all > 1e-280 ? boost::math::gamma_p_inv(half_d, all * stream.uniform())
                   : 0.5 * precision * R * R * std::pow(stream.uniform(), 1.0 / half_d);
  stream.fill_normal(1.0, x);
  x *= std::min(R, std::sqrt(2.0 * half_square / precision)) / x.norm();
}

void AlternateSampler::draw_step(ConstVectorRef y, Stream& stream, VectorRef x) const {
  const double precision = law_.inverse_temperature * law_.regularizer;
  const double shrink = 1.0 / (1.0 + law_.step * precision);
  const double deviation = std::sqrt(law_.step * shrink), R = law_.domain.radius;
  if (law_.domain.kind == Domain::Kind::box) {
    for (Index j = 0; j < x.size(); ++j)
      x[j] = truncated_normal(shrink * y[j], deviation, -R, R, stream);
    return;
  }
  do {
    for (Index j = 0; j < x.size(); ++j) x[j] = shrink * y[j] + deviation * stream.normal();
  } while (x.norm() > R);
}

bool AlternateSampler::accept_exactly(SampledLoss& loss, ConstVectorRef x, Stream& stream) const {
  const double f = loss.mean(x);
  return stream.uniform() <= std::exp(-law_.inverse_temperature * (f + law_.bound));
}

double AlternateSampler::estimate(SampledLoss& loss, ConstVectorRef x, ConstVectorRef z,
                                  Stream& stream) {
  double r = 1.0;
  for (Index k = 1;; ++k) {  // level k is reached with probability 1/k!
    double product = 1.0;
    for (Index l = 0; l < k; ++l) {
      const Index j = stream.below(loss.count());
      product *= law_.inverse_temperature * (loss.one(j, z) - loss.one(j, x));
      ++counts_.differences;
    }
    r += product;
    if (stream.uniform() * static_cast<double>(k + 1) <= static_cast<double>(k)) break;
  }
  ++counts_.estimates;
  if (!(r >= 0 && r <= 2)) ++counts_.out_of_range;
  return r;
}

// Steps are those of ganesh-2023 notes, 2.4.
void AlternateSampler::round(SampledLoss& loss, Stream& stream, VectorRef x) {
  y_ = x;
  stream.add_normal(std::sqrt(law_.step), y_);  // step 3; y may leave K
  candidate_.resize(x.size());
  other_.resize(x.size());
  while (true) {                        // step 5
    draw_step(y_, stream, candidate_);  // step 6: x
    if (law_.method == GibbsMethod::exact) {
      if (accept_exactly(loss, candidate_, stream)) break;
      continue;
    }
    draw_step(y_, stream, other_);                                // step 6: z
    const double r = estimate(loss, candidate_, other_, stream);  // steps 7 and 8
    if (stream.uniform() <= 0.5 * r) break;                       // step 9
  }
  x = candidate_;  // step 10
}

void AlternateSampler::sample(SampledLoss& loss, Stream& stream, VectorRef x) {
  draw_prior(stream, x);  // step 1
  if (law_.method == GibbsMethod::rejection) {
    while (!accept_exactly(loss, x, stream)) draw_prior(stream, x);
    return;
  }
  for (Index t = 0; t < law_.rounds; ++t) round(loss, stream, x);  // steps 2 to 4
}

}  // namespace dpsosp
