// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/scale.hpp"

#include <algorithm>
#include <vector>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

Scale scale_of(const std::string& text) {
  const std::vector<std::string> names{"smoke", "quick", "full"};
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) reject_unknown("scale", text, names);
  return static_cast<Scale>(found - names.begin());
}

std::string_view to_string(Scale scale) {
  switch (scale) {
    case Scale::smoke:
      return "smoke";
    case Scale::quick:
      return "quick";
    case Scale::full:
      break;
  }
  return "full";
}

}  // namespace dpsosp
