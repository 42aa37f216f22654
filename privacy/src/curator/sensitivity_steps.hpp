// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <vector>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/batch.hpp"

namespace dpsosp {

/// The total sensitivity of a query that reads several batches, as a function of the record.
class SensitivitySteps {
 public:
  void add(RecordRange range, double sensitivity) {
    if (!std::isfinite(sensitivity)) reject("query", "sensitivity", sensitivity, "finite");
    steps_[range.begin] += sensitivity;
    steps_[range.end] -= sensitivity;
    largest_ = std::max(largest_, sensitivity);
  }

  struct Step {
    RecordRange range;
    double sensitivity;
  };
  /// Ranges with a positive total, in order.
  std::vector<Step> steps() const {
    std::vector<Step> all;
    double total = 0.0;
    for (auto step = steps_.begin(); step != steps_.end() && std::next(step) != steps_.end();
         ++step) {
      total += step->second;
      if (total > rounding * largest_)
        all.push_back({{step->first, std::next(step)->first}, total});
    }
    return all;
  }

 private:
  // Totals below this share of the largest sensitivity are what rounding leaves of sums that
  // cancel. They are not charged, which loses at most (1e-14)² of the largest charge.
  static constexpr double rounding = 1e-14;
  std::map<Index, double> steps_;
  double largest_ = 0.0;
};

}  // namespace dpsosp
