// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/checks/algorithm_check.hpp"
#include "dpsosp/checks/check.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/known_data.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "names.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

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
                         {"proof", c.stated.proof},
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

/// What runs it again: of a program its card is named, and its noise is another.
std::string command_of(const AlgorithmCheck& check) {
  const auto cards = cards_of({check.algorithm});
  const std::string named = "--algorithm " + check.algorithm;
  const auto at = check.command.find(named);
  if (cards.empty() || at == std::string::npos) return check.command;
  std::string command = check.command;
  command.replace(at, named.size(), "--program " + cards.front().string());
  return command + " --release";
}

json check_json(const AlgorithmCheck& check) {
  json lines = json::array();
  for (const CheckLine& line : check.lines)
    lines.push_back(
        {{"property", line.property}, {"passed", line.passed}, {"detail", line.detail}});
  return {{"algorithm", check.algorithm},
          {"passed", check.passed()},
          {"command", command_of(check)},
          {"metric", check.metric},
          {"start", to_json_number(check.start)},
          {"output", to_json_number(check.output)},
          {"guarantee", to_json_number(check.guarantee)},
          {"spent", to_json_number(check.spent)},
          {"seconds", check.seconds},
          {"checks", std::move(lines)}};
}

void print(const AlgorithmCheck& check) {
  fmt::print("{}: {}\n  {}\n", check.algorithm, check.passed() ? "passed" : "FAILED",
             command_of(check));
  for (const CheckLine& line : check.lines)
    fmt::print("  {}  {} ({})\n", line.passed ? "ok  " : "FAIL", line.property, line.detail);
}

bool is_algorithm(std::string_view name) {
  return std::ranges::any_of(algorithm_registry(),
                             [&](const AlgorithmEntry& entry) { return entry.key == name; });
}

std::vector<Named> checkable_names() {
  std::vector<Named> names{{"problems", "every problem"},
                           {"algorithms", "every algorithm"},
                           {"all", "every problem and every algorithm"}};
  std::ranges::move(problem_names(), std::back_inserter(names));
  std::ranges::move(algorithm_names(), std::back_inserter(names));
  return names;
}

/// The full name of a problem or an algorithm.
std::string the_checkable(const std::string& word) {
  if (word.find('/') != std::string::npos) return the_algorithm(word);
  return algorithm_among("problem or algorithm", word, checkable_names(),
                         "dpsosp list problems, dpsosp list algorithms");
}

}  // namespace

const Description& check_description() {
  static const Description description{
      .name = "check",
      .summary =
          "the contract of problems and algorithms: derivatives, clipping, every proved "
          "constant; progress and budget",
      .usage = {"NAME... [OPTIONS]", "problems|algorithms|all [OPTIONS]"},
      .examples = {{"dpsosp check cosine-saddle",
                    "derivatives, clipping and constants of a problem"},
                   {"dpsosp check dp-spider",
                    "an algorithm on the cosine saddle, with its budget"}},
      .groups = {{"what is checked",
                  {{.name = "dimension", .value = "D", .meaning = "d (default: the problem's)"},
                   {.name = "set",
                    .value = "NAME=VALUE",
                    .meaning = "a parameter of the problem",
                    .repeatable = true},
                   {.name = "seed",
                    .value = "SEED",
                    .meaning = "of points, searches and data sets",
                    .standard = "0"}}},
                 {"output", {json_option(), help_option()}}},
      .words = "what",
      .word_offers = {.names = checkable_names}};
  return description;
}

int check_command(const Arguments& arguments) {
  const auto map = parse_options(check_description(), arguments);
  if (map.count("what") == 0)
    throw InputError(
        "check: expected names of problems (dpsosp list problems), keys of algorithms (dpsosp list "
        "algorithms), problems, algorithms, or all");
  std::vector<std::string> names;
  for (const std::string& name : map["what"].as<std::vector<std::string>>()) {
    if (name == "problems" || name == "all")
      for (const ProblemEntry& entry : problem_registry()) names.push_back(entry.name);
    if (name == "algorithms" || name == "all")
      for (const AlgorithmEntry& entry : algorithm_registry()) names.push_back(entry.key);
    if (name != "problems" && name != "algorithms" && name != "all")
      names.push_back(the_checkable(name));
  }
  CheckOptions check_options;
  check_options.seed = static_cast<std::uint64_t>(integer(map, "check", "seed", 0));
  if (map.count("dimension") != 0) check_options.dimension = integer(map, "check", "dimension", 1);
  const auto settings = problem_settings(map, "check");

  bool passed = true;
  json all = json::array();
  for (const std::string& name : names) {
    const auto report = [&](const auto& check) {
      passed = passed && check.passed();
      if (map.count("json") != 0)
        all.push_back(check_json(check));
      else
        print(check);
    };
    if (is_algorithm(name))
      report(check_algorithm(name));
    else if (const ProblemCheck check = check_problem(name, settings, check_options);
             check.skipped.empty() || !settings.contains(own_data_setting))
      report(check);
    else  // what was asked for was not done
      throw InputError(fmt::format("check: {}: {}", name, check.skipped));
    std::cout.flush();
  }
  if (map.count("json") != 0) std::cout << all.dump(2) << '\n';
  return passed ? 0 : 1;
}

}  // namespace dpsosp
