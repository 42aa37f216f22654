// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <fmt/format.h>

#include "commands.hpp"
#include "dpsosp/experiments/public_constants.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/reproductions/league_advice.hpp"
#include "names.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

std::vector<Named> problem_kinds() {
  std::vector<Named> names;
  for (const auto& [id, title] : advice_kinds()) names.push_back({id, title});
  return names;
}

/// What a choice is run by: with numbers where the problem is known, else with G, M and B.
std::string command_for(const Advice::Choice& choice, const AdviceQuestion& question,
                        const std::string& problem) {
  std::string command = fmt::format(
      "dpsosp run --algorithm {} --problem {} --records {} --dimension {} --epsilon {} --delta {}",
      choice.algorithm, problem.empty() ? "NAME" : problem, question.records, question.dimension,
      question.epsilon, question.delta);
  if (choice.settings.empty()) return command;
  command += " --noise calibrated";
  std::map<std::string, double> constants;
  if (!problem.empty()) {
    RunDescription run;
    run.problem = problem;
    run.records = question.records;
    run.dimension = question.dimension;
    constants = public_constants(run);
  }
  for (const auto& [name, value] : choice.settings) {
    const std::string text = problem.empty() ? value : number_of(value, constants);
    const bool spaces = text.find_first_of(" (") != std::string::npos;
    command += fmt::format(" --set {}{}={}{}", spaces ? "'" : "", name, text, spaces ? "'" : "");
  }
  return command;
}

void print_advice(const Advice& advice, const AdviceQuestion& question,
                  const std::string& problem) {
  fmt::print(
      "{}: nearest instances d = {}, n = {} at epsilon = 1; yours has as little noise as n = "
      "{:.3g}\n",
      advice.title, advice.dimension, advice.records, advice.equivalent);
  fmt::print(
      "  sosp_level over G: start {:.3g}, noise of one gradient with all the budget {:.3g}\n",
      advice.start, advice.floor);
  if (advice.hopeless) {
    fmt::print("  nothing can be done: no tuned method improves on the start\n");
    return;
  }
  for (const Advice::Choice& choice : advice.choices)
    fmt::print("  {:<40} {:.3g} [{:.3g}, {:.3g}]\n    {}\n", choice.algorithm, choice.level,
               choice.low, choice.high, command_for(choice, question, problem));
}

}  // namespace

const Description& advise_description() {
  static const Description description{
      .name = "advise",
      .summary = "methods and settings for n, d and epsilon, by the league's tuned division",
      .usage = {"--records N --dimension D --epsilon EPSILON [OPTIONS]"},
      .examples = {{"dpsosp advise --records 1e5 --dimension 20 --epsilon 1 --kind saddles",
                    "what cannot be told from the best near a saddle with many ways out"},
                   {"dpsosp advise --records 3e4 --dimension 8 --epsilon 2 --problem ramp",
                    "every kind, with the constants of a problem in the settings"}},
      .groups = {{"the question",
                  {{.name = "records", .value = "N", .meaning = "number of records n"},
                   {.name = "dimension", .value = "D", .meaning = "dimension d"},
                   {.name = "epsilon", .value = "EPSILON", .meaning = "of the budget, > 0"},
                   {.name = "delta",
                    .value = "DELTA",
                    .meaning = "of the budget, in (0, 1)",
                    .standard = "1e-6"},
                   {.name = "kind",
                    .value = "KIND",
                    .meaning = "of the problem (default: every kind)",
                    .offers = {.names = problem_kinds}},
                   {.name = "problem",
                    .value = "NAME",
                    .meaning = "whose constants stand in the settings, in place of G, M and B",
                    .offers = {.names = problem_names}}}},
                 {"output", {help_option()}}},
      .notes = {"Settings were chosen on random instances, levels measured on others.",
                "On one secret data set nobody can choose so for nothing."}};
  return description;
}

int advise_command(const Arguments& arguments) {
  const auto map = parse_options(advise_description(), arguments);
  for (const char* name : {"records", "dimension"}) required(map, "advise", name);
  const AdviceQuestion question{
      .records = integer(map, "advise", "records", 1),
      .dimension = integer(map, "advise", "dimension", 1),
      .epsilon = real(map, "advise", "epsilon", "a number > 0"),
      .delta = real(map, "advise", "delta", "a number in (0, 1)"),
      .kind = map.count("kind") == 0 ? "" : map["kind"].as<std::string>()};
  check(PrivacyBudget{question.epsilon, question.delta});
  const std::string problem =
      map.count("problem") == 0 ? "" : the_problem(map["problem"].as<std::string>());
  for (const Advice& advice : advise(question)) print_advice(advice, question, problem);
  return 0;
}

}  // namespace dpsosp
