// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/reproductions.hpp"

#include "dpsosp/audit/audit.hpp"
#include "dpsosp/reproductions/avdiukhin_2024.hpp"
#include "dpsosp/reproductions/baselines.hpp"
#include "dpsosp/reproductions/ganesh_2023.hpp"
#include "dpsosp/reproductions/league.hpp"
#include "dpsosp/reproductions/liu_talwar_2025.hpp"
#include "dpsosp/reproductions/lower_bounds.hpp"
#include "dpsosp/reproductions/lowy_2024.hpp"
#include "dpsosp/reproductions/verdict_rule.hpp"
#include "dpsosp/reproductions/xu_2026.hpp"
#include "measured_costs.hpp"

namespace dpsosp {

const Collection& reproductions() {
  static const Collection all = [] {
    Collection c = collect({
        ganesh_2023_reproduction(),
        avdiukhin_2024_reproduction(),
        lowy_2024_reproduction(),
        liu_talwar_2025_reproduction(),
        xu_2026_reproduction(),
        baselines_reproduction(),
        league_reproduction(),
        lower_bounds_reproduction(),
        verdict_rule_reproduction(),
        {.texts = {}, .probes = audit_probes(), .exhibits = audit_exhibits()},
    });
    c.catalogue.costs = measured_costs_text;
    return c;
  }();
  return all;
}

}  // namespace dpsosp
