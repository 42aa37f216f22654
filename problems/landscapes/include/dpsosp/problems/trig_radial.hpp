// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// f(x; z) = ½(‖x‖² + sin ‖x‖²) + ⟨z, x⟩ with ‖z‖ ≤ 1 on the ball ‖x‖ ≤ R: the published experiment
/// on warm starts, at n = d = 100, R = 2 and law = ball. Every constant is exact, and so is the
/// minimum over the ball. \source lowy-2024 notes, 5.2 and 6 (C17, Z6).
class TrigRadial final : public ProblemFamily {
 public:
  /// What a record is: uniform signs over √d, which can be simulated, or uniform in the unit ball.
  enum class Law { signs, ball };
  friend constexpr auto words_of(Law) {
    using enum Law;
    return word_list<Law>("law", {{ball, "ball"}, {signs, "signs"}});
  }

  std::string_view name() const override { return "trig-radial"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 100; }
  Fields fields() override;

  Law law = Law::signs;
  double radius = 2;
  RecordSampling sampling = RecordSampling::independent;
  StartOption start;

 protected:
  Index default_dimension() const override { return 100; }
  void check_settings(Index dimension) const override;
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

}  // namespace dpsosp
