// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "dpsosp/experiments/run_result.hpp"

/// Common settings of methods as a run used them, so that a comparison shows whether all had the
/// same care.
namespace dpsosp {

/// By what they are of, as "refresh"; "" where there is one.
using UsedNumbers = std::map<std::string, double>;

struct Used {
  UsedNumbers clips;       ///< settings whose names have `clip`
  UsedNumbers step_sizes;  ///< settings called `step_size` or `..._step`
  std::string output;      ///< the point that is released
};
/// The share of contributions that were clipped; none where nothing is.
std::optional<double> clipped_share(const RunResult& result);
/// \param algorithm  registry key, or that of a program without a card, which has no output rule
Used used_by(const std::string& algorithm, const RunResult& result);

/// "refresh 3.16, increment 1 to 6" of several runs; "–" of none.
std::string to_text(std::span<const UsedNumbers> runs);

/// Above this share clipping decides the result rather than the method.
inline constexpr double most_clipped = 0.2;
/// Where no contribution is longer than this share of its clip, the noise is ten times what it need
/// be.
inline constexpr double least_reached = 0.1;

}  // namespace dpsosp
