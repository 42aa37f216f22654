// SPDX-License-Identifier: Apache-2.0
#include "ledger_json.hpp"

#include <algorithm>
#include <variant>

#include "dpsosp/experiments/json_number.hpp"

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

}  // namespace

json ledger_json(const Ledger& ledger, std::size_t limit) {
  std::vector<LedgerEntry> kinds;
  for (const LedgerEntry& e : ledger.entries()) {
    const auto same = std::ranges::find_if(kinds, [&](const LedgerEntry& k) {
      return k.scope == e.scope && k.query == e.query && k.policy == e.policy &&
             k.charged == e.charged && k.event == e.event && k.pure == e.pure &&
             k.delta_extra == e.delta_extra;
    });
    if (same == kinds.end()) {
      kinds.push_back(e);
      continue;
    }
    same->count += e.count;
    same->sensitivity_low = std::min(same->sensitivity_low, e.sensitivity_low);
    same->sensitivity_high = std::max(same->sensitivity_high, e.sensitivity_high);
    same->deviation_low = std::min(same->deviation_low, e.deviation_low);
    same->deviation_high = std::max(same->deviation_high, e.deviation_high);
  }
  json rows = json::array();
  for (std::size_t k = 0; k < std::min(limit, kinds.size()); ++k) {
    const LedgerEntry& e = kinds[k];
    rows.push_back(
        {{"scope", e.scope},
         {"query", e.query},
         {"batch", to_string(e.policy.kind)},
         {"count", e.count},
         {"records", {e.charged.begin, e.charged.end}},
         {"event", e.event ? std::visit(EventJson{}, *e.event) : json("no finite cost")},
         {"sensitivity", {to_json_number(e.sensitivity_low), to_json_number(e.sensitivity_high)}},
         {"deviation", {to_json_number(e.deviation_low), to_json_number(e.deviation_high)}}});
    if (e.pure) rows.back()["account"] = "pure";
    if (e.delta_extra > 0) rows.back()["delta_extra"] = e.delta_extra;
  }
  json out{{"entries", std::move(rows)}};
  if (kinds.size() > limit) out["further_entries"] = kinds.size() - limit;
  return out;
}

}  // namespace dpsosp
