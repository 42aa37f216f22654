// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "choices.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace po = boost::program_options;

namespace {

/// What is often typed for an option of another name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kAliases{
    {{"n", "records"},
     {"d", "dimension"},
     {"dim", "dimension"},
     {"eps", "epsilon"},
     {"alg", "algorithm"},
     {"algo", "algorithm"},
     {"steps", "set steps=N"},
     {"output", "out"},
     {"jobs", "threads"}}};

[[noreturn]] void reject_option(const Description& description, const std::string& given) {
  std::vector<std::string> names;
  for (const OptionGroup& group : description.groups)
    for (const OptionText& option : group.options) names.push_back("--" + option.name);
  const std::string bare = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  for (const auto& [alias, meant] : kAliases) {
    const std::string option = fmt::format("--{}", meant.substr(0, meant.find(' ')));
    if (alias == bare && std::ranges::find(names, option) != names.end())
      throw InputError(fmt::format("unknown option '{}'; did you mean '--{}'?", given, meant));
  }
  std::vector<std::string> bare_names;
  for (const std::string& name : names) bare_names.push_back(name.substr(2));
  const std::string hint = nearest(bare, bare_names);
  if (!hint.empty())
    throw InputError(fmt::format("unknown option '{}'; did you mean '--{}'?", given, hint));
  const bool sets = std::ranges::find(bare_names, "set") != bare_names.end();
  throw InputError(fmt::format("unknown option '{}'; `dpsosp {} --help` shows all{}", given,
                               description.name,
                               sets ? ", and a setting is given as --set NAME=VALUE" : ""));
}

/// "-n", "-n100": an option of one letter, which there are none of.
bool is_short_option(const std::string& word) {
  return word.size() >= 2 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]));
}

}  // namespace

po::variables_map parse_options(const Description& description,
                                const std::vector<std::string>& arguments) {
  namespace style = po::command_line_style;
  const po::options_description options = parser_of(description);
  po::positional_options_description words;
  words.add(description.words.empty() ? "no words" : description.words.c_str(), -1);
  try {
    const auto parsed =
        po::command_line_parser(arguments)
            .options(options)
            .positional(words)
            .allow_unregistered()
            .style(style::allow_long | style::long_allow_next | style::long_allow_adjacent)
            .run();
    for (const auto& option : parsed.options) {
      const bool is_word = option.position_key >= 0;
      for (const std::string& word : option.original_tokens)
        if (is_word && is_short_option(word)) reject_option(description, word);
      if (is_word && description.words.empty())
        throw InputError(fmt::format("{}: '{}' has no option name before it, expected --name value",
                                     description.name, option.original_tokens.front()));
      if (option.unregistered) reject_option(description, "--" + option.string_key);
    }
    po::variables_map map;
    po::store(parsed, map);
    return map;
  } catch (const po::error& error) {
    throw InputError(fmt::format("{}: {}", description.name, error.what()));
  }
}

std::vector<std::pair<std::string, std::string>> assignments(
    std::string_view command, const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : texts) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0)
      throw InputError(fmt::format("{}: --set {}, expected name=value", command, text));
    pairs.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  return pairs;
}

std::map<std::string, std::string> problem_settings(const po::variables_map& map,
                                                    std::string_view command) {
  std::map<std::string, std::string> settings;
  if (map.count("set") != 0)
    for (const auto& [name, text] : assignments(command, map["set"].as<std::vector<std::string>>()))
      settings[name.starts_with("problem.") ? name.substr(8) : name] = text;
  return settings;
}

std::int64_t integer(const boost::program_options::variables_map& map, std::string_view command,
                     const char* name, std::int64_t least, std::int64_t most) {
  const std::string option = fmt::format("--{}", name), text = map[name].as<std::string>();
  const std::string expected = fmt::format("an integer >= {}", least);
  const auto value = parse_whole(command, option, text, expected);
  if (value < least) reject(command, option, text, expected);
  if (value > most) reject(command, option, text, fmt::format("{} and <= {}", expected, most));
  return value;
}

std::string required(const boost::program_options::variables_map& map, std::string_view command,
                     const char* name) {
  if (map.count(name) == 0)
    throw InputError(
        fmt::format("{}: --{} is missing; `dpsosp help {}` has examples", command, name, command));
  return map[name].as<std::string>();
}

double real(const boost::program_options::variables_map& map, std::string_view command,
            const char* name, std::string_view expected) {
  return parse_number<double>(command, fmt::format("--{}", name), required(map, command, name),
                              expected);
}

namespace {

int processors() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

}  // namespace

int threads(const boost::program_options::variables_map& map, std::string_view command) {
  constexpr std::int64_t most = 4096;
  if (map.count("threads") == 0) return processors();
  return static_cast<int>(integer(map, command, "threads", 1, most));
}

int threads_here(const boost::program_options::variables_map& map, std::string_view command) {
  const int wanted = threads(map, command), most = std::max(64, 4 * processors());
  if (wanted <= most) return wanted;
  std::cerr << fmt::format(
      "{}: --threads {}: this machine has {} processors; {} threads are used\n", command, wanted,
      processors(), most);
  return most;
}

std::filesystem::path out_folder(const boost::program_options::variables_map& map,
                                 std::string_view command) {
  const auto folder = map["out"].as<std::string>();
  if (folder.empty())
    throw InputError(fmt::format("{}: --out is empty, expected a folder", command));
  return folder;
}

OptionText json_option() { return {.name = "json", .meaning = "print JSON"}; }

OptionText help_option() { return {.name = "help", .meaning = "this text"}; }

OptionText quiet_option() { return {.name = "quiet", .meaning = "no progress"}; }

OptionText scale_option() {
  return {.name = "scale",
          .value = "SCALE",
          .meaning = "smoke, quick or full",
          .standard = "quick",
          .offers = {.words = {{"smoke", "seconds; its numbers mean nothing"},
                               {"quick", "minutes"},
                               {"full", "days"}}}};
}

OptionText threads_option() {
  return {.name = "threads", .value = "N", .meaning = "runs at a time (default: all processors)"};
}

}  // namespace dpsosp
