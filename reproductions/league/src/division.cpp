// SPDX-License-Identifier: Apache-2.0
#include "division.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "committed.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "measures.hpp"

namespace dpsosp::league {
namespace {

constexpr std::uint64_t order_seed = 60;  // of the order of trials, the same for every method
constexpr std::string_view settings_header = "group,d,n,algorithm,budget,trial";

/// Products that a schedule may take; more where it is compared as published.
double most_work(const Method& method, Scale scale) {
  if (scale == Scale::full) return 1e11;
  return method.dials.empty() ? 2e9 : 2e8;
}
/// A step on simulated records costs about as much as this many.
constexpr double simulated_step = 3e3;

double work_of_a_step(const Instance& instance, Index records) {
  return instance.group->simulated
             ? simulated_step
             : static_cast<double>(records) * static_cast<double>(instance.dimension);
}

std::uint64_t instances_of(Use use, Scale scale) {
  if (scale == Scale::smoke) return 1;
  if (use == Use::tuning) return 6;  // groups have three kinds of problems at most
  if (use == Use::development) return 9;
  return scale == Scale::full ? 15 : 5;
}

std::vector<std::string> values_of(const Dial& dial, bool simulated) {
  std::vector<std::string> values = dial.values;
  if (!simulated) values.insert(values.end(), dial.in_memory.begin(), dial.in_memory.end());
  return values;
}

double unit_on(Unit unit, const Instance& instance) {
  const auto smoothness = [&] { return instance.constant(constant::smoothness); };
  switch (unit) {
    case Unit::lipschitz:
      return instance.constant(constant::lipschitz);
    case Unit::smoothness:
      return smoothness();
    case Unit::inverse_smoothness:
      return 1 / smoothness();
    case Unit::length:
    case Unit::length_over_steps:
      return std::sqrt(instance.constant(constant::suboptimality) / smoothness());
    case Unit::squared_length:
      return instance.constant(constant::suboptimality) / smoothness();
    case Unit::joint:
      return instance.constant(constant::joint_smoothness);
    case Unit::inverse_joint:
      return 1 / instance.constant(constant::joint_smoothness);
    case Unit::none:
      break;
  }
  return 1;
}

/// Points of the space, with the defaults in the second place.
std::vector<Settings> ordered(const Method& method, bool simulated) {
  std::vector<Axis> space;
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < method.dials.size(); ++k) {
    const Dial& dial = method.dials[k];
    const auto values = values_of(dial, simulated);
    if (values.size() < 2) continue;
    Axis axis;
    for (const std::string& value : values) axis.push_back({{dial.name, value}});
    space.push_back(std::move(axis));
    places.push_back(k);
  }
  std::vector<Settings> order;
  for (const Coordinates& trial : trials_of(space, places, budgets.back(), order_seed)) {
    Settings settings;
    for (const auto& [name, value] : trial) settings.emplace(name, value.get<std::string>());
    order.push_back(std::move(settings));
  }
  std::swap(order[0], order[default_trial]);
  return order;
}

/// Of every contest.
std::vector<Place> places_of_all(Scale scale) {
  std::vector<Place> list = places(scale);
  for (const Place& place : places(scale, Contest::minimax)) list.push_back(place);
  return list;
}

/// Steps of the longest stage that the schedule of a run plans, and of a dual's ascent within each
/// as many. \throws InputError where it refuses
double planned_steps(const Job& run) {
  double steps = 0, ascents = 1;
  for (const auto& [name, text] : scheduled_parameters(*run.run())) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (name == "steps" || name.ends_with(".steps")) steps = std::max(steps, value);
    if (name == "ascent_steps" || name == "inner_steps") ascents = std::max(ascents, value);
  }
  return steps * ascents;
}

std::optional<Job> new_job(const Method& method, std::size_t trial, const Instance& instance,
                           Index records, Scale scale) {
  RunSpec spec = instance.spec;
  spec.algorithm = method.algorithm;
  spec.records = records;
  spec.epsilon = league_epsilon;
  if (trial != default_trial) spec.noise = NoiseRule::calibrated;
  if (instance.group->simulated && find_algorithm(method.algorithm)->card().single_pass)
    spec.problem_settings["sampling"] = "stream";
  try {
    spec.settings = settings_of(method, trial, instance);
    Job job(describe(spec));
    if (trial == default_trial &&
        planned_steps(job) * work_of_a_step(instance, records) > most_work(method, scale))
      return {};
    return job;
  } catch (const InputError&) {
    return {};
  }
}

std::string key_of(const Place& place, const std::string& algorithm, std::size_t budget) {
  return fmt::format("{},{},{},{},{}", place.group->id, place.dimension, place.records, algorithm,
                     budget);
}

}  // namespace

const std::vector<Settings>& order_of(const Method& method, bool simulated) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, bool>, std::vector<Settings>> known;
  const std::scoped_lock lock(mutex);
  const auto [found, is_new] = known.try_emplace({method.algorithm, simulated});
  if (is_new) {
    if (method.dials.empty())
      found->second.resize(default_trial + 1);
    else
      found->second = ordered(method, simulated);
  }
  return found->second;
}

std::string factor_of(const Dial::Moved& moved, const std::string& value, const Settings& trial) {
  if (moved.unit != Unit::length_over_steps) return value;
  return fmt::format("{:.6g}", std::stod(value) / std::stod(trial.at("steps")));
}

Settings settings_of(const Method& method, std::size_t trial, const Instance& instance) {
  if (trial == default_trial) return {};
  Settings settings = method.fixed;
  const Settings& values = order_of(method, instance.group->simulated).at(trial);
  for (const auto& [name, value] : values) {
    const auto dial = std::ranges::find(method.dials, name, &Dial::name);
    for (const Dial::Moved& moved : dial->moved) {
      const std::string factor = factor_of(moved, value, values);
      settings[moved.setting] =
          moved.unit == Unit::none
              ? factor
              : fmt::format("{}", std::stod(factor) * unit_on(moved.unit, instance));
    }
  }
  return settings;
}

std::vector<Place> places(Scale scale, Contest contest) {
  std::vector<Place> list;
  for (const Group& group : groups(contest))
    for (const Index d : dimensions(contest))
      for (const Index n : group.records)
        if (scale != Scale::smoke ||
            (d == dimensions(contest)[1] && n == group.records[group.records.size() - 2]))
          list.push_back({.group = &group, .dimension = d, .records = n});
  return list;
}

std::vector<Instance> instances(const Place& place, Use use, Scale scale) {
  std::vector<Instance> list;
  for (std::uint64_t k = 0; k < instances_of(use, scale); ++k)
    list.push_back(instance_of(*place.group, place.dimension, seed_of(use, k)));
  return list;
}

std::optional<Job> job_of(const Method& method, std::size_t trial, const Instance& instance,
                          Index records, Scale scale) {
  static std::mutex mutex;
  static std::map<
      std::tuple<std::string, bool, std::size_t, const Group*, Index, std::uint64_t, Index>,
      std::optional<Job>>
      known;  // every table asks for the same runs, and a schedule may take long
  const std::tuple key{method.algorithm,   method.dials.empty(), trial,  instance.group,
                       instance.dimension, instance.seed,        records};
  {
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  auto job = new_job(method, trial, instance, records, scale);
  const std::scoped_lock lock(mutex);
  return known.emplace(key, std::move(job)).first->second;
}

Choices::Choices(std::string_view csv) {
  bool first = true;
  while (!csv.empty()) {
    const std::string_view line = csv.substr(0, csv.find('\n'));
    csv.remove_prefix(std::min(csv.size(), line.size() + 1));
    if (std::exchange(first, false) && line == settings_header) continue;
    const auto comma = line.rfind(',');
    std::size_t trial = 0;
    if (comma == std::string_view::npos ||
        std::from_chars(line.data() + comma + 1, line.data() + line.size(), trial).ptr !=
            line.data() + line.size() ||
        trial >= budgets.back())
      throw InputError(fmt::format("settings.csv: {}, expected {}", line, settings_header));
    trials_.emplace(line.substr(0, comma), trial);
  }
}

std::string Choices::csv() const {
  std::string text = fmt::format("{}\n", settings_header);
  for (const auto& [key, trial] : trials_) text += fmt::format("{},{}\n", key, trial);
  return text;
}

void Choices::set(const Place& place, const std::string& algorithm, std::size_t budget,
                  std::size_t trial) {
  trials_[key_of(place, algorithm, budget)] = trial;
}

std::size_t Choices::trial(const Place& place, const std::string& algorithm,
                           std::size_t budget) const {
  const auto found = trials_.find(key_of(place, algorithm, budget));
  return found == trials_.end() ? default_trial : found->second;
}

const Choices& committed_choices() {
  static const Choices choices(settings_csv());
  return choices;
}

std::vector<Job> tuning_jobs(Scale scale, std::size_t most) {
  std::vector<Job> jobs;
  for (const Place& place : places_of_all(scale))
    for (const Method& method : methods(place.group->contest))
      for (std::size_t trial = 0; !method.dials.empty() && trial < budgets.back(); ++trial)
        for (const Instance& instance : instances(place, Use::tuning, scale)) {
          if (jobs.size() == most) return jobs;
          if (auto job = job_of(method, trial, instance, place.records, scale))
            jobs.push_back(std::move(*job));
        }
  return jobs;
}

Choices choose(const Runs& runs, Scale scale) {
  Choices choices;
  for (const Place& place : places_of_all(scale)) {
    const auto tried = instances(place, Use::tuning, scale);
    for (const Method& method : methods(place.group->contest)) {
      if (method.dials.empty()) continue;
      std::vector<std::vector<Reached>> reached;  // [trial][instance]
      for (std::size_t trial = 0; trial < budgets.back(); ++trial) {
        reached.emplace_back();
        for (const Instance& instance : tried)
          reached.back().push_back(
              reached_by(runs, job_of(method, trial, instance, place.records, scale)));
      }
      for (const std::size_t budget : budgets)
        if (budget > 0) choices.set(place, method.algorithm, budget, best_trial(reached, budget));
    }
  }
  return choices;
}

}  // namespace dpsosp::league
