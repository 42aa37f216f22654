// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/probe.hpp"

#include <algorithm>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run.hpp"
#include "probes/probes.hpp"

namespace dpsosp {
namespace {

const ProbeEntry& find_probe(std::string_view name) {
  std::vector<std::string> names;
  for (const ProbeEntry& p : probe_registry()) {
    if (p.name == name) return p;
    names.push_back(p.name);
  }
  reject_unknown("probe", name, names);
}

}  // namespace

const std::vector<ProbeEntry>& probe_registry() {
  static const std::vector<ProbeEntry> all = [] {
    std::vector<ProbeEntry> list;
    for (const auto& of_paper : {audit_probes(),
                                 avdiukhin_2024_probes(),
                                 ganesh_2023_probes(),
                                 liu_talwar_2025_probes(),
                                 lowy_2024_probes(),
                                 xu_2026_probes()})
      list.insert(list.end(), of_paper.begin(), of_paper.end());
    return list;
  }();
  return all;
}

nlohmann::json describe_probe(std::string_view name,
                              nlohmann::json parameters,
                              std::uint64_t seed) {
  return {{"probe", name},
          {"parameters", std::move(parameters)},
          {"seed", seed},
          {"numbers_version", find_probe(name).numbers_version}};
}

nlohmann::json compute_job(const nlohmann::json& description) {
  if (!description.contains("probe")) return compute_run(description);
  return find_probe(description.at("probe").get<std::string>())
      .compute(description.at("parameters"), description.at("seed"));
}

}  // namespace dpsosp
