// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dpsosp/core/words.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/threshold_test.hpp"

namespace dpsosp {
namespace door {
class StationarityTest;
}

/// How near-stationarity is asked for.
enum class SelectionForm {
  scalar,       ///< one threshold on the scaled maximum of both; charged once
  two_tests,    ///< a threshold each (ganesh-2023, Algorithm 2); charged once
  independent,  ///< noisy norm and eigenvalue anew each time (avdiukhin-2024, Section 3.4); charged
                ///< for every question
};

constexpr auto words_of(SelectionForm) {
  using enum SelectionForm;
  return word_list<SelectionForm>(
      "selection form",
      {{scalar, "scalar"}, {two_tests, "two_tests"}, {independent, "independent"}});
}

/// From which sensitivities the scales of two_tests and independent are computed. The charge is the
/// true one under replace-one in either case, twice ε per test with those of zero-out.
enum class SelectionScales {
  replace_one,  ///< 2G/b, 2M/b
  zero_out,     ///< G/b, M/b, as both papers print
};

/// Conditions of acceptance, and cost of the answer. Numbers from 1e-150 to 1e150.
struct StationaritySpec {
  double epsilon = 0;          ///< of the whole session; of the form independent: of each test
  double gradient_scale = 0;   ///< α
  double curvature_scale = 0;  ///< sqrt(ρα)
  double gradient_limit = 0;   ///< G, per record
  double hessian_limit = 0;    ///< M, per record, operator norm
  double slack = 1.5;          ///< accept where the scaled scalar is at most about this
  SelectionForm form = SelectionForm::scalar;
  SelectionScales scales = SelectionScales::replace_one;
  Index candidates = 1;   ///< T of two_tests: its thresholds make room for the noise of T questions
  double failure = 0.05;  ///< ω of two_tests, in (0, 1)
};

/// \throws InputError
void check(const StationaritySpec& spec);

/// The tests of a spec over a batch of `size` records: of the scalar, or of ‖∇F‖ and of
/// −λ_min(∇²F). In the form independent a test's threshold has no noise and its question has noise
/// of scale sensitivity/ε. True sensitivities are of replace-one.
/// \source ganesh-2023 notes, 2.3; avdiukhin-2024 notes, 2.3
std::vector<ThresholdTest> plan_stationarity(const StationaritySpec& spec, double size);

/// A bound on all noise of K = `questions` questions of a session of one scalar, which holds with
/// probability 1 − failure = 1 − β: 8 s (ln K + ln(2/β))/ε. If it is at most the slack less 1,
/// every α-SOSP that is asked is accepted.
/// \source Dwork & Roth (2014), Theorem 3.24; avdiukhin-2024 notes, 2.3;
///   privacy-accounting notes, 11
double selection_noise(double sensitivity, double epsilon, double questions, double failure);

/// AboveThreshold: is x nearly stationary to second order? Of the form scalar,
///
///   q(x) = max(‖∇F(x)‖/α, −λ_min(∇²F(x))/sqrt(ρα)),
///   accept if q(x) + Lap(4s/ε) ≤ slack + Lap(2s/ε),
///
/// F the mean over the batch of per-record clipped gradients and weighed Hessians, so that
/// exchanging a record moves q by at most s = max(2G/(bα), 2M/(b sqrt(ρα))) (λ_min is 1-Lipschitz
/// in operator norm). ε-DP in all, charged when the session opens; it ends with the first yes.
/// The other forms ask ‖∇F‖ ≤ α and λ_min ≥ −sqrt(ρα), with the offsets of their papers.
/// λ_min is a dense solve, so the dimension is at most 512.
/// \source privacy-accounting notes, 11 (one scaled scalar); avdiukhin-2024 notes, 2.3
class StationarityTest {
 public:
  static constexpr Index largest_dimension = 512;

  /// Opens the session and charges it. \param batch  public membership; \param curator outlives it
  /// \throws BudgetExhausted, InputError
  StationarityTest(Curator& curator, const Batch& batch, const StationaritySpec& spec);

  /// Not copyable: each copy could answer a yes of its own, both with the noise of one threshold.
  ~StationarityTest();

  /// True if x is accepted; never where it is not finite.
  /// \throws InputError after the first yes; BudgetExhausted in the form independent, which may be
  ///   asked on after a yes
  bool accepts(ConstVectorRef x);

  /// The sensitivity from which scales are computed: of the scalar, or of ‖∇F‖.
  double sensitivity() const;
  std::int64_t questions() const;

 private:
  std::unique_ptr<door::StationarityTest> session_;
};

}  // namespace dpsosp
