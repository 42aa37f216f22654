// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/run_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "dpsosp/experiments/json_members.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/known_data.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr const char* no_finite_cost = "no finite cost";
constexpr const char* pure_account = "pure";

double number(const json& j, const char* key) { return from_json_number(j.at(key)); }

std::optional<double> optional_number(const json& j, const char* key) {
  if (!j.contains(key) || j[key].is_null()) return {};
  return number(j, key);
}

json optional_json(const std::optional<double>& value) {
  return value ? to_json_number(*value) : json(nullptr);
}

/// A number as the text of a run's key has it: integers in full.
json key_number(double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p63)
    return static_cast<std::int64_t>(value);
  return to_json_number(value);
}

template <class Enum>
Enum word(const json& j, const char* key) {
  return from_word<Enum>(j.at(key).get<std::string>());
}

/// convert(the fields of the problem); those of one that this program does not have are none.
std::map<std::string, std::string> with_fields(
    const std::string& problem,
    const std::function<std::map<std::string, std::string>(const Fields&)>& convert) {
  const auto& all = problem_registry();
  const auto entry = std::ranges::find(all, problem, &ProblemEntry::name);
  if (entry == all.end()) return convert({});
  const auto family = entry->create();
  return convert(family->fields());
}

/// The settings as they are stored. Jobs of a sweep differ in their seeds, so the last ones are
/// kept.
const std::map<std::string, std::string>& stored_problem_settings(const RunDescription& d) {
  thread_local std::string problem;
  thread_local std::map<std::string, std::string> settings, stored;
  if (problem != d.problem || settings != d.problem_settings) {
    stored = with_fields(d.problem,
                         [&](const Fields& f) { return stored_settings(f, d.problem_settings); });
    problem = d.problem;
    settings = d.problem_settings;
  }
  return stored;
}

json interval_json(const std::pair<double, double>& interval) {
  return {to_json_number(interval.first), to_json_number(interval.second)};
}

std::pair<double, double> interval(const json& j) {
  return {from_json_number(j.at(0)), from_json_number(j.at(1))};
}

json to_json(const LedgerRow& row) {
  json event = no_finite_cost;
  if (!row.event.empty()) {
    event = {{"kind", row.event}};
    for (const auto& [name, value] : row.event_parameters) event[name] = to_json_number(value);
  }
  json j{{"scope", row.scope},
         {"query", row.query},
         {"batch", row.batch},
         {"count", row.count},
         {"records", {row.records_begin, row.records_end}},
         {"event", std::move(event)},
         {"sensitivity", interval_json(row.sensitivity)},
         {"deviation", interval_json(row.deviation)}};
  if (row.batch_sizes.second > 0) j["batch_sizes"] = row.batch_sizes;
  if (row.pure) j["account"] = pure_account;
  if (row.delta_extra > 0) j["delta_extra"] = row.delta_extra;
  return j;
}

LedgerRow ledger_row(const json& j) {
  LedgerRow row{.scope = j.at("scope"),
                .query = j.at("query"),
                .batch = j.at("batch"),
                .count = j.at("count"),
                .event = {},
                .event_parameters = {},
                .records_begin = j.at("records").at(0),
                .records_end = j.at("records").at(1),
                .sensitivity = interval(j.at("sensitivity")),
                .deviation = interval(j.at("deviation")),
                .pure = j.value("account", "") == pure_account,
                .delta_extra = j.value("delta_extra", 0.0)};
  if (j.contains("batch_sizes")) j["batch_sizes"].get_to(row.batch_sizes);
  if (const json& event = j.at("event"); event != no_finite_cost) {
    row.event = event.at("kind");
    for (const auto& [name, value] : event.items())
      if (name != "kind") row.event_parameters[name] = from_json_number(value);
  }
  return row;
}

json to_json(const FilterResult& f) {
  json j{{"calibrator", to_string(f.calibrator)}, {"capacity", f.capacity}};
  if (f.order) j["order"] = *f.order;
  if (f.pure_capacity > 0) j["pure_capacity"] = f.pure_capacity;
  if (f.delta_extra > 0) j["delta_extra"] = f.delta_extra;
  return j;
}

FilterResult filter_result(const json& j) {
  return {.calibrator = word<Calibrator>(j, "calibrator"),
          .capacity = number(j, "capacity"),
          .order = optional_number(j, "order"),
          .pure_capacity = j.value("pure_capacity", 0.0),
          .delta_extra = j.value("delta_extra", 0.0)};
}

json to_json(const PrivacyResult& p) {
  json j{{"label", to_string(p.label)},
         {"adjacency", "replace_one"},
         {"guarantee", key_number(p.guarantee)},
         {"delta", p.delta},
         {"spent", to_json_number(p.spent)},
         {"spent_accountant", p.spent_accountant},
         {"queries", p.queries},
         {"ledger", p.ledger}};
  if (p.filter) j["filter"] = to_json(*p.filter);
  if (p.nominal) j["nominal"] = to_json_number(*p.nominal);
  if (p.class_relative)
    j["class_relative"] = {{"epsilon", key_number(p.class_relative->epsilon)},
                           {"delta", p.class_relative->delta},
                           {"bound_failure", p.class_relative->bound_failure}};
  if (!p.noise.empty()) j["noise"] = p.noise;
  return j;
}

PrivacyResult privacy_result(const json& j) {
  PrivacyResult p{.label = word<PrivacyLabel>(j, "label"),
                  .guarantee = number(j, "guarantee"),
                  .delta = number(j, "delta"),
                  .spent = number(j, "spent"),
                  .spent_accountant = j.at("spent_accountant"),
                  .queries = j.at("queries"),
                  .ledger = j.at("ledger"),
                  .filter = {},
                  .nominal = optional_number(j, "nominal"),
                  .class_relative = {},
                  .noise = j.value("noise", "")};
  if (j.contains("filter")) p.filter = filter_result(j["filter"]);
  if (j.contains("class_relative")) {
    const json& c = j["class_relative"];
    p.class_relative = {.epsilon = number(c, "epsilon"),
                        .delta = number(c, "delta"),
                        .bound_failure = number(c, "bound_failure")};
  }
  return p;
}

json to_json(const EvaluationLog& log) {
  json j{{"private", false},
         {"contributions", log.contributions},
         {"clipped", log.clipped},
         {"largest_norm_over_limit", to_json_number(log.largest_norm_over_limit)}};
  if (log.estimate_error) j["estimate_error"] = write_json(*log.estimate_error);
  if (log.estimates_out_of_range) j["estimates_out_of_range"] = *log.estimates_out_of_range;
  if (log.unclipped) {
    j["violations"] = log.unclipped->violations;
    j["largest_norm_over_nominal"] = to_json_number(log.unclipped->largest_norm_over_nominal);
    j["first_violation"] = log.unclipped->first_violation;
    j["unseen"] = log.unclipped->unseen;
  }
  return j;
}

EvaluationLog evaluation_log(const json& j) {
  EvaluationLog log{.contributions = number(j, "contributions"),
                    .clipped = j.at("clipped"),
                    .largest_norm_over_limit = number(j, "largest_norm_over_limit"),
                    .estimate_error = {},
                    .estimates_out_of_range = optional_number(j, "estimates_out_of_range"),
                    .unclipped = {}};
  if (j.contains("estimate_error"))
    log.estimate_error = read_json<EstimateErrors>(j["estimate_error"], {"estimate errors"});
  if (j.contains("violations"))
    log.unclipped = {.violations = j["violations"],
                     .largest_norm_over_nominal = number(j, "largest_norm_over_nominal"),
                     .first_violation = j.at("first_violation"),
                     .unseen = number(j, "unseen")};
  return log;
}

}  // namespace

void to_json(json& j, const RunDescription& d) {
  j = {{"algorithm", d.algorithm},
       {"problem", d.problem},
       {"settings", d.settings},
       {"problem_settings", stored_problem_settings(d)},
       {"records", d.records},
       {"epsilon", d.epsilon},
       {"delta", d.delta},
       {"calibrator", word_of(d.calibrator)},
       {"variant", word_of(d.variant)},
       {"schedule", word_of(d.schedule)},
       {"noise", word_of(d.noise)},
       {"noise_queries", d.noise_queries},
       {"door", word_of(d.door)},
       {"seed", d.seed},
       {"data_seed", d.data_seed},
       {"observations", d.observations},
       {"numbers_version",
        {{"algorithm", d.algorithm_numbers_version},
         {"library", d.library_numbers_version},
         {"problem", d.problem_numbers_version}}}};
  if (d.dimension) j["dimension"] = *d.dimension;
  if (!d.program.empty()) j["program"] = d.program;
  if (!d.data.empty()) {
    j["data"] = d.data;
    j["problem_settings"].erase(own_data_setting);  // wherever the file lies
  }
  if (d.secret != 0) j["secret"] = d.secret;
}

void from_json(const json& j, RunDescription& d) {
  d = RunDescription();
  d.algorithm = j.at("algorithm");
  d.problem = j.at("problem");
  d.settings = j.at("settings");
  d.problem_settings = with_fields(
      d.problem, [&](const Fields& f) { return settings_of_stored(f, j.at("problem_settings")); });
  d.records = j.at("records");
  if (j.contains("dimension")) d.dimension = j["dimension"].get<Index>();
  d.epsilon = j.at("epsilon");
  d.delta = j.at("delta");
  d.calibrator = word<Calibrator>(j, "calibrator");
  d.variant = word<Variant>(j, "variant");
  d.noise = word<NoiseRule>(j, "noise");
  d.schedule = word<Schedule>(j, "schedule");
  d.noise_queries = j.at("noise_queries");
  d.door = word<Door>(j, "door");
  d.seed = j.at("seed");
  d.data_seed = j.at("data_seed");
  d.observations = j.at("observations");
  if (j.contains("program")) j["program"].get_to(d.program);
  d.data = j.value("data", "");
  if (const auto file = known_data(d.data); !file.empty())
    d.problem_settings[own_data_setting] = file.string();
  d.secret = j.value("secret", std::uint64_t{0});
  d.algorithm_numbers_version = j.at("numbers_version").at("algorithm");
  d.library_numbers_version = j.at("numbers_version").value("library", 1);
  d.problem_numbers_version = j.at("numbers_version").at("problem");
}

void to_json(json& j, const LedgerSummary& ledger) {
  j = {{"entries", json::array()}};
  for (const LedgerRow& row : ledger.rows) j["entries"].push_back(to_json(row));
  if (ledger.further > 0) j["further_entries"] = ledger.further;
}

void from_json(const json& j, LedgerSummary& ledger) {
  ledger = LedgerSummary();
  for (const json& row : j.at("entries")) ledger.rows.push_back(ledger_row(row));
  ledger.further = j.value("further_entries", std::size_t{0});
}

void to_json(json& j, const Certificate& c) {
  j = {{"private", false},
       {"value", to_json_number(c.value)},
       {"gradient_norm", to_json_number(c.gradient_norm)},
       {"lambda_min", to_json_number(c.lambda_min)},
       {"residual", to_json_number(c.residual)},
       {"lambda_min_lower", to_json_number(c.lambda_min_lower)},
       {"failure_probability", c.failure_probability},
       {"method", word_of(c.method)},
       {"products", c.products},
       {"in_region", c.in_region}};
  if (c.sosp_level) j["sosp_level"] = to_json_number(*c.sosp_level);
  if (c.sosp_level_upper) j["sosp_level_upper"] = to_json_number(*c.sosp_level_upper);
}

void from_json(const json& j, Certificate& c) {
  c = Certificate();
  c.value = number(j, "value");
  c.gradient_norm = number(j, "gradient_norm");
  c.lambda_min = number(j, "lambda_min");
  c.residual = number(j, "residual");
  c.lambda_min_lower = number(j, "lambda_min_lower");
  c.failure_probability = number(j, "failure_probability");
  c.method = word<CurvatureMethod>(j, "method");
  c.products = j.at("products");
  c.in_region = j.at("in_region");
  c.sosp_level = optional_number(j, "sosp_level");
  c.sosp_level_upper = optional_number(j, "sosp_level_upper");
}

void to_json(json& j, const TraceRow& row) {
  j = {row.t, to_json_number(row.value), to_json_number(row.gradient_norm),
       to_json_number(row.lambda_min), to_json_number(row.sosp_level)};
}

void from_json(const json& j, TraceRow& row) {
  row = {.t = j.at(0),
         .value = from_json_number(j.at(1)),
         .gradient_norm = from_json_number(j.at(2)),
         .lambda_min = from_json_number(j.at(3)),
         .sosp_level = from_json_number(j.at(4))};
}

void to_json(json& j, const RunResult& r) {
  j = {{"algorithm", write_json(r.algorithm)},
       {"schedule", write_json(r.schedule)},
       {"privacy", to_json(r.privacy)},
       {"start", r.start},
       {"origin", r.origin},
       {"output", r.output},
       {"minimum", optional_json(r.minimum)},
       {"evaluation_log", to_json(r.evaluation_log)}};
  if (r.population) j["population"] = write_json(*r.population);
  if (r.point) j["point"] = *r.point;
  if (r.trace) j["trace"] = *r.trace;
  if (r.best) j["best"] = *r.best;
}

void from_json(const json& j, RunResult& r) {
  r = RunResult();
  r.algorithm = read_json<AlgorithmResult>(j.at("algorithm"), {"algorithm of a run"});
  r.schedule = read_json<ScheduleResult>(j.at("schedule"), {"schedule of a run"});
  r.privacy = privacy_result(j.at("privacy"));
  r.start = j.at("start");
  r.origin = j.at("origin");
  r.output = j.at("output");
  r.minimum = optional_number(j, "minimum");
  r.evaluation_log = evaluation_log(j.at("evaluation_log"));
  if (j.contains("population"))
    r.population = read_json<PopulationResult>(j["population"], {"population of a run"});
  if (j.contains("point")) r.point = j["point"].get<std::vector<double>>();
  if (j.contains("trace")) r.trace = j["trace"].get<std::vector<TraceRow>>();
  if (j.contains("best")) r.best = j["best"].get<TraceRow>();
}

void to_json(json& j, const Release& release) {
  j = {{"algorithm", write_json(release.algorithm)},
       {"schedule", write_json(release.schedule)},
       {"privacy", to_json(release.privacy)},
       {"point", release.point}};
}

}  // namespace dpsosp
