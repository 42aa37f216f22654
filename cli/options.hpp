// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options.hpp>

namespace dpsosp {

/// Parses `--name value` and `--name=value`, and positional words under the name `positional` if it
/// is not empty. \throws InputError in one line, with the nearest name for an unknown option.
boost::program_options::variables_map parse_options(
    std::string_view command,
    const boost::program_options::options_description& options,
    const std::vector<std::string>& arguments,
    const char* positional = "");

/// The option as an integer >= least. \throws InputError
std::int64_t integer(const boost::program_options::variables_map& map,
                     std::string_view command,
                     const char* name,
                     std::int64_t least);

/// `--threads` where it is given, else the number of processors. \throws InputError
int threads(const boost::program_options::variables_map& map, std::string_view command);

/// `--out`, a folder. \throws InputError if it is empty
std::filesystem::path out_folder(const boost::program_options::variables_map& map,
                                 std::string_view command);

/// "a=1 b=2" as given by `--set a=1 --set b=2`. \throws InputError for text without '='
std::vector<std::pair<std::string, std::string>> assignments(std::string_view command,
                                                             const std::vector<std::string>& texts);

}  // namespace dpsosp
