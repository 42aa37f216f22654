// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/toml_reader.hpp"

/// Values in the file of a sweep, and the axes that they make. All refuse by file and line.
namespace dpsosp {

inline constexpr std::int64_t most_seeds = 100000;
inline constexpr std::int64_t most_first_seed = std::int64_t{1} << 53;

/// Value at this scale: the node itself, or that of a table {smoke = …, quick = …, full =
/// …}.
TomlNode at_scale(const TomlNode& node, Scale scale);

double epsilon_of(const TomlNode& node);
double delta_of(const TomlNode& node);

/// The values of a coordinate: an array, or a range {from, to, points, spacing}.
std::vector<nlohmann::json> grid_of(const TomlNode& node, const std::string& coordinate,
                                    Scale scale);

/// One axis: a table of one coordinate, or of several that move together.
Axis axis_of(const TomlNode& node, Scale scale);

}  // namespace dpsosp
