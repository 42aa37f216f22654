// SPDX-License-Identifier: Apache-2.0
#include "sweep_axes.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace dpsosp {

using nlohmann::json;

TomlNode at_scale(const TomlNode& node, Scale scale) {
  if (!node.is_table()) return node;
  TomlTable table = node.table();
  for (const char* of_range : {"from", "to", "points", "spacing"})
    if (table.has(of_range)) return node;
  table.allow({"smoke", "quick", "full"});
  return table.at(std::string(to_string(scale)));
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

namespace {

constexpr std::int64_t most_points = 1000;

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
    node.fail(fmt::format("{} from {:g} to {:g}, expected ends > 0, or spacing = \"linear\"",
                          coordinate, from, to));
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

}  // namespace

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
                      name, values.size(), axis.front().front().first, axis.size()));
    for (std::size_t k = 0; k < values.size(); ++k) axis[k].emplace_back(name, values[k]);
  }
  if (axis.empty()) node.refuse("a coordinate and its values");
  return axis;
}

}  // namespace dpsosp
