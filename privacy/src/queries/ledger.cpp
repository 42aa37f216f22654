// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/ledger.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "dpsosp/privacy/query.hpp"

namespace dpsosp {
namespace {

/// Scales that differ by rounding alone: proportional noise is computed anew every time.
bool equal_but_for_rounding(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(a); }

/// If both describe the same query up to rounding, the dearer of the two.
std::optional<Event> merged(const Event& a, const Event& b) {
  const auto gaussian = [](const auto& x, const auto& y) -> std::optional<Event> {
    if (!equal_but_for_rounding(x.noise_multiplier, y.noise_multiplier)) return {};
    return x.noise_multiplier < y.noise_multiplier ? x : y;
  };
  if (a.index() != b.index()) return {};
  if (const auto* x = std::get_if<GaussianEvent>(&a))
    return gaussian(*x, std::get<GaussianEvent>(b));
  if (const auto* x = std::get_if<PoissonGaussianEvent>(&a)) {
    const auto& y = std::get<PoissonGaussianEvent>(b);
    if (x->rate == y.rate) return gaussian(*x, y);
  }
  if (const auto* x = std::get_if<FixedSizeGaussianEvent>(&a)) {
    const auto& y = std::get<FixedSizeGaussianEvent>(b);
    if (x->rate == y.rate) return gaussian(*x, y);
  }
  const auto pure = [](const auto& x, const auto& y) -> std::optional<Event> {
    if (!equal_but_for_rounding(x.epsilon, y.epsilon)) return {};
    return x.epsilon > y.epsilon ? x : y;
  };
  if (const auto* x = std::get_if<LaplaceEvent>(&a)) return pure(*x, std::get<LaplaceEvent>(b));
  if (const auto* x = std::get_if<PureEvent>(&a)) return pure(*x, std::get<PureEvent>(b));
  if (const auto* x = std::get_if<ExponentialEvent>(&a))
    return pure(*x, std::get<ExponentialEvent>(b));
  if (const auto* x = std::get_if<ZcdpEvent>(&a)) {
    const auto& y = std::get<ZcdpEvent>(b);
    if (equal_but_for_rounding(x->rho, y.rho)) return x->rho > y.rho ? *x : y;
  }
  return {};
}

/// Kind, parameters and count.
struct Content {
  std::array<double, 2> operator()(const GaussianEvent& e) const { return {e.noise_multiplier, 0}; }
  std::array<double, 2> operator()(const PoissonGaussianEvent& e) const {
    return {e.noise_multiplier, e.rate};
  }
  std::array<double, 2> operator()(const FixedSizeGaussianEvent& e) const {
    return {e.noise_multiplier, e.rate};
  }
  std::array<double, 2> operator()(const LaplaceEvent& e) const { return {e.epsilon, 0}; }
  std::array<double, 2> operator()(const PureEvent& e) const { return {e.epsilon, 0}; }
  std::array<double, 2> operator()(const ExponentialEvent& e) const { return {e.epsilon, 0}; }
  std::array<double, 2> operator()(const ZcdpEvent& e) const { return {e.rho, 0}; }
};

std::array<double, 4> content_of(const CountedEvent& e) {
  const auto [first, second] = std::visit(Content{}, e.event);
  return {static_cast<double>(e.event.index()), first, second, static_cast<double>(e.count)};
}

/// The least ε = epsilon_at(δ − (1 + e^ε) p), from below: what is exact but with probability p.
template <class EpsilonAt>
Guarantee epsilon_paying_for_itself(double p, double delta, const EpsilonAt& epsilon_at) {
  if (p == 0) return epsilon_at(delta);
  double tried = 0.0;
  for (int k = 0; k < 1000; ++k) {
    const double left = delta - (1.0 + std::exp(tried)) * p;
    if (!(left > 0)) break;
    const Guarantee g = epsilon_at(left);
    if (g.epsilon <= tried) return {tried, g.accountant, g.order};
    tried = g.epsilon * (1 + 1e-12);
  }
  return {std::numeric_limits<double>::infinity(), "delta is spent", {}};
}

}  // namespace

void Ledger::append(LedgerEntry entry) {
  if (!entries_.empty()) {
    LedgerEntry& last = entries_.back();
    const bool again = last.charged == entry.charged && last.batches == 1 && entry.batches == 1;
    const bool next = last.charged.end == entry.charged.begin && last.count == entry.count &&
                      last.policy.kind == BatchPolicy::Kind::fresh;
    const bool alike = (again || next) && last.scope == entry.scope && last.query == entry.query &&
                       last.policy == entry.policy &&
                       last.event.has_value() == entry.event.has_value() &&
                       last.pure == entry.pure && last.delta_extra == entry.delta_extra;
    const auto event = alike && last.event ? merged(*last.event, *entry.event) : std::nullopt;
    if (alike && event.has_value() == last.event.has_value()) {
      last.event = event;
      last.sensitivity_low = std::min(last.sensitivity_low, entry.sensitivity_low);
      last.sensitivity_high = std::max(last.sensitivity_high, entry.sensitivity_high);
      last.deviation_low = std::min(last.deviation_low, entry.deviation_low);
      last.deviation_high = std::max(last.deviation_high, entry.deviation_high);
      if (again) {
        last.count = add_counts(last.count, entry.count);
      } else {
        last.charged.end = entry.charged.end;
        last.batches = add_counts(last.batches, entry.batches);
      }
      return;
    }
  }
  entries_.push_back(std::move(entry));
}

std::int64_t Ledger::queries() const {
  std::int64_t total = 0;
  for (const LedgerEntry& e : entries_) total = add_counts(total, e.queries());
  return total;
}

std::vector<Ledger::History> Ledger::record_histories() const {
  // Sweep over the records: at each boundary of a charged range the set of active entries changes.
  std::map<Index, std::vector<std::pair<std::size_t, bool>>> boundaries;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    boundaries[entries_[k].charged.begin].emplace_back(k, true);
    boundaries[entries_[k].charged.end].emplace_back(k, false);
  }
  std::set<std::size_t> active;
  std::set<std::vector<std::array<double, 5>>> seen;  // histories that cost the same are one
  std::vector<History> histories;
  for (const auto& [at, changes] : boundaries) {
    for (const auto& [k, starts] : changes)
      if (starts)
        active.insert(k);
      else
        active.erase(k);
    if (active.empty()) continue;
    History history;
    std::map<std::array<double, 4>, std::size_t> by_scale;  // account, kind, rate, scale
    for (const std::size_t k : active) {
      const LedgerEntry& entry = entries_[k];
      const auto [kind, scale, rate, unused] = content_of({*entry.event, entry.count});
      const auto key = [&, kind = kind, rate = rate](double s) {
        return std::array{entry.pure ? 1.0 : 0.0, kind, rate, s};
      };
      // Candidates from a little wider than what is equal but for rounding.
      const auto end = by_scale.upper_bound(key(scale * (1 + 1e-11)));
      const auto same =
          std::find_if(by_scale.lower_bound(key(scale * (1 - 1e-11))), end, [&](const auto& found) {
            return merged(history.events[found.second].counted.event, *entry.event).has_value();
          });
      if (same == end) {
        by_scale.emplace(key(scale), history.events.size());
        history.events.push_back({{*entry.event, entry.count}, entry.pure});
      } else {
        CountedEvent& counted = history.events[same->second].counted;
        counted.event = *merged(counted.event, *entry.event);
        counted.count = add_counts(counted.count, entry.count);
      }
      history.delta_extra += static_cast<double>(entry.count) * entry.delta_extra;
    }
    std::vector<std::array<double, 5>> content{{-1.0, history.delta_extra}};
    for (const Charged& e : history.events) {
      const auto [kind, first, second, count] = content_of(e.counted);
      content.push_back({kind, first, second, count, e.pure ? 1.0 : 0.0});
    }
    std::ranges::sort(content);
    if (seen.insert(std::move(content)).second) histories.push_back(std::move(history));
  }
  return histories;
}

Guarantee Ledger::epsilon_of_history(const History& history, double delta,
                                     const AccountOptions& options) {
  // The events apart from those taken as pure DP, whose epsilons add to what the others cost.
  const auto composed = [&](const auto& taken_as_pure) {
    std::vector<CountedEvent> rest;
    double pure = 0.0;
    for (const Charged& e : history.events)
      if (taken_as_pure(e))
        pure += static_cast<double>(e.counted.count) * *pure_epsilon(e.counted.event);
      else
        rest.push_back(e.counted);
    if (rest.empty()) return Guarantee{pure, "pure", {}};
    Guarantee g = epsilon_of(rest, Adjacency::replace_one, delta, options);
    // Large rates: what amplification saves can be less than what the exact Gaussian accountant
    // does.
    std::vector<CountedEvent> full = rest;
    for (CountedEvent& e : full) e.event = without_amplification(e.event);
    if (gaussian_mu(full)) {
      Guarantee unamplified = epsilon_of(full, Adjacency::replace_one, delta, options);
      if (unamplified.epsilon < g.epsilon) g = std::move(unamplified);
    }
    if (pure > 0) g = {pure + g.epsilon, "basic", g.order};
    return g;
  };
  Guarantee best = composed([](const Charged&) { return false; });
  if (options.accountant != Accountant::best_of) return best;
  const auto try_basic = [&](const auto& taken_as_pure) {
    if (std::ranges::none_of(history.events, taken_as_pure)) return;
    Guarantee basic = composed(taken_as_pure);
    if (basic.epsilon < best.epsilon) best = std::move(basic);
  };
  try_basic([](const Charged& e) { return pure_epsilon(e.counted.event).has_value(); });
  try_basic([](const Charged& e) { return e.pure; });  // as the filter had it
  return best;
}

Guarantee Ledger::spent(double delta, const AccountOptions& options) const {
  if (std::ranges::any_of(entries_, [](const LedgerEntry& e) { return !e.event; }))
    return {std::numeric_limits<double>::infinity(), "no finite cost", {}};
  Guarantee dearest{0.0, "nothing was asked", {}};
  // Among Gaussian histories the one with the largest μ costs most, so the others need no ε; the
  // margin is far above the rounding of one.
  const auto mu_of = [](const History& history) -> std::optional<double> {
    std::vector<CountedEvent> events;
    for (const Charged& e : history.events) {
      if (e.pure) return {};
      events.push_back(e.counted);
    }
    return history.delta_extra == 0 ? gaussian_mu(events) : std::nullopt;
  };
  const std::vector<History> histories = record_histories();
  double largest_mu = 0.0;
  for (const History& history : histories)
    largest_mu = std::max(largest_mu, mu_of(history).value_or(0.0));
  for (const History& history : histories) {
    if (const auto mu = mu_of(history); mu && *mu < (1.0 - 1e-6) * largest_mu) continue;
    Guarantee g = epsilon_paying_for_itself(history.delta_extra, delta, [&](double left) {
      return epsilon_of_history(history, left, options);
    });
    if (g.epsilon >= dearest.epsilon) dearest = std::move(g);
  }
  return dearest;
}

}  // namespace dpsosp
