// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/predicate.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/sweep.hpp"

namespace dpsosp {

JobCell seeded_cell(RunSpec spec, std::uint64_t seeds, Coordinates at) {
  JobCell cell{.at = std::move(at), .jobs = {}};
  RunDescription d = describe(spec);
  for (d.seed = 0; d.seed < seeds; ++d.seed) {
    d.data_seed = d.seed;
    cell.jobs.emplace_back(d);
  }
  return cell;
}

std::vector<JobCell> sweep_cells(const Study& study, std::string_view name) {
  const Sweep sweep = study.sweep(name);
  std::vector<JobCell> cells;
  for (const Part& part : sweep.parts)
    for (const Cell& cell : cells_of(sweep, part))
      cells.push_back({.at = cell.at,
                       .jobs = cell.runs,
                       .sweep = sweep.name,
                       .part = part.name,
                       .arm = sweep.arms[cell.arm].name});
  return cells;
}

JudgedCell::JudgedCell(const JobCell& cell, const Runs& runs) : cell_(&cell) {
  for (const Job& job : cell.jobs) {
    const StoredRun& run = runs.at(job);
    stored_.push_back(&run);
    if (job.run() != nullptr && run.status == RunStatus::finished)
      finished_.push_back({job.run(), runs.result(run)});
  }
}

double JudgedCell::number_at(std::string_view name) const {
  const auto number = coordinate(cell_->at, name);
  if (!number) throw InputError(fmt::format("a cell of a predicate has no number {}", name));
  return *number;
}

std::string JudgedCell::text_at(std::string_view name) const {
  for (const auto& [key, value] : cell_->at)
    if (key == name) return value.get<std::string>();
  throw InputError(fmt::format("a cell of a predicate has no {}", name));
}

bool JudgedCell::all_finished() const {
  return std::ranges::all_of(
      stored_, [](const StoredRun* run) { return run->status == RunStatus::finished; });
}

JsonPlace JudgedCell::place_of_result(std::size_t job) const {
  return {"result of probe " + cell_->jobs[job].probe()->probe};
}

std::vector<double> JudgedCell::metric(std::string_view name) const {
  std::vector<double> values;
  for (const FinishedRun& r : finished())
    if (const auto value = metric_of(*r.result, name)) values.push_back(*value);
  return values;
}

bool Evidence::all_finished() const {
  return std::ranges::all_of(cells, &JudgedCell::all_finished);
}

std::vector<const JudgedCell*> Evidence::of(std::string_view sweep, std::string_view part,
                                            std::string_view arm) const {
  std::vector<const JudgedCell*> found;
  for (const JudgedCell& c : cells)
    if (c.cell().sweep == sweep && (part.empty() || c.cell().part == part) &&
        (arm.empty() || c.cell().arm == arm))
      found.push_back(&c);
  return found;
}

std::vector<FinishedRun> Evidence::finished() const {
  std::vector<FinishedRun> all;
  std::set<const RunResult*> seen;
  for (const JudgedCell& c : cells)
    for (const FinishedRun& r : c.finished())
      if (seen.insert(r.result).second) all.push_back(r);
  return all;
}

std::vector<FinishedRun> Evidence::finished(std::string_view sweep,
                                            std::initializer_list<std::string_view> parts,
                                            std::string_view arm) const {
  std::vector<FinishedRun> all;
  for (const JudgedCell* c : of(sweep, {}, arm)) {
    if (std::ranges::find(parts, c->cell().part) == parts.end()) continue;
    const auto of_cell = c->finished();
    all.insert(all.end(), of_cell.begin(), of_cell.end());
  }
  return all;
}

Predicate by_formulas(std::string claim, Finding (*judge)()) {
  struct Known {
    std::once_flag once;
    Finding finding;
  };
  return {.claim = std::move(claim),
          .cells = [](const Study&) { return std::vector<JobCell>(); },
          .judge =
              [judge, known = std::make_shared<Known>()](const Evidence&) {
                std::call_once(known->once, [&] { known->finding = judge(); });
                return known->finding;
              }};
}

Predicate on_sweeps(std::string claim, std::vector<std::string> sweeps,
                    std::function<Finding(const Evidence&)> judge) {
  return {.claim = std::move(claim),
          .cells =
              [sweeps = std::move(sweeps)](const Study& study) {
                std::vector<JobCell> cells;
                for (const std::string& name : sweeps)
                  for (JobCell& cell : sweep_cells(study, name)) cells.push_back(std::move(cell));
                return cells;
              },
          .judge = std::move(judge)};
}

std::vector<Job> jobs_of(const Predicate& predicate, const Study& study) {
  std::vector<Job> jobs;
  for (JobCell& cell : predicate.cells(study))
    for (Job& job : cell.jobs) jobs.push_back(std::move(job));
  return jobs;
}

std::vector<Job> jobs_judged(const Predicate& predicate, const Runs& runs, const Study& study) {
  std::vector<Job> jobs = jobs_of(predicate, study);
  if (!predicate.exhibit.empty() &&
      !std::ranges::all_of(jobs, [&](const Job& job) { return runs.contains(job); }))
    jobs.clear();
  return jobs;
}

Finding judge(const Predicate& predicate, const Runs& runs, const Study& study) {
  std::vector<JobCell> cells = predicate.cells(study);
  if (!predicate.exhibit.empty() && jobs_judged(predicate, runs, study).empty()) cells.clear();
  std::vector<JudgedCell> judged;
  for (const JobCell& cell : cells) judged.emplace_back(cell, runs);
  return predicate.judge({judged, runs, study});
}

}  // namespace dpsosp
