// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"

// Help, the manual page and completions say the same of every command.
namespace dpsosp::help_test {
namespace {

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
  for (const std::string& name : entries(answer("help")))
    if (std::isalpha(static_cast<unsigned char>(name[0])) != 0) names.push_back(name);
  return names;
}

/// Calls `see` with every command and each of its options.
void of_each_option(const std::function<void(std::string, std::string)>& see) {
  for (const std::string& command : all_commands())
    for (const std::string& option : entries(answer("help " + command)))
      if (option.starts_with("--")) see(command, option);
}

TEST(Help, OfACommandHasUsageExamplesAndOptionsInBothForms) {
  EXPECT_EQ(answer("--help"), answer("help"));
  ASSERT_GE(all_commands().size(), 13U);
  for (const std::string& command : all_commands()) {
    SCOPED_TRACE(command);
    const std::string help = answer("help " + command);
    EXPECT_EQ(answer(command + " --help"), help);
    EXPECT_EQ(answer(command + " -h"), help);
    const auto usage = help.find("\nusage: dpsosp " + command);
    const auto examples = help.find("\nexamples:\n"), options = help.find("\n  --");
    EXPECT_LT(usage, examples);
    EXPECT_LT(examples, options);
    EXPECT_NE(options, std::string::npos);
  }
  EXPECT_EQ(dpsosp("run --recrods 3 --help").code, 0) << "despite other options that are wrong";
}

TEST(Help, ExamplesAreAccepted) {
  // Those that only look: the others are run in commands_test.cpp.
  for (const char* line :
       {"certify --problem matrix-sensing --point origin", "info --json",
        "account --mechanism gaussian --steps 400 --epsilon 2 --delta 1e-6 --calibrate"})
    answer(line);
}

TEST(Pages, ManualAndMarkdownNameEveryCommandOptionAndExitCode) {
  const std::string manual = answer("help --man"), markdown = answer("help --markdown");
  of_each_option([&](const std::string& command, const std::string& option) {
    std::string in_roff;
    for (const char c : option) in_roff += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_TRUE(has(manual, ".SS " + command + "\n", "\\fB" + in_roff + "\\fR"));
    const auto begin = markdown.find("\n## " + command + "\n");
    ASSERT_NE(begin, std::string::npos) << command;
    EXPECT_TRUE(has(markdown.substr(begin, markdown.find("\n## ", begin + 1) - begin),
                    "```text\ndpsosp " + command + " ", "\n| `" + option));
  });
  for (const char* code : {"0", "1", "2", "3", "129", "130", "143"})
    EXPECT_TRUE(has(manual, std::string(".TP\n") + code + "\n"));
}

TEST(Pages, ManualIsFormattedWithoutWarnings) {
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
  const auto script = folder.write("complete", R"sh(
source <("$1" help --completions bash)
eval "COMP_WORDS=($2)"
[[ "$2" = *' ' ]] && COMP_WORDS+=('')
COMP_WORDS[0]=$1
COMP_CWORD=$(($(printf '%s\n' "${COMP_WORDS[@]}" | wc -l) - 1))
_dpsosp "$1"
printf '%s\n' "${COMPREPLY[@]}"
)sh");
  const Result r = run_program("/bin/bash", {script, built_program("dpsosp"), line});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  std::vector<std::string> offers = lines(r.out);
  std::erase(offers, "");
  return offers;
}

using Offered = std::vector<std::string>;

TEST(Completions, InBashOfferCommandsOptionsAndNames) {
  for (const auto& [line, offers] : std::vector<std::pair<std::string, Offered>>{
           {"dpsosp re", {"reproduce", "report"}},
           {"dpsosp run --eps", {"--epsilon"}},
           {"dpsosp run --schedule ", {"practical", "paper", "none"}},
           {"dpsosp run --problem cosine-s", {"cosine-saddle"}},
           {"dpsosp run --algorithm xu-2026/", {"xu-2026/dp-rgda"}},
           // the only name by its last part, and a last part of three papers
           {"dpsosp run --algorithm stochastic-sp", {"ganesh-2023/stochastic-spider"}},
           {"dpsosp run --algorithm dp-sgd", {}},
           {"dpsosp help --completions ", {"bash", "zsh", "fish"}},
           {"dpsosp help ru", {"run"}},
           // bash hands over --scale=sm in three words, other shells in one
           {"dpsosp sweep x.toml --scale = sm", {"smoke"}}})
    EXPECT_EQ(offers_in_bash(line), offers) << line;
  // an option once unless it repeats
  for (const auto& [line, word, offered] : {std::tuple{"dpsosp check all", "all", true},
                                            {"dpsosp reproduce xu-2026/", "xu-2026/table-2", true},
                                            {"dpsosp sweep zhou", "zhou-2020", true},
                                            {"dpsosp run --json --", "--json", false},
                                            {"dpsosp run --set a=1 --", "--set", true},
                                            {"dpsosp run --", "--json", true}})
    EXPECT_EQ(std::ranges::count(offers_in_bash(line), word), offered ? 1 : 0) << line;
}

TEST(Completions, AskForFilesAndKnowEveryNameOfTheProgram) {
  const auto offers = [](const std::string& line, const std::string& last = "") {
    return dpsosp("help --complete " + line, {last}).out;
  };
  EXPECT_TRUE(offers("sweep", "--scale=sm").starts_with("--scale=smoke\t"));
  EXPECT_TRUE(offers("sweep", "my").starts_with(":files"));
  EXPECT_TRUE(offers("merge").starts_with(":files"));
  EXPECT_EQ(offers("run --records"), "");
  for (const auto& [kind, place] : {std::pair{"algorithms", "run --algorithm"},
                                    {"problems", "run --problem"},
                                    {"exhibits", "reproduce"},
                                    {"sweeps", "sweep"}}) {
    const std::string offered = "\n" + offers(place);
    for (const auto& row : nlohmann::json::parse(answer(std::string("list --json ") + kind)))
      EXPECT_TRUE(has(offered, fmt::format("\n{}\t", row.at("name").get<std::string>())));
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
