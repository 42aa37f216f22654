// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/evaluator/trace.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/privacy/accounting/advanced_composition.hpp"
#include "dpsosp/privacy/release_curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "ledger_json.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr Index stored_point_limit = 4096;  // a longer output is not stored with the result

template <class Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

template <class Enum, std::size_t N>
Enum named(std::string_view kind, const Names<Enum, N>& names, const std::string& text) {
  std::vector<std::string> candidates;
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    candidates.emplace_back(name);
  }
  reject_unknown(kind, text, candidates);
}

template <class Enum, std::size_t N>
std::string_view name_in(const Names<Enum, N>& names, Enum value) {
  for (const auto& [v, name] : names)
    if (v == value) return name;
  return {};
}

constexpr Names<Calibrator, 4> calibrators{{{Calibrator::bun_steinke, "bun-steinke"},
                                            {Calibrator::cks, "cks"},
                                            {Calibrator::exact_gaussian, "exact-gaussian"},
                                            {Calibrator::rdp, "rdp"}}};
constexpr Names<Variant, 2> variants{
    {{Variant::printed, "printed"}, {Variant::repaired, "repaired"}}};
constexpr Names<Schedule, 2> schedules{
    {{Schedule::paper, "paper"}, {Schedule::practical, "practical"}}};
constexpr Names<NoiseRule, 4> noise_rules{{{NoiseRule::schedule, "schedule"},
                                           {NoiseRule::calibrated, "calibrated"},
                                           {NoiseRule::advanced, "advanced"},
                                           {NoiseRule::none, "none"}}};
constexpr Names<Door, 7> doors{{{Door::enforced, "enforced"},
                                {Door::no_noise, "no_noise"},
                                {Door::no_data, "no_data"},
                                {Door::not_private, "not_private"},
                                {Door::batch_mean_clip, "batch_mean_clip"},
                                {Door::no_clipping, "no_clipping"},
                                {Door::script, "script"}}};

/// What algorithms are told of public constants, as factors on them: a schedule that is tuned. The
/// result is judged by the true ones, and privacy rests on none of them, since records are clipped
/// at what is told.
struct Told {
  static constexpr std::string_view prefix = "told.";
  static constexpr std::array names{
      constant::lipschitz, constant::smoothness, constant::suboptimality};
  std::array<double, names.size()> factors{1.0, 1.0, 1.0};

  Fields fields() {
    Fields list;
    for (std::size_t k = 0; k < names.size(); ++k)
      list.push_back(
          field(fmt::format("{}{}", prefix, names[k]), factors[k], "factor on the constant"));
    return list;
  }
};

/// A description made whole again: the objects that a run needs.
struct Setup {
  Problem problem;
  PublicFacts told;  ///< what the algorithm sees
  std::unique_ptr<Algorithm> algorithm;
  Scheduled scheduled;
  Door door;
};

std::unique_ptr<ProblemFamily> make_family(const std::string& name,
                                           const std::map<std::string, std::string>& settings) {
  auto family = find_problem(name);
  Fields fields = family->fields();
  for (const auto& [key, text] : settings)
    if (!key.starts_with(Told::prefix)) set_field(fields, name, key, text);
  return family;
}

Told told_of(const std::string& problem, const std::map<std::string, std::string>& settings) {
  Told told;
  Fields fields = told.fields();
  for (const auto& [key, text] : settings)
    if (key.starts_with(Told::prefix)) set_field(fields, problem, key, text);
  for (std::size_t k = 0; k < Told::names.size(); ++k)
    if (!(told.factors[k] > 0 && std::isfinite(told.factors[k])))
      reject(problem, fields[k].name, told.factors[k], "finite and > 0");
  return told;
}

/// \throws MissingConstant
PublicFacts facts_told(PublicFacts facts, const Told& told) {
  for (std::size_t k = 0; k < Told::names.size(); ++k) {
    if (told.factors[k] == 1.0) continue;
    Constant c = facts.constants.at(Told::names[k]);
    c.value *= told.factors[k];
    c.origin = Origin::estimated;
    facts.constants.set(Told::names[k], std::move(c));
  }
  return facts;
}

/// The settings that differ from the family's defaults: a setting that a family gains later does
/// not change the description, and so the random numbers, of the runs that leave it alone.
std::map<std::string, std::string> changed_settings(ProblemFamily& family, Told told) {
  auto changed = values_of(family.fields());
  changed.merge(values_of(told.fields()));
  auto standard = values_of(find_problem(family.name())->fields());
  standard.merge(values_of(Told{}.fields()));
  for (const auto& [name, text] : standard)
    if (changed.at(name) == text) changed.erase(name);
  return changed;
}

void apply_settings(Algorithm& algorithm, const std::map<std::string, std::string>& settings) {
  Fields fields = algorithm.fields();
  for (const auto& [key, text] : settings) set_field(fields, algorithm.card().key, key, text);
}

/// Takes back what a schedule promises where its premises do not hold.
void qualify(Scheduled& scheduled, bool overruled, const PublicFacts& facts) {
  if (overruled) {
    scheduled.utility = Utility::heuristic;
    scheduled.alpha = 0.0;
    scheduled.bound_failure = 0.0;
    scheduled.note = "settings overrule the schedule: nothing is promised";
    return;
  }
  const bool estimated = std::ranges::any_of(
      facts.constants.all(), [](const auto& c) { return c.second.origin == Origin::estimated; });
  if (!estimated) return;
  scheduled.bound_failure = 0.0;
  if (scheduled.utility == Utility::proved || scheduled.utility == Utility::repaired)
    scheduled.utility = Utility::heuristic;
  scheduled.note += scheduled.note.empty() ? "" : "; ";
  scheduled.note += "constants of the problem are estimates";
}

/// The random numbers of a run: those of its seed and its description. Controls (records exchanged,
/// no data, no noise) keep them, so that they differ from the run in that alone.
StreamKey key_of(const json& d) {
  json shared = d;
  for (const char* name : {"data_seed", "door", "observations", "seed"}) shared.erase(name);
  const std::string hash = RunKey(shared).hash();
  return {.seed = d.at("seed"),
          .run = static_cast<std::uint32_t>(std::stoul(hash.substr(0, 8), nullptr, 16)),
          .path = std::stoull(hash.substr(8, 16), nullptr, 16)};
}

/// Schedule, settings and noise of an algorithm on a problem.
Scheduled prepare(Algorithm& algorithm, const json& d, const PublicFacts& facts) {
  const PrivacyBudget budget{d.at("epsilon"), d.at("delta")};
  const auto calibrator = named("calibrator", calibrators, d.at("calibrator"));
  const auto rule = named("noise rule", noise_rules, d.at("noise"));
  const std::map<std::string, std::string> settings = d.at("settings");
  algorithm.set_variant(named("variant", variants, d.at("variant")));
  if (rule == NoiseRule::schedule) {
    // Settings decide what a schedule plans for (the release of the dual, streams), so they come
    // first; and they overrule its numbers, so they come again.
    apply_settings(algorithm, settings);
    const auto kind = named("schedule", schedules, d.at("schedule"));
    Scheduled scheduled = algorithm.schedule(kind, facts, budget, calibrator);
    const auto planned = values_of(algorithm.fields());
    apply_settings(algorithm, settings);
    algorithm.check(facts);
    const bool told = std::ranges::any_of(d.at("problem_settings").items(), [](const auto& item) {
      return item.key().starts_with(Told::prefix);
    });
    qualify(scheduled, told || values_of(algorithm.fields()) != planned, facts);
    return scheduled;
  }
  apply_settings(algorithm, settings);
  algorithm.check(facts);
  Scheduled scheduled;
  scheduled.note = "settings of the exhibit, no schedule";
  if (rule == NoiseRule::none) return scheduled;
  const auto plan = algorithm.plan(facts);
  if (rule == NoiseRule::calibrated) {
    const CalibratedNoise noise = calibrate_common_noise(plan, facts.records, budget, calibrator);
    algorithm.set_common_noise(noise.sensitivity_ratio);
    scheduled.rule = noise.rule;
    return scheduled;
  }
  std::int64_t queries = d.at("noise_queries");
  if (queries == 0)
    for (const PlannedQuery& q : plan) queries += q.count;
  algorithm.set_common_noise(advanced_noise_multiplier(budget.epsilon, budget.delta, queries));
  scheduled.rule = filter_rule(budget, calibrator);
  return scheduled;
}

InstanceSpec instance_of(const json& d) {
  std::optional<Index> dimension;
  if (d.contains("dimension")) dimension = d.at("dimension").get<Index>();
  return {.records = d.at("records"),
          .dimension = dimension,
          .seed = d.at("seed"),
          .data_seed = d.at("data_seed")};
}

/// What the algorithm of a run is told of the problem's facts.
PublicFacts facts_told(const json& d, const PublicFacts& facts) {
  return facts_told(facts, told_of(d.at("problem"), d.at("problem_settings")));
}

Scheduled prepare_on(Algorithm& algorithm, const json& d, const PublicFacts& facts) {
  try {
    return prepare(algorithm, d, facts);
  } catch (const MissingConstant& missing) {
    throw InputError(
        fmt::format("{}: problem {} states no `{}`; choose a problem that does, or set the "
                    "parameters and a noise rule by hand",
                    algorithm.card().key,
                    d.at("problem").get<std::string>(),
                    missing.name()));
  }
}

Setup set_up(const json& d) {
  Setup s;
  const auto family = make_family(d.at("problem"), d.at("problem_settings"));
  s.problem = family->make(instance_of(d));
  s.told = facts_told(d, s.problem.facts);
  s.algorithm = find_algorithm(d.at("algorithm").get<std::string>());
  s.door = named("door", doors, d.at("door"));
  s.scheduled = prepare_on(*s.algorithm, d, s.told);
  return s;
}

Curator open_door(const Setup& s, const StreamKey& key, ClipLog& log) {
  const PublicFacts& facts = s.told;
  if (s.door == Door::enforced) return {facts, *s.problem.records, s.scheduled.rule, key, &log};
  UnsoundCurator::Departures departures;
  departures.no_noise = s.door == Door::no_noise || s.door == Door::not_private;
  departures.no_data = s.door == Door::no_data;
  departures.no_clipping = s.door == Door::not_private || s.door == Door::no_clipping;
  departures.clip_batch_mean = s.door == Door::batch_mean_clip;
  departures.realised_divisor = departures.resample_empty = s.door == Door::script;
  return UnsoundCurator(facts, *s.problem.records, key, departures, &log);
}

class Recorder final : public Observer {
 public:
  Recorder(const ObservationPlan& plan, Index dimension)
      : trace(plan), estimates_(plan.uniform, 1), pair_(2 * dimension) {}
  void iterate(Index t, ConstVectorRef x) override { trace.see(t, x); }
  void estimate(Index t, ConstVectorRef x, ConstVectorRef gradient) override {
    if (x.size() + gradient.size() != pair_.size()) return;  // of a projected view
    pair_ << x, gradient;
    estimates_.see(t, pair_);
  }
  TraceRecorder trace;

  /// ‖g_t − ∇F(x_t)‖ over the steps that were kept: count, median, max; null without estimates.
  json estimate_errors(const Objective& objective) const {
    std::vector<double> errors;
    const Index d = objective.dimension();
    Vector gradient(d);
    for (const auto& [t, pair] : estimates_.points()) {
      objective.gradient(pair.head(d), gradient);
      errors.push_back((pair.tail(d) - gradient).norm());
    }
    if (errors.empty()) return nullptr;
    std::ranges::sort(errors);
    return {{"seen", errors.size()},
            {"median", to_json_number(errors[errors.size() / 2])},
            {"largest", to_json_number(errors.back())}};
  }

 private:
  ThinnedPoints estimates_;
  Vector pair_;
};

/// Records that any query was charged to, as far as the ledger tells.
Index records_used(const Ledger& ledger) {
  std::vector<RecordRange> ranges;
  for (const LedgerEntry& e : ledger.entries()) ranges.push_back(e.charged);
  std::ranges::sort(ranges, {}, &RecordRange::begin);
  Index used = 0, end = 0;
  for (const RecordRange& r : ranges) {
    used += std::max<Index>(0, r.end - std::max(end, r.begin));
    end = std::max(end, r.end);
  }
  return used;
}

/// Least value of an objective, where the zoo knows a minimiser; null elsewhere.
json minimum_json(const Problem& problem, const Objective& objective) {
  const auto of =
      &objective == problem.population.get() ? Landmark::Of::population : Landmark::Of::empirical;
  for (const Landmark& l : problem.landmarks)
    if (l.kind == Landmark::Kind::minimiser && l.of == of)
      return to_json_number(objective.value(l.point));
  return nullptr;
}

std::optional<double> hessian_lipschitz(const PublicFacts& facts) {
  if (!facts.constants.contains(constant::hessian_lipschitz)) return {};
  return facts.constants[constant::hessian_lipschitz];
}

json certificate_json(const Problem& problem,
                      const Objective& objective,
                      ConstVectorRef x,
                      std::uint64_t seed) {
  CertificateOptions options;
  options.hessian_lipschitz = hessian_lipschitz(problem.facts);
  options.in_region = problem.in_region(x);
  options.key.seed = seed;
  const Certificate c = certify(objective, x, options);
  if (c.status != EvaluationStatus::ok)
    throw RunFailed(fmt::format("certificate: {}", to_string(c.status)));
  json j{{"private", false},
         {"value", to_json_number(c.value)},
         {"gradient_norm", to_json_number(c.gradient_norm)},
         {"lambda_min", to_json_number(c.lambda_min)},
         {"residual", to_json_number(c.residual)},
         {"lambda_min_lower", to_json_number(c.lambda_min_lower)},
         {"failure_probability", c.failure_probability},
         {"method", c.method == CurvatureMethod::dense ? "dense" : "lanczos"},
         {"products", c.products},
         {"in_region", c.in_region}};
  if (c.sosp_level) j["sosp_level"] = to_json_number(*c.sosp_level);
  if (c.sosp_level_upper) j["sosp_level_upper"] = to_json_number(*c.sosp_level_upper);
  return j;
}

json certificate_json(const Problem& problem, ConstVectorRef x, std::uint64_t seed) {
  return certificate_json(problem, problem.objective(), x, seed);
}

json trace_json(const std::vector<TracePoint>& trace) {
  json rows = json::array();
  for (const TracePoint& p : trace) {
    if (p.status != EvaluationStatus::ok)
      throw RunFailed(fmt::format("trace at t = {}: {}", p.t, to_string(p.status)));
    rows.push_back(
        {p.t,
         to_json_number(p.value),
         to_json_number(p.gradient_norm),
         to_json_number(p.lambda_min),
         to_json_number(p.sosp_level.value_or(std::numeric_limits<double>::quiet_NaN()))});
  }
  return rows;
}

json privacy_json(const Curator& curator,
                  const json& d,
                  const Scheduled& scheduled,
                  const ClipLog& log) {
  // An unclipped run that met a longer gradient than its noise is for has no guarantee.
  const PrivacyLabel label = log.violations > 0 ? PrivacyLabel::violated : curator.label();
  const double delta = d.at("delta");
  const Guarantee spent = curator.ledger().spent(delta);
  json j{{"label", to_string(label)},
         {"adjacency", "replace_one"},
         {"delta", delta},
         {"spent", to_json_number(spent.epsilon)},
         {"spent_accountant", spent.accountant},
         {"queries", curator.ledger().queries()},
         {"ledger", ledger_json(curator.ledger())}};
  const bool filtered = d.at("door") == "enforced";
  if (label == PrivacyLabel::enforced || (label == PrivacyLabel::conditional && filtered)) {
    // The filter's budget, fixed before the run; under `conditional` as far as its assumption
    // holds.
    j["guarantee"] = d.at("epsilon");
    j["filter"] = {{"calibrator", to_string(scheduled.rule.calibrator)},
                   {"capacity", scheduled.rule.capacity}};
    if (scheduled.rule.order) j["filter"]["order"] = *scheduled.rule.order;
    if (scheduled.rule.pure_capacity > 0)
      j["filter"]["pure_capacity"] = scheduled.rule.pure_capacity;
    if (scheduled.rule.delta_extra > 0) j["filter"]["delta_extra"] = scheduled.rule.delta_extra;
  } else {
    j["guarantee"] = "inf";
  }
  if (label == PrivacyLabel::conditional) {
    j["nominal"] = j["spent"];  // epsilon, while no gradient is longer than the nominal bound
    // Of a stated class of data sets, where what was spent at the rest of delta is what was asked.
    const double rest =
        delta - (1.0 + std::exp(d.at("epsilon").get<double>())) * scheduled.bound_failure;
    if (scheduled.bound_failure > 0 && rest > 0 &&
        curator.ledger().spent(rest).epsilon <= d.at("epsilon").get<double>() * (1 + 1e-9))
      j["class_relative"] = {{"epsilon", d.at("epsilon")},
                             {"delta", delta},
                             {"bound_failure", scheduled.bound_failure}};
  }
  return j;
}

class Blind final : public Observer {
 public:
  void iterate(Index /*t*/, ConstVectorRef /*x*/) override {}
};

Outcome run_algorithm(const Setup& s, Curator& curator, StreamKey key, Observer& observer) {
  key.purpose = Purpose::algorithm;
  Outcome outcome;
  try {
    outcome = s.algorithm->run(curator, Stream(key), observer);
  } catch (const InputError& e) {
    // The first query refuses what was asked for; a later one, where the run has come to.
    if (curator.ledger().queries() <= 1) throw;
    throw RunFailed(e.what());
  }
  if (outcome.status == Status::not_finite)
    throw RunFailed(
        fmt::format("not_finite: an iterate is not finite after {} steps", outcome.steps));
  return outcome;
}

json algorithm_json(const Setup& s, const Outcome& outcome, const Ledger& ledger) {
  return {{"status", to_string(outcome.status)},
          {"steps", outcome.steps},
          {"counts", outcome.counts},
          {"records_used", records_used(ledger)},
          {"parameters", values_of(s.algorithm->fields())}};
}

json schedule_json(const Scheduled& scheduled) {
  return {{"alpha", to_json_number(scheduled.alpha)},
          {"utility", to_string(scheduled.utility)},
          {"note", scheduled.note}};
}

std::vector<double> entries_of(const Vector& point) { return {point.begin(), point.end()}; }

}  // namespace

Door door_of(const std::string& text) { return named("door", doors, text); }

json describe(const RunSpec& spec) {
  const auto family = make_family(spec.problem, spec.problem_settings);
  const auto algorithm = find_algorithm(spec.algorithm);
  check(PrivacyBudget{spec.epsilon, spec.delta});
  named("calibrator", calibrators, spec.calibrator);
  named("variant", variants, spec.variant);
  if (spec.noise == NoiseRule::schedule) named("schedule", schedules, spec.schedule);
  if (spec.observations != 0 && spec.observations < 2)
    reject("run", "observations", static_cast<double>(spec.observations), "0 or at least 2");
  apply_settings(*algorithm, spec.settings);
  const bool unsound_needed = !algorithm->card().is_private() || spec.noise == NoiseRule::none;
  Door door = spec.door;
  const bool clips = algorithm->card().privacy == PrivacyLabel::enforced;
  if (unsound_needed && door == Door::enforced) door = clips ? Door::no_noise : Door::not_private;
  if (!clips && door == Door::enforced) door = Door::no_clipping;
  if (!clips && door == Door::no_noise) door = Door::not_private;
  if (door == Door::enforced && spec.variant == "printed" &&
      algorithm->card().printed_privacy == PrivacyLabel::violated)
    door = Door::script;
  json d{
      {"algorithm", spec.algorithm},
      {"problem", spec.problem},
      {"settings", spec.settings},
      {"problem_settings", changed_settings(*family, told_of(spec.problem, spec.problem_settings))},
      {"records", spec.records == 0 ? family->default_records() : spec.records},
      {"epsilon", spec.epsilon},
      {"delta", spec.delta},
      {"calibrator", spec.calibrator},
      {"variant", spec.variant},
      {"schedule", spec.noise == NoiseRule::schedule ? spec.schedule : "none"},
      {"noise", name_in(noise_rules, spec.noise)},
      {"noise_queries", spec.noise_queries},
      {"door", name_in(doors, door)},
      {"seed", spec.seed},
      {"data_seed", spec.data_seed},
      {"observations", spec.observations},
      {"numbers_version",
       {{"algorithm", algorithm->card().numbers_version}, {"problem", family->numbers_version()}}}};
  if (spec.dimension) d["dimension"] = *spec.dimension;
  check_records(spec.problem, d.at("records"));
  return d;
}

std::map<std::string, std::string> scheduled_parameters(const json& d) {
  const auto family = make_family(d.at("problem"), d.at("problem_settings"));
  const auto algorithm = find_algorithm(d.at("algorithm").get<std::string>());
  prepare_on(*algorithm, d, facts_told(d, family->facts(instance_of(d))));
  return values_of(algorithm->fields());
}

void check_run(const json& d) { scheduled_parameters(d); }

json compute_run(const json& d) {
  const Setup s = set_up(d);
  const PublicFacts& facts = s.problem.facts;
  const std::uint64_t seed = d.at("seed");
  ClipLog log;
  const StreamKey key = key_of(d);
  Curator curator = open_door(s, key, log);
  const Index observations = d.at("observations");
  ObservationPlan plan;
  plan.uniform = std::max<Index>(2, observations);
  plan.per_decade = 0;
  Recorder recorder(plan, facts.dimension);
  const Outcome outcome = run_algorithm(s, curator, key, recorder);

  const json start = certificate_json(s.problem, facts.initial_point, seed);
  json result{{"algorithm", algorithm_json(s, outcome, curator.ledger())},
              {"schedule", schedule_json(s.scheduled)},
              {"privacy", privacy_json(curator, d, s.scheduled, log)},
              {"start", start},
              {"origin",
               facts.initial_point.isZero(0.0)
                   ? start
                   : certificate_json(s.problem, Vector::Zero(facts.dimension), seed)},
              {"output", certificate_json(s.problem, outcome.point, seed)},
              {"minimum", minimum_json(s.problem, s.problem.objective())},
              {"evaluation_log",
               {{"private", false},
                {"contributions", log.contributions},
                {"clipped", log.clipped},
                {"largest_norm_over_limit", to_json_number(log.largest_norm)}}}};
  if (s.problem.empirical && s.problem.population) {
    const Objective& population = *s.problem.population;
    result["population"] = {
        {"start", certificate_json(s.problem, population, facts.initial_point, seed)},
        {"output", certificate_json(s.problem, population, outcome.point, seed)},
        {"minimum", minimum_json(s.problem, population)}};
  }
  if (json errors = recorder.estimate_errors(s.problem.objective()); !errors.is_null())
    result["evaluation_log"]["estimate_error"] = std::move(errors);
  if (log.estimates > 0)
    result["evaluation_log"]["estimates_out_of_range"] =
        static_cast<double>(log.out_of_range) / static_cast<double>(log.estimates);
  if (s.door == Door::no_clipping) {
    json& seen = result["evaluation_log"];
    seen["violations"] = log.violations;
    seen["largest_norm_over_nominal"] = to_json_number(log.largest_over_nominal);
    seen["first_violation"] = log.first_violation;
    seen["unseen"] = log.unseen;
  }
  if (facts.dimension <= stored_point_limit) result["point"] = entries_of(outcome.point);
  if (observations > 0) {
    const auto trace =
        recorder.trace.evaluate(s.problem.objective(),
                                hessian_lipschitz(facts),
                                {.key = {.seed = seed, .purpose = Purpose::evaluation}});
    result["trace"] = trace_json(trace);
    if (const auto k = best(trace)) result["best"] = result["trace"][*k];
  }
  return result;
}

json compute_release(const json& d) {
  const Setup s = set_up(d);
  if (s.door != Door::enforced)
    throw InputError(
        fmt::format("release: {} as described runs behind the door `{}`, which enforces no privacy",
                    d.at("algorithm").get<std::string>(),
                    name_in(doors, s.door)));
  ClipLog log;
  const StreamKey key = key_of(d);
  ReleaseCurator curator(
      s.told, *s.problem.records, s.scheduled.rule, key, std::make_unique<SystemEntropy>(), &log);
  Blind unseen;
  const Outcome outcome = [&] {
    try {
      return run_algorithm(s, curator, key, unseen);
    } catch (const RunFailed& e) {
      throw RunFailed(
          fmt::format("{} (after {} queries; what they cost is spent, although nothing "
                      "is released)",
                      e.what(),
                      curator.ledger().queries()));
    }
  }();
  json result{{"algorithm", algorithm_json(s, outcome, curator.ledger())},
              {"schedule", schedule_json(s.scheduled)},
              {"privacy", privacy_json(curator, d, s.scheduled, log)},
              {"point", entries_of(outcome.point)}};
  result["privacy"]["noise"] = "discrete Gaussian, system entropy";
  return result;
}

json certify_point(const std::string& problem,
                   const std::map<std::string, std::string>& problem_settings,
                   Index records,
                   std::optional<Index> dimension,
                   std::uint64_t seed,
                   std::uint64_t data_seed,
                   const std::string& point) {
  const auto family = make_family(problem, problem_settings);
  const Problem p = family->make({.records = records == 0 ? family->default_records() : records,
                                  .dimension = dimension,
                                  .seed = seed,
                                  .data_seed = data_seed});
  Vector x = p.facts.initial_point;
  if (point == "origin") {
    x.setZero();
  } else if (point != "initial") {
    std::vector<double> entries;
    try {
      entries = json::parse(point).get<std::vector<double>>();
    } catch (const json::exception&) {
      throw InputError("certify: point = " + point +
                       ", expected initial, origin or a JSON array of numbers");
    }
    if (std::ssize(entries) != p.facts.dimension)
      reject("certify",
             "point",
             fmt::format("{} numbers", entries.size()),
             fmt::format("{} numbers, the dimension of {}", p.facts.dimension, problem));
    x = Eigen::Map<const Vector>(entries.data(), std::ssize(entries));
  }
  return certificate_json(p, x, seed);
}

}  // namespace dpsosp
