// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "curator.hpp"
#include "dpsosp/privacy/threshold_test.hpp"

namespace dpsosp::door {

/// AboveThreshold over one or two scalars: yes where each is at most its threshold, both sides with
/// noise. Two scalars cost the sum of what each costs: to compare neighbours, both thresholds and
/// the noise of both questions have to move. Charged when it opens, whatever the number of
/// questions; ends with the first yes. Only the sessions that compute the scalars can open one.
/// \source Dwork & Roth (2014), Algorithm 1 and Theorem 3.23; privacy-accounting notes, 11
class SparseVector {
 public:
  /// Not copyable: each copy could answer a yes of its own, both with the noise of one threshold.
  SparseVector(const SparseVector&) = delete;
  SparseVector& operator=(const SparseVector&) = delete;

 private:
  friend class LineSearch;
  friend class StationarityTest;

  /// \param name  of the query, in refusals and in the ledger \throws BudgetExhausted
  SparseVector(Curator& curator, const Batch& batch, const char* name,
               std::span<const ThresholdTest> tests);
  /// \throws InputError after the first yes
  void expect_open() const;
  /// Whether every value is at most its threshold.
  bool at_most(std::span<const double> values);

  Curator* curator_;
  const char* name_;
  std::size_t scalars_;
  std::array<double, 2> thresholds_{};  // with their noise
  std::array<double, 2> scales_{};      // of questions
  bool open_ = true;
};

}  // namespace dpsosp::door
