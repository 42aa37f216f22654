// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/checks/check.hpp"

namespace dpsosp {

/// The worst of many comparisons, each an error over what is allowed.
class Worst {
 public:
  void see(double error, double allowed, std::string_view where) {
    ++seen_;
    const double ratio = error / allowed;
    if (ratio <= ratio_) return;  // NaN falls through and fails
    ratio_ = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
    text_ = fmt::format("{}: {:.3g}, allowed {:.3g}", where, error, allowed);
  }
  CheckLine line(std::string property) const {
    if (seen_ == 0) return {std::move(property), true, "nothing to compare"};
    if (text_.empty())
      return {std::move(property), true, fmt::format("{} comparisons, exact", seen_)};
    return {std::move(property), ratio_ <= 1, text_};
  }

 private:
  int seen_ = 0;
  double ratio_ = 0;
  std::string text_;
};

}  // namespace dpsosp
