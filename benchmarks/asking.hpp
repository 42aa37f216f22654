// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp {

/// Asks for gradients of the whole batch and steps along them: in this process, or as a program.
class Asking final : public Algorithm {
 public:
  const AlgorithmCard& card() const override {
    static const AlgorithmCard card{.key = "bench/asking-here", .title = "Asks for gradients"};
    return card;
  }
  Fields fields() override {
    return {field("steps", steps_, range::positive, "gradients"),
            field("draws", draws_, "a batch for every gradient")};
  }
  void set_variant(Variant) override {}
  Scheduled schedule(Schedule, const PublicFacts&, const PrivacyBudget& budget,
                     Calibrator calibrator) override {
    return {.rule = filter_rule(budget, calibrator), .note = {}};
  }
  std::vector<PlannedQuery> plan(const PublicFacts&) const override {
    return {{BatchPolicy::all(), steps_, BatchUse::one_query}};
  }
  void check_settings(const PublicFacts&) const override {}
  Outcome run(Curator& curator, Stream, Observer& observer) const override {
    Vector x = curator.facts().initial_point, g(x.size());
    const GradientQuery query{.limit = 1.0, .noise = Noise::sensitivity_ratio(1e6)};
    const Batch everyone = curator.draw(BatchPolicy::all());
    for (Index t = 0; t < steps_; ++t) {
      observer.iterate(t, x);
      curator.gradient(Point(x), draws_ ? curator.draw(BatchPolicy::all()) : everyone, query, g);
      x -= 1e-12 * g;
    }
    return {x, Status::steps_done, steps_, {}};
  }

 private:
  Index steps_ = 20000;
  bool draws_ = false;
};

}  // namespace dpsosp
