// SPDX-License-Identifier: Apache-2.0
#include "run_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "description.hpp"
#include "dpsosp/core/numbers.hpp"
#include "dpsosp/experiments/used.hpp"

namespace dpsosp {
namespace {

constexpr std::size_t label_width = 13;

/// Zero without its sign.
std::string number(double value) { return fmt::format("{:.6g}", value + 0.0); }

/// Numbers of one point, by row.
struct Column {
  std::string head;
  std::vector<std::string> cells;
};

constexpr std::array<std::string_view, 5> row_labels{
    "value", "gradient norm", "least eigenvalue of the Hessian", "  is at least", "sosp_level"};

Column column_of(std::string head, const Certificate& c) {
  return {std::move(head),
          {number(c.value), number(c.gradient_norm), number(c.lambda_min),
           number(c.lambda_min_lower), c.sosp_level ? number(*c.sosp_level) : std::string("-")}};
}

Column column_of(std::string head, const TraceRow& row) {
  return {std::move(head),
          {number(row.value), number(row.gradient_norm), number(row.lambda_min), "-",
           number(row.sosp_level)}};
}

std::string table(const std::vector<Column>& columns) {
  std::size_t label = 0;
  for (const std::string_view row : row_labels) label = std::max(label, row.size());
  std::string out = fmt::format("{:<{}}", "", label);
  for (const Column& c : columns) out += fmt::format("  {:>14}", c.head);
  out += '\n';
  for (std::size_t k = 0; k < row_labels.size(); ++k) {
    out += fmt::format("{:<{}}", row_labels[k], label);
    for (const Column& c : columns) out += fmt::format("  {:>14}", c.cells[k]);
    out += '\n';
  }
  return out;
}

/// Why a run ended, in words.
std::string_view reason_of(Status status) {
  switch (status) {
    case Status::steps_done:
      return "all steps were made";
    case Status::certified:
      return "the algorithm's own test passed";
    case Status::budget:
      return "the budget was too small to go on";
    case Status::data:
      return "no fresh records were left";
    case Status::cap:
      return "the cap on refreshes was reached";
    case Status::not_finite:
      break;
  }
  return "an iterate was not finite";
}

std::string title(const RunDescription& d) {
  std::string out = fmt::format("{} on {}, n = {}", d.algorithm, d.problem, d.records);
  if (d.dimension) out += fmt::format(", d = {}", *d.dimension);
  return out + fmt::format(", seed {}\n\n", d.seed);
}

std::string run_text(const AlgorithmResult& r) {
  std::string text = fmt::format("{} step{}; ended because {}", r.steps, r.steps == 1 ? "" : "s",
                                 reason_of(r.status));
  std::string_view comma = "; ";
  for (const auto& [name, count] : r.counts)
    text += fmt::format("{}{} {}", std::exchange(comma, ", "),
                        count_text(static_cast<double>(count)), name);
  return paragraph("run", text);
}

std::string used_text(const RunResult& r, const RunDescription& d) {
  const Used used = used_by(d.algorithm, r);
  return paragraph("used",
                   fmt::format("clip {}; step size {}; output: {}", to_text({&used.clips, 1}),
                               to_text({&used.step_sizes, 1}), used.output));
}

std::string utility_text(const ScheduleResult& s) {
  return paragraph("utility",
                   fmt::format("{}; {}{}", to_string(s.utility),
                               s.alpha > 0 ? fmt::format("promised alpha {}", number(s.alpha))
                                           : "no alpha promised",
                               s.note.empty() ? "" : "; " + s.note));
}

/// "Gaussian noise, 28.7 times the sensitivity", "epsilon 0.156".
std::string event_text(const LedgerRow& e) {
  if (e.event.empty()) return "no finite cost";
  const bool noisy = e.event_parameters.contains("sensitivity_ratio");
  std::string text = noisy ? "Gaussian noise" : e.event;
  std::string_view comma = ", ";
  for (const auto& [name, value] : e.event_parameters)
    text += name == "sensitivity_ratio"
                ? fmt::format("{}{} times the sensitivity", comma, number(value))
                : fmt::format("{}{} {}", comma, name, number(value));
  return text;
}

std::string ledger_text(const LedgerSummary& ledger) {
  std::size_t queries = 0, names = 0, batches = 0;
  for (const LedgerRow& e : ledger.rows) {
    queries = std::max(queries, fmt::format("{}", e.count).size());
    names = std::max(names, e.query.size());
    batches = std::max(batches, e.batch.size());
  }
  std::string out;
  std::string_view head = "ledger";
  for (const LedgerRow& e : ledger.rows)
    out +=
        fmt::format("{:<{}}{:>{}} x {:<{}}  batch {:<{}}  {}\n", std::exchange(head, ""),
                    label_width, e.count, queries, e.query, names, e.batch, batches, event_text(e));
  if (ledger.further > 0)
    out += fmt::format("{:<{}}and {} further kinds\n", head, label_width, ledger.further);
  return out;
}

std::string privacy_text(const PrivacyResult& p) {
  std::string out = paragraph(
      "privacy",
      fmt::format("{}: {}epsilon {} at delta {}, replace_one: data sets that differ in one record",
                  to_string(p.label),
                  p.label == PrivacyLabel::simulated ? "sums without records. On records: " : "",
                  number(p.guarantee), number(p.delta)));
  out += paragraph("", fmt::format("spent: epsilon {} ({}) in {} quer{}", number(p.spent),
                                   p.spent_accountant, p.queries, p.queries == 1 ? "y" : "ies"));
  if (p.nominal)
    out += paragraph(
        "",
        fmt::format(
            "nominal epsilon {} {}{}", number(*p.nominal),
            std::isfinite(p.guarantee)
                ? "if what nothing enforces holds: that a network's own sums clip each "
                  "record, that a sampler has converged"
                : "while no gradient and no Hessian exceeds its bound",
            p.class_relative
                ? fmt::format("; epsilon {} at delta {} for data sets of the stated class",
                              number(p.class_relative->epsilon), number(p.class_relative->delta))
                : ""));
  return out + ledger_text(p.ledger);
}

/// What a caller who set the steps must know of a run with fewer; else empty.
std::string early_end_text(const AlgorithmResult& run, const RunDescription& d) {
  const auto steps = d.settings.find("steps");
  if (run.status != Status::budget || steps == d.settings.end()) return {};
  return paragraph("warning",
                   fmt::format("the budget ended the run after {} of {} steps, for which its noise "
                               "was not planned; --noise calibrated fits the noise to them",
                               run.steps, steps->second));
}

/// What is worth trying after such a run.
std::string next_step(const RunResult& r, const RunDescription& d, bool is_own_data) {
  // Lower may be all that was sought: the start of a problem for excess risk can be stationary.
  const auto better = [](const Certificate& a, const Certificate& b) {
    const bool flatter = a.sosp_level && b.sosp_level ? *a.sosp_level < *b.sosp_level
                                                      : a.gradient_norm < b.gradient_norm;
    return flatter || a.value < b.value;
  };
  if (r.algorithm.status == Status::budget) {
    if (d.settings.contains("steps"))
      return "the budget ended the run early; --noise calibrated fits the noise to these steps, "
             "and without --set steps the schedule plans as many as it pays for";
    return "the budget ended the run early; a larger --epsilon or more --records pay for more "
           "steps";
  }
  if (!better(r.output, r.start) && is_own_data)
    return "the output is no better than the start; noise weighs less with a larger --epsilon, "
           "with the ranges of the columns, and with other --set steps; --noise calibrated fits "
           "the noise to them";
  if (!better(r.output, r.start))
    return fmt::format(
        "the output is no better than the start; noise weighs less with more records (--records "
        "{}) or a larger --epsilon",
        10 * d.records);
  if (!r.best)
    return "--observations 50 shows the best iterate; `dpsosp help sweep` is for many runs: rates "
           "in n, d and epsilon";
  return "--json --trace prints every observed iterate; `dpsosp help sweep` is for many runs: "
         "rates in n, d and epsilon";
}

}  // namespace

std::string paragraph(std::string_view label, const std::string& text) {
  return fmt::format("{:<{}}{}\n", label, label_width, wrapped(text, label_width, 100));
}

std::string text_of(const RunResult& r, const RunDescription& d,
                    const std::optional<OwnData>& own) {
  std::vector<Column> columns{column_of("start", r.start), column_of("output", r.output)};
  if (r.best) columns.push_back(column_of("best iterate", *r.best));
  std::string out = title(d) + table(columns);
  if (r.best)
    out += fmt::format("(best iterate: t = {}, by sosp_level; not released)\n", r.best->t);
  if (!r.output.in_region)
    out += "The output is outside the region where the constants are stated.\n";
  out += '\n' + (own ? own->published_text() : "") + run_text(r.algorithm) +
         early_end_text(r.algorithm, d) + used_text(r, d) + utility_text(r.schedule) +
         privacy_text(r.privacy);
  const EvaluationLog& log = r.evaluation_log;
  out += paragraph(
      "not private",
      fmt::format("{} of {:.6g} contributions clipped; the certificates are also computed from the "
                  "{} without noise",
                  log.clipped, log.contributions,
                  r.privacy.label == PrivacyLabel::simulated ? "sums" : "records"));
  if (const double share = clipped_share(r).value_or(0); share > most_clipped)
    out += paragraph("warning",
                     fmt::format("{:.3g} % of the contributions are clipped: the clip decides as "
                                 "much as the method",
                                 100 * share));
  const double longest = log.largest_norm_over_limit;
  if (longest > 0 && longest < least_reached)
    out += paragraph("warning",
                     fmt::format("no contribution is longer than {:.2g} % of its clip, by which the "
                                 "noise goes: a smaller clip needs less noise",
                                 100 * longest));
  if (log.unclipped)
    out +=
        paragraph("", fmt::format("{} gradients above the nominal bound, the longest {} times it",
                                  log.unclipped->violations,
                                  number(log.unclipped->largest_norm_over_nominal)));
  if (own) out += own->seen_text();
  return out + '\n' + paragraph("next", next_step(r, d, own.has_value()));
}

std::string text_of(const Release& r, const RunDescription& d, const std::optional<OwnData>& own) {
  const std::string point = r.point.size() > 8
                                ? fmt::format("{} numbers, with --json", r.point.size())
                                : nlohmann::json(r.point).dump();
  return title(d) + paragraph("output", point) + (own ? own->published_text() : "") +
         run_text(r.algorithm) + early_end_text(r.algorithm, d) + utility_text(r.schedule) +
         privacy_text(r.privacy) + paragraph("noise", r.privacy.noise);
}

std::string text_of(const Certificate& c, const std::optional<OwnData>& own) {
  std::string out = table({column_of("", c)});
  out.erase(0, out.find('\n') + 1);  // the empty head
  if (!c.in_region) out += "The point is outside the region where the constants are stated.\n";
  if (own) out += '\n' + own->published_text() + own->seen_text();
  return out;
}

}  // namespace dpsosp
