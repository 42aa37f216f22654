// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include <fmt/format.h>

#include "commands.hpp"
#include "completion.hpp"
#include "dpsosp/core/errors.hpp"
#include "manual.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

constexpr std::array kCommands{Command{reproduce_description, reproduce_command},
                               Command{report_description, report_command},
                               Command{run_description, run_command},
                               Command{certify_description, certify_command},
                               Command{advise_description, advise_command},
                               Command{account_description, account_command},
                               Command{audit_description, audit_command},
                               Command{check_description, check_command},
                               Command{sweep_description, sweep_command},
                               Command{fit_description, fit_command},
                               Command{figure_description, figure_command},
                               Command{merge_description, merge_command},
                               Command{shard_description, shard_command},
                               Command{new_description, new_command},
                               Command{list_description, list_command},
                               Command{info_description, info_command},
                               Command{help_description, help_command}};

std::vector<Named> command_names() {
  std::vector<Named> names;
  for (const Command& c : commands())
    names.push_back({c.description().name, c.description().summary});
  return names;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& c : commands()) {
    if (c.description().name == name) return c;
    names.push_back(c.description().name);
  }
  if (nearest(name, names).empty())
    throw InputError(fmt::format("unknown command '{}'; dpsosp --help lists all", name));
  reject_unknown("command", name, names);
}

std::string usage_text() {
  std::string out = "usage: dpsosp COMMAND [OPTIONS]\n\n";
  for (const Command& c : commands()) {
    const Description& d = c.description();
    out += fmt::format("  {:<11} {}\n", d.name, wrapped(d.summary, 14));
  }
  out +=
      "\n`dpsosp help COMMAND` has examples and options; `dpsosp --version` prints the version.\n"
      "First of all: dpsosp run --algorithm dp-spider --problem ripple-location --records 1e4 \\\n"
      "                --epsilon 1 --delta 1e-6\n\nexit codes:\n";
  for (const ExitCode& e : exit_codes())
    out += fmt::format("  {:>3}  {}\n", e.code, wrapped(e.means, 7));
  return out;
}

const Description& help_description() {
  static const Description description{
      .name = "help",
      .summary = "examples and options of a command; the manual page; completions",
      .usage = {"[COMMAND]", "--man", "--markdown", "--completions bash|zsh|fish"},
      .examples = {{"dpsosp help run", "the same as dpsosp run --help"},
                   {"source <(dpsosp help --completions bash)",
                    "completes commands, options and names in this shell"}},
      .groups = {{"output",
                  {{.name = "man", .meaning = "the manual page, for man -l"},
                   {.name = "markdown", .meaning = "all commands and options, in Markdown"},
                   {.name = "completions",
                    .value = "SHELL",
                    .meaning = "a script that completes commands in bash, zsh or fish",
                    .offers = {.words = {{"bash"}, {"zsh"}, {"fish"}}}},
                   help_option()}}},
      .words = "command",
      .word_offers = {.names = command_names}};
  return description;
}

int help_command(const Arguments& arguments) {
  // For the scripts of --completions: what may stand for the last of the words.
  if (!arguments.empty() && arguments[0] == "--complete") {
    for (const Named& n : completions({arguments.begin() + 1, arguments.end()}))
      std::cout << n.name << '\t' << n.title << '\n';
    return 0;
  }
  const auto map = parse_options(help_description(), arguments);
  const auto words = map.count("command") != 0 ? map["command"].as<std::vector<std::string>>()
                                               : std::vector<std::string>{};
  if (words.size() + map.count("man") + map.count("markdown") + map.count("completions") > 1)
    throw InputError("help: expected one command, --man, --markdown or --completions");
  if (map.count("man") != 0)
    std::cout << manual_page();
  else if (map.count("markdown") != 0)
    std::cout << markdown_page();
  else if (map.count("completions") != 0)
    std::cout << completion_script(map["completions"].as<std::string>());
  else if (words.empty())
    std::cout << usage_text();
  else
    std::cout << help_text(find_command(words.front()).description());
  return 0;
}

}  // namespace dpsosp
