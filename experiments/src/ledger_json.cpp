// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/ledger_json.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/privacy/ledger.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

struct EventJson {
  json operator()(const GaussianEvent& e) const {
    return {{"kind", "gaussian"}, {"sensitivity_ratio", to_json_number(e.noise_multiplier)}};
  }
  json operator()(const PoissonGaussianEvent& e) const {
    return {{"kind", "poisson_gaussian"},
            {"rate", e.rate},
            {"noise_multiplier", to_json_number(e.noise_multiplier)}};
  }
  json operator()(const FixedSizeGaussianEvent& e) const {
    return {{"kind", "fixed_size_gaussian"},
            {"rate", e.rate},
            {"sensitivity_ratio", to_json_number(e.noise_multiplier)}};
  }
  json operator()(const LaplaceEvent& e) const {
    return {{"kind", "laplace"}, {"epsilon", to_json_number(e.epsilon)}};
  }
  json operator()(const PureEvent& e) const {
    return {{"kind", "pure"}, {"epsilon", to_json_number(e.epsilon)}};
  }
  json operator()(const ExponentialEvent& e) const {
    return {{"kind", "exponential"}, {"epsilon", to_json_number(e.epsilon)}};
  }
  json operator()(const ZcdpEvent& e) const {
    return {{"kind", "zcdp"}, {"rho", to_json_number(e.rho)}};
  }
};

/// Grows with what an event costs.
struct Dearness {
  double operator()(const GaussianEvent& e) const { return 1.0 / e.noise_multiplier; }
  double operator()(const PoissonGaussianEvent& e) const { return e.rate / e.noise_multiplier; }
  double operator()(const FixedSizeGaussianEvent& e) const { return e.rate / e.noise_multiplier; }
  double operator()(const ZcdpEvent& e) const { return e.rho; }
  template <class Pure>
  double operator()(const Pure& e) const {
    return e.epsilon;
  }
};

/// What tells two events of one kind apart.
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
  return std::make_tuple(std::string_view(e.scope),
                         std::string_view(e.query),
                         e.policy.kind,
                         e.event ? e.event->index() : std::variant_npos,
                         unless_fresh(parameters),
                         unless_fresh(e.policy.size),
                         unless_fresh(e.policy.rate),
                         unless_fresh(e.charged.begin),
                         unless_fresh(e.charged.end),
                         unless_fresh(e.pure),
                         unless_fresh(e.delta_extra));
}

}  // namespace

json ledger_json(const Ledger& ledger, std::size_t limit) {
  struct Row {
    LedgerEntry entry;  // of a fresh batch, with the dearest event
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
    row.queries += e.queries();
    row.least = std::min(row.least, e.policy.size);
    row.most = std::max(row.most, e.policy.size);
    LedgerEntry& k = row.entry;
    if (e.event && std::visit(Dearness{}, *e.event) > std::visit(Dearness{}, *k.event))
      k.event = e.event;
    k.charged = {std::min(k.charged.begin, e.charged.begin),
                 std::max(k.charged.end, e.charged.end)};
    k.sensitivity_low = std::min(k.sensitivity_low, e.sensitivity_low);
    k.sensitivity_high = std::max(k.sensitivity_high, e.sensitivity_high);
    k.deviation_low = std::min(k.deviation_low, e.deviation_low);
    k.deviation_high = std::max(k.deviation_high, e.deviation_high);
  }
  json out_rows = json::array();
  for (std::size_t k = 0; k < std::min(limit, rows.size()); ++k) {
    const LedgerEntry& e = rows[k].entry;
    out_rows.push_back(
        {{"scope", e.scope},
         {"query", e.query},
         {"batch", to_string(e.policy.kind)},
         {"count", rows[k].queries},
         {"records", {e.charged.begin, e.charged.end}},
         {"event", e.event ? std::visit(EventJson{}, *e.event) : json("no finite cost")},
         {"sensitivity", {to_json_number(e.sensitivity_low), to_json_number(e.sensitivity_high)}},
         {"deviation", {to_json_number(e.deviation_low), to_json_number(e.deviation_high)}}});
    if (rows[k].most > 0) out_rows.back()["batch_sizes"] = {rows[k].least, rows[k].most};
    if (e.pure) out_rows.back()["account"] = "pure";
    if (e.delta_extra > 0) out_rows.back()["delta_extra"] = e.delta_extra;
  }
  json out{{"entries", std::move(out_rows)}};
  if (rows.size() > limit) out["further_entries"] = rows.size() - limit;
  return out;
}

}  // namespace dpsosp
