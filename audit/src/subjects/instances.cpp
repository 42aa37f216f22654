// SPDX-License-Identifier: Apache-2.0
#include "subjects/instances.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/registry.hpp"
#include "subjects/mechanisms.hpp"

namespace dpsosp::audit {
namespace {

using Settings = std::map<std::string, std::string>;

/// A problem and what is set on it.
struct Instance {
  std::string algorithm;
  std::string problem;
  Index records = 80;
  std::optional<Index> dimension = 6;
  Settings settings = {};
  Settings problem_settings = {};
  Others others = Others::own;
  double most_epsilon = 8;  ///< more is beyond what some thousand runs tell
};

/// One of every kind that algorithms can tell apart.
const std::vector<Instance>& every_kind_of_problem() {
  static const std::vector<Instance> all{
      {{}, "matrix-sensing", 80, {}, {}, {{"rows", "4"}, {"cols", "3"}, {"rank", "2"}}},
      {{}, "cosine-minimax", 80, {}, {}, {{"coupled", "3"}, {"free", "3"}}},
      {{}, "group-dro"},
      {{}, "cosine-saddle"},
      {{}, "double-well"},
      {{}, "phase-retrieval"},
      {{}, "glm-logistic"},
      {{}, "ripple-location", 80, 2},
      {{}, "radial-ripple", 80, 4},
      {{}, "glm-sigmoid", 80, 12, {}, {{"features", "low_rank"}, {"rank", "3"}}}};
  return all;
}

/// What the problems above do not reach at 80 records and default settings: warm starts, trees of
/// several leaves, Hessian products, line searches, and the other forms of selections and choices.
const std::vector<Instance>& further_instances() {
  static const Settings random{{"start", "random"}};
  static const Settings low_rank{{"features", "low_rank"}, {"rank", "3"}};
  static const Settings long_trees{{"batch_rule", "fixed"},      {"steps", "40"},
                                   {"refresh_batch", "100"},     {"increment_batch", "40"},
                                   {"drift_threshold", "100"},   {"escape_threshold", "5"},
                                   {"escape_steps", "5"},        {"escapes_per_refresh", "5"},
                                   {"escape_radius", "2"},       {"hessian_batch", "100"},
                                   {"hessian_batch_rate", "10"}, {"max_leaves", "64"}};
  static const Settings lazy = [] {
    Settings settings = long_trees;
    settings["hessian_mode"] = "lazy";
    return settings;
  }();
  static const std::vector<Instance> all{
      {"liu-talwar-2025/adaptive-spider", "cosine-saddle", 4000, 4, long_trees, random},
      {"liu-talwar-2025/adaptive-spider", "cosine-saddle", 4000, 4, lazy, random},
      {"liu-talwar-2025/adaptive-spider", "cosine-saddle", 4000, 4, {{"tau_mode", "one"}}, random},
      {"lowy-2024/quasar-dp-sgd", "radial-ripple", 80, 4, {{"boosted", "true"}}},
      {"lowy-2024/warm-quasar", "radial-ripple", 300, 4, {{"fallback", "false"}}},
      {"lowy-2024/warm-kl", "radial-ripple", 300, 4, {{"fallback", "false"}}},
      {"lowy-2024/warm-exponential", "ripple-location", 300, 2, {{"fallback", "false"}}},
      {"lowy-2024/warm-exponential",
       "ripple-location",
       300,
       2,
       {{"fallback", "false"}, {"finder", "stochastic_spider"}}},
      {"lowy-2024/warm-population",
       "ripple-location",
       4000,
       2,
       {{"finder", "adaptive_spider"}},
       {{"sampling", "independent"}}},
      {"lowy-2024/warm-glm", "glm-sigmoid", 300, 12, {{"fallback", "false"}}, low_rank},
      {"lowy-2024/warm-glm-exponential",
       "glm-sigmoid",
       300,
       12,
       {{"fallback", "false"}, {"rank", "3"}, {"rank_rule", "proportional"}},
       low_rank},
      {"lowy-2024/exponential-mechanism", "separable-pl", 80, 2, {{"candidates", "product"}}},
      {"ganesh-2023/discrete-exponential", "separable-pl", 80, 2, {{"candidates", "product"}}},
      {"ganesh-2023/exponential-mechanism", "ripple-location", 80, 2, {{"method", "exact"}}},
      {"ganesh-2023/exponential-mechanism", "ripple-location", 80, 2, {{"method", "stochastic"}}},
      {"ganesh-2023/stochastic-spider",
       "cosine-saddle",
       80,
       4,
       {{"selection_form", "two_tests"}},
       random},
      {"avdiukhin-2024/dp-sgd",
       "cosine-saddle",
       80,
       4,
       {{"selection_form", "independent"}, {"selection_share", "0.5"}},
       random},
      {"avdiukhin-2024/dp-sgd", "cosine-saddle", 80, 4, {{"selection_share", "0.5"}}, random},
      {"avdiukhin-2024/dp-sgd",
       "cosine-saddle",
       80,
       4,
       {{"selection_share", "0.5"}, {"selection_eigenvalue", "power"}},
       random},
      {"menart-2024/kl-spider",
       "radial-ripple",
       200,
       4,
       {{"initial_excess", "1"},
        {"target_excess", "0.001"},
        {"stages", "40"},
        {"contraction", "1.01"},
        {"kl_exponent", "1.5"}}},
      {"gao-wright-2023/short-steps",
       "cosine-saddle",
       4000,
       4,
       {{"curvature", "products"}, {"step_rule", "line_search"}},
       random},
      {"wang-xu-2019/dp-frank-wolfe",
       "separable-pl",
       80,
       2,
       {{"set", "l1_ball"}, {"linear_oracle", "exponential"}}},
      {"lowy-2024/published-experiment", "trig-radial", 80, 4, {{"stage", "warm_start"}}},
      {"lowy-2024/published-experiment", "trig-radial", 80, 4, {{"stage", "dp_sgd"}}},
      {"zhang-2025/private-diff", "cosine-minimax", 80, {}, {{"ascent", "queried"}}},
      {"tracked-descent/tracked-descent", "cosine-saddle", 80, 4, {{"hopeless", "1e300"}}, random},
      {"tracked-descent/tracked-descent",
       "cosine-saddle",
       80,
       4,
       {{"hopeless", "1e300"}, {"scale", "scalar"}, {"output", "last"}},
       random},
      {"tracked-descent/tracked-descent",
       "double-well",
       80,
       4,
       {{"hopeless", "1e300"}, {"gain", "spider"}, {"period", "5"}}},
      {"zhang-bu-2025/disk", "cosine-saddle", 80, 4, {{"look_ahead", "0.3"}}, random}};
  return all;
}

/// Where runs take about a millisecond and spend most of the budget. The others run on the first of
/// `fast_problems` that they accept.
const std::vector<Instance>& fast_instances() {
  static const Settings random{{"start", "random"}};
  static const std::vector<Instance> all{
      {"abadi-2016/dp-sgd",
       "double-well",
       16,
       2,
       {{"steps", "10"}, {"sampling", "poisson"}, {"batch", "8"}}},
      {"zhang-2017/rrpsgd",
       "double-well",
       16,
       2,
       {{"steps", "10"}, {"sampling", "sample"}, {"batch", "12"}},
       {},
       Others::as_second},
      {"ganesh-2023/discrete-exponential",
       "double-well",
       16,
       1,
       {{"net_radius", "0.01"}},
       {},
       Others::outward,
       4},
      {"lowy-2024/exponential-mechanism",
       "double-well",
       16,
       1,
       {{"net_radius", "0.01"}},
       {},
       Others::outward,
       4},
      {"lowy-2024/warm-population",
       "radial-ripple",
       50,
       4,
       {{"steps", "10"}},
       {},
       Others::outward,
       4},
      {"zhou-2020/dp-sgd",
       "double-well",
       16,
       2,
       {{"steps", "8"}, {"sampling", "fresh"}, {"batch", "2"}, {"noise", "0.72"}}},
      {"liu-talwar-2025/adaptive-spider", "cosine-saddle", 1000, 2, {}, random, Others::silent},
      {"arora-2023/tree-spider", "double-well", 64, 2, {{"sampling", "all"}, {"alpha", "0"}}},
      {"tao-2025/ada-dp-spider", "double-well", 16, 2, {{"steps", "10"}, {"sampling", "all"}}},
      {"wang-xu-2020/dp-trust-region", "double-well", 16, 2, {{"steps", "10"}, {"alpha", "1e-4"}}},
      {"gao-wright-2023/short-steps", "double-well", 16, 2, {{"steps", "10"}, {"alpha", "1e-4"}}},
      {"menart-2024/kl-spider",
       "radial-ripple",
       200,
       4,
       {{"initial_excess", "1"}, {"target_excess", "0.001"}, {"contraction", "1.01"}}},
      {"lowy-2024/warm-quasar", "radial-ripple", 100, 4, {{"fallback", "false"}}},
      {"lowy-2024/warm-kl", "radial-ripple", 100, 4, {{"fallback", "false"}}},
      {"lowy-2024/warm-exponential", "separable-pl", 50, 2, {{"fallback", "false"}}},
      {"lowy-2024/warm-glm",
       "glm-sigmoid",
       100,
       8,
       {{"fallback", "false"}},
       {{"features", "low_rank"}, {"rank", "3"}}},
      {"lowy-2024/warm-glm-exponential",
       "glm-sigmoid",
       100,
       8,
       {{"fallback", "false"}, {"rank", "2"}, {"rank_rule", "proportional"}},
       {{"features", "low_rank"}, {"rank", "2"}}}};
  return all;
}

const std::vector<Instance>& fast_problems() {
  static const Settings steps{{"steps", "10"}, {"hopeless", "1e300"}};
  static const std::vector<Instance> all{
      {{}, "double-well", 16, 2, steps},
      {{}, "cosine-minimax", 16, {}, steps, {{"coupled", "2"}, {"free", "2"}}},
      {{}, "ripple-location", 16, 2, steps},
      {{}, "radial-ripple", 50, 4, steps},
      {{}, "glm-sigmoid", 50, 8, steps, {{"features", "low_rank"}, {"rank", "3"}}},
      {{}, "separable-pl", 16, 2, steps},
      {{}, "trig-radial", 50, 4, steps}};
  return all;
}

/// One of an algorithm's own, so that the noise of all can be counted together.
std::uint32_t stream_number(std::string_view key) {
  std::uint32_t number = 0;
  for (const char c : key) number = 31 * number + static_cast<std::uint32_t>(c);
  return number;
}

std::shared_ptr<const Problem> make_problem(const Instance& instance, std::uint64_t data_seed) {
  Problem problem = find_problem(instance.problem, instance.problem_settings)
                        ->make({.records = instance.records,
                                .dimension = instance.dimension,
                                .seed = 3,
                                .data_seed = data_seed});
  if (instance.problem == "cosine-minimax")  // off the saddle, where nothing moves without noise
    Stream({.seed = 4, .purpose = Purpose::test}).fill_normal(0.5, problem.facts.initial_point);
  return std::make_shared<const Problem>(std::move(problem));
}

/// A problem, and the same with other records.
struct Problems {
  explicit Problems(const Instance& instance)
      : own(make_problem(instance, 1)), other(make_problem(instance, 99)) {}
  std::shared_ptr<const Problem> own, other;
};

void set(Algorithm& algorithm, const Settings& settings) {
  Fields fields = algorithm.fields();
  const auto known = values_of(fields);
  for (const auto& [name, text] : settings)
    if (known.contains(name)) set_field(fields, algorithm.card().key, name, text);
}

/// A common noise for the plan, without a selection, which no plan has.
void set_noise_of_plan(Algorithm& algorithm, double sensitivity_ratio) {
  if (values_of(algorithm.fields()).contains("selection_form"))
    set(algorithm, {{"selection_epsilon", "0"}});
  algorithm.set_common_noise(sensitivity_ratio);
}

bool runs_on(const Algorithm& algorithm, const PublicFacts& facts) {
  try {
    algorithm.check(facts);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// How a subject is prepared.
struct Mode {
  enum class Numbers {
    own,           ///< as scheduled
    overdrawn,     ///< the same, with a quarter of the epsilon that they were scheduled for
    every_branch,  ///< settings that reach every branch in 60 steps, and a budget for all of them
  };
  std::string name;
  Numbers numbers = Numbers::every_branch;
  std::string sampling = {};  ///< the schedule's own if empty
};

/// Refreshes, escapes and selections within 60 steps.
void set_for_replay(Algorithm& algorithm, const PublicFacts& facts, const std::string& sampling) {
  Settings wanted{{"steps", "60"},
                  {"alpha", "0.5"},
                  {"escape_threshold", "0.5"},
                  {"escape_steps", "5"},
                  {"chi", "0.05"},
                  {"escape_radius", "0.05"},
                  {"batch", "20"},
                  {"refresh_batch", "40"},
                  {"increment_batch", "20"},
                  {"kick_deviation", "0.1"},
                  {"refresh_cap", "0"},
                  {"hopeless", "1e300"},
                  {"drift_threshold", "0.01"}};
  if (!sampling.empty()) wanted["sampling"] = sampling;
  set(algorithm, wanted);
  if (sampling.empty() && !runs_on(algorithm, facts))
    set(algorithm, {{"refresh_batch", "7"},
                    {"increment_batch", "2"},
                    {"batch_rate", "1"},
                    {"hessian_batch", "4"},
                    {"hessian_batch_rate", "1"}});
  if (algorithm.card().key == "arora-2023/tree-spider") set(algorithm, {{"alpha", "0"}});
}

/// \throws InputError where the algorithm refuses the instance
Subject replay_subject(const Instance& instance, const Problems& problems, Variant variant,
                       const Mode& mode) {
  Subject s;
  s.algorithm = find_algorithm(instance.algorithm);
  s.problem = problems.own;
  s.other = problems.other;
  const PublicFacts& facts = s.problem->facts;
  const PrivacyBudget budget{4, 1e-6};
  s.algorithm->set_variant(variant);
  set(*s.algorithm, {{"largest_net", "200"}, {"first.largest_net", "200"}});
  set(*s.algorithm, instance.settings);
  s.rule = s.algorithm->schedule(Schedule::practical, facts, budget, Calibrator::cks).rule;
  if (mode.numbers == Mode::Numbers::own) {
    set(*s.algorithm, instance.settings);
    s.claimed = budget;
  } else if (mode.numbers == Mode::Numbers::overdrawn) {
    set(*s.algorithm, instance.settings);
    s.claimed = PrivacyBudget{budget.epsilon / 4, budget.delta};
    s.rule = filter_rule(*s.claimed, s.rule.calibrator, s.rule.order, s.rule.pure_capacity / 4,
                         s.rule.delta_extra);
  } else {
    set_for_replay(*s.algorithm, facts, mode.sampling);
    set(*s.algorithm, instance.settings);
    if (const auto plan = s.algorithm->plan(facts); !plan.empty())
      set_noise_of_plan(
          *s.algorithm,
          calibrate_common_noise(plan, facts.records, budget, Calibrator::cks).sensitivity_ratio);
    s.rule.capacity *= 1e3;
    s.rule.pure_capacity *= 1e3;
  }
  s.algorithm->check(facts);
  s.stream = stream_number(instance.algorithm);
  s.name = fmt::format("on {} of {} records, {}, {}", instance.problem, instance.records,
                       variant == Variant::printed ? "printed" : "repaired", mode.name);
  return s;
}

/// \throws InputError where the algorithm refuses the problem
Subject subject_on(std::string_view key, std::string_view problem, const Settings& problem_settings,
                   const std::string& sampling) {
  const Instance instance{std::string(key), std::string(problem), 40, {}, {}, problem_settings};
  const PrivacyBudget budget{4, 1e-6};
  Subject s;
  s.algorithm = find_algorithm(key);
  s.problem = make_problem(instance, 1);
  s.other = make_problem(instance, 99);
  const PublicFacts& facts = s.problem->facts;
  set(*s.algorithm,
      {{"steps", "12"}, {"batch", "10"}, {"step_size", "0.1"}, {"hopeless", "1e300"}});
  if (!sampling.empty()) set(*s.algorithm, {{"sampling", sampling}});
  const auto plan = s.algorithm->plan(facts);
  if (plan.empty())
    throw InputError(fmt::format("audit: {} plans no queries, so that its noise for {} is unknown",
                                 key, problem));
  const auto noise = calibrate_common_noise(plan, facts.records, budget, Calibrator::rdp);
  set_noise_of_plan(*s.algorithm, noise.sensitivity_ratio);
  s.algorithm->check(facts);
  s.rule = noise.rule;
  s.claimed = budget;
  s.stream = stream_number(key);
  s.name = fmt::format("on {} of {} records{}{}", problem, instance.records,
                       sampling.empty() ? "" : ", batches by ", sampling);
  return s;
}

/// \throws InputError where the algorithm refuses the instance
Subject fast_subject(const Instance& instance, const PrivacyBudget& most) {
  const PrivacyBudget budget{std::min(most.epsilon, instance.most_epsilon), most.delta};
  Subject s;
  s.algorithm = find_algorithm(instance.algorithm);
  s.problem = make_problem(instance, 1);
  const PublicFacts& facts = s.problem->facts;
  set(*s.algorithm, instance.settings);
  s.rule = s.algorithm->schedule(Schedule::practical, facts, budget, Calibrator::cks).rule;
  const auto own = values_of(s.algorithm->fields());
  set(*s.algorithm, instance.settings);
  if (const auto plan = s.algorithm->plan(facts); !plan.empty()) {
    const bool amplified = std::ranges::any_of(plan, [](const PlannedQuery& q) {
      return q.policy.kind == BatchPolicy::Kind::sample ||
             q.policy.kind == BatchPolicy::Kind::poisson;
    });
    const auto noise = calibrate_common_noise(plan, facts.records, budget,
                                              amplified ? Calibrator::rdp : Calibrator::cks);
    set_noise_of_plan(*s.algorithm, noise.sensitivity_ratio);
    if (const auto own_noise = instance.settings.find("noise");
        own_noise != instance.settings.end())
      set(*s.algorithm, {*own_noise});
    s.rule = noise.rule;
  } else if (own.contains("steps")) {
    set(*s.algorithm, {{"steps", own.at("steps")}});  // its noise is for these
  }
  s.algorithm->check(facts);
  s.claimed = budget;
  s.others = instance.others;
  s.name = fmt::format("on {} of {} records", instance.problem, instance.records);
  s.stream = stream_number(instance.algorithm);
  return s;
}

/// One that asks, on records of which some are clipped.
Subject mechanism_subject(std::string_view key, const MechanismSettings& settings,
                          const PrivacyBudget& budget, Index records, Index dimension) {
  const Instance instance{std::string(key), "glm-logistic", records, dimension};
  Subject s;
  s.algorithm = make_mechanism(key, settings);
  s.problem = make_problem(instance, 1);
  s.other = make_problem(instance, 99);
  s.rule = s.algorithm->schedule(Schedule::practical, s.problem->facts, budget, settings.calibrator)
               .rule;
  s.claimed = budget;
  s.release = asks_release(key);
  s.stream = stream_number(key);
  s.name = fmt::format("on {} of {} records, batches by {}, {}{}", instance.problem, records,
                       to_string(settings.policy.kind), to_string(settings.calibrator),
                       settings.pure_share > 0 ? " and a pure account" : "");
  return s;
}

}  // namespace

Subject fast_subject(std::string_view key, const PrivacyBudget& budget) {
  if (is_mechanism(key)) {
    Subject s = mechanism_subject(key, fast_mechanism_settings(key), budget, 80, 2);
    if (key == "curator/samples") s.others = Others::as_second;
    return s;
  }
  for (const Instance& instance : fast_instances())
    if (instance.algorithm == key) return fast_subject(instance, budget);
  for (Instance instance : fast_problems()) {
    instance.algorithm = key;
    try {
      return fast_subject(instance, budget);
    } catch (const InputError&) {  // not for this problem
    }
  }
  throw InputError(fmt::format("audit: no small instance runs {}", key));
}

RunSpec small_run(std::string_view key) {
  const auto known = values_of(find_algorithm(key)->fields());
  std::vector<Instance> instances;
  for (const Instance& instance : fast_instances())
    if (instance.algorithm == key) instances.push_back(instance);
  std::ranges::copy(fast_problems(), std::back_inserter(instances));
  for (const Instance& instance : instances) {
    RunSpec spec;
    spec.algorithm = key;
    spec.problem = instance.problem;
    for (const auto& [name, text] : instance.settings)
      if (known.contains(name)) spec.settings[name] = text;
    spec.problem_settings = instance.problem_settings;
    spec.records = instance.records;
    spec.dimension = instance.dimension;
    spec.epsilon = 8;
    spec.observations = 0;
    try {
      scheduled_parameters(describe(spec));
      return spec;
    } catch (const InputError&) {  // not for this problem
    }
  }
  throw InputError(fmt::format("audit: no small instance runs {}", key));
}

std::vector<Subject> replay_subjects(std::string_view key, std::string_view problem,
                                     const Settings& problem_settings) {
  const bool sampled = values_of(find_audited(key)->fields()).contains("sampling");
  std::vector<std::string> ways{""};
  if (sampled) ways = {"all", "fresh", "sample", "poisson"};
  std::vector<Subject> subjects;
  for (const std::string& sampling : ways)
    subjects.push_back(subject_on(key, problem, problem_settings, sampling));
  return subjects;
}

std::vector<Subject> replay_subjects(std::string_view key) {
  if (is_mechanism(key)) {
    const MechanismSize size = mechanism_size(key);
    std::vector<Subject> subjects;
    for (const MechanismSettings& settings : mechanism_settings(key))
      subjects.push_back(mechanism_subject(
          key, settings, {4, 1e-6}, settings.records > 0 ? settings.records : size.records,
          settings.dimension > 0 ? settings.dimension : size.dimension));
    return subjects;
  }
  const auto algorithm = find_algorithm(key);
  const AlgorithmCard& card = algorithm->card();
  std::vector<Variant> variants{Variant::repaired};
  if (!card.printed.empty() && card.printed_privacy == PrivacyLabel::enforced)
    variants.push_back(Variant::printed);
  std::vector<Mode> modes{{"as scheduled", Mode::Numbers::own},
                          {"beyond its budget", Mode::Numbers::overdrawn},
                          {"every branch"}};
  if (values_of(algorithm->fields()).contains("sampling"))
    for (const char* sampling : {"all", "fresh", "sample", "poisson"})
      modes.push_back(
          {fmt::format("batches by {}", sampling), Mode::Numbers::every_branch, sampling});
  std::vector<Instance> instances;
  for (const Instance& instance : further_instances())
    if (instance.algorithm == key) instances.push_back(instance);
  for (Instance instance : every_kind_of_problem()) {
    instance.algorithm = key;
    instances.push_back(std::move(instance));
  }
  std::vector<Subject> subjects;
  for (const Instance& instance : instances) {
    const Problems problems(instance);
    for (const Variant variant : variants)
      for (const Mode& mode : modes) {
        try {
          subjects.push_back(replay_subject(instance, problems, variant, mode));
        } catch (const InputError&) {  // not for this problem, or not so drawn
        }
      }
  }
  return subjects;
}

}  // namespace dpsosp::audit
