// SPDX-License-Identifier: Apache-2.0
// What the tests of second-order baselines share: the reference point, and runs without noise.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "dpsosp/algorithms/scheduling.hpp"
#include "runs.hpp"

namespace dpsosp::test {
inline constexpr PrivacyBudget reference_budget{1.0, 1e-6};

/// n = 10⁵, d = 50, G = M = ρ = Δ₀ = 1: the reference point of baselines notes, 0.
inline PublicFacts reference_facts(double M = 1.0, double rho = 1.0) {
  PublicFacts facts;
  facts.name = "reference";
  facts.dimension = 50;
  facts.records = 100'000;
  facts.initial_point = Vector::Zero(50);
  for (const auto& [name, value] :
       {std::pair{constant::lipschitz, 1.0}, std::pair{constant::smoothness, M},
        std::pair{constant::hessian_lipschitz, rho}, std::pair{constant::suboptimality, 1.0}})
    facts.constants.set(name, {value, Origin::proved});
  return facts;
}
template <class Method>
Scheduled at_reference(Method& method, double alpha, Schedule kind = Schedule::practical,
                       Calibrator calibrator = Calibrator::cks) {
  method.parameters.target = alpha;
  return method.schedule(kind, reference_facts(), reference_budget, calibrator);
}
inline constexpr double sensitivity = 2.0 / 100'000;
inline const double frobenius = 2.0 * std::sqrt(50.0) / 100'000;

inline Matrix hessian_of(const Objective& f, const Vector& x) {
  Matrix h(x.size(), x.size());
  for (Index j = 0; j < x.size(); ++j) {
    Vector column(x.size());
    f.hessian_product(x, Vector::Unit(x.size(), j), column);
    h.col(j) = column;
  }
  return 0.5 * (h + h.transpose());
}
inline Vector gradient_of(const Objective& f, const Vector& x) {
  Vector g(x.size());
  f.gradient(x, g);
  return g;
}

/// An objective with a saddle, asked for from a curator without noise and clipping.
struct Exact {
  explicit Exact(const std::string& name = "cosine-saddle") : problem(small_problem(name, 60)) {
    Stream({.seed = 6, .purpose = Purpose::test}).add_normal(0.3, problem.facts.initial_point);
  }
  Ran run(const Algorithm& algorithm) const {
    return run_unsound(algorithm, problem.facts, *problem.records, exact);
  }
  const Objective& f() const { return *problem.empirical; }
  Problem problem;
};

/// A saddle everywhere: no gradient and the Hessian −I, so that every step asks for curvature.
class SaddleRecords final : public UncheckedRecords {
 public:
  explicit SaddleRecords(Index size) : size_(size) {}
  Index size() const override { return size_; }
  bool has_second_order() const override { return true; }
  bool sums_to_hessians() const override { return true; }
  ClipReport add(const Summand& s, const BatchView& batch, double, VectorRef out) const override {
    if (s.kind == Summand::Kind::hessian_product) out -= static_cast<double>(batch.size()) * s.v;
    return {};
  }

 private:
  Index size_;
};

}  // namespace dpsosp::test
