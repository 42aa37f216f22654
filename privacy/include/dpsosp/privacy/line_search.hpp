// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/threshold_test.hpp"

namespace dpsosp {
namespace door {
class LineSearch;
}

/// Limits and cost of a line search. Numbers in [1e-150, 1e150].
struct LineSearchSpec {
  double epsilon = 0;     ///< of the whole session, whatever the number of questions
  double loss_limit = 0;  ///< G: a record's loss difference is clamped to ±G ‖x − y‖
  double reach = 0;       ///< largest ‖x − y‖ that will be asked for
};

/// AboveThreshold on decreases of the loss from one point:
///
///   accept y if F(x) − F(y) − decrease + Lap(4s/ε) ≥ Lap(2s/ε),   s = 2 G reach/b,
///
/// F(x) − F(y) the mean over the batch of f(x; z_i) − f(y; z_i), each clamped to ±G ‖x − y‖, so
/// that exchanging a record moves it by at most 2G‖x − y‖/b ≤ s. ε-DP in all, charged when the
/// session opens; it ends with the first yes.
/// \source baselines notes, 9 (line search); privacy-accounting notes, 11
class LineSearch {
 public:
  /// Opens the session and charges it. \param batch  public membership; \param curator outlives it
  /// \throws BudgetExhausted, InputError
  LineSearch(Curator& curator, const Batch& batch, ConstVectorRef from, const LineSearchSpec& spec);
  ~LineSearch();

  /// True if F falls from `from` to `to` by at least `decrease`; never where `to` is not finite.
  /// \throws InputError beyond `reach`, and after the first yes
  bool decreases(ConstVectorRef to, double decrease);

  double sensitivity() const;
  std::int64_t questions() const;

 private:
  std::unique_ptr<door::LineSearch> session_;
};

}  // namespace dpsosp
