// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/costs.hpp"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

using Hashes = std::set<std::string>;

Hashes hashes_of(const std::vector<nlohmann::json>& jobs) {
  Hashes hashes;
  for (const nlohmann::json& job : jobs) hashes.insert(RunKey(job).hash());
  return hashes;
}

/// The runs of every exhibit, and of "all" behind them.
std::vector<std::pair<std::string, Hashes>> runs_of(
    const std::vector<const ExhibitEntry*>& exhibits, const Study& study) {
  std::vector<std::pair<std::string, Hashes>> runs;
  Hashes all;
  for (const ExhibitEntry* e : exhibits) {
    runs.emplace_back(e->id, hashes_of(e->jobs(study)));
    all.insert(runs.back().second.begin(), runs.back().second.end());
  }
  runs.emplace_back("all", std::move(all));
  return runs;
}

struct Cost {
  double cpu_seconds = 0, megabytes = 0;
};

/// Means over the runs of an exhibit.
std::optional<Cost> cost_of_run(std::string_view table, std::string_view exhibit, Scale scale) {
  for (const CsvRow& row : read_csv_text("costs", table)) {
    if (row.fields.size() != 5 || row.fields[0] != exhibit || row.fields[1] != to_string(scale))
      continue;
    const double runs = std::stod(row.fields[2]);
    return Cost{std::stod(row.fields[3]) / runs, std::stod(row.fields[4]) / runs};
  }
  return {};
}

}  // namespace

std::vector<ExhibitCost> measured_costs(const Store& store, const Study& study) {
  std::unordered_map<std::string, Cost> known;
  store.each([&](const StoredRun& run, const Provenance& p) {
    const std::size_t bytes = run.key.text().size() + run.result.dump().size() +
                              nlohmann::json(p).dump().size() + run.reason.size();
    known[run.key.hash()] = {p.cpu_seconds, 1e-6 * static_cast<double>(bytes)};
  });
  std::vector<const ExhibitEntry*> exhibits;
  for (const ExhibitEntry& e : study.catalogue.exhibits) exhibits.push_back(&e);
  std::vector<ExhibitCost> costs;
  for (const auto& [id, hashes] : runs_of(exhibits, study)) {
    ExhibitCost cost{.exhibit = id, .runs = hashes.size()};
    for (const std::string& hash : hashes) {
      const auto found = known.find(hash);
      if (found == known.end()) continue;
      ++cost.stored;
      cost.cpu_seconds += found->second.cpu_seconds;
      cost.megabytes += found->second.megabytes;
    }
    if (cost.runs > 0) costs.push_back(std::move(cost));
  }
  return costs;
}

std::string costs_csv(const std::vector<ExhibitCost>& costs, Scale scale) {
  std::string csv;
  for (const ExhibitCost& c : costs)
    csv += fmt::format("{},{},{},{:.3g},{:.3g}\n",
                       c.exhibit,
                       to_string(scale),
                       c.stored,
                       c.cpu_seconds,
                       c.megabytes);
  return csv;
}

std::vector<ExhibitCost> planned_costs(const Catalogue& catalogue,
                                       const ReproduceOptions& options,
                                       const Store* store) {
  Hashes stored;
  if (store != nullptr)
    store->each([&](const StoredRun& run, const Provenance&) { stored.insert(run.key.hash()); });
  std::vector<ExhibitCost> costs;
  for (auto& [id, hashes] :
       runs_of(chosen_exhibits(catalogue, options.exhibits), Study{catalogue, options.scale})) {
    ExhibitCost cost{.exhibit = id, .runs = hashes.size()};
    for (const std::string& hash : hashes)
      if (stored.contains(hash)) ++cost.stored;
    std::optional<Cost> one = cost_of_run(catalogue.costs, id, options.scale);
    if (!one) one = cost_of_run(catalogue.costs, id, Scale::quick);
    const auto left = static_cast<double>(cost.runs - cost.stored);
    if (one) {
      cost.cpu_seconds = left * one->cpu_seconds;
      cost.megabytes = left * one->megabytes;
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

}  // namespace dpsosp
