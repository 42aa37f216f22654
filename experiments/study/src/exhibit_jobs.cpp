// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/exhibit_jobs.hpp"

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {

std::vector<Job> jobs_to_reproduce(const Catalogue& catalogue, const ReproduceOptions& options,
                                   const Store* store) {
  Study study{.catalogue = catalogue, .scale = options.scale, .store = store};
  const auto chosen = chosen_exhibits(catalogue, options.exhibits);
  for (;;) {
    std::vector<Job> jobs;
    std::set<std::string> seen;
    for (const ExhibitEntry* e : chosen)
      for (Job& job : jobs_to_take(*e, study, !options.exhibits.empty())) {
        if (!catalogue.can_compute(job) && !study.stores({job}))
          throw InputError(fmt::format(
              "reproduce: this program is built without the code for the runs of {}", e->id));
        if (seen.insert(job.hash()).second) jobs.push_back(std::move(job));
      }
    if (!study.stores(jobs)) return jobs;
    const std::vector<StoredRun> runs = runs_in(*store, jobs);
    if (!study.add_seeds(Runs(runs))) return jobs;
  }
}

}  // namespace dpsosp
