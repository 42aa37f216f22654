// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "toml_reader.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr std::int64_t most_points = 1000;

/// What stands at this scale: the value itself, or that of a table {smoke = …, quick = …, full =
/// …}.
TomlNode at_scale(const TomlNode& node, Scale scale) {
  if (!node.is_table()) return node;
  TomlTable table = node.table();
  const bool scaled = table.has("smoke") || table.has("quick") || table.has("full");
  if (!scaled) return node;
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
                  "set.NAME or problem.NAME",
                  name));
}

json value_of(const TomlNode& node, const std::string& coordinate) {
  if (is_integer_coordinate(coordinate)) return node.integer(1);
  if (coordinate == "epsilon" || coordinate == "delta") return node.number();
  return node.scalar();
}

/// from … to in `points` steps, evenly on a logarithmic or linear axis; both ends are exact.
std::vector<json> range_of(const TomlNode& node, const std::string& coordinate, Scale scale) {
  TomlTable t = node.table();
  t.allow({"from", "to", "points", "spacing"});
  const double from = at_scale(t.at("from"), scale).number();
  const double to = at_scale(t.at("to"), scale).number();
  const std::int64_t points = at_scale(t.at("points"), scale).integer(2);
  if (points > most_points)
    t.at("points").fail(fmt::format("points = {}, expected at most {}", points, most_points));
  const std::string spacing = t.has("spacing") ? t.at("spacing").text() : "log";
  if (spacing != "log" && spacing != "linear")
    t.at("spacing").fail(fmt::format("spacing = '{}', expected log or linear", spacing));
  if (spacing == "log" && !(from > 0 && to > 0))
    node.fail("a logarithmic range needs from > 0 and to > 0");
  if (from == to) node.fail("from and to are equal");
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
  std::vector<json> values;
  for (const TomlNode& item : chosen.array()) values.push_back(value_of(item, coordinate));
  if (values.empty()) chosen.fail(fmt::format("{} has no values", coordinate));
  std::set<std::string> seen;
  for (const json& v : values)
    if (!seen.insert(v.dump()).second)
      chosen.fail(fmt::format("{} = {} occurs twice", coordinate, v.dump()));
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
          fmt::format("{} has {} values beside {}; coordinates that move together have "
                      "equally many",
                      name,
                      values.size(),
                      axis.size()));
    for (std::size_t k = 0; k < values.size(); ++k) axis[k].emplace_back(name, values[k]);
  }
  if (axis.empty()) node.fail("an axis without a coordinate");
  return axis;
}

const std::vector<std::string> spec_names{"records",
                                          "dimension",
                                          "epsilon",
                                          "delta",
                                          "calibrator",
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
  if (given("epsilon")) spec.epsilon = at("epsilon").number();
  if (given("delta")) spec.delta = at("delta").number();
  if (given("calibrator")) spec.calibrator = at("calibrator").text();
  if (given("variant")) spec.variant = at("variant").text();
  if (given("schedule")) spec.schedule = at("schedule").text();
  if (given("door")) spec.door = at("door").checked([&] { return door_of(at("door").text()); });
  if (given("observations")) spec.observations = at("observations").integer(0);
  if (given("settings")) read_settings(t.at("settings"), spec.settings);
  if (given("problem_settings")) read_settings(t.at("problem_settings"), spec.problem_settings);
}

Arm arm_of(const TomlNode& node, const RunSpec& common, Scale scale) {
  TomlTable t = node.table();
  std::vector<std::string> names = spec_names;
  names.insert(names.end(), {"name", "algorithm", "problem"});
  t.allow(names);
  Arm arm{.name = t.at("name").text(), .spec = common};
  arm.spec.algorithm = t.at("algorithm").text();
  arm.spec.problem = t.at("problem").text();
  read_spec(t, scale, arm.spec);
  node.checked([&] { describe(arm.spec); });
  return arm;
}

FitRequest fit_of(const TomlNode& node, const Part& part, const Sweep& sweep) {
  TomlTable t = node.table();
  t.allow({"axis", "metric", "arm", "claimed", "reference"});
  FitRequest f;
  f.axis = t.at("axis").text();
  f.metric = t.has("metric") ? t.at("metric").text() : sweep.metric;
  if (f.metric.empty()) node.fail("metric is missing, here and at the top of the file");
  (t.has("metric") ? t.at("metric") : node).checked([&] { check_metric(f.metric); });
  if (std::ranges::none_of(
          part.axes, [&](const Axis& a) { return coordinate(a.front(), f.axis).has_value(); }))
    t.at("axis").fail(fmt::format(
        "axis = '{}' is no coordinate of part {}, or holds no numbers", f.axis, part.name));
  for (const Axis& axis : part.axes)
    for (const Point& p : axis)
      if (const auto x = coordinate(p, f.axis); x && *x <= 0)
        t.at("axis").fail(
            fmt::format("{} = {:g}, expected > 0 where a slope is fitted", f.axis, *x));
  if (t.has("arm")) {
    f.arm = t.at("arm").text();
    if (std::ranges::none_of(part.arms, [&](std::size_t a) { return sweep.arms[a].name == f.arm; }))
      t.at("arm").fail(fmt::format("arm = '{}' is not in part {}", f.arm, part.name));
  }
  if (t.has("claimed")) f.claimed = t.at("claimed").number();
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
    arms.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return arms;
}

/// \return whether the part runs at this scale
bool on_scale(const TomlTable& t, Scale scale) {
  if (!t.has("scales")) return true;
  bool on = false;
  for (const TomlNode& item : t.at("scales").array())
    item.checked([&] { on = on || scale_of(item.text()) == scale; });
  return on;
}

}  // namespace

Sweep parse_sweep(std::string_view toml, const std::string& source, Scale scale) {
  const TomlDocument document(toml, source);
  TomlTable top = document.root();
  std::vector<std::string> names = spec_names;
  names.insert(names.end(), {"title", "metric", "seeds", "arm", "part"});
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
  const auto seeds_of = [&](const TomlTable& t) {
    return static_cast<std::uint64_t>(at_scale(t.at("seeds"), scale).integer(1));
  };
  for (const TomlNode& node : top.at("arm").array()) {
    sweep.arms.push_back(arm_of(node, common, scale));
    for (std::size_t k = 0; k + 1 < sweep.arms.size(); ++k)
      if (sweep.arms[k].name == sweep.arms.back().name)
        node.fail(fmt::format("two arms are called '{}'", sweep.arms[k].name));
  }
  std::set<std::string> parts;
  for (const TomlNode& node : top.at("part").array()) {
    TomlTable t = node.table();
    t.allow({"name", "arms", "axes", "seeds", "scales", "fit", "note"});
    Part part;
    part.name = t.at("name").text();
    if (!parts.insert(part.name).second)
      node.fail(fmt::format("two parts are called '{}'", part.name));
    if (!on_scale(t, scale)) continue;
    part.arms = arms_of(t, sweep);
    for (const TomlNode& axis : t.at("axes").array()) part.axes.push_back(axis_of(axis, scale));
    part.seeds = seeds_of(t.has("seeds") ? t : top);
    if (t.has("note")) part.note = t.at("note").text();
    if (t.has("fit"))
      for (const TomlNode& fit : t.at("fit").array()) part.fits.push_back(fit_of(fit, part, sweep));
    sweep.parts.push_back(std::move(part));
  }
  for (const Part& part : sweep.parts) cells_of(sweep, part);  // refuses what describes no run
  return sweep;
}

Sweep read_sweep(const std::filesystem::path& file, Scale scale) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || std::filesystem::is_directory(file))
    throw InputError(fmt::format("sweep: {} cannot be read", file.string()));
  Sweep sweep = parse_sweep(text.view(), file.string(), scale);
  sweep.name = file.stem().string();
  return sweep;
}

Sweep built_in_sweep(std::string_view name, Scale scale) {
  std::vector<std::string> names;
  for (const BuiltInSweep& s : built_in_sweeps()) {
    if (s.name == name) return parse_sweep(s.toml, std::string(name), scale);
    names.emplace_back(s.name);
  }
  reject_unknown("sweep", name, names);
}

}  // namespace dpsosp
