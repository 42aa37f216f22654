// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dpsosp::plots {

/// A script and its data, run in a folder of its own.
struct Drawing {
  std::string id;
  std::string script;  ///< draws ID.FORMAT for the format that it gets as its first argument
  std::string data;    ///< ID.dat
  std::string title;
  std::string alternative;
};

/// The bytes of ID.FORMAT, for each of the formats; SVG described, PDF without a date.
/// \throws InputError if gnuplot is missing or fails
std::vector<std::string> draw(const Drawing& drawing,
                              const std::vector<std::string>& formats,
                              const std::filesystem::path& folder,
                              const std::string& gnuplot);

}  // namespace dpsosp::plots
