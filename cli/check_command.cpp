// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/check.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/problems/problem.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;
using nlohmann::json;

json check_json(const ProblemCheck& check) {
  json lines = json::array();
  for (const CheckLine& line : check.lines)
    lines.push_back(
        {{"property", line.property}, {"passed", line.passed}, {"detail", line.detail}});
  json constants = json::array();
  for (const ConstantCheck& c : check.constants)
    constants.push_back({{"name", c.name},
                         {"value", to_json_number(c.stated.value)},
                         {"region", c.stated.region},
                         {"bound", c.stated.tight() ? "tight" : "loose"},
                         {"attained", c.stated.attained},
                         {"reached", to_json_number(c.reached)},
                         {"share", to_json_number(c.share)}});
  json out{{"problem", check.problem}, {"passed", check.passed()}};
  if (!check.skipped.empty()) out["skipped"] = check.skipped;
  out["checks"] = std::move(lines);
  out["constants"] = std::move(constants);
  return out;
}

void print(const ProblemCheck& check) {
  if (!check.skipped.empty()) {
    fmt::print("{}: skipped: {}\n", check.problem, check.skipped);
    return;
  }
  fmt::print("{}: {}\n", check.problem, check.passed() ? "passed" : "FAILED");
  for (const CheckLine& line : check.lines)
    fmt::print("  {}  {} ({})\n", line.passed ? "ok  " : "FAIL", line.property, line.detail);
}

}  // namespace

int check_command(const Arguments& arguments) {
  po::options_description options("dpsosp check PROBLEM...|all");
  options.add_options()("help", "this text")("json", "as JSON")(
      "dimension", po::value<std::string>(), "d; default: the problem's")(
      "seed", po::value<std::string>()->default_value("0"), "of points, searches and data sets")(
      "set",
      po::value<std::vector<std::string>>()->composing(),
      "name=value of the problem; repeatable")(
      "what", po::value<std::vector<std::string>>(), "names of problems, or all");
  const auto map = parse_options("check", options, arguments, "what");
  if (map.count("help") != 0) {
    std::cout << options;
    return 0;
  }
  if (map.count("what") == 0)
    throw InputError("check: expected the name of a problem (dpsosp list problems), or all");
  auto names = map["what"].as<std::vector<std::string>>();
  if (names == std::vector<std::string>{"all"}) {
    names.clear();
    for (const ProblemEntry& entry : problem_registry()) names.push_back(entry.name);
  }
  CheckOptions check_options;
  check_options.seed = static_cast<std::uint64_t>(integer(map, "check", "seed", 0));
  if (map.count("dimension") != 0) check_options.dimension = integer(map, "check", "dimension", 1);
  std::map<std::string, std::string> settings;
  if (map.count("set") != 0)
    for (const auto& [name, text] : assignments("check", map["set"].as<std::vector<std::string>>()))
      settings[name] = text;
  for (const std::string& name : names) find_problem(name);  // refuse before the first is run

  bool passed = true;
  json all = json::array();
  for (const std::string& name : names) {
    const ProblemCheck check = check_problem(name, settings, check_options);
    passed = passed && check.passed();
    if (map.count("json") != 0)
      all.push_back(check_json(check));
    else
      print(check);
    std::cout.flush();
  }
  if (map.count("json") != 0) std::cout << all.dump(2) << '\n';
  return passed ? 0 : 1;
}

}  // namespace dpsosp
