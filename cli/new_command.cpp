// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/plots/drawing.hpp"
#include "example_texts.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

/// What stands in an example, and what in its place.
using Changes = std::vector<std::pair<std::string, std::string>>;

/// A file to write, below the current folder.
struct Draft {
  std::string file, text;
};

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// "plain-descent" as a file or a variable is called, plain_descent.
std::string with_underscores(std::string name) {
  for (char& c : name)
    if (!is_alphanumeric(c)) c = '_';
  return name;
}

/// "plain-descent" as a type is called, PlainDescent.
std::string type_name(std::string_view name) {
  std::string type;
  bool begins = true;
  for (const char c : name) {
    if (is_alphanumeric(c))
      type += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = !is_alphanumeric(c);
  }
  return type;
}

/// Each place is changed once: what was put in is not looked at again.
std::string changed(std::string_view text, const Changes& changes) {
  std::string out;
  while (!text.empty()) {
    const auto change = std::ranges::find_if(
        changes, [&](const auto& pair) { return text.starts_with(pair.first); });
    out += change == changes.end() ? std::string(1, text.front()) : change->second;
    text.remove_prefix(change == changes.end() ? 1 : change->first.size());
  }
  return out;
}

std::vector<Draft> program_drafts(const std::string& name) {
  const std::string package = plots::python_package();
  const Changes changes{
      {"smith-2027/normalised-momentum-py", "mine/" + name},
      {"Normalised DP-SGD with momentum, the algorithm of examples/algorithm in Python.",
       name + ", to begin with normalised DP-SGD with momentum."},
      {"Normalised DP-SGD with momentum, in Python", name},
      {"NormalisedMomentum", type_name(name)},
      {"smith.py", name + ".py"},
      {"Smith (2027), not a paper", "unpublished"},
      {"reads = [\"../../python\"] ",
       package.empty() ? "# reads = [\"FOLDER\"] " : fmt::format("reads = [\"{}\"] ", package)}};
  return {{name + ".toml", changed(program_card_example(), changes)},
          {name + ".py", changed(program_example(), changes)}};
}

std::vector<Draft> sweep_drafts(const std::string& name) {
  return {{name + ".toml", std::string(sweep_example())}};
}

std::vector<Draft> claim_drafts(const std::string& name) {
  return {{name + ".toml", std::string(claim_example())}};
}

/// \throws InputError if the files would have the name of main.cpp, or the class that of another
/// in the example
void require_free(const std::string& name, std::initializer_list<std::string_view> sources) {
  const std::regex type("\\b" + type_name(name) + "\\b");
  const bool used = std::ranges::any_of(sources, [&](std::string_view source) {
    return std::regex_search(source.data(), source.data() + source.size(), type);
  });
  if (used || name == "main")
    reject("new", "name", "'" + name + "'", "a name that the example does not use itself");
}

std::vector<Draft> algorithm_drafts(const std::string& name) {
  require_free(name, {algorithm_header(), algorithm_source()});
  const std::string file = with_underscores(name), type = type_name(name);
  const Changes changes{
      {"../algorithm/src/normalised_momentum.cpp", file + ".cpp"},
      {"target_include_directories(my-dpsosp PRIVATE ../algorithm/include)\n", ""},
      {"dpsosp/smith_2027/normalised_momentum.hpp", file + ".hpp"},
      {"smith-2027/normalised-momentum", "mine/" + name},
      {"smith_2027", "mine"},
      {"NormalisedMomentum", type},
      {"Normalised DP-SGD with momentum", name},
      {"Smith 2027", "unpublished"}};
  return {{name + "/CMakeLists.txt", changed(own_algorithm_build(), changes)},
          {name + "/main.cpp", changed(own_algorithm_main(), changes)},
          {name + "/" + file + ".hpp", changed(algorithm_header(), changes)},
          {name + "/" + file + ".cpp", changed(algorithm_source(), changes)}};
}

std::vector<Draft> problem_drafts(const std::string& name) {
  require_free(name, {problem_header(), problem_source()});
  const std::string file = with_underscores(name), type = type_name(name);
  const Changes changes{{"../problem/src/log_well.cpp", file + ".cpp"},
                        {"target_include_directories(my-dpsosp PRIVATE ../problem/include)\n", ""},
                        {"dpsosp/problems/log_well.hpp", file + ".hpp"},
                        {"log-well", name},
                        {"namespace dpsosp {", "namespace dpsosp::mine {"},
                        {"namespace dpsosp\n", "namespace dpsosp::mine\n"},
                        {"dpsosp::LogWell", "dpsosp::mine::" + type},
                        {"LogWell", type},
                        {"an example, 2027", "unpublished"}};
  return {{name + "/CMakeLists.txt", changed(own_problem_build(), changes)},
          {name + "/main.cpp", changed(own_problem_main(), changes)},
          {name + "/" + file + ".hpp", changed(problem_header(), changes)},
          {name + "/" + file + ".cpp", changed(problem_source(), changes)}};
}

struct Kind {
  std::string name;
  std::vector<Draft> (*drafts)(const std::string& name);
  std::string next;  ///< the command to try, {} being the name
};

const std::array kinds{
    Kind{"algorithm", algorithm_drafts,
         "cmake -S {0} -B {0}/build && cmake --build {0}/build && {0}/build/my-dpsosp check "
         "mine/{0}"},
    Kind{"problem", problem_drafts,
         "cmake -S {0} -B {0}/build && cmake --build {0}/build && {0}/build/my-dpsosp check {0}"},
    Kind{"program", program_drafts, "dpsosp check {0}.toml"},
    Kind{"sweep", sweep_drafts, "dpsosp sweep {0}.toml --scale smoke"},
    Kind{"claim", claim_drafts,
         "dpsosp sweep {0}.toml --scale smoke && dpsosp fit {0}.toml --scale smoke"}};

std::vector<Named> kind_names() {
  std::vector<Named> names;
  for (const Kind& kind : kinds) names.push_back({kind.name, {}});
  return names;
}

const Kind& kind_of(const std::string& word, bool python) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.push_back(kind.name);
  const auto kind = std::ranges::find(kinds, word, &Kind::name);
  if (kind == kinds.end()) reject_unknown("kind of new file", word, names);
  if (!python || word == "program") return *kind;
  if (word != "algorithm")
    throw InputError(fmt::format("new: there is no {} in Python, only an algorithm", word));
  return *std::ranges::find(kinds, "program", &Kind::name);
}

}  // namespace

const Description& new_description() {
  static const Description description{
      .name = "new",
      .summary = "files to start from, for an algorithm, a problem, a sweep or a claim of your own",
      .usage = {"algorithm|problem|program|sweep|claim NAME [--python]"},
      .examples = {{"dpsosp new algorithm mine --python", "mine.py and its card, mine.toml"},
                   {"dpsosp new algorithm mine",
                    "a folder that builds dpsosp with mine/mine among its algorithms"},
                   {"dpsosp new sweep rates", "rates.toml, two methods against n and epsilon"}},
      .groups = {{"output",
                  {{.name = "python", .meaning = "an algorithm in Python, the same as a program"},
                   help_option()}}},
      .words = "what",
      .word_offers = {.names = kind_names},
      .notes = {"It writes into the current folder and over no file, and prints what to do next.\n"
                "An algorithm or a problem in C++ is built against the installed package\n"
                "(docs/library.md). A claim is a sweep with a slope that is judged."}};
  return description;
}

int new_command(const Arguments& arguments) {
  const auto map = parse_options(new_description(), arguments);
  const auto words = map.count("what") == 0 ? std::vector<std::string>{}
                                            : map["what"].as<std::vector<std::string>>();
  if (words.size() != 2)
    throw InputError("new: expected what and a name, as in dpsosp new algorithm mine");
  const Kind& kind = kind_of(words[0], map.count("python") != 0);
  const std::string& name = words[1];
  check_id("new", name);
  if (std::isalpha(static_cast<unsigned char>(name.front())) == 0)
    reject("new", "name", "'" + name + "'", "a letter first");
  const std::vector<Draft> drafts = kind.drafts(name);
  for (const Draft& draft : drafts)
    if (const fs::path first = *fs::path(draft.file).begin(); fs::exists(first))
      throw InputError(fmt::format("new: {} exists, expected a new name", first.string()));
  for (const Draft& draft : drafts) {
    if (const fs::path folder = fs::path(draft.file).parent_path(); !folder.empty())
      ensure_writable_folder(folder);
    write_file(draft.file, draft.text);
    std::cout << draft.file << '\n';
  }
  std::cout << "next: " << fmt::format(fmt::runtime(kind.next), name) << '\n';
  return 0;
}

}  // namespace dpsosp
