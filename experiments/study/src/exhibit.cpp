// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/exhibit.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/costs.hpp"
#include "dpsosp/experiments/progress.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {
namespace {

/// "xu-2026" of "xu-2026/table-2".
std::string group_of(const std::string& id) { return id.substr(0, id.find('/')); }

/// Refuses exhibits on request with runs that neither the store has nor this program can compute.
void require_code(const std::vector<const ExhibitEntry*>& exhibits, const Study& study) {
  for (const ExhibitEntry* e : exhibits) {
    if (!e->on_request) continue;
    for (const Job& job : e->jobs(study))
      if (!study.catalogue.can_compute(job) && !study.stores({job}))
        throw InputError(
            fmt::format("reproduce: this program is built without the code for the runs of {0}; "
                        "./run reproduce {0} builds one with it",
                        e->id));
  }
}

}  // namespace

std::vector<const ExhibitEntry*> chosen_exhibits(const Catalogue& catalogue,
                                                 const std::vector<std::string>& ids) {
  std::vector<const ExhibitEntry*> chosen;
  const auto choose = [&](const auto& is_meant) {
    bool any = false;
    for (const ExhibitEntry& e : catalogue.exhibits) {
      if (!is_meant(e)) continue;
      any = true;
      if (std::ranges::find(chosen, &e) == chosen.end()) chosen.push_back(&e);
    }
    return any;
  };
  if (ids.empty()) choose([](const ExhibitEntry&) { return true; });
  for (const std::string& id : ids) {
    if (choose([&](const ExhibitEntry& e) { return e.id == id; })) continue;
    if (choose([&](const ExhibitEntry& e) { return group_of(e.id) == id; })) continue;
    std::set<std::string> names;
    for (const ExhibitEntry& e : catalogue.exhibits) {
      names.insert(e.id);
      names.insert(group_of(e.id));
    }
    reject_unknown("exhibit", id, std::vector(names.begin(), names.end()));
  }
  return chosen;
}

std::vector<Job> jobs_to_take(const ExhibitEntry& exhibit, const Study& study, bool requested) {
  std::vector<Job> jobs = exhibit.jobs(study);
  if (exhibit.on_request && !requested && !study.stores(jobs)) jobs.clear();
  return jobs;
}

std::filesystem::path reproduce(const Catalogue& catalogue,
                                const ReproduceOptions& options,
                                const WriteReport& write) {
  if (options.threads < 1) reject("reproduce", "threads", options.threads, ">= 1");
  const auto chosen = chosen_exhibits(catalogue, options.exhibits);
  // The store first: a report is not begun beside a store that cannot be used.
  Store store(options.out / "store.sqlite",
              options.from_store ? Store::Access::read_only : Store::Access::read_write);
  ensure_writable_folder(options.out / "report");

  Study study{.catalogue = catalogue, .scale = options.scale, .store = &store};
  const bool requested = !options.exhibits.empty() && !options.from_store;
  if (requested) require_code(chosen, study);
  const Compute compute = [&](const Job& job) { return catalogue.compute(job); };
  Progress progress(progress_style(options.quiet));
  std::vector<StoredRun> runs;
  bool retry_failed = options.retry_failed;
  do {
    std::vector<Job> jobs;
    std::set<std::string> seen;
    for (const ExhibitEntry* e : chosen)
      for (auto& job : jobs_to_take(*e, study, requested))
        if (seen.insert(job.hash()).second) jobs.push_back(std::move(job));
    runs = options.from_store ? stored_runs(store, jobs, "dpsosp reproduce")
                              : run_jobs(store,
                                         jobs,
                                         compute,
                                         {.threads = options.threads,
                                          .retry_failed = std::exchange(retry_failed, false),
                                          .progress = &progress});
  } while (study.add_seeds(Runs(runs)));
  const Runs lookup(runs);
  Reproduced all{.study = study,
                 .store = store,
                 .runs = lookup,
                 .entries = chosen,
                 .whole = options.exhibits.empty(),
                 .out = options.out};
  for (const ExhibitEntry* e : chosen) all.exhibits.push_back(e->render(lookup, study));
  if (all.whole)
    write_file(options.out / "costs.csv", costs_csv(measured_costs(store, study), options.scale));
  return write(all);
}

}  // namespace dpsosp
