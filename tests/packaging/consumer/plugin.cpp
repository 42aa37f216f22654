// SPDX-License-Identifier: Apache-2.0
// The caller's algorithm as a program of its own, for dpsosp run --program.
#include <memory>

#include "algorithm.hpp"
#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/guest/serve.hpp"

namespace {

class Plugin final : public dpsosp::Algorithm {
 public:
  const dpsosp::AlgorithmCard& card() const override {
    static const dpsosp::AlgorithmCard card{.key = "smith-2027/plugin"};
    return card;
  }
  dpsosp::Fields fields() override { return {}; }
  void set_variant(dpsosp::Variant) override {}
  void check_settings(const dpsosp::PublicFacts&) const override {}
  dpsosp::Scheduled schedule(dpsosp::Schedule, const dpsosp::PublicFacts&,
                             const dpsosp::PrivacyBudget& budget,
                             dpsosp::Calibrator calibrator) override {
    return {.rule = dpsosp::filter_rule(budget, calibrator)};
  }
  dpsosp::Outcome run(dpsosp::Curator& curator, dpsosp::Stream, dpsosp::Observer&) const override {
    dpsosp::Outcome outcome;
    outcome.steps = descend(curator, outcome.point);
    outcome.status = dpsosp::Status::budget;
    return outcome;
  }
};

}  // namespace

int main() {
  return dpsosp::serve_guest([](const std::string&) { return std::make_unique<Plugin>(); });
}
