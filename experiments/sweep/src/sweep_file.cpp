// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/text_file.hpp"
#include "dpsosp/experiments/known_data.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/toml_reader.hpp"
#include "dpsosp/experiments/tuning.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr std::int64_t most_points = 1000;
constexpr std::int64_t most_seeds = 100000;
constexpr std::int64_t most_first_seed = std::int64_t{1} << 53;
constexpr std::int64_t most_trials = 10000;
constexpr std::size_t most_tuned = 16;  // settings of an arm
constexpr double most_runs = 1e6;       // of a part
constexpr double usual_dimension = 100;
constexpr double small_data = 1e6;  // records times dimension that take milliseconds to make

/// What applies at this scale: the value itself, or that of a table {smoke = …, quick = …, full =
/// …}.
TomlNode at_scale(const TomlNode& node, Scale scale) {
  if (!node.is_table()) return node;
  TomlTable table = node.table();
  for (const char* of_range : {"from", "to", "points", "spacing"})
    if (table.has(of_range)) return node;
  table.allow({"smoke", "quick", "full"});
  return table.at(std::string(to_string(scale)));
}

bool is_integer_coordinate(std::string_view name) {
  return name == "records" || name == "dimension";
}

void check_coordinate(const TomlNode& node, const std::string& name) {
  static const std::vector<std::string> names{"records", "dimension", "epsilon", "delta"};
  if (std::ranges::find(names, name) != names.end()) return;
  for (const std::string_view prefix : {"set.", "problem."})
    if (name.starts_with(prefix) && name.size() > prefix.size()) return;
  node.fail(
      fmt::format("{} is no coordinate, expected records, dimension, epsilon, delta, "
                  "\"set.NAME\" or \"problem.NAME\"",
                  name));
}

double epsilon_of(const TomlNode& node) {
  const double epsilon = node.number();
  if (!(epsilon > 0)) node.refuse("a number > 0");
  return epsilon;
}

double delta_of(const TomlNode& node) {
  const double delta = node.number();
  if (!(delta > 0 && delta < 1)) node.refuse("a number in (0, 1)");
  return delta;
}

json value_of(const TomlNode& node, const std::string& coordinate) {
  if (is_integer_coordinate(coordinate)) return node.integer(1);
  if (coordinate == "epsilon") return epsilon_of(node);
  if (coordinate == "delta") return delta_of(node);
  return node.scalar();
}

/// An end of a range: a number that the coordinate can take.
double end_of(const TomlNode& node, const std::string& coordinate) {
  value_of(node, coordinate);
  return node.number();
}

/// from … to in `points` steps, evenly on a logarithmic or linear axis; both ends are exact.
std::vector<json> range_of(const TomlNode& node, const std::string& coordinate, Scale scale) {
  TomlTable t = node.table();
  t.allow({"from", "to", "points", "spacing"});
  const double from = end_of(at_scale(t.at("from"), scale), coordinate);
  const double to = end_of(at_scale(t.at("to"), scale), coordinate);
  const std::int64_t points = at_scale(t.at("points"), scale).integer(2, most_points);
  const std::string spacing = t.has("spacing") ? t.at("spacing").text() : "log";
  if (spacing != "log" && spacing != "linear") t.at("spacing").refuse("\"log\" or \"linear\"");
  if (spacing == "log" && !(from > 0 && to > 0))
    node.fail(fmt::format(
        "{} from {:g} to {:g}, expected ends > 0, or spacing = \"linear\"", coordinate, from, to));
  if (from == to)
    node.fail(fmt::format("{} from {:g} to {:g}, expected different ends", coordinate, from, to));
  std::vector<json> values;
  for (std::int64_t k = 0; k < points; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(points - 1);
    double v = spacing == "log" ? std::exp(std::log(from) + share * std::log(to / from))
                                : from + share * (to - from);
    if (k == 0) v = from;
    if (k == points - 1) v = to;
    if (!is_integer_coordinate(coordinate)) {
      values.emplace_back(v);
      continue;
    }
    const json rounded = static_cast<std::int64_t>(std::round(v));
    if (values.empty() || values.back() != rounded) values.push_back(rounded);
  }
  return values;
}

std::vector<json> grid_of(const TomlNode& node, const std::string& coordinate, Scale scale) {
  const TomlNode chosen = at_scale(node, scale);
  if (chosen.is_table()) return range_of(chosen, coordinate, scale);
  if (!chosen.is_array())
    chosen.refuse("an array of values, or a range { from = , to = , points = }");
  std::vector<json> values;
  std::set<json> seen;
  for (const TomlNode& item : chosen.array()) {
    values.push_back(value_of(item, coordinate));
    if (!seen.insert(values.back()).second)
      item.fail(fmt::format("{} = {} occurs twice", coordinate, values.back().dump()));
  }
  if (values.empty()) chosen.refuse("at least one value");
  return values;
}

/// One axis: a table of one coordinate, or of several that move together.
Axis axis_of(const TomlNode& node, Scale scale) {
  const TomlTable table = node.table();
  Axis axis;
  for (const auto& [name, grid] : table.entries()) {
    check_coordinate(grid, name);
    const std::vector<json> values = grid_of(grid, name, scale);
    if (axis.empty()) axis.resize(values.size());
    if (axis.size() != values.size())
      grid.fail(
          fmt::format("{} has {} values and {} has {}; coordinates of one axis move together "
                      "and have equally many",
                      name,
                      values.size(),
                      axis.front().front().first,
                      axis.size()));
    for (std::size_t k = 0; k < values.size(); ++k) axis[k].emplace_back(name, values[k]);
  }
  if (axis.empty()) node.refuse("a coordinate and its values");
  return axis;
}

const std::vector<std::string> spec_names{"records",
                                          "dimension",
                                          "epsilon",
                                          "delta",
                                          "calibrator",
                                          "noise",
                                          "variant",
                                          "schedule",
                                          "door",
                                          "observations",
                                          "settings",
                                          "problem_settings"};

void read_settings(const TomlNode& node, std::map<std::string, std::string>& into) {
  for (const auto& [name, value] : node.table().entries()) {
    const json v = value.scalar();
    into[name] = v.is_string()         ? v.get<std::string>()
                 : v.is_number_float() ? fmt::format("{}", v.get<double>())
                                       : v.dump();
  }
}

/// Everything of a run but algorithm, problem, seed: of the file for all arms, and of an arm.
void read_spec(const TomlTable& t, Scale scale, RunSpec& spec) {
  const auto given = [&](const char* name) { return t.has(name); };
  const auto at = [&](const char* name) { return at_scale(t.at(name), scale); };
  if (given("records")) spec.records = at("records").integer(1);
  if (given("dimension")) spec.dimension = at("dimension").integer(1);
  if (given("epsilon")) spec.epsilon = epsilon_of(at("epsilon"));
  if (given("delta")) spec.delta = delta_of(at("delta"));
  const auto read_word = [&]<class Enum>(const char* key, Enum& value) {
    if (given(key)) value = at(key).checked([&] { return from_word<Enum>(at(key).text()); });
  };
  read_word("calibrator", spec.calibrator);
  read_word("variant", spec.variant);
  read_word("schedule", spec.schedule);
  read_word("noise", spec.noise);
  read_word("door", spec.door);
  if (given("observations")) spec.observations = at("observations").integer(0);
  if (given("settings")) read_settings(t.at("settings"), spec.settings);
  if (given("problem_settings")) read_settings(t.at("problem_settings"), spec.problem_settings);
}

std::string name_of(const TomlTable& t) {
  const TomlNode node = t.at("name");
  if (node.text().empty()) node.refuse("a name");
  return node.text();
}

/// A caller's file as it is named from the folder of the sweep's file, in which cards are, too.
std::string named_from(const std::filesystem::path& folder, const std::string& file) {
  return file.starts_with(sha256_prefix) ? file : (folder / file).string();
}

/// The same on axes.
void name_from(const std::filesystem::path& folder, std::vector<Axis>& axes) {
  for (Axis& axis : axes)
    for (Coordinates& point : axis)
      for (auto& [name, value] : point)
        if (name == std::string("problem.") + own_data_setting && value.is_string())
          value = named_from(folder, value.get<std::string>());
}

/// \param folder  of the sweep's file, to which the card of a program is relative
Arm arm_of(const TomlNode& node,
           const RunSpec& common,
           Scale scale,
           const std::filesystem::path& folder) {
  TomlTable t = node.table();
  std::vector<std::string> names = spec_names;
  names.insert(names.end(), {"name", "algorithm", "program", "problem", "tune"});
  t.allow(names);
  Arm arm{.name = name_of(t), .spec = common};
  if (t.has("program")) {
    if (t.has("algorithm")) node.fail("program and algorithm in one arm, expected one of them");
    const std::filesystem::path card = folder / t.at("program").text();
    arm.spec.algorithm = t.at("program").checked([&] { return register_program(card); });
  } else {
    arm.spec.algorithm = t.at("algorithm").text();
  }
  arm.spec.problem = t.at("problem").text();
  read_spec(t, scale, arm.spec);
  node.checked([&] {
    const auto data = arm.spec.problem_settings.find(own_data_setting);
    if (data != arm.spec.problem_settings.end() && reads_own_data(arm.spec.problem))
      data->second = named_from(folder, data->second);
    describe(arm.spec);
  });
  return arm;
}

/// Whether a setting of the algorithm takes whole numbers alone; none without such a setting.
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
  values.erase(std::ranges::unique(values).begin(), values.end());
  Axis axis;
  for (json& v : values) axis.push_back({{name, std::move(v)}});
  return axis;
}

/// Gives an arm its trials: the space of [tune], as far as the arm does not say otherwise.
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
          arm.name,
          budget,
          budget_of(tune)));
  }
  std::vector<std::size_t> places;
  const auto add = [&](const TomlNode& at,
                       const TomlNode& values,
                       const std::string& role,
                       const std::string& setting) {
    const auto integers = takes_integers(arm.spec.algorithm, setting);
    if (!integers)
      at.fail(fmt::format(
          "{} has no setting {}, which is tuned; expected {} = \"NAME\" of its substitute, or {} = "
          "false, in the tune of arm {}",
          arm.spec.algorithm,
          setting,
          role,
          role,
          arm.name));
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
    return trials_of(arm.space,
                     places,
                     static_cast<std::size_t>(budget),
                     tune.has("order")
                         ? static_cast<std::uint64_t>(tune.at("order").integer(0, most_first_seed))
                         : Tuning{}.order);
  });
}

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

/// Refuses a part whose results would see what tuning has seen.
void check_apart(const TomlNode& node, const Part& part, const Tuning& tuning) {
  const std::uint64_t end = part.first_seed + std::max(part.seeds, part.most_seeds);
  const std::uint64_t tuning_end = tuning.first_seed + tuning.seeds;
  if (part.first_seed < tuning_end && tuning.first_seed < end)
    node.fail(
        fmt::format("part {} has seeds {} to {} and tuning has {} to {}; expected none in common, "
                    "by first_seed "
                    "of [tune] or of the file",
                    part.name,
                    part.first_seed,
                    end - 1,
                    tuning.first_seed,
                    tuning_end - 1));
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
                        part.name,
                        to_text(axis[value])));
  }
}

/// Refuses what no slope can be fitted along.
void check_fit_axis(const TomlNode& node, const Part& part) {
  const std::string name = node.text();
  std::vector<std::string> names;
  for (const Axis& axis : part.axes)
    for (const auto& [coordinate, unused] : axis.front()) names.push_back(coordinate);
  if (std::ranges::find(names, name) == names.end())
    node.refuse(
        fmt::format("a coordinate of part {}: {}",
                    part.name,
                    names.empty() ? "it has none" : fmt::format("{}", fmt::join(names, ", "))));
  for (const Axis& axis : part.axes)
    for (const Coordinates& p : axis)
      for (const auto& [coordinate, value] : p)
        if (coordinate == name && !(value.is_number() && value.get<double>() > 0))
          node.fail(fmt::format(
              "{} = {}, expected numbers > 0 where a slope is fitted", name, value.dump()));
}

/// What the claim states on the fit's axis; where it states several exponents there, that of the
/// fit's part and arm.
const StatedExponent& exponent_of(const TomlNode& claim,
                                  const FitRequest& fit,
                                  const Part& part,
                                  const Sweep& sweep,
                                  std::span<const StatedExponent> stated) {
  const auto fitted = [&](const std::string& arm) {
    return fit.arm.empty()
               ? std::ranges::any_of(part.arms, [&](auto a) { return sweep.arms[a].name == arm; })
               : arm == fit.arm;
  };
  const auto add = [](auto& list, const auto& value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  };
  // Entries of one exponent are one.
  const auto add_entry = [](std::vector<const StatedExponent*>& list, const StatedExponent& e) {
    if (std::ranges::find(list, e.exponent, &StatedExponent::exponent) == list.end())
      list.push_back(&e);
  };
  const std::string id = claim.text();
  std::vector<std::string> claims, axes;
  std::vector<const StatedExponent*> anywhere, here;
  for (const StatedExponent& e : stated) {
    add(claims, e.claim);
    if (e.claim != id) continue;
    add(axes, e.axis);
    if (e.axis != fit.axis) continue;
    add_entry(anywhere, e);
    if (e.part == part.name && fitted(e.arm)) add_entry(here, e);
  }
  if (axes.empty()) claim.checked([&] { reject_unknown("slope claim", id, claims); });
  if (anywhere.empty())
    claim.fail(fmt::format(
        "claim {} states no exponent on {}, only on {}", id, fit.axis, fmt::join(axes, ", ")));
  if (anywhere.size() == 1) return *anywhere.front();
  if (here.size() == 1) return *here.front();
  claim.fail(fmt::format(
      "claim {} states {} exponents on {} and {} of them for this part and arm, expected one",
      id,
      anywhere.size(),
      fit.axis,
      here.empty() ? "none" : "several"));
}

/// Whether the claim is about the fit's metric: that of its entries for this part and arm, where it
/// has such, else that of any entry on this axis. The schedule's own α is judged beside each.
bool is_of_claim(const FitRequest& fit,
                 const Part& part,
                 const Sweep& sweep,
                 std::span<const StatedExponent> stated) {
  if (fit.metric == "schedule.alpha") return true;
  bool here = false, here_same = false, any_same = false;
  for (const StatedExponent& e : stated) {
    if (e.claim != fit.claim || e.axis != fit.axis) continue;
    const bool same = e.metric.empty() || e.metric == fit.metric;
    any_same |= same;
    if (e.part != part.name ||
        (fit.arm.empty()
             ? std::ranges::none_of(part.arms, [&](auto a) { return sweep.arms[a].name == e.arm; })
             : e.arm != fit.arm))
      continue;
    here = true;
    here_same |= same;
  }
  return here ? here_same : any_same;
}

/// Every exponent that a claim names on the axis.
std::vector<double> named_exponents(std::string_view axis, std::span<const StatedExponent> stated) {
  std::vector<double> named;
  for (const StatedExponent& e : stated) {
    if (e.axis != axis) continue;
    named.insert(named.end(), {e.exponent.low, e.exponent.high});
    named.insert(named.end(), e.rivals.begin(), e.rivals.end());
  }
  return named;
}

FitRequest fit_of(const TomlNode& node,
                  const Part& part,
                  const Sweep& sweep,
                  std::span<const StatedExponent> stated) {
  TomlTable t = node.table();
  t.allow({"axis",
           "unit",
           "metric",
           "arm",
           "claim",
           "claimed",
           "rivals",
           "reference",
           "ends_at_alpha"});
  FitRequest f;
  f.axis = t.at("axis").text();
  f.metric = t.has("metric") ? t.at("metric").text() : sweep.metric;
  if (f.metric.empty()) node.fail("metric is missing, here and at the top of the file");
  (t.has("metric") ? t.at("metric") : node).checked([&] { check_metric(f.metric); });
  check_fit_axis(t.at("axis"), part);
  if (t.has("unit")) {
    if (t.at("unit").text() != "noise") t.at("unit").refuse("\"noise\"");
    if (f.axis != "epsilon")
      t.at("unit").fail(
          fmt::format("unit = \"noise\" with axis = \"{}\", expected axis = \"epsilon\"", f.axis));
    f.in_noise = true;
  }
  if (t.has("arm")) {
    f.arm = t.at("arm").text();
    if (std::ranges::none_of(part.arms, [&](std::size_t a) { return sweep.arms[a].name == f.arm; }))
      t.at("arm").refuse("an arm of part " + part.name);
  }
  if (t.has("claimed")) f.claimed = std::make_from_tuple<ClaimedExponent>(t.at("claimed").range());
  if (t.has("claim")) {
    if (f.claimed) node.fail("claim and claimed in one fit, expected one of them");
    f.claim = t.at("claim").text();
    const StatedExponent e = exponent_of(t.at("claim"), f, part, sweep, stated);
    if (is_of_claim(f, part, sweep, stated)) {
      f.claimed = e.exponent;
      f.solved = e.solved;
    }
  }
  f.rivals = named_exponents(f.axis, stated);
  if (t.has("rivals")) {
    if (!f.claimed && f.claim.empty())
      t.at("rivals").fail("rivals of no claimed exponent, expected claim or claimed");
    for (const TomlNode& rival : t.at("rivals").array()) f.rivals.push_back(rival.number());
  }
  if (t.has("ends_at_alpha")) f.ends_at_alpha = t.at("ends_at_alpha").boolean();
  if (t.has("reference")) f.reference = t.at("reference").number();
  return f;
}

std::vector<std::size_t> arms_of(const TomlTable& t, const Sweep& sweep) {
  std::vector<std::size_t> arms;
  if (!t.has("arms")) {
    for (std::size_t k = 0; k < sweep.arms.size(); ++k) arms.push_back(k);
    return arms;
  }
  std::vector<std::string> names;
  for (const Arm& a : sweep.arms) names.push_back(a.name);
  for (const TomlNode& item : t.at("arms").array()) {
    const auto found = std::ranges::find(names, item.text());
    if (found == names.end()) item.checked([&] { reject_unknown("arm", item.text(), names); });
    const auto arm = static_cast<std::size_t>(found - names.begin());
    if (std::ranges::find(arms, arm) != arms.end())
      item.fail(fmt::format("arm '{}' occurs twice in one part", *found));
    arms.push_back(arm);
  }
  if (arms.empty()) t.at("arms").refuse("at least one arm");
  return arms;
}

/// \return whether the part runs at this scale
bool on_scale(const TomlTable& t, Scale scale) {
  if (!t.has("scales")) return true;
  const std::vector<TomlNode> scales = t.at("scales").array();
  if (scales.empty()) t.at("scales").refuse("some of smoke, quick, full");
  bool on = false;
  for (const TomlNode& item : scales)
    item.checked([&] { on = from_word<Scale>(item.text()) == scale || on; });
  return on;
}

bool coordinate_named(const Coordinates& point, std::string_view name) {
  return std::ranges::find(point, name, &Coordinates::value_type::first) != point.end();
}

std::vector<Axis> axes_of(const TomlNode& node, Scale scale) {
  std::vector<Axis> axes;
  std::set<std::string> names;
  for (const TomlNode& item : node.array()) {
    axes.push_back(axis_of(item, scale));
    for (const auto& [name, unused] : axes.back().front())
      if (!names.insert(name).second) item.fail(fmt::format("{} is on two axes", name));
  }
  return axes;
}

/// Refuses what a run would refuse before its first step, at the smallest n of all else that moves.
/// Larger data are left to the runs: to make them here would take long.
void check_smallest(const Sweep& sweep, const Part& part, const std::vector<Cell>& cells) {
  std::map<std::string, const Cell*> smallest;
  const auto records = [](const Cell& c) { return static_cast<double>(c.first_run().records); };
  for (const Cell& c : cells) {
    Coordinates rest = c.at;
    std::erase_if(rest, [](const auto& moved) { return moved.first == "records"; });
    const Cell*& least = smallest[fmt::format("{} {}", c.arm, to_text(rest))];
    if (least == nullptr || records(c) < records(*least)) least = &c;
  }
  for (const auto& [unused, cell] : smallest) {
    const RunDescription& run = cell->first_run();
    if (!run.data.empty() && known_data(run.data).empty()) continue;  // its runs are stored
    const double dimension = run.dimension ? static_cast<double>(*run.dimension) : usual_dimension;
    if (records(*cell) * dimension > small_data) continue;
    try {
      scheduled_parameters(run);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", place_of(sweep, part, *cell), e.what()));
    }
  }
}

/// The axis of the arm's space that moves this coordinate; null without one.
const Axis* tuned(const Arm& arm, const std::string& name) {
  const auto found = std::ranges::find_if(
      arm.space, [&](const Axis& axis) { return axis.front().front().first == name; });
  return found == arm.space.end() ? nullptr : &*found;
}

/// Refuses what describes no run, or too many.
void check_cells(const TomlNode& axes, const Sweep& sweep, Part part, bool try_runs) {
  double runs = 0;
  for (const std::size_t arm : part.arms) {
    const std::size_t trials = sweep.arms[arm].trials.size();
    runs += static_cast<double>(part.seeds);
    if (trials > 1) runs += static_cast<double>(trials) * static_cast<double>(sweep.tuning.seeds);
    for (const Axis& axis : part.axes)
      for (const auto& [name, unused] : axis.front())
        if (const Axis* both = tuned(sweep.arms[arm], name); both != nullptr)
          axes.fail(fmt::format("{} is on an axis of part {} and tuned in arm {}",
                                name,
                                part.name,
                                sweep.arms[arm].name));
  }
  for (const Axis& axis : part.axes) runs *= static_cast<double>(axis.size());
  if (runs > most_runs)
    axes.fail(
        fmt::format("part {} has {:g} runs, expected at most {:g}", part.name, runs, most_runs));
  Sweep plain = as_written(sweep);
  plain.parts = {part};
  Sweep tuned = sweep;
  tuned.parts = {part};
  for (Part& search : search_of(tuned).parts) plain.parts.push_back(std::move(search));
  for (Part& each : plain.parts) {
    each.seeds = 1;
    for (const Axis& axis : each.by_seed)
      each.seeds = std::max<std::uint64_t>(each.seeds, axis.size());
    axes.checked([&] {
      const std::vector<Cell> cells = cells_of(plain, each);
      if (try_runs) check_smallest(plain, each, cells);
    });
  }
}

/// \param try_runs  also refuse what only a run would refuse
Sweep parse(std::string_view toml,
            const std::string& source,
            Scale scale,
            std::span<const StatedExponent> stated,
            bool try_runs) {
  const TomlDocument document(toml, source);
  TomlTable top = document.root();
  std::vector<std::string> names = spec_names;
  names.insert(names.end(), {"title", "metric", "seeds", "first_seed", "tune", "arm", "part"});
  top.allow(names);

  Sweep sweep;
  sweep.name = source;
  sweep.title = top.at("title").text();
  RunSpec common;
  read_spec(top, scale, common);
  if (top.has("metric")) {
    sweep.metric = top.at("metric").text();
    top.at("metric").checked([&] { check_metric(sweep.metric); });
  }
  const auto seeds_of = [&](const TomlTable& t, const char* key) {
    return static_cast<std::uint64_t>(at_scale(t.at(key), scale).integer(1, most_seeds));
  };
  std::optional<TomlTable> tune;
  if (top.has("tune")) {
    tune = top.at("tune").table();
    sweep.tuning = tuning_of(*tune, scale);
    if (!less_is_better(sweep.metric))
      top.at(top.has("metric") ? "metric" : "tune")
          .fail(
              "settings are chosen by the metric at the top of the file; expected one of points, "
              "of which less is better, as \"output.gradient_norm\"");
  }
  for (const TomlNode& node : top.at("arm").array()) {
    sweep.arms.push_back(arm_of(node, common, scale, std::filesystem::path(source).parent_path()));
    if (tune) tune_arm(node, *tune, scale, sweep.arms.back());
    if (!tune && node.table().has("tune"))
      node.table().at("tune").fail("tune without [tune], which has budget, seeds and space");
    for (std::size_t k = 0; k + 1 < sweep.arms.size(); ++k)
      if (sweep.arms[k].name == sweep.arms.back().name)
        node.fail(fmt::format("two arms are called '{}'", sweep.arms[k].name));
  }
  if (sweep.arms.empty()) top.at("arm").refuse("at least one [[arm]]");
  const auto trials = [](const Arm& arm) { return arm.trials.size(); };
  if (std::ranges::adjacent_find(sweep.arms, std::ranges::not_equal_to{}, trials) ==
      sweep.arms.end())
    sweep.tuning.unequal.clear();
  std::set<std::string> parts;
  for (const TomlNode& node : top.at("part").array()) {
    TomlTable t = node.table();
    t.allow({"name", "arms", "axes", "by_seed", "seeds", "most_seeds", "scales", "fit", "note"});
    Part part;
    part.name = name_of(t);
    t.at("name").checked([&] { check_id("name", part.name); });  // it names files
    if (!parts.insert(part.name).second)
      node.fail(fmt::format("two parts are called '{}'", part.name));
    if (!on_scale(t, scale)) continue;
    part.arms = arms_of(t, sweep);
    part.axes = axes_of(t.at("axes"), scale);
    if (t.has("by_seed")) {
      part.by_seed = axes_of(t.at("by_seed"), scale);
      for (const Axis& axis : part.by_seed)
        for (const auto& [name, unused] : axis.front())
          for (const Axis& moved : part.axes)
            if (coordinate_named(moved.front(), name))
              t.at("by_seed").fail(fmt::format("{} is on an axis of the part, too", name));
    }
    if (std::ranges::any_of(part.arms, [&](std::size_t arm) {
          return reads_own_data(sweep.arms[arm].spec.problem);
        }))
      for (auto* axes : {&part.axes, &part.by_seed})
        name_from(std::filesystem::path(source).parent_path(), *axes);
    part.seeds = seeds_of(t.has("seeds") ? t : top, "seeds");
    if (top.has("first_seed"))
      part.first_seed =
          static_cast<std::uint64_t>(top.at("first_seed").integer(0, most_first_seed));
    if (t.has("most_seeds")) {
      part.most_seeds = seeds_of(t, "most_seeds");
      if (part.most_seeds < part.seeds)
        t.at("most_seeds").refuse(fmt::format("at least the {} seeds of the part", part.seeds));
    }
    if (t.has("note")) part.note = t.at("note").text();
    if (tune) check_apart(node, part, sweep.tuning);
    check_cells(t.at("axes"), sweep, part, try_runs);
    if (t.has("fit"))
      for (const TomlNode& fit : t.at("fit").array())
        part.fits.push_back(fit_of(fit, part, sweep, stated));
    sweep.parts.push_back(std::move(part));
  }
  if (parts.empty()) top.at("part").refuse("at least one [[part]]");
  return sweep;
}

}  // namespace

Sweep parse_sweep(std::string_view toml,
                  const std::string& source,
                  Scale scale,
                  std::span<const StatedExponent> stated) {
  return parse(toml, source, scale, stated, false);
}

Sweep read_sweep(const std::filesystem::path& file,
                 Scale scale,
                 std::span<const StatedExponent> stated) {
  if (const std::string why = why_unreadable(file); !why.empty())
    throw InputError(fmt::format("sweep: {} {}, expected a TOML file", file.string(), why));
  Sweep sweep = parse(read_text(file), file.string(), scale, stated, true);
  sweep.name = file.stem().string();
  return sweep;
}

}  // namespace dpsosp
