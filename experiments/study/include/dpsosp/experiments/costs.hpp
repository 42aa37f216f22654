// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/store.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {

/// Cost of an exhibit's runs. A run that several exhibits need counts in each of them.
struct ExhibitCost {
  std::string exhibit;     ///< id; "all", in which every run counts once
  std::size_t runs = 0;    ///< stored or not
  std::size_t stored = 0;  ///< how many of them are stored
  double cpu_seconds = 0;  ///< measured: of the stored runs; planned: of the others, estimated
  double megabytes = 0;    ///< of the store, likewise
};

/// An exhibit and the jobs that a report takes for it.
struct ExhibitJobs {
  const ExhibitEntry* entry;
  std::vector<Job> jobs;
};

/// Costs of these exhibits that have runs, then of all. Those on request do not count in "all":
/// their runs cost much more than others.
std::vector<ExhibitCost> measured_costs(const Store& store,
                                        const std::vector<ExhibitJobs>& exhibits);

/// Costs of every exhibit of the catalogue. Exhibits on request count where the study's store has
/// all their runs.
std::vector<ExhibitCost> measured_costs(const Store& store, const Study& study);

/// A row for each: exhibit, scale, runs, cpu_seconds, megabytes.
std::string costs_csv(const std::vector<ExhibitCost>& costs, Scale scale);

/// Cost of missing runs, by catalogue.costs: a run is taken to cost the mean of its exhibit at
/// the same scale, or at quick where the full scale was not measured. Exhibits on request have runs
/// where they are named, or where the store has all of them.
/// \param store  null for none
/// \throws InputError for an unknown exhibit
std::vector<ExhibitCost> planned_costs(const Catalogue& catalogue, const ReproduceOptions& options,
                                       const Store* store);

}  // namespace dpsosp
