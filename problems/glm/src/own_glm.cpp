// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/own_glm.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/core/text_file.hpp"
#include "dpsosp/trusted/encode.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

/// The table that was read last, since every run of a sweep reads the same.
std::shared_ptr<const NumberTable> cached_table(const fs::path& file) {
  struct Cached {
    fs::path file;
    fs::file_time_type written;
    std::uintmax_t size = 0;
    std::shared_ptr<const NumberTable> table;
  };
  static std::mutex mutex;
  static Cached last;
  hide_from_guests(file);
  std::error_code error;
  const auto written = fs::last_write_time(file, error);
  const std::uintmax_t size = fs::file_size(file, error);
  const std::lock_guard lock(mutex);
  if (!last.table || last.file != file || last.written != written || last.size != size)
    last = {file, written, size, std::make_shared<const NumberTable>(read_table(file))};
  return last.table;
}

double number_of(std::string_view text, std::string_view whole) {
  double value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || stop != text.data() + text.size() || !std::isfinite(value))
    reject("own-glm", "ranges", std::string(whole), "NAME=LEAST:MOST,... with numbers");
  return value;
}

/// What a row of the table becomes.
struct OwnEncoder {
  struct Facts {
    std::vector<Index> columns;
    std::map<Index, ColumnRange> ranges;
    double longest;
    OwnGlm::Labels labels;
    RecordEnding ending;
  };
  static Index width(const Facts& facts) {
    return std::ssize(facts.columns) + (facts.ending.bias ? 1 : 0);
  }
  static double encode(const Facts& facts, ConstVectorRef cells, double label, VectorRef column) {
    shorten(facts, cells, column.head(std::ssize(facts.columns)));
    return facts.ending.finish(column, label_of(facts.labels, label));
  }
  /// 0 or 1 for signs.
  static double label_of(OwnGlm::Labels labels, double entry) {
    return labels == OwnGlm::Labels::signs ? (entry + 1) / 2 : entry;
  }
  /// x of a record, with ‖x‖ ≤ 1. \return ‖x‖/longest before it was shortened
  static double shorten(const Facts& facts, ConstVectorRef cells, VectorRef x) {
    for (Index j = 0; j < x.size(); ++j) x[j] = cells[facts.columns[static_cast<std::size_t>(j)]];
    for (const auto& [place, range] : facts.ranges) {
      double& value = x[place];
      value = std::clamp(value, range.least, range.most);
      value = 2 * ((value - range.least) / (range.most - range.least)) - 1;
    }
    const double length = (x / facts.longest).norm();
    if (std::isfinite(length)) {
      x /= facts.longest;
      if (length > 1) x /= length;
      return length;
    }
    // Squares overflow: the direction is that of the vector whose largest entry is 1.
    const double largest = x.cwiseAbs().maxCoeff();
    x /= largest;
    const double rest = x.norm();
    x /= rest;
    return largest / facts.longest * rest;
  }
};

/// Probability that a record with y = 1 has the larger score than one with y = 0, a tie for half.
std::optional<double> area_under_curve(const Vector& scores, const Vector& labels) {
  std::vector<Index> order(static_cast<std::size_t>(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, {}, [&](Index k) { return scores[k]; });
  const double ones = labels.sum(), zeros = static_cast<double>(labels.size()) - ones;
  if (ones == 0 || zeros == 0) return {};
  double below = 0, won = 0;
  for (auto first = order.begin(); first != order.end();) {
    const auto last =
        std::find_if(first, order.end(), [&](Index k) { return scores[k] != scores[*first]; });
    double tied = 0;
    for (auto at = first; at != last; ++at) tied += labels[*at];
    const double tied_zeros = static_cast<double>(last - first) - tied;
    won += tied * (below + tied_zeros / 2);
    below += tied_zeros;
    first = last;
  }
  return won / (ones * zeros);
}

}  // namespace

std::string_view OwnGlm::summary() const {
  return "phi(<w,x>; y) on a table of your own, CSV or NPY (docs/own-data.md)";
}

ProblemNotes OwnGlm::notes() const {
  return {
      .group = "Real data",
      .formula =
          "f(w; x, y) = φ(⟨w, x⟩; y) + λ Σ_j r(w_j), φ the loss of `loss`, r the `penalty`. x: all "
          "columns "
          "of the file `data` but the label's and those of `without`; those of `ranges` are cut to "
          "[least, most] and "
          "mapped to [−1, 1]. All are divided by `longest`, and a record that is longer then is "
          "shortened to length 1, record by record. With `bias`, (x, 1)/√2. y: the column "
          "`label`, in [0, 1] for the losses `sigmoid_square` and `logistic`; −1 and 1 become 0 "
          "and 1 with `labels` = signs. n and d are the file's, and public; a smaller n takes as "
          "many rows.",
      .source = "the caller's file; its SHA-256 is in the description of every run",
      .critical_points = "Nothing is known beyond the constants."};
}

Fields OwnGlm::data_fields() {
  return {
      field("data", data,
            "path of a CSV file whose first row names its columns, or of an NPY file"),
      field("label", label, "column of y; none: the last (of NPY files by number, from 1)"),
      field("labels", labels, "y as written, or of -1 and 1, which become 0 and 1"),
      field("without", without,
            "columns NAME,... that are no features, as one that numbers the rows; none: all are"),
      field("ranges", ranges,
            "public ranges NAME=LEAST:MOST,... of columns, which become [-1, 1]; none: as written"),
      field("longest", longest, range::at_least(1e-300),
            "public bound of ‖x‖; of longer records the direction alone remains")};
}

std::string OwnGlm::missing() const {
  if (data.empty()) return "data is not set; name a table, as --set problem.data=FILE.csv";
  const std::string why = why_unreadable(data);
  return why.empty() ? why : fmt::format("{} {}", data, why);
}

const NumberTable& OwnGlm::table() const {
  if (!table_) {
    if (const std::string what = missing(); !what.empty())
      throw InputError(fmt::format("{}: {}", name(), what));
    auto read = cached_table(data);
    if (read->columns.size() < 2)
      throw InputError(fmt::format("{} has one column, expected features and a label", data));
    if (read->records.cols() == 0) throw InputError(fmt::format("{} has no records", data));
    table_ = std::move(read);
  }
  return *table_;
}

Index OwnGlm::default_records() const { return data.empty() ? 1000 : available(); }
Index OwnGlm::available() const {
  return data.empty() ? std::numeric_limits<Index>::max() : table().records.cols();
}
Index OwnGlm::raw_features() const { return data.empty() ? 9 : std::ssize(feature_columns()); }

Index OwnGlm::label_column() const {
  const std::vector<std::string>& columns = table().columns;
  if (label.empty()) return std::ssize(columns) - 1;
  const auto found = std::ranges::find(columns, label);
  if (found == columns.end()) reject_unknown("column of " + data, label, columns);
  return found - columns.begin();
}

const std::string& OwnGlm::label_name() const {
  return table().columns[static_cast<std::size_t>(label_column())];
}

std::vector<Index> OwnGlm::feature_columns() const {
  const std::vector<std::string>& columns = table().columns;
  std::vector<bool> left_out(columns.size(), false);
  left_out[static_cast<std::size_t>(label_column())] = true;
  for (std::string_view rest = without; !rest.empty();) {
    const std::string column(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(column.size() + 1, rest.size()));
    const auto found = std::ranges::find(columns, column);
    if (found == columns.end()) reject_unknown("column of " + data, column, columns);
    if (found - columns.begin() == label_column())
      reject(name(), "without", column, "columns of x; this one is the label");
    left_out[static_cast<std::size_t>(found - columns.begin())] = true;
  }
  std::vector<Index> of_x;
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (!left_out[k]) of_x.push_back(static_cast<Index>(k));
  if (of_x.empty()) reject(name(), "without", without, "at least one column of x left");
  return of_x;
}

std::vector<std::string> OwnGlm::feature_names() const {
  std::vector<std::string> names;
  for (const Index k : feature_columns())
    names.push_back(table().columns[static_cast<std::size_t>(k)]);
  return names;
}

std::map<Index, ColumnRange> OwnGlm::column_ranges() const {
  std::map<Index, ColumnRange> all;
  const std::vector<std::string>& columns = table().columns;
  const std::vector<Index> of_x = feature_columns();
  for (std::string_view rest = ranges; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const auto equals = item.rfind('='), colon = item.rfind(':');
    if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals)
      reject(name(), "ranges", std::string(item), "NAME=LEAST:MOST,...");
    const std::string column(item.substr(0, equals));
    const auto found = std::ranges::find(columns, column);
    if (found == columns.end()) reject_unknown("column of " + data, column, columns);
    const ColumnRange interval{number_of(item.substr(equals + 1, colon - equals - 1), item),
                               number_of(item.substr(colon + 1), item)};
    if (!std::isfinite(interval.most - interval.least))
      reject(name(), "ranges", std::string(item), "MOST - LEAST within double precision");
    if (!(interval.least < interval.most))
      reject(name(), "ranges", std::string(item), "LEAST below MOST");
    const auto place = std::ranges::lower_bound(of_x, found - columns.begin());
    if (place == of_x.end() || *place != found - columns.begin())
      reject(name(), "ranges", std::string(item),
             found - columns.begin() == label_column() ? "columns of x; this one is the label"
                                                       : "columns of x; this one is left out");
    if (!all.emplace(place - of_x.begin(), interval).second)
      reject(name(), "ranges", std::string(item), "each column once");
  }
  return all;
}

void OwnGlm::check_labels() const {
  const Index y = label_column();
  const auto all = table().records.row(y);
  for (Index i = 0; i < all.size(); ++i) {
    const double value = all[i];
    if (labels == Labels::signs ? std::abs(value) != 1
                                : loss.classifies() && !(value >= 0 && value <= 1))
      throw CellRefused(
          table().place(y, i), fmt::format("label {:g}", value),
          labels == Labels::signs
              ? "-1 or 1 for labels = signs"
              : fmt::format("one in [0, 1] for loss = {} (labels = signs takes -1 and 1)",
                            loss.text));
  }
}

GlmData OwnGlm::load(const std::vector<Index>& rows, const RecordEnding& ending) const {
  check_labels();
  const Matrix& all = table().records;
  return encoded<OwnEncoder>({feature_columns(), column_ranges(), longest, labels, ending}, all,
                             all.row(label_column()), rows);
}

OwnGlm::Score OwnGlm::score_of(ConstVectorRef w) const {
  const double unit = bias ? 1 / std::sqrt(2.0) : 1.0;
  Score score{.weights = {}, .constant = bias ? unit * w[w.size() - 1] : 0.0};
  for (Index j = 0; j < raw_features(); ++j) score.weights.push_back(unit * w[j] / longest);
  for (const auto& [place, interval] : column_ranges()) {
    double& weight = score.weights[static_cast<std::size_t>(place)];
    const double width = interval.most - interval.least;
    score.constant -= weight * (2 * (interval.least / width) + 1);
    weight *= 2 / width;
  }
  return score;
}

OwnGlm::Shortened OwnGlm::shortened(const InstanceSpec& spec) const {
  const OwnEncoder::Facts facts{feature_columns(), column_ranges(), longest, labels, {}};
  const Index label_row = label_column();
  Shortened s{.records = spec.records};
  Vector x(raw_features());
  std::vector<double> lengths;
  for (const Index row : rows_of(spec)) {
    if (const double length = OwnEncoder::shorten(facts, table().records.col(row), x); length > 1)
      lengths.push_back(length);
    const double y = OwnEncoder::label_of(labels, table().records(label_row, row));
    if (loss.is_formula() && !(y >= loss.label_least && y <= loss.label_most)) ++s.labels_cut;
  }
  if (lengths.empty()) return s;
  s.shortened = std::ssize(lengths);
  const auto middle = lengths.begin() + s.shortened / 2;
  std::ranges::nth_element(lengths, middle);
  s.median = *middle;
  s.largest = *std::ranges::max_element(lengths);
  return s;
}

std::optional<OwnGlm::Judgement> OwnGlm::judge(const InstanceSpec& spec, ConstVectorRef w,
                                               Of of) const {
  std::vector<Index> rows = rows_of(spec);
  if (of == Of::others) {
    std::vector<Index> others;
    std::ranges::sort(rows);
    for (Index row = 0; row < available(); ++row)
      if (!std::ranges::binary_search(rows, row)) others.push_back(row);
    rows = std::move(others);
  }
  const GlmData judged = load(rows, {});
  const auto n = static_cast<double>(rows.size());
  const bool zeros_and_ones = (judged.labels.array() == 0 || judged.labels.array() == 1).all();
  if (rows.empty() || !loss.classifies() || !zeros_and_ones) return {};
  Vector scores = judged.features.transpose() * w.head(raw_features());
  if (bias) scores.array() += w[w.size() - 1];
  const double ones = judged.labels.sum();
  const auto right = ((scores.array() > 0) == (judged.labels.array() == 1)).count();
  return Judgement{.records = std::ssize(rows),
                   .accuracy = static_cast<double>(right) / n,
                   .majority = std::max(ones, n - ones) / n,
                   .auc = area_under_curve(scores, judged.labels)};
}

std::vector<std::string> OwnGlm::constant_columns() const {
  std::vector<std::string> names;
  const Matrix& all = table().records;
  for (Index j = 0; j < all.rows(); ++j)
    if (all.row(j).minCoeff() == all.row(j).maxCoeff())
      names.push_back(table().columns[static_cast<std::size_t>(j)]);
  return names;
}

}  // namespace dpsosp
