// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/audit/audit.hpp"

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

plots::Cell number_cell(const json& value, int digits = 3) {
  return plots::number_cell(from_json_number(value), digits);
}

plots::Cell count_cell(const json& value) { return plots::count_cell(value.get<Index>()); }

const json* result_of(const Runs& runs, const json& job) {
  const StoredRun& run = runs.at(job);
  return run.status == RunStatus::finished ? &run.result : nullptr;
}

struct Verdicts {
  std::size_t audited = 0, falsified = 0, planted = 0, missed = 0;
};

plots::Table algorithms_table(const Runs& runs, const AuditJobs& jobs, Verdicts& verdicts) {
  plots::Table t;
  t.id = "algorithms";
  t.title = "Claimed, accounted and audited epsilon";
  t.caption =
      "Replay: runs on neighbouring data sets, the second with the releases of the first. "
      "Statistical attack: runs of a small instance on two data sets that differ in one record, "
      "told apart by their likelihood ratio, with error rates at confidence 0.999 a row. Audited: "
      "epsilon of the charges with the most noise that the error rates rule out. Direct: lower "
      "bound from the error rates alone, at most 5.57 from 4000 runs a side. Power: how often the "
      "same attack contradicts the charges where all noise is 1.25 times too small, over "
      "100 resamples of one set of runs. Adjacency: replace one.";
  t.row_header = "algorithm";
  t.column_groups = {
      {"replay", {"pairs", "answers", "largest move over charge", "verdict"}},
      {"statistical attack",
       {"claimed ε", "accounted ε", "audited ε", "direct ε", "runs a side", "power", "verdict"}}};
  t.notes = {
      "A run is a single draw of all its noise; the largest move is that of any answer before "
      "noise, over what the event charged for it allows, so 1 means that the charge is tight and "
      "more than 1 that it is too small.",
      "Accounted: by the tightest accountant, privacy loss distributions included. The power is "
      "small for choices, since no attack of 4000 runs contradicts a pure epsilon of 8, and where "
      "charges are of fixed-size samples or depend on releases, a curve that the instance does not "
      "attain. There, sensitivities are checked by replay, and the law of choices, noise and "
      "samples by goodness of fit.",
      "The audited value is a lower bound of the run's epsilon if its noise has the charged "
      "distribution at any scale. The direct value is a lower bound without that condition.",
      "avdiukhin-2024/noisy-sgd is attacked with clipping. Its own runs do not clip, and their "
      "label is conditional."};
  plots::RowGroup group;
  for (const AuditJobs::OfAlgorithm& a : jobs.algorithms) {
    ++verdicts.audited;
    const json *replay = result_of(runs, a.replay), *attack = result_of(runs, a.statistics);
    plots::Row row{.label = a.algorithm};
    bool falsified = false;
    const auto verdict = [&](bool good, const char* yes, const char* no) {
      falsified = falsified || !good;
      plots::Cell c;
      c.labels.push_back(good ? plots::Label{yes, plots::Tone::good}
                              : plots::Label{no, plots::Tone::bad});
      row.cells.push_back(std::move(c));
    };
    if (replay != nullptr) {
      for (const char* name : {"pairs", "answers"})
        row.cells.push_back(count_cell(replay->at(name)));
      row.cells.push_back(number_cell(replay->at("attained"), 5));
      verdict(replay->at("passed"), "passed", "failed");
    } else {
      row.cells.resize(4, plots::text_cell("failed"));
    }
    if (attack != nullptr) {
      for (const char* name : {"claimed", "accounted", "audited", "direct"})
        row.cells.push_back(number_cell(attack->at(name)));
      row.cells.push_back(count_cell(attack->at("runs")));
      row.cells.push_back(number_cell(attack->at("power"), 2));
      verdict(!attack->at("falsified").get<bool>(), "stands", "falsified");
    } else {
      row.cells.resize(11, plots::text_cell("failed"));
    }
    verdicts.falsified += falsified ? 1 : 0;
    group.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(group));
  return t;
}

plots::Table plants_table(const Runs& runs, const AuditJobs& jobs, Verdicts& verdicts) {
  plots::Table t;
  t.id = "plants";
  t.title = "Planted bugs, and what caught them";
  t.caption =
      "Each bug was planted in an algorithm; pairs: neighbours that replay needed; runs: of the "
      "statistical attack on either data set, the first of 125, 250, 500 and so on at which it "
      "contradicts the charges with confidence 0.999. A dash: not caught with as many as were "
      "tried.";
  t.row_header = "bug";
  t.column_groups.push_back({"", {"what is wrong", "planted in", "pairs", "replay says", "runs"}});
  plots::RowGroup group;
  for (const json& job : jobs.plants) {
    ++verdicts.planted;
    const json* found = result_of(runs, job);
    plots::Row row{.label = job.at("parameters").at("plant")};
    if (found == nullptr) {
      ++verdicts.missed;
      row.cells.resize(5, plots::text_cell("failed"));
    } else {
      const auto count = [&](const char* name) {
        return found->at(name) == 0 ? plots::text_cell("–") : count_cell(found->at(name));
      };
      row.cells = {plots::text_cell(found->at("wrong")),
                   plots::text_cell(found->at("host")),
                   count("pairs"),
                   plots::text_cell(found->at("property")),
                   count("runs")};
      if (!found->at("caught").get<bool>()) {
        ++verdicts.missed;
        row.cells[2].labels.push_back({"missed", plots::Tone::bad});
      }
    }
    group.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(group));
  return t;
}

std::vector<json> jobs_at(const Study& study) { return audit_jobs(study).all(); }

plots::Exhibit render(const Runs& runs, const Study& study) {
  const AuditJobs jobs = audit_jobs(study);
  Verdicts verdicts;
  plots::Exhibit e;
  e.id = "audit";
  e.paper = "All papers";
  e.title = "Privacy claims under attack";
  e.paper_says = {
      "Every algorithm claims (epsilon, delta)-differential privacy. Two attacks try to "
      "contradict it, and bugs are planted to show that the attacks detect violations. "
      "docs/privacy.md says what is attacked and how."};
  e.tables = {algorithms_table(runs, jobs, verdicts), plants_table(runs, jobs, verdicts)};
  const bool good = verdicts.falsified == 0 && verdicts.missed == 0;
  e.verdict = {fmt::format("{} of {} claims falsified; {} of {} planted bugs caught",
                           verdicts.falsified,
                           verdicts.audited,
                           verdicts.planted - verdicts.missed,
                           verdicts.planted),
               good ? plots::Tone::good : plots::Tone::bad};
  return e;
}

}  // namespace

std::vector<ExhibitEntry> audit_exhibits() {
  return {{"audit", "Privacy claims under attack", "All papers", jobs_at, render}};
}

}  // namespace dpsosp
