// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/pld.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/privacy/accounting/accountant.hpp"

#include "loss_composition.hpp"
#include "numeric.hpp"

namespace dpsosp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostReleases = 1e12;
constexpr double kMostPieces = 1 << 22;
constexpr double kMostPoints = 1 << 21;
constexpr double kFarthest = 1e15;  // lattice points from zero that are counted exactly
constexpr int kSketchNodes = 1024;
constexpr int kRefinements = 8;

// How much of delta, relative, each error of a bound may take, in parts of the tolerance: it moves
// epsilon by about that over λ.
constexpr double kCut = 0.1;         // losses counted as infinite
constexpr double kLost = 0.05;       // by each bound of the window
constexpr double kMisrounded = 0.1;  // rounding errors beyond their bound
constexpr double kCutBelow = 1e-9;   // P-mass of low losses, moved up or dropped

struct Part {
  PrivacyLoss loss;
  std::int64_t count;
  std::vector<PrivacyLoss::Atom> sketch;
};

// ln E[e^{order·L}] of the sum of all parts, with its first two derivatives in the order.
struct Cumulants {
  double value = 0, mean = 0, variance = 0;
};

Cumulants cumulants(const std::vector<Part>& parts, double order) {
  Cumulants total;
  for (const Part& part : parts) {
    double largest = -kInfinity;
    for (const auto& atom : part.sketch) largest = std::max(largest, order * atom.loss);
    double mass = 0;
    double first = 0;
    double second = 0;
    for (const auto& atom : part.sketch) {
      const double weight = atom.mass * std::exp(order * atom.loss - largest);
      mass += weight;
      first += weight * atom.loss;
      second += weight * atom.loss * atom.loss;
    }
    const auto count = static_cast<double>(part.count);
    const double mean = first / mass;
    total.value += count * (largest + std::log(mass));
    total.mean += count * mean;
    total.variance += count * std::max(second / mass - mean * mean, 0.0);
  }
  return total;
}

// The argument in [1e-9, 1e15] at which a function with one minimum has it, by golden section in
// the logarithm.
template <class Function>
double minimiser(const Function& f) {
  constexpr double ratio = 1 / std::numbers::phi;
  double low = std::log(1e-9);
  double high = std::log(1e15);
  double left = high - ratio * (high - low);
  double right = low + ratio * (high - low);
  double at_left = f(std::exp(left));
  double at_right = f(std::exp(right));
  while (high - low > 1e-3) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - ratio * (high - low);
      at_left = f(std::exp(left));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + ratio * (high - low);
      at_right = f(std::exp(right));
    }
  }
  return std::exp(at_left <= at_right ? left : right);
}

// Where the losses that decide epsilon lie, from the sketches. The bounds hold for any plan; it
// decides how tight they are and how long they take.
struct Plan {
  double epsilon;                     // estimate
  double tilt, beyond, above, below;  // orders of the window
  double edge;                        // upper end of the window
  double width;                       // of the window
};

// Beyond e^{±1e5} the exponents would lose the digits that decide.
double exponent(const std::vector<Part>& parts, double order) {
  const double value = cumulants(parts, order).value;
  return std::abs(value) < 1e5 ? value : kInfinity;
}

// Leaves out at most `lost` of delta at each end of the window.
Plan plan(const std::vector<Part>& parts, double lost, double epsilon, double tilt) {
  Plan p{.epsilon = epsilon, .tilt = tilt};
  const double log_lost = -std::log(lost);
  const auto edge = [&](double order) { return (exponent(parts, order) + log_lost) / order; };
  p.beyond = minimiser(edge);
  p.edge = edge(p.beyond);
  const auto width = [&](double order) {
    return (exponent(parts, order) - order * epsilon + log_lost) / std::abs(order - tilt);
  };
  const auto over_tilt = [&](double excess) { return width(tilt + excess); };
  p.above = tilt + minimiser(over_tilt);
  const auto share_of_tilt = [&](double odds) { return width(tilt / (1 + odds)); };
  p.below = tilt / (1 + minimiser(share_of_tilt));
  p.width = std::max({width(p.above), width(p.below), p.edge - epsilon});
  return p;
}

// The plan with the best Rényi bound for epsilon, and its order.
Plan first_plan(const std::vector<Part>& parts, double delta, double lost) {
  const auto renyi = [&](double tilt) {
    return (exponent(parts, tilt) - std::log(delta) - std::log1p(tilt)) / tilt -
           std::log1p(1 / tilt);
  };
  const double tilt = minimiser(renyi);
  return plan(parts, lost, renyi(tilt), tilt);
}

// The plan with epsilon known to a few digits: an error e of the tilted law is worth at most
// e·e^{K(λ)−λε}/(hλ(1+λ)) of delta, which the tilt makes least.
Plan next_plan(const std::vector<Part>& parts, double lost, double epsilon) {
  const double tilt = minimiser([&](double order) {
    return exponent(parts, order) - order * epsilon - std::log(order) - std::log1p(order);
  });
  return plan(parts, lost, epsilon, tilt);
}

// A step at which rounding moves epsilon by about `tolerance`: splitting adds at most
// λ(λ+1)h²/12 to a release's cumulant, grouping takes half of that away.
double first_step(const std::vector<Part>& parts, const Plan& p, double tolerance) {
  double releases = 0;
  for (const Part& part : parts) releases += static_cast<double>(part.count);
  return std::sqrt(8 * tolerance * std::max(p.epsilon, 1 / p.tilt) / (releases * (1 + p.tilt)));
}

// The step that the cap on points allows.
double finest_step(const std::vector<Part>& parts, const Plan& p) {
  double widest = 1.1 * p.width;
  for (const Part& part : parts) {
    const auto [low, high] = std::ranges::minmax(part.sketch, {}, &PrivacyLoss::Atom::loss);
    widest = std::max(widest, high.loss - low.loss);
  }
  return widest / kMostPoints;
}

// The step or less, such that the largest atom lies on the lattice, where it costs no rounding.
double with_atom_on_lattice(double step, const std::vector<Part>& parts) {
  double largest = 0;
  for (const Part& part : parts)
    for (const auto& atom : part.loss.atoms) largest = std::max(largest, std::abs(atom.loss));
  return largest > 0 ? largest / std::ceil(largest / step) : step;
}

// Whether the window is within the caps on its size; bit_ceil and an atom near the step may make it
// larger than planned.
bool fits(const Plan& p, double step) {
  const double reach = (std::abs(p.edge) + p.width) / step;
  return 1.05 * p.width / step + 16 <= 4.0 * kMostPoints && reach <= kFarthest;
}

LossWindow window(const Plan& p, double step) {
  const double needed = std::max(1.05 * p.width / step + 16, 64.0);
  const std::size_t points = std::bit_ceil(static_cast<std::size_t>(needed));
  const double top = p.edge + 0.02 * p.width;
  return {.step = step,
          .first = static_cast<std::int64_t>(std::ceil(top / step)) + 4 -
                   static_cast<std::int64_t>(points),
          .points = points,
          .tilt = p.tilt,
          .beyond = p.beyond,
          .above = p.above,
          .below = p.below};
}

// The true sum of merged losses is the lattice sum plus the rounding errors, which fall short of
// their mean by more than `fall` with probability at most `missed` (Bernstein's inequality), as in
// Gopi, Lee & Wutschitz (2021), section 5.
double lower_bound(const std::vector<Part>& parts,
                   const std::vector<DiscreteLoss>& losses,
                   LossWindow on,
                   double delta,
                   double missed) {
  double mean = 0;
  double variance = 0;
  double largest = 0;  // drop of one error
  double all = 0;      // of the sum
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const RoundingError& error = losses[i].error;
    const auto count = static_cast<double>(parts[i].count);
    mean += count * error.mean;
    variance += count * error.variance;
    largest = std::max(largest, error.drop);
    all += count * error.drop;
  }
  const double shift = std::round(mean / on.step);
  if (!(std::abs(shift) <= kFarthest)) return 0.0;
  on.first -= static_cast<std::int64_t>(shift);
  LossComposition composition(on);
  for (std::size_t i = 0; i < parts.size(); ++i) composition.add(losses[i].merged, parts[i].count);
  const double log_missed = -std::log(missed);
  const double linear = largest * log_missed / 3;
  const double fall =
      std::min(all, linear + std::sqrt(linear * linear + 2 * variance * log_missed));
  return std::max(composition.epsilon_below(delta + missed) + mean - fall, 0.0);
}

// Refines until the width is met, or epsilon is no more than `enough`.
LossBounds bounds(const std::vector<Part>& parts, double delta, double tolerance, double enough) {
  double total_variation = 0;  // of the composition, at most
  bool seen = true;            // a wide loss may hide between the nodes of a sketch
  for (const Part& part : parts) {
    double mass = 0;
    for (const auto& atom : part.sketch) {
      mass += atom.mass;
      total_variation +=
          static_cast<double>(part.count) * atom.mass * -std::expm1(std::min(-atom.loss, 0.0));
    }
    seen = seen && std::abs(mass - 1) < 0.02;
  }
  if (seen && 1.1 * total_variation <= delta * (1 - kCut * tolerance))  // a tenth for the sketch
    return {.epsilon = 0, .lower = 0, .points = 0, .resolved = true};

  // The sum of the largest losses holds: what was cut off is less than delta.
  LossBounds best{.epsilon = 0, .lower = 0, .points = 0, .resolved = false};
  for (const Part& part : parts)
    best.epsilon += static_cast<double>(part.count) * largest_loss(part.loss);
  const double lost = kLost * tolerance * delta;
  Plan p = first_plan(parts, delta, lost);
  double step = first_step(parts, p, 8 * tolerance);
  for (int i = 0; i < kRefinements && !best.resolved; ++i) {
    const double finest = finest_step(parts, p);
    step = std::max(step, finest);
    const double lattice = with_atom_on_lattice(step, parts);
    if (!fits(p, lattice)) {
      if (i > 0) break;
      throw UnsupportedError(
          fmt::format("accountant pld: the losses need more than {} points; use rdp, zcdp or pure",
                      kMostPoints));
    }
    const LossWindow on = window(p, lattice);
    std::vector<DiscreteLoss> losses;
    LossComposition composition(on);
    for (const Part& part : parts) {
      losses.push_back(discretise(part.loss, on.step));
      composition.add(losses.back().split, part.count);
    }
    const double above = composition.epsilon_above(delta);
    best.epsilon = std::min(best.epsilon, above);
    best.lower =
        std::min(std::max(best.lower,
                          lower_bound(parts, losses, on, delta, kMisrounded * tolerance * delta)),
                 best.epsilon);
    best.points = static_cast<std::int64_t>(on.points);
    const double wanted = tolerance * std::max(best.epsilon, 1 / p.tilt);
    const double width = best.epsilon - best.lower;
    best.resolved = width <= wanted || best.epsilon <= enough;
    if (step <= finest && i > 0) break;
    // nearer the middle, below the largest loss
    if (std::isfinite(above))
      p = next_plan(parts, lost, std::max(best.epsilon - width / 2, 0.9 * best.epsilon));
    step *= std::clamp(0.8 * std::sqrt(wanted / width), 1.0 / 16, 0.5);
  }
  return best;
}

// Unsampled Gaussians become one, equal events are counted together, free ones are left out.
struct Sequence {
  double gaussian_mu = 0;
  std::vector<CountedEvent> others;
};

Sequence collected(std::span<const CountedEvent> events, Adjacency adjacency) {
  Sequence s;
  double square = 0;  // Σ mu²
  for (const CountedEvent& e : events) {
    if (const auto* g = std::get_if<GaussianEvent>(&e.event)) {
      square += static_cast<double>(e.count) / (g->noise_multiplier * g->noise_multiplier);
      continue;
    }
    if (const auto* sampled = std::get_if<PoissonGaussianEvent>(&e.event)) {
      if (sampled->rate == 0) continue;
      if (sampled->rate == 1) {  // the sum moves by 2C under replace-one
        const double mu = (adjacency == Adjacency::replace_one ? 2 : 1) / sampled->noise_multiplier;
        square += static_cast<double>(e.count) * mu * mu;
        continue;
      }
    }
    if (const auto* sampled = std::get_if<FixedSizeGaussianEvent>(&e.event)) {
      if (sampled->rate == 0) continue;
      if (sampled->rate == 1 && adjacency == Adjacency::replace_one) {
        const double mu = 1 / sampled->noise_multiplier;
        square += static_cast<double>(e.count) * mu * mu;
        continue;
      }
    }
    if (pure_epsilon(e.event) == 0) continue;
    const auto same = std::ranges::find(s.others, e.event, &CountedEvent::event);
    if (same == s.others.end())
      s.others.push_back(e);
    else
      same->count = add_counts(same->count, e.count);
  }
  s.gaussian_mu = std::sqrt(square);
  return s;
}

std::vector<Part> parts_of(const Sequence& sequence,
                           Adjacency adjacency,
                           Direction direction,
                           double delta,
                           double tolerance) {
  double releases = sequence.gaussian_mu > 0 ? 1 : 0;
  for (const CountedEvent& e : sequence.others) releases += static_cast<double>(e.count);
  if (releases > kMostReleases)
    throw UnsupportedError(
        fmt::format("accountant pld: {:g} releases, at most {:g} are resolved; use rdp",
                    releases,
                    kMostReleases));
  const LossTails tails{.above = kCut * tolerance * delta / releases,
                        .below = kCutBelow / releases};
  std::vector<Part> parts;
  const auto add = [&](PrivacyLoss loss, std::int64_t count) {
    const double needed = pieces(loss);
    if (!(needed <= kMostPieces))
      throw UnsupportedError(
          "accountant pld: the privacy loss of one release is too wide to resolve, expected noise "
          "multipliers of 1e-3 or more and epsilons of 1e5 or less; use rdp");
    std::vector<PrivacyLoss::Atom> nodes = sketch(loss, kSketchNodes);
    parts.push_back({std::move(loss), count, std::move(nodes)});
  };
  if (sequence.gaussian_mu > 0) add(gaussian_loss(sequence.gaussian_mu, tails), 1);
  for (const CountedEvent& e : sequence.others)
    add(dominating_loss(e.event, adjacency, direction, tails), e.count);
  return parts;
}

/// A mechanism of the event's kind whose loss is known.
Event attained(const Event& event, Adjacency adjacency) {
  if (const auto* sampled = std::get_if<FixedSizeGaussianEvent>(&event)) {
    if (adjacency != Adjacency::replace_one)
      throw UnsupportedError("accountant pld: fixed-size samples are for replace_one");
    // its multiplier is of the replace-one sensitivity, twice the clip norm
    return PoissonGaussianEvent{.rate = sampled->rate,
                                .noise_multiplier = 2 * sampled->noise_multiplier};
  }
  if (const auto* choice = std::get_if<ExponentialEvent>(&event))
    return PureEvent{choice->epsilon / 2};
  if (const auto* zcdp = std::get_if<ZcdpEvent>(&event)) {
    if (zcdp->rho == 0) return PureEvent{0};
    return GaussianEvent{1 / std::sqrt(2 * zcdp->rho)};
  }
  return event;
}

bool differs_by_direction(const Sequence& sequence, Adjacency adjacency) {
  return adjacency != Adjacency::replace_one &&
         std::ranges::any_of(sequence.others, [](const CountedEvent& e) {
           return std::holds_alternative<PoissonGaussianEvent>(e.event);
         });
}

}  // namespace

LossBounds pld_bounds(std::span<const CountedEvent> events,
                      Adjacency adjacency,
                      double delta,
                      double tolerance) {
  for (const CountedEvent& e : events) check(e);
  expect_delta("pld_bounds", delta);
  expect_positive("pld_bounds", "tolerance", tolerance);
  if (delta < kSmallestLossDelta)
    throw UnsupportedError(
        fmt::format("accountant pld: delta = {:g}, it serves {:g} and above; use rdp",
                    delta,
                    kSmallestLossDelta));
  const double share = std::min(tolerance, 0.1);
  const Sequence sequence = collected(events, adjacency);
  const auto towards = [&](Direction direction, double enough) {
    const std::vector<Part> parts = parts_of(sequence, adjacency, direction, delta, share);
    return bounds(parts, delta, share, enough);
  };
  LossBounds dearer = towards(Direction::remove, 0);
  if (differs_by_direction(sequence, adjacency)) {
    const LossBounds other = towards(Direction::add, dearer.lower);
    dearer = {.epsilon = std::max(dearer.epsilon, other.epsilon),
              .lower = std::max(dearer.lower, other.lower),
              .points = std::max(dearer.points, other.points),
              .resolved = dearer.resolved && other.resolved};
  }
  return dearer;
}

double attained_epsilon(std::span<const CountedEvent> events,
                        Adjacency adjacency,
                        double delta,
                        double tolerance) {
  std::vector<CountedEvent> known;
  for (const CountedEvent& e : events) known.push_back({attained(e.event, adjacency), e.count});
  if (delta == 0)  // the largest losses add
    return epsilon_of(known, adjacency, 0, {.accountant = Accountant::pure}).epsilon;
  if (gaussian_mu(known))
    return epsilon_of(known, adjacency, delta, {.accountant = Accountant::analytic}).epsilon;
  return pld_bounds(known, adjacency, delta, tolerance).lower;
}

}  // namespace dpsosp
