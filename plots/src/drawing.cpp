// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/drawing.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "dpsosp/core/ask_program.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::plots {
namespace {

namespace fs = std::filesystem;

/// A module of the package, how its lines begin, and what it needs.
struct Module {
  std::string_view name, lines, install;
};
constexpr Module drawing{"dpsosp.draw", "figures", "install python3-matplotlib"};
constexpr Module paging{"dpsosp.report", "pages", "install python3-jinja2 and python3-markdown-it"};

std::string cannot_run(const Module& module, std::string_view why) {
  return fmt::format("{}: cannot run {} ({}); {}", module.lines, DPSOSP_FIGURE_PYTHON, why,
                     module.install);
}

std::vector<std::string> command_of(const Module& module, const std::vector<std::string>& words) {
  std::vector<std::string> command{DPSOSP_FIGURE_PYTHON, "-m", std::string(module.name)};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

constexpr const char* python_path = "PYTHONPATH";

/// The package before what the user has there.
std::string package_path() {
  const char* others = std::getenv(python_path);
  return python_package() + (others == nullptr ? "" : fmt::format(":{}", others));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace

std::string python_package() {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  for (const char* place : {"../share/dpsosp/python", "../../../python"})
    if (const fs::path folder = program.parent_path() / place;
        fs::exists(folder / "dpsosp/author.py"))
      return fs::weakly_canonical(folder).string();
  return {};
}

namespace {

/// Waits for the module. \return what it says that it did not do, a line each
std::vector<std::string> run(const Module& module, const std::vector<std::string>& words) {
  if (python_package().empty())
    return {fmt::format("{}: there is no package of dpsosp for Python beside this program",
                        module.lines)};
  std::vector<std::string> command = command_of(module, words);
  command.insert(command.begin(), {"env", fmt::format("{}={}", python_path, package_path())});
  const auto [code, out, said] = ask_program(command);
  if (code == 0) return {};
  constexpr int not_executable = 126, not_there = 127;  // of env
  if (code == not_executable || code == not_there)
    return {cannot_run(module, said.substr(0, said.find('\n')))};
  constexpr int unwritten = 3;
  if (code == unwritten && !said.empty()) throw InputError(lines_of(said).back());
  std::vector<std::string> reasons;
  for (std::string& line : lines_of(said))
    if (line.starts_with(fmt::format("{}: ", module.lines))) reasons.push_back(std::move(line));
  if (!reasons.empty()) return reasons;
  const std::vector<std::string> all = lines_of(said);
  return {fmt::format("{}: {} cannot make them ({}); {}", module.lines, DPSOSP_FIGURE_PYTHON,
                      all.empty() ? "it said nothing" : all.back(), module.install)};
}

}  // namespace

std::vector<std::string> draw(const std::vector<std::string>& words) { return run(drawing, words); }

std::vector<std::string> make_pages(const fs::path& folder) {
  return run(paging, {folder.string()});
}

int draw_instead(const std::vector<std::string>& words) {
  const std::vector<std::string> command = command_of(drawing, words);
  ::setenv(python_path, package_path().c_str(), 1);
  std::cout.flush();
  ::execvp(DPSOSP_FIGURE_PYTHON, argument_vector(command).data());
  std::cerr << cannot_run(drawing, std::strerror(errno)) << '\n';
  return 1;
}

std::vector<std::string> draw_figures(const std::vector<fs::path>& descriptions,
                                      const std::vector<std::string>& formats) {
  if (descriptions.empty() || formats.empty()) return {};
  std::vector<std::string> words;
  for (const fs::path& file : descriptions) words.push_back(file.string());
  words.insert(words.end(), {"--formats", fmt::format("{}", fmt::join(formats, ","))});
  return draw(words);
}

}  // namespace dpsosp::plots
