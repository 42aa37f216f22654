// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "example_texts.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

using Changes = std::vector<std::pair<std::string, std::string>>;

/// A file to write, from one of the examples.
struct Draft {
  std::string example;
  std::string file;  ///< below the folder that is written to
};

struct Kind {
  std::string name, next;
  std::vector<Draft> (*drafts)(const std::string& name);
};

/// The name as C++ has it.
std::string identifier(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

std::vector<Draft> program_drafts(const std::string& name) {
  return {{"program/smith.toml", name + ".toml"}, {"program/smith.py", name + ".py"}};
}
std::vector<Draft> sweep_drafts(const std::string& name) {
  return {{"my-sweep.toml", name + ".toml"}};
}
std::vector<Draft> algorithm_drafts(const std::string& name) {
  return {{"own-algorithm/CMakeLists.txt", name + "/CMakeLists.txt"},
          {"own-algorithm/main.cpp", name + "/main.cpp"},
          {"algorithm/include/dpsosp/smith_2027/normalised_momentum.hpp",
           fmt::format("{}/{}.hpp", name, identifier(name))},
          {"algorithm/src/normalised_momentum.cpp",
           fmt::format("{}/{}.cpp", name, identifier(name))}};
}
std::vector<Draft> problem_drafts(const std::string& name) {
  return {{"own-problem/CMakeLists.txt", name + "/CMakeLists.txt"},
          {"own-problem/main.cpp", name + "/main.cpp"},
          {"problem/log_well.hpp", fmt::format("{}/{}.hpp", name, identifier(name))},
          {"problem/log_well.cpp", fmt::format("{}/{}.cpp", name, identifier(name))}};
}

const std::array kinds{
    Kind{"program", "dpsosp check {0}.toml", program_drafts},
    Kind{"sweep", "dpsosp sweep {0}.toml --scale smoke", sweep_drafts},
    Kind{"algorithm",
         "cmake -S {0} -B {0}/build && cmake --build {0}/build && {0}/build/my-dpsosp check mine/{0}",
         algorithm_drafts},
    Kind{"problem",
         "cmake -S {0} -B {0}/build && cmake --build {0}/build && {0}/build/my-dpsosp check {0}",
         problem_drafts}};

/// Where the package for Python lies: beside this program, where it is installed, or in the checkout.
std::string python_package() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* place : {"../share/dpsosp/python", "../../../python"})
    if (fs::exists(here / place / "dpsosp/author.py"))
      return fs::weakly_canonical(here / place).string();
  return {};
}

std::string replaced(std::string text, const Changes& changes) {
  for (const auto& [from, to] : changes)
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  return text;
}

Changes changes_of(const std::string& name) {
  const std::string in_cpp = identifier(name), package = python_package();
  return {{"smith-2027/normalised-momentum-py", "mine/" + name},
          {"Normalised DP-SGD with momentum, in Python", name},
          {"smith.py", name + ".py"},
          {"Smith (2027), not a paper", "unpublished"},
          {"reads = [\"../../python\"] ",
           package.empty() ? "# reads = [\"FOLDER OF python\"] " : fmt::format("reads = [\"{}\"] ", package)},
          {"smith-2027/normalised-momentum", "mine/" + name},
          {"dpsosp/smith_2027/normalised_momentum.hpp", in_cpp + ".hpp"},
          {"normalised_momentum.cpp", in_cpp + ".cpp"},
          {"smith_2027", in_cpp},
          {"log_well.hpp", in_cpp + ".hpp"},
          {"log_well.cpp", in_cpp + ".cpp"},
          {"log-well", name}};
}

}  // namespace

const Description& new_description() {
  static const Description description{
      .name = "new",
      .summary = "files to start from: a program, a sweep, an algorithm or a problem of your own",
      .usage = {"program|sweep|algorithm|problem NAME"},
      .examples = {{"dpsosp new program mine", "mine.py and its card, mine.toml"},
                   {"dpsosp new sweep rates", "rates.toml"}},
      .groups = {{"output", {help_option()}}},
      .words = "what",
      .notes = {"It writes into the current folder, and over no file. An algorithm or a problem is a folder "
                "that builds a program of your own, with all commands, against the installed package."}};
  return description;
}

int new_command(const Arguments& arguments) {
  const auto map = parse_options(new_description(), arguments);
  const auto words = map.count("what") == 0 ? std::vector<std::string>{}
                                            : map["what"].as<std::vector<std::string>>();
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.push_back(kind.name);
  if (words.size() != 2) throw InputError("new: expected program, sweep, algorithm or problem, and a name");
  const auto kind = std::ranges::find(kinds, words[0], &Kind::name);
  if (kind == kinds.end()) reject_unknown("kind", words[0], names);
  const std::string& name = words[1];
  check_id("new", name);
  const std::vector<Draft> drafts = kind->drafts(name);
  for (const Draft& draft : drafts)
    if (fs::exists(draft.file))
      throw InputError(fmt::format("new: {} exists, expected a new name", draft.file));
  const Changes changes = changes_of(name);
  for (const Draft& draft : drafts) {
    if (const fs::path folder = fs::path(draft.file).parent_path(); !folder.empty())
      ensure_writable_folder(folder);
    write_file(draft.file, replaced(example_text(draft.example), changes));
    std::cout << draft.file << '\n';
  }
  std::cout << "next: " << fmt::format(fmt::runtime(kind->next), name) << '\n';
  return 0;
}

}  // namespace dpsosp
