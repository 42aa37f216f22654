// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/audit/audit.hpp"

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/experiments/study.hpp"
#include "noise/noise_check.hpp"
#include "noise/noise_law.hpp"

namespace dpsosp {
namespace {

using namespace audit;

/// Nothing if the run failed.
template <Probe P>
std::optional<typename P::Result> result_of(const Runs& runs, const Study& study, const P& job) {
  const StoredRun& run = runs.at(study.probe(job));
  if (run.status != RunStatus::finished) return {};
  return read_result<P>(run.result);
}

struct Verdicts {
  std::size_t audited = 0, falsified = 0, planted = 0, missed = 0, common = 0, broken = 0;
};

plots::Table algorithms_table(const Runs& runs, const Study& study, const AuditJobs& jobs,
                              Verdicts& verdicts) {
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
      "small where charges depend on releases or are known as zCDP alone, a curve that the "
      "instance does not attain. There, sensitivities are checked by replay, and the law of "
      "choices, noise and samples by goodness of fit. Choices among candidates are attacked at a "
      "claimed epsilon of 4, since no 4000 runs contradict a pure epsilon of 8.",
      "The audited value is a lower bound of the run's epsilon if its noise has the charged "
      "distribution at any scale. The direct value is a lower bound without that condition.",
      "The rows curator/... and release/... are questions of one kind asked until the filter "
      "refuses, "
      "under every calibrator and way of drawing batches; release/... of the curator whose noise "
      "is "
      "exact.",
      "avdiukhin-2024/noisy-sgd is attacked with clipping. Its own runs do not clip, and their "
      "label is conditional."};
  for (const AuditJobs::OfAlgorithm& a : jobs.algorithms) {
    ++verdicts.audited;
    const auto replay = result_of(runs, study, a.replay);
    const auto attack = result_of(runs, study, a.statistics);
    plots::Row row{.label = a.algorithm};
    bool falsified = false;
    const auto verdict = [&](bool good, const char* yes, const char* no) {
      falsified = falsified || !good;
      plots::Cell c;
      c.labels.push_back(good ? plots::Label{yes, plots::Tone::good}
                              : plots::Label{no, plots::Tone::bad});
      row.cells.push_back(std::move(c));
    };
    if (replay) {
      for (const Index count : {replay->pairs, replay->answers})
        row.cells.push_back(plots::count_cell(count));
      row.cells.push_back(plots::number_cell(replay->attained, 5));
      verdict(replay->passed, "passed", "failed");
    } else {
      row.cells.resize(4, plots::text_cell("failed"));
    }
    if (attack) {
      for (const double epsilon :
           {attack->claimed, attack->accounted, attack->audited, attack->direct})
        row.cells.push_back(plots::number_cell(epsilon, 3));
      row.cells.push_back(plots::count_cell(attack->runs));
      row.cells.push_back(attack->power ? plots::number_cell(*attack->power, 2)
                                        : plots::text_cell("–"));
      verdict(!attack->falsified, "stands", "falsified");
    } else {
      row.cells.resize(11, plots::text_cell("failed"));
    }
    verdicts.falsified += falsified ? 1 : 0;
    t.add(std::move(row));
  }
  return t;
}

/// Noise numbers of an algorithm, both attacks together.
NoiseNumbers noise_of(const Runs& runs, const Study& study, const AuditJobs::OfAlgorithm& a) {
  NoiseNumbers sum;
  if (const auto replay = result_of(runs, study, a.replay)) sum.add(replay->noise);
  if (const auto attack = result_of(runs, study, a.statistics)) sum.add(attack->noise);
  return sum;
}

plots::Table laws_table(const Runs& runs, const Study& study, const AuditJobs& jobs,
                        Verdicts& verdicts) {
  plots::Table t;
  t.id = "laws";
  t.title = "The law of the noise";
  t.caption =
      "Numbers of additive noise in both attacks, standardised by what is charged (Laplace noise "
      "by its normal scores), and how many are farther out than 3 to 6 deviations. A wrong law is "
      "marked where the audit of that algorithm alone has numbers enough to detect it in 95 of 100 "
      "experiments; noise of the algorithm's own stream, noise that comes again and noise without "
      "variance are detected in every run. Adjacency: replace one.";
  t.row_header = "algorithm";
  plots::ColumnGroup detected{"detected", {}};
  for (const WrongLaw& law : wrong_laws()) detected.columns.emplace_back(law.name);
  t.column_groups = {{"", {"numbers"}}, {"beyond", {"3", "4", "5", "6"}}, std::move(detected)};
  t.notes = {
      fmt::format("Each algorithm's noise, choices and secret batches are tested at probability "
                  "1e-6 each of a false alarm; the error rates of the statistical attack at 0.001. "
                  "Over all rows that is at most {:.2g} for the whole audit.",
                  static_cast<double>(jobs.algorithms.size()) * (1e-3 + 3 * false_alarm)),
      "The last rows hold all numbers together, with the numbers expected beyond each limit and "
      "the "
      "probability of as unlikely a count."};
  NoiseNumbers all;
  const auto counts_of = [](const NoiseNumbers& noise) {
    std::vector<plots::Cell> cells{plots::count_cell(noise.count)};
    for (const std::int64_t beyond : noise.beyond) cells.push_back(plots::count_cell(beyond));
    return cells;
  };
  for (const AuditJobs::OfAlgorithm& a : jobs.algorithms) {
    const NoiseNumbers noise = noise_of(runs, study, a);
    if (noise.count == 0) continue;
    plots::Row row{.label = a.algorithm, .cells = counts_of(noise)};
    for (const WrongLaw& law : wrong_laws())
      row.cells.push_back(plots::text_cell(noise.count >= law.numbers ? "yes" : "–"));
    t.add(std::move(row));
    all.add(noise);
  }
  plots::Row measured{.label = "all", .cells = counts_of(all)},
      expected{.label = "expected", .cells = {plots::text_cell("")}},
      probability{.label = "probability", .cells = {plots::text_cell("")}};
  for (std::size_t k = 0; k < all.beyond.size(); ++k) {
    const double tail = two_sided(NormalLaw::limits[k]);
    const double p = all.count == 0 ? 1.0 : two_sided_binomial(all.beyond[k], all.count, tail);
    expected.cells.push_back(plots::number_cell(tail * static_cast<double>(all.count), 3));
    probability.cells.push_back(plots::number_cell(p, 2));
    if (p < false_alarm) {
      ++verdicts.falsified;
      probability.cells.back().labels.push_back({"falsified", plots::Tone::bad});
    }
  }
  if (const Finding extremes = coincidence_of_extremes(all.extremes); extremes.p < false_alarm) {
    ++verdicts.falsified;
    measured.cells.front().labels.push_back({extremes.what, plots::Tone::bad});
  }
  for (plots::Row* row : {&measured, &expected, &probability}) {
    row->cells.resize(5 + wrong_laws().size(), plots::text_cell(""));
    t.add(std::move(*row));
  }
  return t;
}

plots::Table plants_table(const Runs& runs, const Study& study, const AuditJobs& jobs,
                          Verdicts& verdicts) {
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
  for (const PlantJob& job : jobs.plants) {
    ++verdicts.planted;
    const auto found = result_of(runs, study, job);
    plots::Row row{.label = job.plant};
    if (!found) {
      ++verdicts.missed;
      row.cells.resize(5, plots::text_cell("failed"));
    } else {
      const auto count = [](Index number) {
        return number == 0 ? plots::text_cell("–") : plots::count_cell(number);
      };
      row.cells = {plots::text_cell(found->wrong), plots::text_cell(found->host),
                   count(found->pairs), plots::text_cell(found->property), count(found->runs)};
      if (!found->caught) {
        ++verdicts.missed;
        row.cells[2].labels.push_back({"missed", plots::Tone::bad});
      }
    }
    t.add(std::move(row));
  }
  return t;
}

plots::Table common_table(const Runs& runs, const Study& study, const AuditJobs& jobs,
                          Verdicts& verdicts) {
  plots::Table t;
  t.id = "common";
  t.title = "What all claims rest on";
  t.caption =
      "Checks that no algorithm has a part in. Accountants and filters are held against privacy "
      "losses that are drawn for random compositions of all kinds of events, with densities of the "
      "audit's own, at delta 0.3 to 0.003. Each check fails by chance with probability at most "
      "1e-6.";
  t.row_header = "check";
  t.column_groups.push_back({"", {"what is checked", "holds"}});
  for (const CommonJob& job : jobs.common) {
    ++verdicts.common;
    const auto line = result_of(runs, study, job);
    plots::Row row{.label = job.check};
    if (!line) {
      row.cells.resize(2, plots::text_cell("failed"));
    } else {
      row.cells = {plots::text_cell(line->property),
                   plots::text_cell(line->passed ? "yes" : line->detail)};
    }
    if (!line || !line->passed) {
      ++verdicts.broken;
      row.cells[1].labels.push_back({"broken", plots::Tone::bad});
    }
    t.add(std::move(row));
  }
  return t;
}

std::vector<Job> jobs_at(const Study& study) { return audit_jobs(study).all(study); }

plots::Exhibit render(const Runs& runs, const Study& study) {
  const AuditJobs jobs = audit_jobs(study);
  Verdicts verdicts;
  plots::Exhibit e;
  e.id = "audit";
  e.paper = "All papers";
  e.title = "Privacy claims under attack";
  e.paper_says = {
      "Every private algorithm claims (ε, δ)-differential privacy. Two attacks try to "
      "contradict it, and bugs are planted to show that the attacks detect violations. "
      "docs/privacy.md says what is attacked and how."};
  e.tables.push_back(algorithms_table(runs, study, jobs, verdicts));
  e.tables.push_back(laws_table(runs, study, jobs, verdicts));
  e.tables.push_back(plants_table(runs, study, jobs, verdicts));
  e.tables.push_back(common_table(runs, study, jobs, verdicts));
  const bool good = verdicts.falsified == 0 && verdicts.missed == 0 && verdicts.broken == 0;
  e.verdict = {fmt::format("{} of {} claims falsified; {} of {} planted bugs caught; {} of {} "
                           "checks of what all rest on hold",
                           verdicts.falsified, verdicts.audited, verdicts.planted - verdicts.missed,
                           verdicts.planted, verdicts.common - verdicts.broken, verdicts.common),
               good ? plots::Tone::good : plots::Tone::bad};
  return e;
}

}  // namespace

std::vector<ExhibitEntry> audit_exhibits() {
  return {{"audit", "Privacy claims under attack", "All papers", jobs_at, render}};
}

}  // namespace dpsosp
