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

// A step at which rounding moves epsilon by about `width`: splitting adds at most λ(λ+1)h²/12 to a
// release's cumulant, grouping takes half of that away.
double first_step(const std::vector<Part>& parts, const Plan& p, double width) {
  double releases = 0;
  for (const Part& part : parts) releases += static_cast<double>(part.count);
  return std::sqrt(8 * width / (releases * (1 + p.tilt)));
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
struct MergedSum {
  LossComposition lattice;
  double mean, fall, missed;

  double epsilon(double delta) const {
    return std::max(lattice.epsilon_below(delta + missed) + mean - fall, 0.0);
  }
  double delta(double epsilon) const {
    return std::max(lattice.delta_below(epsilon - mean + fall) - missed, 0.0);
  }
};

// none where the lattice does not reach so far
std::optional<MergedSum> merged_sum(const std::vector<Part>& parts,
                                    const std::vector<DiscreteLoss>& losses, LossWindow on,
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
  if (!(std::abs(shift) <= kFarthest)) return {};
  on.first -= static_cast<std::int64_t>(shift);
  LossComposition composition(on);
  for (std::size_t i = 0; i < parts.size(); ++i) composition.add(losses[i].merged, parts[i].count);
  const double log_missed = -std::log(missed);
  const double linear = largest * log_missed / 3;
  const double fall =
      std::min(all, linear + std::sqrt(linear * linear + 2 * variance * log_missed));
  return MergedSum{std::move(composition), mean, fall, missed};
}

// The window of a plan with the losses on its lattice.
struct OnLattice {
  LossWindow window;
  std::vector<DiscreteLoss> losses;
  LossComposition split;
};

// none where the losses need more points than there are
std::optional<OnLattice> on_lattice(const std::vector<Part>& parts, const Plan& p, double step) {
  const double lattice = with_atom_on_lattice(step, parts);
  if (!fits(p, lattice)) return {};
  const LossWindow on = window(p, lattice);
  OnLattice all{on, {}, LossComposition(on)};
  for (const Part& part : parts) {
    all.losses.push_back(discretise(part.loss, on.step));
    all.split.add(all.losses.back().split, part.count);
  }
  return all;
}

[[noreturn]] void refuse_points() {
  throw UnsupportedError(fmt::format(
      "accountant pld: the losses need more than {} points; use rdp, zcdp or pure", kMostPoints));
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
  double step = first_step(parts, p, 8 * tolerance * std::max(p.epsilon, 1 / p.tilt));
  for (int i = 0; i < kRefinements && !best.resolved; ++i) {
    const double finest = finest_step(parts, p);
    step = std::max(step, finest);
    const auto at = on_lattice(parts, p, step);
    if (!at) {
      if (i > 0) break;
      refuse_points();
    }
    const double above = at->split.epsilon_above(delta);
    best.epsilon = std::min(best.epsilon, above);
    const auto merged = merged_sum(parts, at->losses, at->window, kMisrounded * tolerance * delta);
    if (merged) best.lower = std::max(best.lower, merged->epsilon(delta));
    best.lower = std::min(best.lower, best.epsilon);
    best.points = static_cast<std::int64_t>(at->window.points);
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

// The same for delta, whose errors are parts of `estimate`; ends where delta turns out to be less.
DeltaBounds bounds_of_delta(const std::vector<Part>& parts, const Plan& p, double epsilon,
                            double estimate, double tolerance) {
  DeltaBounds best{.delta = 1, .lower = 0, .points = 0, .resolved = false};
  const double finest = finest_step(parts, p);
  double step = first_step(parts, p, 8 * tolerance / p.tilt);
  for (int i = 0; i < kRefinements && !best.resolved && best.delta >= estimate; ++i) {
    step = std::max(step, finest);
    const auto at = on_lattice(parts, p, step);
    if (!at) {
      if (i > 0) break;
      refuse_points();
    }
    best.delta = std::min(best.delta, at->split.delta_above(epsilon));
    const auto merged =
        merged_sum(parts, at->losses, at->window, kMisrounded * tolerance * estimate);
    if (merged) best.lower = std::max(best.lower, merged->delta(epsilon));
    best.lower = std::min(best.lower, best.delta);
    best.points = static_cast<std::int64_t>(at->window.points);
    const double wanted = tolerance * best.delta;
    const double width = best.delta - best.lower;
    best.resolved = width <= wanted;
    if (step <= finest && i > 0) break;
    step *= std::clamp(0.8 * std::sqrt(wanted / width), 1.0 / 16, 0.5);
  }
  return best;
}

// δ(ε) <= e^{K(λ)−λε}·λ^λ/(1+λ)^{1+λ}, with the K of the sketches.
double log_delta_by_renyi(const std::vector<Part>& parts, double epsilon) {
  const auto log_delta = [&](double tilt) {
    return exponent(parts, tilt) - tilt * epsilon - std::log1p(tilt) - tilt * std::log1p(1 / tilt);
  };
  return std::min(log_delta(minimiser(log_delta)), 0.0);
}

// Unsampled Gaussians become one, equal events are counted together, free ones are left out.
struct Sequence {
  double gaussian_mu = 0;
  std::vector<CountedEvent> others;
  std::vector<CountedLaplace> laplace;
};

template <class Counted>
void count_in(std::vector<Counted>& all, const Counted& more) {
  const auto same = std::ranges::find(all, more.event, &Counted::event);
  if (same == all.end())
    all.push_back(more);
  else
    same->count = add_counts(same->count, more.count);
}

Sequence collected(const Composition& composition, Adjacency adjacency) {
  Sequence s;
  std::vector<CountedEvent> events = composition.events;
  for (const CountedLaplace& e : composition.laplace) {
    const bool poisson = e.event.sample == SampledLaplaceEvent::Sample::poisson;
    if (e.event.rate == 1 && (poisson || adjacency == Adjacency::replace_one)) {
      const double moves = poisson && adjacency == Adjacency::replace_one ? 2 : 1;
      events.push_back({LaplaceEvent{moves / e.event.noise_multiplier}, e.count});
    } else if (e.event.rate > 0) {
      count_in(s.laplace, e);
    }
  }
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
    count_in(s.others, e);
  }
  s.gaussian_mu = std::sqrt(square);
  return s;
}

std::vector<Part> parts_of(const Sequence& sequence, Adjacency adjacency, Direction direction,
                           double delta, double tolerance) {
  double releases = sequence.gaussian_mu > 0 ? 1 : 0;
  for (const CountedEvent& e : sequence.others) releases += static_cast<double>(e.count);
  for (const CountedLaplace& e : sequence.laplace) releases += static_cast<double>(e.count);
  if (releases > kMostReleases)
    throw UnsupportedError(
        fmt::format("accountant pld: {:g} releases, at most {:g} are resolved; use rdp", releases,
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
  for (const CountedLaplace& e : sequence.laplace)
    add(dominating_loss(e.event, adjacency, direction), e.count);
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

SampledLaplaceEvent attained(const SampledLaplaceEvent& event) {
  if (event.sample == SampledLaplaceEvent::Sample::poisson) return event;
  return {SampledLaplaceEvent::Sample::poisson, event.rate, 2 * event.noise_multiplier};
}

bool differs_by_direction(const Sequence& sequence, Adjacency adjacency) {
  return adjacency != Adjacency::replace_one &&
         (!sequence.laplace.empty() ||
          std::ranges::any_of(sequence.others, [](const CountedEvent& e) {
            return std::holds_alternative<PoissonGaussianEvent>(e.event);
          }));
}

// with the range that the accountants of loss distributions serve
double checked_share(const Composition& composition, double tolerance) {
  for (const CountedEvent& e : composition.events) check(e);
  expect_positive("pld_bounds", "tolerance", tolerance);
  return std::min(tolerance, 0.1);
}

Composition without_coins(std::span<const CountedEvent> events) {
  return {.events = {events.begin(), events.end()}};
}

}  // namespace

LossBounds pld_bounds(std::span<const CountedEvent> events, Adjacency adjacency, double delta,
                      double tolerance) {
  return pld_epsilon(without_coins(events), adjacency, delta, tolerance);
}

LossBounds pld_epsilon(const Composition& composition, Adjacency adjacency, double delta,
                       double tolerance) {
  expect_delta("pld_bounds", delta);
  const double share = checked_share(composition, tolerance);
  if (delta < kSmallestLossDelta)
    throw UnsupportedError(
        fmt::format("accountant pld: delta = {:g}, it serves {:g} and above; use rdp", delta,
                    kSmallestLossDelta));
  const Sequence sequence = collected(composition, adjacency);
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

DeltaBounds pld_delta(const Composition& composition, Adjacency adjacency, double epsilon,
                      double tolerance) {
  expect_nonnegative("pld_delta", "epsilon", epsilon);
  const double share = checked_share(composition, tolerance);
  const auto most = pure_total(with_pure_laplace(composition, adjacency));
  if (most && is_at_most(*most, epsilon))
    return {.delta = 0, .lower = 0, .points = 0, .resolved = true};
  const Sequence sequence = collected(composition, adjacency);
  const auto towards = [&](Direction direction, double enough) {
    const auto parts_for = [&](double delta) {
      return parts_of(sequence, adjacency, direction, delta, share);
    };
    const double least = std::max(enough, kSmallestLossDelta);
    const double renyi = std::exp(log_delta_by_renyi(parts_for(kSmallestLossDelta), epsilon));
    // Errors are a part of the estimate, so it must not exceed delta, unless that is below `least`.
    for (double estimate = std::max(renyi / 100, least);;) {
      const std::vector<Part> parts = parts_for(estimate);
      const double lost = kLost * share * estimate;
      const Plan p =
          renyi > estimate ? next_plan(parts, lost, epsilon) : first_plan(parts, estimate, lost);
      const DeltaBounds b = bounds_of_delta(parts, p, epsilon, estimate, share);
      if (b.delta >= estimate || estimate <= least) return b;
      estimate = std::max(b.delta / 2, least);
    }
  };
  DeltaBounds dearer = towards(Direction::remove, 0);
  if (differs_by_direction(sequence, adjacency)) {
    const DeltaBounds other = towards(Direction::add, dearer.lower);
    const bool decides = other.delta > dearer.lower;
    dearer = {.delta = std::max(dearer.delta, other.delta),
              .lower = std::max(dearer.lower, other.lower),
              .points = std::max(dearer.points, other.points),
              .resolved = dearer.resolved && (other.resolved || !decides)};
  }
  if (dearer.delta < kSmallestLossDelta)
    throw UnsupportedError(fmt::format(
        "accountant pld: delta is below {:g}, where it is not resolved; use rdp or zcdp",
        kSmallestLossDelta));
  return dearer;
}

double attained_epsilon(std::span<const CountedEvent> events, Adjacency adjacency, double delta,
                        double tolerance) {
  return attained_epsilon(without_coins(events), adjacency, delta, tolerance);
}

double attained_epsilon(const Composition& composition, Adjacency adjacency, double delta,
                        double tolerance) {
  Composition known;
  for (const CountedEvent& e : composition.events)
    known.events.push_back({attained(e.event, adjacency), e.count});
  for (const CountedLaplace& e : composition.laplace)
    known.laplace.push_back({attained(e.event), e.count});
  if (delta == delta_of_coins(composition))  // the largest losses add
    return epsilon_of(known, adjacency, 0, {.accountant = Accountant::pure}).epsilon;
  const double left = delta_left(composition, delta, Accountant::pld);
  if (known.laplace.empty() && gaussian_mu(known.events))
    return epsilon_of(known, adjacency, left, {.accountant = Accountant::analytic}).epsilon;
  return pld_epsilon(known, adjacency, left, tolerance).lower;
}

}  // namespace dpsosp
