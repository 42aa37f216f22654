// SPDX-License-Identifier: Apache-2.0
#include "tuning_file.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "sweep_axes.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr std::int64_t most_trials = 10000;
constexpr std::size_t most_tuned = 16;  // settings of an arm

/// True if a setting of the algorithm takes whole numbers alone; none without such a setting.
std::optional<bool> takes_integers(const std::string& algorithm, const std::string& setting) {
  const auto made = find_algorithm(algorithm);
  const Fields fields = made->fields();
  const auto found = std::ranges::find(fields, setting, &Field::name);
  if (found == fields.end()) return {};
  return found->integer;
}

/// The values of a setting that is tuned. Between its ends, a range has whole numbers where the
/// setting takes no others, and numbers of three digits elsewhere.
Axis tuned_axis(const TomlNode& node, const std::string& setting, bool integers, Scale scale) {
  const std::string name = "set." + setting;
  std::vector<json> values = grid_of(node, name, scale);
  if (at_scale(node, scale).is_table())
    for (json& v : values) {
      if (integers)
        v = static_cast<std::int64_t>(std::round(v.get<double>()));
      else if (&v != &values.front() && &v != &values.back())
        v = std::stod(fmt::format("{:.3g}", v.get<double>()));
    }
  values.erase(std::unique(values.begin(), values.end()), values.end());
  Axis axis;
  for (json& v : values) axis.push_back({{name, std::move(v)}});
  return axis;
}

}  // namespace

Tuning tuning_of(const TomlTable& tune, Scale scale) {
  tune.allow({"budget", "seeds", "first_seed", "order", "space", "unequal"});
  Tuning t;
  t.seeds = static_cast<std::uint64_t>(at_scale(tune.at("seeds"), scale).integer(1, most_seeds));
  if (tune.has("first_seed"))
    t.first_seed = static_cast<std::uint64_t>(tune.at("first_seed").integer(0, most_first_seed));
  if (tune.has("order"))
    t.order = static_cast<std::uint64_t>(tune.at("order").integer(0, most_first_seed));
  if (tune.has("unequal")) t.unequal = tune.at("unequal").text();
  if (tune.has("unequal") && t.unequal.empty())
    tune.at("unequal").refuse("why the budgets differ, which the tables print");
  return t;
}

void tune_arm(const TomlNode& node, const TomlTable& tune, Scale scale, Arm& arm) {
  const TomlTable t = node.table();
  const auto budget_of = [&](const TomlTable& of) {
    return at_scale(of.at("budget"), scale).integer(1, most_trials);
  };
  std::int64_t budget = budget_of(tune);
  std::vector<std::pair<std::string, TomlNode>> own;
  if (t.has("tune")) {
    const TomlNode of_arm = t.at("tune");
    if (of_arm.is_table()) {
      own = of_arm.table().entries();
      if (of_arm.table().has("budget")) budget = budget_of(of_arm.table());
    } else {
      if (of_arm.boolean()) of_arm.refuse("false, or a table of settings");
      budget = 1;
    }
    if (budget != budget_of(tune) && !tune.has("unequal"))
      of_arm.fail(fmt::format(
          "arm {} tries {} settings and [tune] has budget = {}; expected the same for all arms, or "
          "unequal = \"WHY\" in [tune]",
          arm.name, budget, budget_of(tune)));
  }
  std::vector<std::size_t> places;
  const auto add = [&](const TomlNode& at, const TomlNode& values, const std::string& role,
                       const std::string& setting) {
    const auto integers = takes_integers(arm.spec.algorithm, setting);
    if (!integers)
      at.fail(fmt::format(
          "{} has no setting {}, which is tuned; expected {} = \"NAME\" of its substitute, or {} = "
          "false, in the tune of arm {}",
          arm.spec.algorithm, setting, role, role, arm.name));
    for (const Axis& other : arm.space)
      if (other.front().front().first == "set." + setting)
        at.fail(fmt::format("arm {} tunes {} twice", arm.name, setting));
    arm.space.push_back(tuned_axis(values, setting, *integers, scale));
  };
  std::size_t place = 0;
  for (const auto& [name, values] : tune.at("space").table().entries()) {
    const auto other = std::ranges::find(own, name, &std::pair<std::string, TomlNode>::first);
    const std::size_t here = place++;
    if (other == own.end()) {
      add(t.has("tune") ? t.at("tune") : node, values, name, name);
    } else if (other->second.is_table() || other->second.is_array()) {
      add(other->second, other->second, name, name);
    } else if (other->second.scalar().is_string()) {
      add(other->second, values, name, other->second.text());
    } else {
      if (other->second.boolean()) other->second.refuse("a setting in its place, values, or false");
      continue;
    }
    places.push_back(here);
  }
  for (const auto& [name, values] : own) {
    if (name == "budget" || tune.at("space").table().has(name)) continue;
    add(values, values, name, name);
    places.push_back(place++);
  }
  if (place > most_tuned)
    node.fail(fmt::format("{} settings are tuned, expected at most {}", place, most_tuned));
  arm.trials = node.checked([&] {
    return trials_of(arm.space, places, static_cast<std::size_t>(budget),
                     tune.has("order")
                         ? static_cast<std::uint64_t>(tune.at("order").integer(0, most_first_seed))
                         : Tuning{}.order);
  });
}

void check_apart(const TomlNode& node, const Part& part, const Tuning& tuning) {
  const std::uint64_t end = part.first_seed + std::max(part.seeds, part.most_seeds);
  const std::uint64_t tuning_end = tuning.first_seed + tuning.seeds;
  if (part.first_seed < tuning_end && tuning.first_seed < end)
    node.fail(
        fmt::format("part {} has seeds {} to {} and tuning has {} to {}; expected none in common, "
                    "by first_seed "
                    "of [tune] or of the file",
                    part.name, part.first_seed, end - 1, tuning.first_seed, tuning_end - 1));
  for (const Axis& axis : part.by_seed) {
    const auto seen = [&](std::uint64_t first, std::uint64_t last) {
      std::set<std::uint64_t> values;
      for (std::uint64_t seed = first; seed < last && values.size() < axis.size(); ++seed)
        values.insert(seed % axis.size());
      return values;
    };
    const auto finals = seen(part.first_seed, end);
    for (const std::uint64_t value : seen(tuning.first_seed, tuning_end))
      if (finals.contains(value))
        node.fail(
            fmt::format("by_seed of part {} gives tuning and results one instance, {}; expected "
                        "more values than "
                        "all seeds together, and a first_seed of [tune] that leads to others",
                        part.name, to_text(axis[value])));
  }
}

}  // namespace dpsosp
