// SPDX-License-Identifier: Apache-2.0
#include "privacy_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

// (P, Q) dominates a mechanism M if H_α(M(D) ‖ M(D′)) <= H_α(P ‖ Q) for all neighbours and all
// α >= 0, with H_α(P ‖ Q) = sup_A P(A) − αQ(A). Dominating pairs compose, adaptively too (Zhu, Dong
// & Wang 2022, Theorem 10). Below, F_t(p) = Φ(Φ⁻¹(p) − t): a set that N(0,z²) gives mass p gets at
// least F_t(p) from a normal law whose mean is tz away, with equality for half-lines that face away
// (Neyman & Pearson).
//
// Poisson, replace-one. The sum without the record is common to both sides and H_α is jointly
// convex, so it may be fixed: P = (1−q)N(0) + qN(x), Q = (1−q)N(0) + qN(y), ‖x‖, ‖y‖ <= 1. For
// α >= 1 and any set A with N(x)(A) = p,
//   P(A) − αQ(A) = qp − (α−1)(1−q)·N(0)(A) − αq·N(y)(A)
//               <= qp − (α−1)(1−q)·F_{1/z}(p) − αq·F_{2/z}(p),
// and the half-lines of x = 1, y = −1 on a line meet both bounds at once. For α < 1,
// H_α(P ‖ Q) = 1 − α + αH_{1/α}(Q ‖ P), and the pair is its own mirror image. So
// (1−q)N(0) + qN(±1) dominates, and records ±1 attain it. With y = 0 in place of a record the same
// lines prove the pairs of add/remove and of zero-out.
//
// Fixed size, replace-one (b of n, γ = b/n < 1). Draw b of the n − 1 other records; with
// probability γ exchange a uniform member for the record i. Given the draw and the member, the
// answer's law is (1−γ)μ + γν on one data set and (1−γ)μ + γν′ on the other, of normal laws at most
// Δ apart. At α′ = 1 + γ(α−1) >= 1, for any set A,
//   [(1−γ)μ + γν](A) − α′[(1−γ)μ + γν′](A) = γ(ν(A) − (1−γ)(α−1)μ(A) − α′ν′(A)) <= γH_α(ν ‖ μ or
//   ν′),
// since (1−γ)(α−1) + α′ = α (Balle, Barthe & Gaboardi 2018, Theorem 11), and H_α is jointly convex.
// γH_α(N(1,z²) ‖ N(0,z²)) is H_α′ of (1−γ)N(0,z²) + γN(1,z²) against N(0,z²), which records on a
// line attain. For α′ < 1 the mirror image holds. Both halves are those of one pair: losses above 0
// are of that mixture, those below 0 of its reverse, and what is left of the mass,
// (1−γ)(2Φ(1/(2z)) − 1), has loss 0. No data set attains both halves (Lebeda et al. 2024).
//
// Laplace, ℓ₁-sensitivity spread over coordinates: G_t(p) is the least mass that a set of mass p
// can have after the Laplace law on a line is moved by t. The law is log-concave, so half-lines
// attain it and G_s∘G_t = G_{s+t}; G_t is convex, so moving one coordinate of a product law leaves
// at least G_t(p). Hence one coordinate that moves by the whole is the worst. With G for F and
// these laws for the normal ones, the two proofs of samples above are proofs for Laplace noise.
//
// Exponential mechanism: for neighbours the losses lie in [t−ε, t] for some t in [0, ε], and by
// convexity their H_α is at most that of two losses at the ends,
// (1 − e^{s−t})(1 − e^{t−ε})/(1 − e^{−ε}) at α = e^s. The largest, at t = (s+ε)/2, is
// (1 − e^{(s−ε)/2})²/(1 − e^{−ε}), which is the H of the pair whose loss has P-density
// e^{(s−ε)/2}/(2(1 − e^{−ε})) on [−ε, ε].

namespace dpsosp {
namespace {

constexpr double infinite_loss = std::numeric_limits<double>::infinity();

// A t with Φ(−t) <= mass, from Φ(−t) <= e^{−t²/2}/2.
double normal_tail(double mass) { return mass < 0.5 ? std::sqrt(-2 * std::log(2 * mass)) : 0; }

// ln of the density of N(0, std²)
struct NormalLogDensity {
  explicit NormalLogDensity(double std)
      : scale(1 / std), constant(std::log(std * std::sqrt(2 * std::numbers::pi))) {}
  double operator()(double x) const { return -0.5 * (x * scale) * (x * scale) - constant; }
  double scale, constant;
};

// ln((1−q) + qe^a), which a sample at rate q makes of the log-ratio a of two laws
struct Diluted {
  double rate;

  double loss(double a) const {
    if (rate == 1) return a;
    if (a < 600) return std::log1p(rate * std::expm1(a));
    return a + std::log(rate) + std::log1p((1 - rate) / rate * std::exp(-a));
  }
  // inverse of loss
  double undiluted(double loss) const {
    if (loss > 600) return loss - std::log(rate);
    const double excess = std::expm1(loss) / rate;
    return excess > -1 ? std::log1p(excess) : -infinite_loss;
  }
};

// Ratio of the mixture (1−q)N(0,z²) + qN(1,z²) to N(0,z²), in logarithms.
struct Mixture {
  double rate, noise;

  double log_ratio(double x) const { return Diluted{rate}.loss((x - 0.5) / (noise * noise)); }
  // inverse of log_ratio
  double at(double loss) const { return 0.5 + noise * noise * Diluted{rate}.undiluted(loss); }
  // x with log_ratio(x) − log_ratio(−x) = loss: y = e^{x/z²} solves the quadratic equation
  // qc·y² − (1−q)(e^loss − 1)y − e^loss·qc = 0, c = e^{−1/(2z²)}
  double between_opposites_at(double loss) const {
    if (loss == 0) return 0;
    const double half = std::abs(loss) / 2;
    const double log_sinh = half < 1 ? std::log(std::sinh(half))
                                     : half + std::log1p(-std::exp(-2 * half)) - std::numbers::ln2;
    const double log_a = std::log1p(-rate) - std::log(rate) + log_sinh + 0.5 / (noise * noise);
    const double asinh = log_a < 30 ? std::asinh(std::exp(log_a)) : log_a + std::numbers::ln2;
    return noise * noise * (loss / 2 + std::copysign(asinh, loss));
  }
  // P is the mixture: beyond it less than tails.above, before −low less than tails.below
  double high(const LossTails& tails) const {
    return std::max(noise * normal_tail(tails.above / 2),
                    1 + noise * normal_tail(tails.above / (2 * rate)));
  }
  double scale() const { return std::min(noise, 4 * noise * noise); }
};

void expect_replace_one(Adjacency adjacency) {
  if (adjacency != Adjacency::replace_one)
    throw UnsupportedError("accountant pld: a fixed-size sample is charged under replace_one only");
}

struct DominatingLoss {
  Adjacency adjacency;
  Direction direction;
  const LossTails& tails;

  PrivacyLoss operator()(const GaussianEvent& e) const {
    return gaussian_loss(1 / e.noise_multiplier, tails);
  }

  PrivacyLoss operator()(const PoissonGaussianEvent& e) const {
    const Mixture m{e.rate, e.noise_multiplier};
    const double z = e.noise_multiplier;
    const NormalLogDensity normal(z);
    PrivacyLoss::Continuous c{.low = -z * normal_tail(tails.below), .scale = m.scale()};
    if (adjacency == Adjacency::replace_one) {
      c.high = m.high(tails);
      c.at = [m, normal](double x) {
        const double ratio = m.log_ratio(x);
        return PrivacyLoss::Atom{std::exp(normal(x) + ratio), ratio - m.log_ratio(-x)};
      };
      c.inverse = [m](double loss) { return m.between_opposites_at(loss); };
    } else if (direction == Direction::remove) {
      c.high = m.high(tails);
      c.at = [m, normal](double x) {
        const double ratio = m.log_ratio(x);
        return PrivacyLoss::Atom{std::exp(normal(x) + ratio), ratio};
      };
      c.inverse = [m](double loss) { return m.at(loss); };
    } else {  // mirrored, so that the loss increases
      c.high = z * normal_tail(tails.above);
      c.at = [m, normal](double x) {
        return PrivacyLoss::Atom{std::exp(normal(x)), -m.log_ratio(-x)};
      };
      c.inverse = [m](double loss) { return -m.at(-loss); };
    }
    return {.continuous = c, .above = tails.above, .below = tails.below};
  }

  PrivacyLoss operator()(const LaplaceEvent& e) const {
    PrivacyLoss loss = on_interval(e.epsilon, 0.25);
    loss.atoms = {{0.5, e.epsilon}, {0.5 * std::exp(-e.epsilon), -e.epsilon}};
    return loss;
  }
  PrivacyLoss operator()(const PureEvent& e) const {
    return {.atoms = {{1 / (1 + std::exp(-e.epsilon)), e.epsilon},
                      {1 / (1 + std::exp(e.epsilon)), -e.epsilon}}};
  }
  PrivacyLoss operator()(const ExponentialEvent& e) const {
    return on_interval(e.epsilon, -0.5 / std::expm1(-e.epsilon));
  }

  PrivacyLoss operator()(const FixedSizeGaussianEvent& e) const {
    expect_replace_one(adjacency);
    const Mixture m{e.rate, e.noise_multiplier};
    const NormalLogDensity normal(e.noise_multiplier);
    constexpr double middle = 0.5;  // of N(0) and N(1), where the loss is 0
    PrivacyLoss::Continuous c{
        .low = std::min(middle - e.noise_multiplier * normal_tail(tails.below), 0.0),
        .high = m.high(tails) - middle,
        .scale = m.scale()};
    c.at = [m, normal](double x) {
      const double ratio = m.log_ratio(std::abs(x) + middle);
      const double mass = normal(std::abs(x) + middle);
      return x < 0 ? PrivacyLoss::Atom{std::exp(mass), -ratio}
                   : PrivacyLoss::Atom{std::exp(mass + ratio), ratio};
    };
    c.inverse = [m](double loss) { return std::copysign(m.at(std::abs(loss)) - middle, loss); };
    const double none =
        (1 - e.rate) * std::erf(middle / (std::numbers::sqrt2 * e.noise_multiplier));
    return {.atoms = {{none, 0.0}}, .continuous = c, .above = tails.above, .below = tails.below};
  }
  PrivacyLoss operator()(const ZcdpEvent&) const {
    throw UnsupportedError(
        "accountant pld: a zCDP bound does not fix a loss distribution; use zcdp or rdp");
  }

  // P-density weight·e^{(s−ε)/2} of the loss s on [−ε, ε]
  static PrivacyLoss on_interval(double epsilon, double weight) {
    return {.continuous = PrivacyLoss::Continuous{
                .low = -epsilon,
                .high = epsilon,
                .scale = 8,
                .at =
                    [=](double s) {
                      return PrivacyLoss::Atom{weight * std::exp((s - epsilon) / 2), s};
                    },
                .inverse = [](double s) { return s; }}};
  }
};

}  // namespace

PrivacyLoss gaussian_loss(double mu, const LossTails& tails) {
  PrivacyLoss::Continuous c{.low = -normal_tail(tails.below),
                            .high = normal_tail(tails.above),
                            .scale = std::min(1.0, 8 / mu)};
  c.at = [mu, normal = NormalLogDensity(1)](double x) {
    return PrivacyLoss::Atom{std::exp(normal(x)), mu * (x + mu / 2)};
  };
  c.inverse = [mu](double loss) { return loss / mu - mu / 2; };
  return {.continuous = c, .above = tails.above, .below = tails.below};
}

// a is ln of Lap(1)/Lap(0) at an answer between them: |a| <= ε, of mass e^{−(ε+a)/2}/4 under
// Lap(0); beyond either law's centre it is ε or −ε.
PrivacyLoss dominating_loss(const SampledLaplaceEvent& e, Adjacency adjacency,
                            Direction direction) {
  const Diluted with{e.rate};
  const double most = 1 / e.noise_multiplier;  // ε
  PrivacyLoss::Continuous c{.low = -most, .high = most, .scale = 4};
  std::vector<PrivacyLoss::Atom> atoms;
  if (e.sample == SampledLaplaceEvent::Sample::fixed_size) {
    expect_replace_one(adjacency);
    c.at = [=](double a) {
      const double size = std::abs(a);
      const double ratio = with.loss(size);
      const double log_mass = -(most + size) / 2 + (a < 0 ? 0 : ratio);
      return PrivacyLoss::Atom{0.25 * std::exp(log_mass), std::copysign(ratio, a)};
    };
    c.inverse = [=](double loss) { return std::copysign(with.undiluted(std::abs(loss)), loss); };
    atoms = {{0.5 * std::exp(with.loss(most) - most), with.loss(most)},
             {0.5 * std::exp(-most), -with.loss(most)},
             {(1 - e.rate) * -std::expm1(-most / 2), 0.0}};
  } else if (adjacency == Adjacency::replace_one) {  // by the answer itself, 0 midway
    const double least = with.loss(-most);
    const auto loss = [=](double t) {
      return std::copysign(with.loss(std::abs(t) - most) - least, t);
    };
    c.low = -2 * most;
    c.high = 2 * most;
    c.at = [=](double t) {
      const double log_ratio = t < 0 ? least : with.loss(t - most);
      return PrivacyLoss::Atom{0.25 * std::exp(log_ratio - std::abs(t) / 2), loss(t)};
    };
    c.inverse = [=](double l) {
      return l == 0 ? 0 : std::copysign(with.undiluted(std::abs(l) + least) + most, l);
    };
    atoms = {{0.5 * std::exp(with.loss(most) - most), loss(2 * most)},
             {0.5 * std::exp(least - most), -loss(2 * most)}};
  } else if (direction == Direction::remove) {
    c.at = [=](double a) {
      return PrivacyLoss::Atom{0.25 * std::exp(with.loss(a) - (most + a) / 2), with.loss(a)};
    };
    c.inverse = [=](double loss) { return with.undiluted(loss); };
    atoms = {{0.5 * std::exp(with.loss(most) - most), with.loss(most)},
             {0.5 * std::exp(with.loss(-most)), with.loss(-most)}};
  } else {  // mirrored, so that the loss increases
    c.at = [=](double a) {
      return PrivacyLoss::Atom{0.25 * std::exp((a - most) / 2), -with.loss(-a)};
    };
    c.inverse = [=](double loss) { return -with.undiluted(-loss); };
    atoms = {{0.5, -with.loss(-most)}, {0.5 * std::exp(-most), -with.loss(most)}};
  }
  return {.atoms = atoms, .continuous = c};
}

double largest_loss(const SampledLaplaceEvent& e, Adjacency adjacency) {
  const Diluted with{e.rate};
  const double most = 1 / e.noise_multiplier;
  if (e.rate == 0) return 0;
  const bool opposite =
      e.sample == SampledLaplaceEvent::Sample::poisson && adjacency == Adjacency::replace_one;
  return with.loss(most) - (opposite ? with.loss(-most) : 0);
}

PrivacyLoss dominating_loss(const Event& event, Adjacency adjacency, Direction direction,
                            const LossTails& tails) {
  return std::visit(DominatingLoss{adjacency, direction, tails}, event);
}

}  // namespace dpsosp
