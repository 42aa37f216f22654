// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/verdict.hpp"

/// The code that judges a claim which is no slope: the jobs that it rests on, cell by cell, and
/// what their results say. The cells are stated once; the judge is handed them with their results.
namespace dpsosp {

/// What was measured of a claim.
struct Finding {
  Verdict verdict = Verdict::not_measured;
  Headline headline = Headline::open;  ///< set by find_claims
  std::string measured;                ///< the numbers, in a few words
  std::string reason;                  ///< why inconclusive, or in which way it fails; may be empty
  std::optional<double> value;
  std::optional<Interval> interval;
  std::vector<std::string>
      runs{};  ///< keys of the runs that it rests on, each once; none: formulas
  std::vector<std::string> parts{};  ///< of a slope claim: the three parts of each slope
  /// Of a slope claim: its slopes, in the claim's order, with the verdicts that are the claim's;
  /// none where a slope was not run.
  std::vector<std::optional<Slope>> slopes{};
  std::string rests_on{};  ///< the same in words: "formulas", "120 runs of zhou-2020"
};

/// Jobs of one setting, usually one a seed: runs or probes.
struct JobCell {
  Coordinates at;  ///< what sets the setting apart; may be empty
  std::vector<Job> jobs;
  std::string sweep{}, part{}, arm{};  ///< of a sweep's cell
};

/// A cell of runs that differ in their seed alone: 0, 1, …, seeds − 1.
JobCell seeded_cell(RunSpec spec, std::uint64_t seeds, Coordinates at = {});
/// A cell of one probe, or of one a seed.
template <Probe P>
JobCell probe_cell(const Study& study, const P& parameters, Coordinates at = {},
                   std::uint64_t seeds = 1) {
  JobCell cell{.at = std::move(at), .jobs = {}};
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    cell.jobs.push_back(study.probe(parameters, seed));
  return cell;
}
/// A cell of make(x) for each x of a grid, which is its coordinate on the axis.
template <class Make>
std::vector<JobCell> probe_cells(const Study& study, const std::string& axis,
                                 const std::vector<double>& grid, const Make& make,
                                 std::uint64_t seeds = 1) {
  std::vector<JobCell> cells;
  for (const double x : grid) cells.push_back(probe_cell(study, make(x), {{axis, x}}, seeds));
  return cells;
}
/// Every cell of a built-in sweep.
std::vector<JobCell> sweep_cells(const Study& study, std::string_view sweep);

struct FinishedRun {
  const RunDescription* run;
  const RunResult* result;
};

/// A cell and what came of its jobs.
class JudgedCell {
 public:
  JudgedCell(const JobCell& cell, const Runs& runs);

  const JobCell& cell() const { return *cell_; }
  /// A coordinate: its number, or its text. \throws InputError if it has none of that name
  double number_at(std::string_view name) const;
  std::string text_at(std::string_view name) const;

  /// The results of all jobs, in the jobs' order.
  const std::vector<const StoredRun*>& stored() const { return stored_; }
  bool all_finished() const;
  /// The runs that finished.
  const std::vector<FinishedRun>& finished() const { return finished_; }
  /// The metric of each finished run that has it.
  std::vector<double> metric(std::string_view name) const;
  /// The results of finished probes. \throws InputError for what is no such result
  template <Listed Result>
  std::vector<Result> results() const {
    std::vector<Result> results;
    for (std::size_t k = 0; k < stored_.size(); ++k)
      if (stored_[k]->status == RunStatus::finished)
        results.push_back(read_json<Result>(stored_[k]->result, place_of_result(k)));
    return results;
  }
  /// One number of each; of a truth value 1 or 0.
  template <Listed Result, class Value>
  std::vector<double> numbers(Value Result::*member) const {
    std::vector<double> values;
    for (const Result& result : results<Result>())
      values.push_back(static_cast<double>(result.*member));
    return values;
  }

 private:
  JsonPlace place_of_result(std::size_t job) const;

  const JobCell* cell_;
  std::vector<const StoredRun*> stored_;
  std::vector<FinishedRun> finished_;  // probes have none
};

/// What a predicate is judged by.
struct Evidence {
  const std::vector<JudgedCell>& cells;
  const Runs& runs;
  const Study& study;

  /// Whether every job of every cell finished.
  bool all_finished() const;
  /// The cells of one sweep; of one part or arm where they are named.
  std::vector<const JudgedCell*> of(std::string_view sweep, std::string_view part = {},
                                    std::string_view arm = {}) const;
  /// Every finished run, each once: parts of a sweep may share runs.
  std::vector<FinishedRun> finished() const;
  /// The finished runs of these parts, of one arm where it is named.
  std::vector<FinishedRun> finished(std::string_view sweep,
                                    std::initializer_list<std::string_view> parts,
                                    std::string_view arm = {}) const;
};

struct Predicate {
  std::string claim;
  std::function<std::vector<JobCell>(const Study&)> cells;
  /// The judge of a predicate on request is handed no cells where a run of them is missing, and
  /// sets `rests_on` where it finds something all the same.
  std::function<Finding(const Evidence&)> judge;
  /// For a predicate on request: the exhibit on request with its runs. They are taken where the
  /// store has them all, and computed where that exhibit is named.
  std::string exhibit{};
};

/// The predicate of a claim that formulas decide.
Predicate by_formulas(std::string claim, Finding (*judge)());
/// The predicate of a claim that rests on every run of built-in sweeps.
Predicate on_sweeps(std::string claim, std::vector<std::string> sweeps,
                    std::function<Finding(const Evidence&)> judge);

/// The jobs of all its cells.
std::vector<Job> jobs_of(const Predicate& predicate, const Study& study);
/// Those of them that verdicts are made of: none of a predicate on request that lacks one of
/// `runs`.
std::vector<Job> jobs_judged(const Predicate& predicate, const Runs& runs, const Study& study);
Finding judge(const Predicate& predicate, const Runs& runs, const Study& study);

}  // namespace dpsosp
