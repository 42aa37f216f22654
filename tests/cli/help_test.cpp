// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"

// Help, the manual page and completions say the same of every command.
namespace dpsosp::help_test {
namespace {

Result dpsosp(const std::vector<std::string>& arguments) {
  return run_program(built_program("dpsosp"), arguments);
}

/// The first words of lines that are indented by two: commands, options.
std::set<std::string> entries(const std::string& text) {
  std::set<std::string> names;
  for (const std::string& line : lines(text))
    if (line.starts_with("  ") && line.size() > 2 && line[2] != ' ')
      names.insert(words(line).front());
  return names;
}

std::vector<std::string> all_commands() {
  std::vector<std::string> names;
  for (const std::string& name : entries(dpsosp({"help"}).out))
    if (std::isalpha(static_cast<unsigned char>(name[0])) != 0) names.push_back(name);
  return names;
}

TEST(Help, OfACommandHasUsageTwoExamplesAndOptionsInBothForms) {
  ASSERT_GE(all_commands().size(), 13U);
  for (const std::string& command : all_commands()) {
    SCOPED_TRACE(command);
    const Result help = dpsosp({"help", command});
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_EQ(dpsosp({command, "--help"}).out, help.out);
    EXPECT_EQ(dpsosp({command, "-h"}).out, help.out);
    const auto usage = help.out.find("\nusage: dpsosp " + command);
    const auto examples = help.out.find("\nexamples:\n");
    const auto options = help.out.find("\n  --");
    EXPECT_LT(usage, examples);
    EXPECT_LT(examples, options);
    EXPECT_NE(options, std::string::npos);
    for (const std::string& line : lines(help.out))
      EXPECT_TRUE(line.size() <= 80 || line.find("dpsosp ") != std::string::npos ||
                  command == "audit")
          << line;
  }
}

TEST(Help, ShowsOptionsDespiteOthersThatAreWrong) {
  EXPECT_EQ(dpsosp({"run", "--recrods", "3", "--help"}).code, 0);
}

TEST(Help, ExamplesAreAccepted) {
  // Those that only look: the others are run in golden_test.cpp and commands_test.cpp.
  EXPECT_EQ(dpsosp(words("certify --problem matrix-sensing --point origin")).code, 0);
  EXPECT_EQ(dpsosp(words("account --mechanism gaussian --steps 400 --epsilon 2 --delta 1e-6 "
                         "--calibrate"))
                .code,
            0);
  EXPECT_EQ(dpsosp(words("info --json")).code, 0);
}

TEST(Help, RejectsUnknownCommandsAndShells) {
  expect_one_error_line(dpsosp({"help", "rnu"}), 2, "did you mean 'run'");
  expect_one_error_line(dpsosp({"help", "xyzzy"}), 2, "dpsosp --help lists all");
  expect_one_error_line(dpsosp({"xyzzy"}), 2, "dpsosp --help lists all");
  expect_one_error_line(dpsosp({"help", "run", "--man"}), 2, "expected one command");
  expect_one_error_line(dpsosp({"help", "--man", "--markdown"}), 2, "expected one command");
  expect_one_error_line(dpsosp({"help", "--completions", "tcsh"}), 2, "unknown shell 'tcsh'");
}

TEST(ManualPage, NamesEveryCommandOptionAndExitCode) {
  const Result page = dpsosp({"help", "--man"});
  ASSERT_EQ(page.code, 0);
  for (const std::string& command : all_commands()) {
    EXPECT_NE(page.out.find(".SS " + command + "\n"), std::string::npos) << command;
    for (std::string option : entries(dpsosp({"help", command}).out)) {
      if (!option.starts_with("--")) continue;
      std::string in_roff;
      for (const char c : option) in_roff += c == '-' ? std::string("\\-") : std::string(1, c);
      EXPECT_NE(page.out.find("\\fB" + in_roff + "\\fR"), std::string::npos) << command << option;
    }
  }
  for (const char* code : {"0", "1", "2", "3", "129", "130", "143"})
    EXPECT_NE(page.out.find(std::string(".TP\n") + code + "\n"), std::string::npos) << code;
}

TEST(MarkdownPage, HasASectionForEveryCommandAndARowForEveryOption) {
  const Result page = dpsosp({"help", "--markdown"});
  ASSERT_EQ(page.code, 0);
  for (const std::string& command : all_commands()) {
    const auto begin = page.out.find("\n## " + command + "\n");
    ASSERT_NE(begin, std::string::npos) << command;
    const std::string section = page.out.substr(begin, page.out.find("\n## ", begin + 1) - begin);
    EXPECT_NE(section.find("```text\ndpsosp " + command + " "), std::string::npos) << command;
    for (const std::string& option : entries(dpsosp({"help", command}).out)) {
      if (!option.starts_with("--")) continue;
      EXPECT_NE(section.find("\n| `" + option), std::string::npos) << command << ' ' << option;
    }
  }
}

TEST(ManualPage, IsFormattedWithoutWarnings) {
  if (run_program("/bin/sh", {"-c", "command -v groff"}).code != 0)
    GTEST_SKIP() << "groff is not installed";
  const Result page = run_program(
      "/bin/sh", {"-c", "'" + built_program("dpsosp") +
                            "' help --man | groff -ww -man -Tascii -b 2>&1 >/dev/null"});
  EXPECT_EQ(page.code, 0);
  EXPECT_EQ(page.out, "");
}

/// What bash offers for the last word of a line.
std::vector<std::string> offers_in_bash(const std::string& line) {
  const ScratchFolder folder;
  std::ofstream(folder / "complete") << R"sh(
source <("$1" help --completions bash)
eval "COMP_WORDS=($2)"
[[ "$2" = *' ' ]] && COMP_WORDS+=('')
COMP_WORDS[0]=$1
COMP_CWORD=$(($(printf '%s\n' "${COMP_WORDS[@]}" | wc -l) - 1))
_dpsosp "$1"
printf '%s\n' "${COMPREPLY[@]}"
)sh";
  const Result r = run_program("/bin/bash", {folder / "complete", built_program("dpsosp"), line});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  std::vector<std::string> offers = lines(r.out);
  std::erase(offers, "");
  return offers;
}

bool holds(const std::vector<std::string>& offers, const std::string& word) {
  return std::ranges::find(offers, word) != offers.end();
}

using Offered = std::vector<std::string>;

TEST(Completions, InBashOfferCommandsOptionsAndNames) {
  EXPECT_EQ(offers_in_bash("dpsosp re"), (Offered{"reproduce", "report"}));
  EXPECT_EQ(offers_in_bash("dpsosp run --eps"), Offered{"--epsilon"});
  EXPECT_EQ(offers_in_bash("dpsosp run --schedule "), (Offered{"practical", "paper", "none"}));
  EXPECT_EQ(offers_in_bash("dpsosp run --problem cosine-s"), Offered{"cosine-saddle"});
  EXPECT_EQ(offers_in_bash("dpsosp run --algorithm xu-2026/"), Offered{"xu-2026/dp-rgda"});
  EXPECT_TRUE(holds(offers_in_bash("dpsosp check all"), "all"));
  EXPECT_TRUE(holds(offers_in_bash("dpsosp reproduce xu-2026/"), "xu-2026/table-2"));
  EXPECT_TRUE(holds(offers_in_bash("dpsosp sweep zhou"), "zhou-2020"));
  EXPECT_EQ(offers_in_bash("dpsosp help --completions "), (Offered{"bash", "zsh", "fish"}));
  EXPECT_EQ(offers_in_bash("dpsosp help ru"), Offered{"run"});
}

TEST(Completions, InBashFindTheOnlyNameByItsLastPart) {
  EXPECT_EQ(offers_in_bash("dpsosp run --algorithm stochastic-sp"),
            Offered{"ganesh-2023/stochastic-spider"});
  EXPECT_EQ(offers_in_bash("dpsosp run --algorithm dp-sgd"), Offered{});  // of three papers
}

TEST(Completions, InBashKnowOptionsWithEqualSigns) {
  // bash hands over --scale=sm in three words, other shells in one
  EXPECT_EQ(offers_in_bash("dpsosp sweep x.toml --scale = sm"), Offered{"smoke"});
  const Result whole = dpsosp({"help", "--complete", "sweep", "--scale=sm"});
  EXPECT_TRUE(whole.out.starts_with("--scale=smoke\t")) << whole.out;
}

TEST(Completions, OfferAnOptionOnceUnlessItRepeats) {
  EXPECT_FALSE(holds(offers_in_bash("dpsosp run --json --"), "--json"));
  EXPECT_TRUE(holds(offers_in_bash("dpsosp run --set a=1 --"), "--set"));
  EXPECT_TRUE(holds(offers_in_bash("dpsosp run --"), "--json"));
}

TEST(Completions, AskForFilesWhereFilesBelong) {
  EXPECT_TRUE(dpsosp({"help", "--complete", "sweep", "my"}).out.starts_with(":files"));
  EXPECT_TRUE(dpsosp({"help", "--complete", "merge", ""}).out.starts_with(":files"));
  EXPECT_EQ(dpsosp({"help", "--complete", "run", "--records", ""}).out, "");
}

TEST(Completions, KnowEveryNameOfTheProgram) {
  for (const char* kind : {"algorithms", "problems", "exhibits", "sweeps"}) {
    const auto listed = nlohmann::json::parse(dpsosp({"list", kind, "--json"}).out);
    const std::vector<std::string> place =
        std::string(kind) == "algorithms" ? words("help --complete run --algorithm")
        : std::string(kind) == "problems" ? words("help --complete run --problem")
        : std::string(kind) == "exhibits" ? words("help --complete reproduce")
                                          : words("help --complete sweep");
    auto asked = place;
    asked.emplace_back("");
    std::string offers = "\n";
    offers += dpsosp(asked).out;
    for (const auto& row : listed)
      EXPECT_NE(offers.find(fmt::format("\n{}\t", row.at("name").get<std::string>())),
                std::string::npos)
          << row.at("name");
  }
}

TEST(Completions, OfZshAndFishAreGoodScripts) {
  for (const std::string shell : {"zsh", "fish"}) {
    if (run_program("/bin/sh", {"-c", "command -v " + shell}).code != 0) continue;
    const Result r =
        run_program("/bin/sh", {"-c", "'" + built_program("dpsosp") + "' help --completions " +
                                          shell + " | " + shell + " -n"});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.err, "");
  }
}

}  // namespace
}  // namespace dpsosp::help_test
