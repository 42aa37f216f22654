// SPDX-License-Identifier: Apache-2.0
#include "own_data.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/problems/registry.hpp"
#include "run_text.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr std::size_t names_shown = 8;

/// The first names, and how many there are.
std::string short_list(const std::vector<std::string>& names) {
  if (names.size() <= names_shown) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, ... ({} columns)", fmt::join(std::span(names).first(names_shown), ", "),
                     names.size());
}

/// "0.12 age - 0.3 income + 0.5".
std::string score_text(const std::vector<std::string>& names, const OwnGlm::Score& score) {
  std::string text;
  const auto add = [&](double value, std::string_view name) {
    const std::string_view sign = value < 0 ? "-" : text.empty() ? "" : "+";
    text += fmt::format("{}{}{}{:.4g}{}{}", text.empty() ? "" : " ", sign, text.empty() ? "" : " ",
                        std::abs(value), name.empty() ? "" : " ", name);
  };
  for (std::size_t j = 0; j < names.size(); ++j) add(score.weights[j], names[j]);
  if (score.constant != 0) add(score.constant, "");
  return text;
}

json json_of(const OwnGlm::Judgement& j) {
  json out{{"private", false},
           {"records", j.records},
           {"accuracy", j.accuracy},
           {"majority", j.majority}};
  out["auc"] = j.auc ? json(*j.auc) : json(nullptr);
  return out;
}

std::string text_of(const OwnGlm::Judgement& j, std::string_view records) {
  return fmt::format("on the {} {}: accuracy {:.4g}, AUC {}; always the same label: {:.4g}",
                     j.records, records, j.accuracy, j.auc ? fmt::format("{:.4g}", *j.auc) : "-",
                     j.majority);
}

std::shared_ptr<const OwnGlm> own_table_of(const RunSpec& spec) {
  std::shared_ptr<ProblemFamily> family = find_problem(spec.problem);
  auto own = std::dynamic_pointer_cast<OwnGlm>(family);
  if (!own) return {};
  Fields fields = own->fields();
  for (const auto& [name, text] : spec.problem_settings)
    if (!name.starts_with("told.")) set_field(fields, spec.problem, name, text);
  return own;
}

InstanceSpec instance_of(const RunSpec& spec, const OwnGlm& table) {
  return {.records = spec.records == 0 ? table.default_records() : spec.records,
          .dimension = spec.dimension,
          .seed = spec.seed,
          .data_seed = spec.data_seed};
}

}  // namespace

OwnData::OwnData(std::shared_ptr<const OwnGlm> table, const InstanceSpec& instance,
                 std::optional<Vector> point)
    : table_(std::move(table)), instance_(instance), point_(std::move(point)) {}

json OwnData::published() const {
  json j{{"format", table_->table().format},
         {"rows", table_->table().records.cols()},
         {"x", table_->feature_names()},
         {"y", table_->label_name()},
         {"ranges", table_->ranges},
         {"longest", table_->longest},
         {"bias", table_->bias},
         {"loss", table_->loss.text}};
  if (!point_) return j;
  const OwnGlm::Score score = table_->score_of(*point_);
  j["score"] = {{"weights", score.weights}, {"constant", score.constant}};
  return j;
}

json OwnData::all() const {
  json j = published();
  const OwnGlm::Shortened s = table_->shortened(instance_);
  j["shortened"] = {{"private", false},
                    {"records", s.records},
                    {"shortened", s.shortened},
                    {"labels_cut", s.labels_cut}};
  if (s.shortened > 0) {
    j["shortened"]["median"] = to_json_number(s.median);
    j["shortened"]["largest"] = to_json_number(s.largest);
  }
  if (!point_) return j;
  if (const auto of = table_->judge(instance_, *point_, OwnGlm::Of::instance))
    j["judged"] = json_of(*of);
  if (const auto of = table_->judge(instance_, *point_, OwnGlm::Of::others))
    j["held_out"] = json_of(*of);
  return j;
}

std::string OwnData::published_text() const {
  const NumberTable& table = table_->table();
  const Index rows = table.records.cols();
  std::string taken;
  if (instance_.records < rows)
    taken = fmt::format(", {} of them here, {}", instance_.records,
                        table_->permuted ? "drawn by the data seed" : "the first");
  const std::vector<std::string> names = table_->feature_names();
  std::string text =
      paragraph("data", fmt::format("{}; {} records{}", table.format, rows, taken)) +
      paragraph("", fmt::format("x: {}; y: {}", short_list(names), table_->label_name())) +
      paragraph(
          "", fmt::format("x is divided by longest = {:g}{}; what is longer then is shortened to 1",
                          table_->longest,
                          table_->longest == OwnGlm().longest ? " (the default)" : ""));
  if (point_ && names.size() <= names_shown)
    text += paragraph("score", fmt::format("{}, of the columns as in the file",
                                           score_text(names, table_->score_of(*point_))));
  return text;
}

std::string OwnData::seen_text() const {
  const OwnGlm::Shortened s = table_->shortened(instance_);
  constexpr double many = 0.2;
  std::string text = fmt::format("{} of {} records shortened", s.shortened, s.records);
  if (s.shortened > 0)
    text += fmt::format(": their median was {:.3g} times longest, the largest {:.3g} times",
                        s.median, s.largest);
  text = paragraph("not private", text);
  if (point_) {
    const bool all = instance_.records == table_->table().records.cols();
    if (const auto of = table_->judge(instance_, *point_, OwnGlm::Of::instance))
      text += paragraph("", text_of(*of, all ? "records" : "records of the run"));
    if (const auto of = table_->judge(instance_, *point_, OwnGlm::Of::others))
      text += paragraph("", text_of(*of, "records left out"));
  }
  if (static_cast<double>(s.shortened) > many * static_cast<double>(s.records))
    text += paragraph(
        "warning",
        fmt::format("{:.3g} % of the records are shortened, of which the direction "
                    "alone remains; problem.longest and problem.ranges "
                    "(docs/own-data.md) keep more",
                    100 * static_cast<double>(s.shortened) / static_cast<double>(s.records)));
  if (s.labels_cut > 0)
    text += paragraph(
        "warning",
        fmt::format("{} of {} labels are cut to [{:g}, {:g}]; problem.label_least and "
                    "problem.label_most widen it, problem.labels = signs takes -1 and 1",
                    s.labels_cut, s.records, table_->loss.label_least, table_->loss.label_most));
  return text;
}

std::optional<OwnData> own_data_of(const RunSpec& spec,
                                   const std::optional<std::vector<double>>& point) {
  const auto table = own_table_of(spec);
  if (!table) return {};
  std::optional<Vector> x;
  if (point) x = Eigen::Map<const Vector>(point->data(), std::ssize(*point));
  return OwnData(table, instance_of(spec, *table), std::move(x));
}

std::optional<OwnData> own_data_of(const RunSpec& spec, const std::string& point) {
  const auto table = own_table_of(spec);
  if (!table) return {};
  const InstanceSpec instance = instance_of(spec, *table);
  Vector x = table->facts(instance).initial_point;
  if (point == "origin") {
    x.setZero();
  } else if (point != "initial") {
    const auto entries = json::parse(point).get<std::vector<double>>();
    x = Eigen::Map<const Vector>(entries.data(), std::ssize(entries));
  }
  return OwnData(table, instance, std::move(x));
}

std::string point_in(const std::string& text, const RunSpec& spec) {
  const json run = json::parse(text, nullptr, false);
  if (!run.is_object()) return text;
  if (!run.contains("point"))
    throw InputError("certify: the point is an object without 'point', expected the JSON of a run");
  if (const std::string of = run.value(json::json_pointer("/description/problem"), spec.problem);
      of != spec.problem)
    throw InputError(
        fmt::format("certify: the point is of a run on {}, expected --problem {}", of, of));
  const json own = run.value("own_data", json());
  if (const auto table = own_table_of(spec); table && own.is_object()) {
    const json now = OwnData(table, instance_of(spec, *table), {}).published();
    for (const char* what : {"x", "y", "ranges", "longest", "bias", "loss"})
      if (const json then = own.value(what, json()); then != now[what])
        throw InputError(fmt::format("certify: the point was found with {} = {}, here it is {}",
                                     what, then.dump(), now[what].dump()));
  }
  return run["point"].dump();
}

}  // namespace dpsosp
