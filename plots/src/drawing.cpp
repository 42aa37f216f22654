// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/drawing.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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

std::string cannot_run(const Module& module, int error) {
  return fmt::format("{}: cannot run {} ({}); {}", module.lines, DPSOSP_FIGURE_PYTHON,
                     std::strerror(error), module.install);
}

/// A command and its environment, as exec takes them.
class Call {
 public:
  Call(const Module& module, const std::vector<std::string>& words)
      : command_{DPSOSP_FIGURE_PYTHON, "-m", std::string(module.name)} {
    command_.insert(command_.end(), words.begin(), words.end());
    std::string path = "PYTHONPATH=" + python_package();
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view variable = *entry;
      if (variable.starts_with("PYTHONPATH="))
        path += fmt::format(":{}", variable.substr(variable.find('=') + 1));
      else
        environment_.emplace_back(variable);
    }
    environment_.push_back(std::move(path));
    for (std::string& word : command_) arguments_.push_back(word.data());
    for (std::string& variable : environment_) variables_.push_back(variable.data());
    arguments_.push_back(nullptr);
    variables_.push_back(nullptr);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  char** arguments() { return arguments_.data(); }
  char** variables() { return variables_.data(); }

 private:
  std::vector<std::string> command_, environment_;
  std::vector<char*> arguments_, variables_;
};

/// All that a descriptor gives until its end.
std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ::ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count > 0)
      text.append(part.data(), static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR)
      return text;
  }
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
  Call call(module, words);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return {cannot_run(module, errno)};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 2);
  ::pid_t child = 0;
  const int error = ::posix_spawnp(&child, DPSOSP_FIGURE_PYTHON, &actions, nullptr,
                                   call.arguments(), call.variables());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  const std::string said = error == 0 ? read_to_end(pipe[0]) : std::string();
  ::close(pipe[0]);
  if (error != 0) return {cannot_run(module, error)};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  constexpr int unwritten = 3;
  if (WIFEXITED(status) && WEXITSTATUS(status) == unwritten && !said.empty())
    throw InputError(lines_of(said).back());
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
  Call call(drawing, words);
  std::cout.flush();
  ::execvpe(DPSOSP_FIGURE_PYTHON, call.arguments(), call.variables());
  std::cerr << cannot_run(drawing, errno) << '\n';
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
