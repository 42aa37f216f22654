// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/ledger_summary.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "dpsosp/privacy/ledger.hpp"

namespace dpsosp {
namespace {

/// The parts of an event that a result states.
struct Stated {
  std::string event;
  std::map<std::string, double> parameters;
};

struct StatedEvent {
  Stated operator()(const GaussianEvent& e) const {
    return {"gaussian", {{"sensitivity_ratio", e.noise_multiplier}}};
  }
  Stated operator()(const PoissonGaussianEvent& e) const {
    return {"poisson_gaussian", {{"rate", e.rate}, {"noise_multiplier", e.noise_multiplier}}};
  }
  Stated operator()(const FixedSizeGaussianEvent& e) const {
    return {"fixed_size_gaussian", {{"rate", e.rate}, {"sensitivity_ratio", e.noise_multiplier}}};
  }
  Stated operator()(const LaplaceEvent& e) const { return {"laplace", {{"epsilon", e.epsilon}}}; }
  Stated operator()(const PureEvent& e) const { return {"pure", {{"epsilon", e.epsilon}}}; }
  Stated operator()(const ExponentialEvent& e) const {
    return {"exponential", {{"epsilon", e.epsilon}}};
  }
  Stated operator()(const ZcdpEvent& e) const { return {"zcdp", {{"rho", e.rho}}}; }
};

/// Grows with what an event costs.
struct CostOrder {
  double operator()(const GaussianEvent& e) const { return 1.0 / e.noise_multiplier; }
  double operator()(const PoissonGaussianEvent& e) const { return e.rate / e.noise_multiplier; }
  double operator()(const FixedSizeGaussianEvent& e) const { return e.rate / e.noise_multiplier; }
  double operator()(const ZcdpEvent& e) const { return e.rho; }
  template <class Pure>
  double operator()(const Pure& e) const {
    return e.epsilon;
  }
};

/// Parameters by which two events of one kind differ.
struct Parameters {
  std::array<double, 3> operator()(const GaussianEvent& e) const { return {e.noise_multiplier}; }
  std::array<double, 3> operator()(const PoissonGaussianEvent& e) const {
    return {e.noise_multiplier, e.rate};
  }
  std::array<double, 3> operator()(const FixedSizeGaussianEvent& e) const {
    return {e.noise_multiplier, e.rate, static_cast<double>(e.bound)};
  }
  std::array<double, 3> operator()(const ZcdpEvent& e) const { return {e.rho}; }
  template <class Pure>
  std::array<double, 3> operator()(const Pure& e) const {
    return {e.epsilon};
  }
};

/// Entries with equal keys share a row. Fresh batches of one query are one row, whatever their
/// sizes and noise.
auto row_key(const LedgerEntry& e) {
  const bool fresh = e.policy.kind == BatchPolicy::Kind::fresh && e.event;
  const auto unless_fresh = [&](auto value) { return fresh ? decltype(value){} : value; };
  const auto parameters = e.event ? std::visit(Parameters{}, *e.event) : std::array<double, 3>{};
  return std::make_tuple(std::string_view(e.scope), std::string_view(e.query), e.policy.kind,
                         e.event ? e.event->index() : std::variant_npos, unless_fresh(parameters),
                         unless_fresh(e.policy.size), unless_fresh(e.policy.rate),
                         unless_fresh(e.charged.begin), unless_fresh(e.charged.end),
                         unless_fresh(e.pure), unless_fresh(e.delta_extra));
}

}  // namespace

LedgerSummary summary_of(const Ledger& ledger, std::size_t limit) {
  struct Row {
    LedgerEntry entry;  // of a fresh batch, with the event of largest cost
    std::int64_t queries;
    Index least, most;  // batch sizes
  };
  std::vector<Row> rows;
  std::map<decltype(row_key(std::declval<LedgerEntry>())), std::size_t> row_of;
  for (const LedgerEntry& e : ledger.entries()) {
    const auto [place, is_new] = row_of.try_emplace(row_key(e), rows.size());
    if (is_new) {
      rows.push_back({e, e.queries(), e.policy.size, e.policy.size});
      continue;
    }
    Row& row = rows[place->second];
    row.queries = add_counts(row.queries, e.queries());
    row.least = std::min(row.least, e.policy.size);
    row.most = std::max(row.most, e.policy.size);
    LedgerEntry& k = row.entry;
    if (e.event && std::visit(CostOrder{}, *e.event) > std::visit(CostOrder{}, *k.event))
      k.event = e.event;
    k.charged = {std::min(k.charged.begin, e.charged.begin),
                 std::max(k.charged.end, e.charged.end)};
    k.sensitivity_low = std::min(k.sensitivity_low, e.sensitivity_low);
    k.sensitivity_high = std::max(k.sensitivity_high, e.sensitivity_high);
    k.deviation_low = std::min(k.deviation_low, e.deviation_low);
    k.deviation_high = std::max(k.deviation_high, e.deviation_high);
  }
  LedgerSummary summary;
  for (std::size_t k = 0; k < std::min(limit, rows.size()); ++k) {
    const LedgerEntry& e = rows[k].entry;
    const Stated stated = e.event ? std::visit(StatedEvent{}, *e.event) : Stated{};
    summary.rows.push_back({.scope = e.scope,
                            .query = e.query,
                            .batch = std::string(to_string(e.policy.kind)),
                            .count = rows[k].queries,
                            .event = stated.event,
                            .event_parameters = stated.parameters,
                            .records_begin = e.charged.begin,
                            .records_end = e.charged.end,
                            .sensitivity = {e.sensitivity_low, e.sensitivity_high},
                            .deviation = {e.deviation_low, e.deviation_high},
                            .batch_sizes = {rows[k].least, rows[k].most},
                            .pure = e.pure,
                            .delta_extra = e.delta_extra});
  }
  summary.further = rows.size() - summary.rows.size();
  return summary;
}

}  // namespace dpsosp
