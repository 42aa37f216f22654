// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/exhibit.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
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

std::vector<ExhibitJobs> jobs_of_each(const std::vector<const ExhibitEntry*>& exhibits,
                                      const Study& study, bool requested) {
  std::vector<ExhibitJobs> all;
  for (const ExhibitEntry* e : exhibits) all.push_back({e, jobs_to_take(*e, study, requested)});
  return all;
}

/// The jobs of these exhibits, each once.
std::vector<Job> joined(const std::vector<ExhibitJobs>& exhibits) {
  std::vector<Job> jobs;
  std::set<std::string> seen;
  for (const ExhibitJobs& e : exhibits)
    for (const Job& job : e.jobs)
      if (seen.insert(job.hash()).second) jobs.push_back(job);
  return jobs;
}

/// Gives parts of sweeps the seeds that a reproduction would have added, where they are stored.
/// \return whether there are any
bool add_stored_seeds(Study& study, const Runs& runs) {
  const auto before = study.seeds;
  if (!study.add_seeds(runs)) return false;
  bool added = false;
  auto kept = before;
  for (const auto& [place, seeds] : study.seeds) {
    if (const auto old = before.find(place); old != before.end() && old->second == seeds) continue;
    Sweep sweep = study.sweep(place.first);
    std::erase_if(sweep.parts,
                  [&name = place.second](const Part& part) { return part.name != name; });
    if (!study.stores(jobs_of(sweep))) continue;
    kept[place] = seeds;
    added = true;
  }
  study.seeds = std::move(kept);
  return added;
}

/// Renders the exhibits that have all their runs, and has the report written.
std::filesystem::path write_report(const std::vector<ExhibitJobs>& exhibits,
                                   const ReproduceOptions& options, const Study& study,
                                   const Runs& runs, bool running, const WriteReport& write) {
  Reproduced all{.study = study,
                 .store = *study.store,
                 .runs = runs,
                 .whole = options.exhibits.empty(),
                 .running = running,
                 .out = options.out};
  for (const auto& [e, jobs] : exhibits) {
    const auto stored = static_cast<std::size_t>(
        std::ranges::count_if(jobs, [&](const Job& job) { return runs.contains(job); }));
    if (stored < jobs.size()) {
      all.unfinished.push_back({e, stored, jobs.size()});
      continue;
    }
    all.entries.push_back(e);
    all.jobs.push_back(jobs);
    all.exhibits.push_back(e->render(runs, study));
  }
  if (all.whole && all.unfinished.empty())
    write_file(options.out / "costs.csv",
               costs_csv(measured_costs(*study.store, exhibits), options.scale));
  return write(all);
}

std::filesystem::path report_of_stored(const Catalogue& catalogue, const ReproduceOptions& options,
                                       const std::vector<const ExhibitEntry*>& chosen,
                                       const Store& store, bool running, const WriteReport& write) {
  Study study{.catalogue = catalogue, .scale = options.scale, .store = &store};
  std::vector<ExhibitJobs> exhibits;
  std::vector<StoredRun> runs;
  std::size_t needed = 0;
  do {
    exhibits = jobs_of_each(chosen, study, false);
    const std::vector<Job> jobs = joined(exhibits);
    needed = jobs.size();
    add_stored(store, jobs, runs);
  } while (add_stored_seeds(study, Runs(runs, store)));
  if (runs.empty() && needed > 0 && !running)
    throw InputError(
        fmt::format("{} holds none of the {} runs at scale {}; dpsosp reproduce computes them",
                    store.file().string(), needed, to_string(options.scale)));
  const Runs lookup(runs, store);
  return write_report(exhibits, options, study, lookup, running, write);
}

/// Has the report written from time to time while it lives, in a thread of its own.
class Refresher {
 public:
  Refresher(std::function<void()> write, double least_seconds)
      : thread_([write = std::move(write), least_seconds](const std::stop_token& stop) {
          constexpr double times_its_own = 40;
          std::mutex mutex;
          std::condition_variable_any wake;
          std::unique_lock lock(mutex);
          double wait = least_seconds;
          const auto stopping = [&] { return stop.stop_requested(); };
          while (!wake.wait_for(lock, stop, std::chrono::duration<double>(wait), stopping)) {
            const double start = thread_cpu_seconds();
            try {
              write();
            } catch (const std::exception&) {
              return;  // the report at the end meets the same fault and says so
            }
            wait = std::max(least_seconds, times_its_own * (thread_cpu_seconds() - start));
          }
        }) {}

 private:
  std::jthread thread_;
};

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
  const bool if_stored = exhibit.on_request && !requested;
  if (if_stored && exhibit.first_job && !study.stores({exhibit.first_job(study)})) return {};
  std::vector<Job> jobs = exhibit.jobs(study);
  if (if_stored && !study.stores(jobs)) jobs.clear();
  return jobs;
}

std::filesystem::path reproduce(const Catalogue& catalogue, const ReproduceOptions& options,
                                const WriteReport& write) {
  if (options.threads < 1) reject("reproduce", "threads", options.threads, ">= 1");
  const auto chosen = chosen_exhibits(catalogue, options.exhibits);
  // The store first: a report is not begun beside a store that cannot be used.
  Store store(options.store.empty() ? options.out / "store.sqlite" : options.store,
              options.from_store ? Store::Access::read_only : Store::Access::read_write);
  ensure_writable_folder(options.out / "report");
  const auto write_stored = [&](bool running) {
    return report_of_stored(catalogue, options, chosen, store, running, write);
  };
  if (options.from_store) return write_stored(false);

  Study study{.catalogue = catalogue, .scale = options.scale, .store = &store};
  const bool requested = !options.exhibits.empty();
  if (requested) require_code(chosen, study);
  const Compute compute = [&](const Job& job) { return catalogue.compute(job); };
  Progress progress(progress_style(options.quiet));
  std::vector<ExhibitJobs> exhibits;
  std::vector<StoredRun> runs;
  bool retry_failed = options.retry_failed;
  {
    const Refresher refresher([&] { write_stored(true); }, options.refresh_seconds);
    do {
      exhibits = jobs_of_each(chosen, study, requested);
      runs.clear();  // before they are read again, with more
      const std::vector<Job> jobs = joined(exhibits);
      compute_missing(store, jobs, compute,
                      {.threads = options.threads,
                       .retry_failed = std::exchange(retry_failed, false),
                       .progress = &progress});
      add_stored(store, jobs, runs);
    } while (study.add_seeds(Runs(runs, store)));
  }
  const Runs lookup(runs, store);
  return write_report(exhibits, options, study, lookup, false, write);
}

}  // namespace dpsosp
