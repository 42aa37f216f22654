// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include "description.hpp"

namespace dpsosp {

/// Parses `--name value` and `--name=value`, and words without a name where the command takes them.
/// \throws InputError in one line, with the name that was meant for an unknown option
boost::program_options::variables_map parse_options(const Description& description,
                                                    const std::vector<std::string>& arguments);

/// The option as an integer from least to most; 1e5 is one. \throws InputError
std::int64_t integer(const boost::program_options::variables_map& map, std::string_view command,
                     const char* name, std::int64_t least,
                     std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// The text of an option that must be given. \throws InputError
std::string required(const boost::program_options::variables_map& map, std::string_view command,
                     const char* name);
/// The same as a number. \throws InputError
double real(const boost::program_options::variables_map& map, std::string_view command,
            const char* name, std::string_view expected);

/// `--threads` where it is given, else the number of processors. \throws InputError
int threads(const boost::program_options::variables_map& map, std::string_view command);
/// The same for work on this machine alone: fewer, with a remark, where it gains nothing by so
/// many.
int threads_here(const boost::program_options::variables_map& map, std::string_view command);

/// `--out`, a folder. \throws InputError if it is empty
std::filesystem::path out_folder(const boost::program_options::variables_map& map,
                                 std::string_view command);

/// "a=1 b=2" as given by `--set a=1 --set b=2`. \throws InputError for text without '='
std::vector<std::pair<std::string, std::string>> assignments(std::string_view command,
                                                             const std::vector<std::string>& texts);
/// The settings of a problem, where nothing else is set: `--set problem.NAME=VALUE`, or without the
/// first word.
std::map<std::string, std::string> problem_settings(
    const boost::program_options::variables_map& map, std::string_view command);

// Options that several commands have.
OptionText json_option();
OptionText help_option();
OptionText quiet_option();
OptionText scale_option();
OptionText threads_option();

}  // namespace dpsosp
