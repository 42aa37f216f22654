// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp::test {

/// Noisy gradient descent with a random kick a step, of which a test makes an algorithm in its own
/// process and a program, which must agree.
class PlainDescent final : public Algorithm {
 public:
  const AlgorithmCard& card() const override {
    static const AlgorithmCard card{.key = "test/plain-descent", .title = "Plain descent"};
    return card;
  }
  Fields fields() override {
    return {field("steps", steps_, range::positive, "T"),
            field("step_size", step_size_, range::positive, "eta"),
            field("limit", limit_, range::positive, "clip of gradients")};
  }
  void set_variant(Variant) override {}
  Scheduled schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override {
    const auto noise = calibrate_common_noise(plan(facts), facts.records, budget, calibrator);
    noise_ = noise.sensitivity_ratio;
    return {.rule = noise.rule, .note = {}};
  }
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override {
    return {{BatchPolicy::poisson(std::min(1.0, 50.0 / static_cast<double>(facts.records))), steps_,
             BatchUse::one_query}};
  }
  void set_common_noise(double sensitivity_ratio) override { noise_ = sensitivity_ratio; }
  void check_settings(const PublicFacts&) const override {}
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override {
    const PublicFacts& facts = curator.facts();
    Vector x = facts.initial_point, g(x.size()), kick(x.size());
    const GradientQuery query{.limit = limit_, .noise = Noise::sensitivity_ratio(noise_)};
    for (Index t = 0; t < steps_; ++t) {
      observer.iterate(t, x);
      try {
        curator.gradient(Point(x), curator.draw(plan(facts).front().policy), query, g);
      } catch (const Refused& refusal) {
        return {x, status_of(refusal), t, {}};
      }
      stream.child(3).fill_normal(1e-3, kick);
      x -= step_size_ * g + kick;
    }
    return {x, Status::steps_done, steps_, {{"kicks", steps_}}};
  }

 private:
  Index steps_ = 20;
  double step_size_ = 0.1, limit_ = 1.0, noise_ = 0.0;
};

}  // namespace dpsosp::test
