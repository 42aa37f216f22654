// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Checks of what all claims rest on, whatever the algorithm.
namespace dpsosp::audit {

enum class Effort { little, usual };

struct CommonCheck {
  std::string_view name;      ///< "accountants"
  std::string_view property;  ///< what is checked, in words
  /// Empty if all is well, but with probability 1e-6 where numbers are drawn.
  std::string (*complaint)(std::uint32_t seed, Effort effort);
};
const std::vector<CommonCheck>& common_checks();

}  // namespace dpsosp::audit
