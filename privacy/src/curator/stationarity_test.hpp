// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "curator.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "sparse_vector.hpp"

namespace dpsosp::door {

/// What `dpsosp::StationarityTest` is a handle of.
class StationarityTest {
 public:
  static constexpr Index largest_dimension = 512;

  StationarityTest(Curator& curator, const Batch& batch, const StationaritySpec& spec);

  StationarityTest(const StationarityTest&) = delete;
  StationarityTest& operator=(const StationarityTest&) = delete;

  bool accepts(ConstVectorRef x);

  double sensitivity() const { return tests_.front().sensitivity; }
  std::int64_t questions() const { return questions_; }

  Curator& curator() const { return *curator_; }

 private:
  struct Stationarity {
    double gradient_norm, lambda_min;
  };
  Stationarity measure(ConstVectorRef x);
  bool ask_independently(ConstVectorRef x);

  Curator* curator_;
  Batch batch_;
  StationaritySpec spec_;
  std::vector<ThresholdTest> tests_;
  std::unique_ptr<SparseVector> session_;  // not of the form independent
  std::int64_t questions_ = 0;
};

}  // namespace dpsosp::door
