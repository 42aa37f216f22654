// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "choices.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace po = boost::program_options;

po::variables_map parse_options(std::string_view command,
                                const po::options_description& options,
                                const std::vector<std::string>& arguments,
                                const char* positional) {
  namespace style = po::command_line_style;
  po::positional_options_description words;
  if (*positional != '\0') words.add(positional, -1);
  try {
    po::variables_map map;
    std::vector<std::string> words_given = arguments;
    std::ranges::replace(words_given, "-h", "--help");
    po::store(po::command_line_parser(words_given)
                  .options(options)
                  .positional(words)
                  .style(style::allow_long | style::long_allow_next | style::long_allow_adjacent)
                  .run(),
              map);
    return map;
  } catch (const po::unknown_option& error) {
    std::vector<std::string> names;
    for (const auto& option : options.options()) names.push_back("--" + option->long_name());
    reject_unknown("option", error.get_option_name(), names);
  } catch (const po::too_many_positional_options_error&) {
    throw InputError(
        fmt::format("{}: an argument without an option name, expected --name value", command));
  } catch (const po::error& error) {
    throw InputError(fmt::format("{}: {}", command, error.what()));
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

std::int64_t integer(const boost::program_options::variables_map& map,
                     std::string_view command,
                     const char* name,
                     std::int64_t least) {
  const std::string expected = fmt::format("an integer >= {}", least);
  const auto value = parse_number<std::int64_t>(
      command, fmt::format("--{}", name), map[name].as<std::string>(), expected);
  if (value < least)
    reject(command, fmt::format("--{}", name), map[name].as<std::string>(), expected);
  return value;
}

int threads(const boost::program_options::variables_map& map, std::string_view command) {
  constexpr std::int64_t most = 4096;
  if (map.count("threads") == 0)
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const std::int64_t count = integer(map, command, "threads", 1);
  if (count > most)
    reject(command, "--threads", map["threads"].as<std::string>(), fmt::format("<= {}", most));
  return static_cast<int>(count);
}

std::filesystem::path out_folder(const boost::program_options::variables_map& map,
                                 std::string_view command) {
  const auto folder = map["out"].as<std::string>();
  if (folder.empty())
    throw InputError(fmt::format("{}: --out is empty, expected a folder", command));
  return folder;
}

}  // namespace dpsosp
