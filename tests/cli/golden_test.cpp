// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paths.hpp"
#include "program.hpp"

// The answers to what a newcomer types, right and wrong, in golden/answers.txt:
//
//   $ dpsosp COMMAND        as typed, in a folder with examples/my-sweep.toml
//   > a line on standard output
//   ! a line on standard error
//   = 2                     the exit code; without such a line it is 0
//
// In a line # stands for a number that depends on time or machine, and so several spaces are like
// one; a line "> ..." stands for any lines.
namespace dpsosp::golden_test {
namespace {

namespace fs = std::filesystem;

struct Answer {
  std::string command;
  std::vector<std::string> out, err;
  int code = 0;
};

std::vector<Answer> answers() {
  std::vector<Answer> all;
  for (const std::string& line : lines(contents(in_checkout("tests/cli/golden/answers.txt")))) {
    const std::string text = line.size() > 2 ? line.substr(2) : "";
    if (line.starts_with("$"))
      all.push_back({text, {}, {}, 0});
    else if (line.starts_with(">"))
      all.back().out.push_back(text);
    else if (line.starts_with("!"))
      all.back().err.push_back(text);
    else if (line.starts_with("="))
      all.back().code = std::stoi(text);
  }
  return all;
}

std::string with_single_spaces(const std::string& line) {
  return std::regex_replace(line, std::regex(" +"), " ");
}

/// Whether a line is as expected, where # stands for any number.
bool is_line(const std::string& expected, const std::string& line) {
  std::string pattern;
  for (const char c : with_single_spaces(expected)) {
    if (c == '#')
      pattern += R"([-+]?[0-9][0-9.]*(e[-+]?[0-9]+)?)";
    else if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos)
      pattern += std::string("\\") + c;
    else
      pattern += c;
  }
  return std::regex_match(with_single_spaces(line), std::regex(pattern));
}

bool are_lines(const std::vector<std::string>& expected, const std::vector<std::string>& given) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (expected[k] == "...") {
      if (k + 1 == expected.size()) return true;
      while (at < given.size() && !is_line(expected[k + 1], given[at])) ++at;
      continue;
    }
    if (at >= given.size() || !is_line(expected[k], given[at])) return false;
    ++at;
  }
  return at == given.size();
}

std::string as_written(const std::string& command, const Result& r) {
  std::string text = "$ " + command + '\n';
  for (const std::string& line : lines(r.out)) text += "> " + line + '\n';
  for (const std::string& line : lines(r.err)) text += "! " + line + '\n';
  if (r.code != 0) text += "= " + std::to_string(r.code) + '\n';
  return text;
}

TEST(GoldenAnswers, AreThoseOfTheProgram) {
  const ScratchFolder folder;
  fs::create_directories(folder / "examples");
  fs::copy_file(in_checkout("examples/my-sweep.toml"), folder / "examples/my-sweep.toml");
  std::ofstream(folder / "point.json") << "[0.5, 1]";
  fs::create_directories(folder / "tools");
  fs::create_symlink(built_program("dpsosp"), folder / "tools/dpsosp");
  std::ofstream(folder / "go") << "cd \"$1\" && PATH=$1/tools:$PATH && eval \"$2\"";
  const auto all = answers();
  EXPECT_GE(all.size(), 60U);
  for (const Answer& a : all) {
#ifdef __SANITIZE_ADDRESS__
    if (!a.err.empty() && a.err.front().find("out of memory") != std::string::npos) continue;
#endif
    const Result r =
        run_program("/bin/sh", {folder / "go", folder.path().string(), a.command + " </dev/null"});
    EXPECT_TRUE(a.code == r.code && are_lines(a.out, lines(r.out)) &&
                are_lines(a.err, lines(r.err)))
        << "The answer is now\n"
        << as_written(a.command, r);
  }
}

}  // namespace
}  // namespace dpsosp::golden_test
