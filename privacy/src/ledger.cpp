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

/// Noise multipliers that differ by rounding alone: proportional noise is computed anew every time.
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

}  // namespace

void Ledger::append(LedgerEntry entry) {
  if (!entries_.empty()) {
    LedgerEntry& last = entries_.back();
    const bool again = last.charged == entry.charged && last.batches == 1 && entry.batches == 1;
    const bool next = last.charged.end == entry.charged.begin && last.count == entry.count &&
                      last.policy.kind == BatchPolicy::Kind::fresh;
    const bool alike = (again || next) && last.scope == entry.scope && last.query == entry.query &&
                       last.policy == entry.policy &&
                       last.event.has_value() == entry.event.has_value();
    const auto event = alike && last.event ? merged(*last.event, *entry.event) : std::nullopt;
    if (alike && event.has_value() == last.event.has_value()) {
      last.event = event;
      last.sensitivity_low = std::min(last.sensitivity_low, entry.sensitivity_low);
      last.sensitivity_high = std::max(last.sensitivity_high, entry.sensitivity_high);
      last.deviation_low = std::min(last.deviation_low, entry.deviation_low);
      last.deviation_high = std::max(last.deviation_high, entry.deviation_high);
      if (again) {
        last.count += entry.count;
      } else {
        last.charged.end = entry.charged.end;
        last.batches += entry.batches;
      }
      return;
    }
  }
  entries_.push_back(std::move(entry));
}

std::int64_t Ledger::queries() const {
  std::int64_t total = 0;
  for (const LedgerEntry& e : entries_) total += e.queries();
  return total;
}

std::vector<std::vector<CountedEvent>> Ledger::record_histories() const {
  // Sweep over the records: at each boundary of a charged range the set of active entries changes.
  std::map<Index, std::vector<std::pair<std::size_t, bool>>> boundaries;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    boundaries[entries_[k].charged.begin].emplace_back(k, true);
    boundaries[entries_[k].charged.end].emplace_back(k, false);
  }
  std::set<std::size_t> active;
  std::set<std::vector<std::array<double, 4>>> seen;  // histories that cost the same are one
  std::vector<std::vector<CountedEvent>> histories;
  for (const auto& [at, changes] : boundaries) {
    for (const auto& [k, starts] : changes)
      if (starts)
        active.insert(k);
      else
        active.erase(k);
    if (active.empty()) continue;
    std::vector<CountedEvent> history;
    for (const std::size_t k : active) {
      const CountedEvent counted{*entries_[k].event, entries_[k].count};
      const auto same = std::ranges::find_if(history, [&](const CountedEvent& h) {
        return merged(h.event, counted.event).has_value();
      });
      if (same == history.end()) {
        history.push_back(counted);
      } else {
        same->event = *merged(same->event, counted.event);
        same->count += counted.count;
      }
    }
    std::vector<std::array<double, 4>> content;
    for (const CountedEvent& e : history) content.push_back(content_of(e));
    std::ranges::sort(content);
    if (seen.insert(std::move(content)).second) histories.push_back(std::move(history));
  }
  return histories;
}

Guarantee Ledger::spent(double delta, const AccountOptions& options) const {
  if (std::ranges::any_of(entries_, [](const LedgerEntry& e) { return !e.event; }))
    return {std::numeric_limits<double>::infinity(), "no finite cost", {}};
  Guarantee dearest{0.0, "nothing was asked", {}};
  for (const auto& history : record_histories()) {
    Guarantee g = epsilon_of(history, Adjacency::replace_one, delta, options);
    // Large rates: what amplification saves can be less than what the exact Gaussian accountant
    // does.
    std::vector<CountedEvent> full = history;
    for (CountedEvent& e : full) e.event = without_amplification(e.event);
    if (gaussian_mu(full)) {
      Guarantee unamplified = epsilon_of(full, Adjacency::replace_one, delta, options);
      if (unamplified.epsilon < g.epsilon) g = std::move(unamplified);
    }
    if (g.epsilon >= dearest.epsilon) dearest = std::move(g);
  }
  return dearest;
}

}  // namespace dpsosp
