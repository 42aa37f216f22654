// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/costs.hpp"

#include <algorithm>
#include <iterator>
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

Hashes hashes_of(const std::vector<Job>& jobs) {
  Hashes hashes;
  for (const Job& job : jobs) hashes.insert(job.hash());
  return hashes;
}

/// The runs of an exhibit.
struct ExhibitRuns {
  std::string exhibit;
  Hashes hashes;
  bool on_request;
};

std::vector<ExhibitRuns> runs_of(const std::vector<const ExhibitEntry*>& exhibits,
                                 const Study& study, bool requested) {
  std::vector<ExhibitRuns> runs;
  for (const ExhibitEntry* e : exhibits)
    runs.push_back({e->id, hashes_of(jobs_to_take(*e, study, requested)), e->on_request});
  return runs;
}

/// The hashes of `some` that are not in `others`.
Hashes without(const Hashes& some, const Hashes& others) {
  Hashes rest;
  std::ranges::set_difference(some, others, std::inserter(rest, rest.end()));
  return rest;
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

std::vector<ExhibitCost> measured_costs(const Store& store,
                                        const std::vector<ExhibitJobs>& exhibits) {
  std::unordered_map<std::string, Cost> known;
  for (const StoredCost& c : store.costs())
    known[c.hash] = {c.cpu_seconds, 1e-6 * static_cast<double>(c.bytes)};
  std::vector<ExhibitCost> costs;
  const auto add = [&](const std::string& id, const Hashes& hashes) {
    ExhibitCost cost{.exhibit = id, .runs = hashes.size()};
    for (const std::string& hash : hashes) {
      const auto found = known.find(hash);
      if (found == known.end()) continue;
      ++cost.stored;
      cost.cpu_seconds += found->second.cpu_seconds;
      cost.megabytes += found->second.megabytes;
    }
    if (cost.runs > 0) costs.push_back(std::move(cost));
  };
  Hashes all;
  for (const auto& [entry, jobs] : exhibits) {
    const Hashes hashes = hashes_of(jobs);
    add(entry->id, hashes);
    if (!entry->on_request) all.insert(hashes.begin(), hashes.end());
  }
  add("all", all);
  return costs;
}

std::vector<ExhibitCost> measured_costs(const Store& store, const Study& study) {
  std::vector<ExhibitJobs> exhibits;
  for (const ExhibitEntry* e : chosen_exhibits(study.catalogue, {}))
    exhibits.push_back({e, jobs_to_take(*e, study, false)});
  return measured_costs(store, exhibits);
}

std::string costs_csv(const std::vector<ExhibitCost>& costs, Scale scale) {
  std::string csv;
  for (const ExhibitCost& c : costs)
    csv += fmt::format("{},{},{},{:.3g},{:.3g}\n", c.exhibit, to_string(scale), c.stored,
                       c.cpu_seconds, c.megabytes);
  return csv;
}

std::vector<ExhibitCost> planned_costs(const Catalogue& catalogue, const ReproduceOptions& options,
                                       const Store* store) {
  Hashes stored;
  if (store != nullptr)
    for (const StoredCost& c : store->costs()) stored.insert(c.hash);
  const auto cost_of = [&](const std::string& id, const Hashes& hashes) {
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
    return cost;
  };
  const Study study{.catalogue = catalogue, .scale = options.scale, .store = store};
  const std::vector<ExhibitRuns> runs =
      runs_of(chosen_exhibits(catalogue, options.exhibits), study, !options.exhibits.empty());
  std::vector<ExhibitCost> costs;
  Hashes ordinary;
  for (const auto& [id, hashes, on_request] : runs) {
    costs.push_back(cost_of(id, hashes));
    if (!on_request && options.exhibits.empty()) ordinary.insert(hashes.begin(), hashes.end());
  }
  ExhibitCost all = cost_of("all", ordinary);
  // Runs on request, and of some exhibits alone, cost what those of their exhibit do; the mean over
  // all others says nothing.
  Hashes counted = std::move(ordinary);
  for (const auto& [id, hashes, on_request] : runs) {
    const ExhibitCost more = cost_of(id, without(hashes, counted));
    all.runs += more.runs;
    all.stored += more.stored;
    all.cpu_seconds += more.cpu_seconds;
    all.megabytes += more.megabytes;
    counted.insert(hashes.begin(), hashes.end());
  }
  costs.push_back(std::move(all));
  return costs;
}

}  // namespace dpsosp
