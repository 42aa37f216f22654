// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "curator.hpp"
#include "dpsosp/privacy/line_search.hpp"
#include "sparse_vector.hpp"

namespace dpsosp::door {

/// What `dpsosp::LineSearch` is a handle of.
class LineSearch {
 public:
  LineSearch(Curator& curator, const Batch& batch, ConstVectorRef from, const LineSearchSpec& spec);

  bool decreases(ConstVectorRef to, double decrease);

  double sensitivity() const { return test_.sensitivity; }
  std::int64_t questions() const { return questions_; }

  Curator& curator() const { return *curator_; }

 private:
  static ThresholdTest plan(const Curator& curator, const Batch& batch, ConstVectorRef from,
                            const LineSearchSpec& spec);

  Curator* curator_;
  Batch batch_;
  Vector from_;
  LineSearchSpec spec_;
  ThresholdTest test_;
  SparseVector session_;
  std::int64_t questions_ = 0;
};

}  // namespace dpsosp::door
