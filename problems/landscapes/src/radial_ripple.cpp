// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/radial_ripple.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "certified_minimum.hpp"
#include "dpsosp/core/elementary.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"

namespace dpsosp {
namespace {

/// α + A sin θ + B cos θ.
struct Wave {
  double level = 0, sine = 0, cosine = 0;

  double operator()(double angle) const {
    return level + sine * portable_sin(angle) + cosine * portable_cos(angle);
  }
};

/// G = c r^p size(θ), G′ = c r^{p−1} slope(θ), G″ = c r^{p−2} curvature(θ), θ = b ln r.
struct Profile {
  Profile(double power, double amplitude, double frequency)
      : p(power),
        b(frequency),
        size{1, amplitude, 0},
        slope{p, p * amplitude, amplitude * b},
        curvature{p * (p - 1), amplitude * (p * (p - 1) - b * b), amplitude * b * (2 * p - 1)} {}

  double p, b;
  Wave size, slope, curvature;
};

/// max of r^exponent |wave(b ln r)| over 0 < r ≤ R. The wave repeats while r^exponent grows, so the
/// last period before R has the maximum: at its end or where the derivative is 0.
double largest(double exponent, const Wave& wave, double b, double radius) {
  const double end = b * std::log(radius);
  const auto size = [&](double angle) {
    return std::exp(exponent * angle / b) * std::abs(wave(angle));
  };
  double found = size(end);
  const double sine = exponent * wave.sine - b * wave.cosine;
  const double cosine = exponent * wave.cosine + b * wave.sine;
  const double ratio = exponent * wave.level / hypotenuse(sine, cosine);
  if (!(std::abs(ratio) <= 1)) return found;
  const double phase = std::atan2(cosine, sine);  // derivative ∝ ratio + sin(θ + phase)
  constexpr double period = 2 * std::numbers::pi;
  for (const double root : {-std::asin(ratio), std::numbers::pi + std::asin(ratio)}) {
    const double angle = root - phase;
    found = std::max(found, size(angle - period * std::ceil((angle - end) / period)));
  }
  return found;
}

class RadialObjective final : public Objective {
 public:
  RadialObjective(Index d, const Profile& profile, double scale, double radius)
      : d_(d), profile_(profile), c_(scale), radius_(radius) {}

  Index dimension() const override { return d_; }
  double value(ConstVectorRef x) const override {
    const double r = x.norm();
    const double inner = std::min(r, radius_);
    return height(inner) + slope(inner) * (r - inner);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    const double r = x.norm();
    if (r == 0)
      out.setZero();
    else
      out = (slope(std::min(r, radius_)) / r) * x;
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    const double r = x.norm();
    if (r == 0) {  // for p = 2 the Hessian oscillates as r → 0; this is its mean
      out = (profile_.p == 2 ? 2 * c_ : 0.0) * v;
      return;
    }
    const double across = slope(std::min(r, radius_)) / r;
    const double along =
        r > radius_ ? 0 : c_ * std::pow(r, profile_.p - 2) * profile_.curvature(angle(r));
    out = across * v + ((along - across) * x.dot(v) / (r * r)) * x;
  }

 private:
  double angle(double r) const { return profile_.b * std::log(r); }
  double height(double r) const {
    return r == 0 ? 0 : c_ * std::pow(r, profile_.p) * profile_.size(angle(r));
  }
  double slope(double r) const {
    return r == 0 ? 0 : c_ * std::pow(r, profile_.p - 1) * profile_.slope(angle(r));
  }

  Index d_;
  Profile profile_;
  double c_;
  double radius_;
};

/// sup over θ of (1 + a sin θ)/h(θ)^k.
double largest_kl_ratio(const Profile& profile, double amplitude, double least_slope, double k) {
  const auto jet = [&](double angle) {
    const double size = profile.size(angle), h = profile.slope(angle);
    const double turn =
        profile.slope.sine * portable_cos(angle) - profile.slope.cosine * portable_sin(angle);
    return ScalarJet{std::log(size) - k * std::log(h),
                     amplitude * portable_cos(angle) / size - k * turn / h};
  };
  // |(ln g)″| ≤ |g″/g| + (g′/g)², for 1 + a sin θ and for h
  const double x = amplitude / (1 - amplitude);
  const double y = hypotenuse(profile.slope.sine, profile.slope.cosine) / least_slope;
  return std::exp(certified_maximum(jet, 0, 2 * std::numbers::pi, x + x * x + k * (y + y * y)));
}

}  // namespace

std::string_view RadialRipple::summary() const {
  return "c r^p (1 + a sin(b ln r)) + z.x, r = |x|; quasar-convex and KL, not convex, no Hessian "
         "bound";
}

ProblemNotes RadialRipple::notes() const {
  return {
      .group = "Families of Lowy, Ullman and Wright",
      .formula =
          "F(x) = G(‖x‖), G(r) = c r^p (1 + a sin(b ln r)) for r ≤ R, G(R) + G′(R)(r − R) beyond. "
          "The source's settings are p = 2, a = 0.3, b = 4, c = 0.2 (the defaults) and p = 4, a = "
          "0.4, b = 6, c = 0.1, both with X = 0.3 and R = 1. Quasar-convexity and KL are of the "
          "landscape F, so they are stated where the records' mean is zero (`balanced`, `stream`). "
          "The Hessian jumps at r = R, and at 0 for p = 2: no Hessian-Lipschitz constant exists, "
          "and second-order methods have nothing to go by.",
      .source = "lowy-2024 notes, 6, Z2",
      .critical_points =
          "0 alone, the minimum, F* = 0. F is convex only if p(p−1) ≥ a √((p(p−1)−b²)² + "
          "b²(2p−1)²). The standard start has length 0.9 R."};
}

Fields RadialRipple::landscape_fields() {
  using namespace range;
  return {field("power", power, between(2, 16), "p"),
          field("amplitude", amplitude, not_negative, "a, of the ripple"),
          field("frequency", frequency, Range{0, 1e3, false, true}, "b, of the ripple in ln r"),
          field("scale", scale, positive, "c"),
          field("radius", radius, positive, "R; the landscape is linear beyond")};
}

Landscape RadialRipple::landscape(Index d) const {
  const double most = 0.999 * power / hypotenuse(power, frequency);
  if (!(amplitude <= most))
    reject(name(), "amplitude", amplitude,
           fmt::format("in [0, {:.6g}]; from p/sqrt(p^2 + b^2) on, G falls in places", most));

  Landscape made;
  made.objective =
      std::make_shared<RadialObjective>(d, Profile(power, amplitude, frequency), scale, radius);
  made.domain = Domain::ball(radius);
  const double root_d = std::sqrt(static_cast<double>(d));
  made.starts = {.standard = Vector::Constant(d, 0.9 * radius / root_d),
                 .random_spread = radius / root_d,
                 .far_radius = radius};
  made.minimum = 0.0;
  made.landmarks = {
      {"origin", Landmark::Kind::minimiser, Landmark::Of::population, Vector::Zero(d)}};
  return made;
}

Constants RadialRipple::landscape_constants(Index) const {
  const Profile profile(power, amplitude, frequency);
  Constants made;
  made.set(constant::lipschitz,
           proved(scale * largest(power - 1, profile.slope, frequency, radius), "everywhere",
                  "‖∇F‖ = G′(r) = c r^{p−1} h(θ), h = p + pa sin θ + ab cos θ, θ = b ln r, "
                  "constant for r ≥ R. Its maximum is in the last period of θ before R, at the end "
                  "or at a zero of G″, which are solved in closed form."));
  made.set(constant::smoothness,
           proved(scale * std::max(largest(power - 2, profile.curvature, frequency, radius),
                                   largest(power - 2, profile.slope, frequency, radius)),
                  "everywhere",
                  "The Hessian has the eigenvalues G″(r) and G′(r)/r: c r^{p−2} times a sinusoid "
                  "in θ each, whose largest size on r ≤ R is in closed form as above; beyond R "
                  "they are 0 and G′(R)/r ≤ G′(R)/R. The gradient is continuous, so the bound "
                  "passes over the jumps at R and 0."));
  if (!centred(sampling)) return made;

  const double quasar = power - amplitude * frequency / std::sqrt(1 - amplitude * amplitude);
  made.set(constant::quasar_convexity,
           proved(std::min(1.0, quasar), "everywhere",
                  "For r ≤ R, ⟨∇F, x⟩/F = h/(1 + a sin θ) = p + ab cos θ/(1 + a sin θ), and |cos "
                  "θ|/(1 + a sin θ) ≤ 1/√(1−a²), attained at sin θ = −a; cut at 1. Beyond R both "
                  "sides grow linearly, ⟨∇F, x⟩ by G′(R) and q F by q G′(R) ≤ G′(R).",
                  std::min(1.0, 1 / quasar)));
  const double k = power / (power - 1);
  const double least_slope = power - hypotenuse(profile.slope.sine, profile.slope.cosine);
  made.set(
      constant::kl_gamma,
      proved(std::pow(largest_kl_ratio(profile, amplitude, least_slope, k) / std::pow(scale, k - 1),
                      1 / k),
             "the domain",
             "F/‖∇F‖^k = (1 + a sin θ)/(c^{k−1} h(θ)^k) with k = p/(p−1), free of r; its maximum "
             "over θ is found by branch and bound to a relative 10⁻¹²."));
  made.set(constant::kl_exponent,
           proved(k, "the domain", "k = p/(p−1) is the power at which r cancels in F/‖∇F‖^k."));
  return made;
}

}  // namespace dpsosp
