// SPDX-License-Identifier: Apache-2.0
#include "curves.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::avdiukhin_2024_figures {
namespace {

/// The members of a run that are the same in each of its rows. `run` is a CurveRun, const or not.
template <class Run, class Visit>
void each_member_of_run(Run& run, Visit&& visit) {
  visit("figure", run.figure);
  visit("variant", run.variant);
  visit("seed", run.seed);
  visit("failure", run.failure);
  for_each_member(run.training, visit);
  for_each_member(run.result.summary, visit);
}

// Cells as text: an empty one is none; a number that is not finite is nan, inf or -inf.

std::string column_text(const std::string& value) { return csv_field(value); }
std::string column_text(bool value) { return value ? "true" : "false"; }
std::string column_text(double value) { return fmt::format("{}", value); }
std::string column_text(const std::optional<double>& value) {
  return value ? column_text(*value) : "";
}
template <class Integer>
std::string column_text(const Integer& value) {
  return fmt::format("{}", value);
}

/// Reads fields of a row one after the other.
class RowReader {
 public:
  RowReader(std::string_view where, const CsvRow& row) : where_(where), row_(row) {}

  void operator()(std::string_view, std::string& value) { value = next(); }
  void operator()(std::string_view name, bool& value) {
    const std::string& text = next();
    if (text != "true" && text != "false") refuse(name, text, "true or false");
    value = text == "true";
  }
  void operator()(std::string_view name, std::optional<double>& value) {
    value.reset();
    if (row_.fields[place_].empty())
      next();
    else
      (*this)(name, value.emplace());
  }
  template <class Number>
  void operator()(std::string_view name, Number& value) {
    const std::string& text = next();
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    if (status != std::errc{} || stop != end) refuse(name, text, "a number");
  }

  bool rest_is_empty() const {
    return std::all_of(row_.fields.begin() + static_cast<std::ptrdiff_t>(place_), row_.fields.end(),
                       [](const std::string& field) { return field.empty(); });
  }

 private:
  const std::string& next() { return row_.fields[place_++]; }
  [[noreturn]] void refuse(std::string_view name, const std::string& text,
                           const char* expected) const {
    reject(fmt::format("{}, line {}", where_, row_.line), name, "'" + text + "'", expected);
  }

  std::string_view where_;
  const CsvRow& row_;
  std::size_t place_ = 0;
};

/// The rows of a table below its header. \throws InputError if its header is another
std::vector<CsvRow> rows_below(std::string_view where, std::string_view csv,
                               const std::vector<std::string>& header) {
  std::vector<CsvRow> rows = read_csv_text(where, csv);
  if (rows.empty()) return rows;
  if (rows.front().fields != header)
    reject(fmt::format("{}, line 1", where), "columns", std::string(rows.front().text),
           fmt::format("{}", fmt::join(header, ",")));
  rows.erase(rows.begin());
  for (const CsvRow& row : rows)
    if (row.fields.size() != header.size())
      reject(fmt::format("{}, line {}", where, row.line), "fields",
             std::to_string(row.fields.size()),
             fmt::format("{}, as the header has", header.size()));
  return rows;
}

std::vector<std::string> curve_columns() {
  std::vector<std::string> names;
  const auto note = [&](std::string_view name, const auto&) { names.emplace_back(name); };
  const CurveRun run;
  each_member_of_run(run, note);
  const TrainedEpoch epoch;
  for_each_member(epoch, note);
  return names;
}

std::vector<std::string> provenance_columns() {
  std::vector<std::string> names;
  const ComputedBy origin;
  for_each_member(origin, [&](std::string_view name, const auto&) { names.emplace_back(name); });
  return names;
}

bool same_run(const CurveRun& a, const CurveRun& b) {
  return a.figure == b.figure && a.variant == b.variant && a.seed == b.seed &&
         a.training == b.training;
}

}  // namespace

std::string curves_csv(const std::vector<CurveRun>& runs) {
  std::string csv = fmt::format("{}\n", fmt::join(curve_columns(), ","));
  for (const CurveRun& run : runs) {
    std::vector<std::string> of_run;
    each_member_of_run(
        run, [&](std::string_view, const auto& value) { of_run.push_back(column_text(value)); });
    const auto add = [&](const std::vector<std::string>& of_epoch) {
      csv += fmt::format("{},{}\n", fmt::join(of_run, ","), fmt::join(of_epoch, ","));
    };
    if (!run.failure.empty()) add(std::vector<std::string>(curve_columns().size() - of_run.size()));
    for (const TrainedEpoch& epoch : run.result.epochs) {
      std::vector<std::string> of_epoch;
      for_each_member(epoch, [&](std::string_view, const auto& value) {
        of_epoch.push_back(column_text(value));
      });
      add(of_epoch);
    }
  }
  return csv;
}

std::vector<CurveRun> read_curves(std::string_view where, std::string_view csv) {
  std::vector<CurveRun> runs;
  for (const CsvRow& row : rows_below(where, csv, curve_columns())) {
    RowReader read(where, row);
    CurveRun run;
    each_member_of_run(run, read);
    if (runs.empty() || !same_run(runs.back(), run)) runs.push_back(run);
    if (run.failure.empty()) {
      for_each_member(runs.back().result.epochs.emplace_back(), read);
    } else if (!read.rest_is_empty()) {
      reject(fmt::format("{}, line {}", where, row.line), "epoch", "a number",
             "nothing, since the run failed");
    }
  }
  return runs;
}

std::string provenance_csv(const std::vector<ComputedBy>& origins) {
  std::string csv = fmt::format("{}\n", fmt::join(provenance_columns(), ","));
  for (const ComputedBy& origin : origins) {
    std::vector<std::string> fields;
    for_each_member(
        origin, [&](std::string_view, const auto& value) { fields.push_back(column_text(value)); });
    csv += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return csv;
}

std::vector<ComputedBy> read_provenance(std::string_view where, std::string_view csv) {
  std::vector<ComputedBy> origins;
  for (const CsvRow& row : rows_below(where, csv, provenance_columns()))
    for_each_member(origins.emplace_back(), RowReader(where, row));
  return origins;
}

std::vector<Curve> curves_of(const std::vector<CurveRun>& runs, std::string_view figure,
                             std::string_view variant) {
  std::vector<Curve> curves;
  for (const CurveRun& run : runs) {
    if (run.figure != figure || run.variant != variant || !run.failure.empty()) continue;
    auto curve = std::ranges::find(curves, run.training.epsilon, &Curve::epsilon);
    if (curve == curves.end()) curve = curves.insert(curve, {run.training.epsilon, {}});
    curve->runs.push_back(&run);
  }
  std::ranges::sort(curves, {}, [](const Curve& c) {
    return c.epsilon.value_or(std::numeric_limits<double>::infinity());
  });
  for (Curve& c : curves) std::ranges::sort(c.runs, {}, &CurveRun::seed);
  return curves;
}

}  // namespace dpsosp::avdiukhin_2024_figures
