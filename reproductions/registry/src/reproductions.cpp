// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/reproductions.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/reproductions/avdiukhin_2024.hpp"
#include "dpsosp/reproductions/baselines.hpp"
#include "dpsosp/reproductions/ganesh_2023.hpp"
#include "dpsosp/reproductions/league.hpp"
#include "dpsosp/reproductions/liu_talwar_2025.hpp"
#include "dpsosp/reproductions/lower_bounds.hpp"
#include "dpsosp/reproductions/lowy_2024.hpp"
#include "dpsosp/reproductions/tracked_descent.hpp"
#include "dpsosp/reproductions/verdict_rule.hpp"
#include "dpsosp/reproductions/xu_2026.hpp"
#include "measured_costs.hpp"

namespace dpsosp {

namespace {

struct AddedCode {
  std::vector<std::pair<std::string, ProbeCompute>> computes;
  bool taken = false;
};
AddedCode& added_code() {
  static AddedCode code;
  return code;
}

void add_code(std::vector<ProbeEntry>& probes) {
  added_code().taken = true;
  for (const auto& [name, compute] : added_code().computes) {
    const auto probe = std::ranges::find(probes, name, &ProbeEntry::name);
    if (probe == probes.end() || probe->compute != nullptr)
      reject("add_probe_compute", "probe", name, "one of the catalogue that has no code");
    probe->compute = compute;
  }
}

}  // namespace

void add_probe_compute(std::string_view probe, ProbeCompute compute) {
  if (added_code().taken)
    reject("add_probe_compute", "probe", std::string(probe), "a call before reproductions()");
  added_code().computes.emplace_back(probe, compute);
}

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
        tracked_descent_reproduction(),
        verdict_rule_reproduction(),
        {.texts = {}, .probes = audit_probes(), .exhibits = audit_exhibits()},
    });
    add_code(c.catalogue.probes);
    c.catalogue.costs = measured_costs_text;
    return c;
  }();
  return all;
}

}  // namespace dpsosp
