// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/glm_population.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Generalised linear models with drawn records: f(w; x, y) = φ(⟨w, x⟩; y) + λ Σ_j w_j²/(1 + w_j²),
/// ‖x‖ ≤ 1, and a label y that depends on x through u = ⟨w*, x⟩.
///
/// The population objective is exact up to quadrature for laws of x that rotations leave alone; the
/// nodes grow with radius, ‖w*‖ and the loss's steepness, and where too many would be needed there
/// is none. Without a domain they are enough for ‖w‖ ≤ max(10, 2‖w*‖).
/// With `support` = K, the law of (x, y) is uniform on K atoms drawn once: then every population
/// objective is a finite mean, and simulated records are exact at O(K d) a query for any n, with
/// every record clipped on its own. The data seed draws the atoms, as it draws w*.
class GlmFamily : public ProblemFamily {
 public:
  Index default_records() const override { return 10000; }
  Fields fields() final;

  FeatureLaw features;
  Index rank = 5;
  Index support = 0;  ///< K atoms; 0 for records drawn one by one from the law
  double planted_norm = 2;
  double radius = 3;
  RecordSampling sampling = RecordSampling::independent;  ///< others need a support
  StartOption start;

 protected:
  void check_settings(Index dimension) const final;
  void settle(const Stream& random, PublicFacts& facts) const final;
  Constants constants(const PublicFacts& facts) const final;
  void draw(const InstanceSpec& spec, Problem& problem) const final;

  /// The loss, and the law of a label given u.
  struct Model {
    std::shared_ptr<const ScalarLoss> loss;
    double regulariser = 0;
    std::function<double(double u, Stream& stream)> draw;
    ExpectedLoss expected;
    double gap_attained = 1;  ///< part of the bound on F(x₀) − min F that the defaults reach
    bool analytic = true;     ///< whether `expected` is, so that quadrature over x is exact
    double resolved = 14;     ///< up to this ‖w‖ + ‖w*‖ the plainest rule is exact to 1e-12
    Vector extreme_labels;    ///< ends of the labels' range, or a few labels where it has none
    bool exact_fit = false;   ///< φ(u; y) = 0 for every record, so w* minimises every F
    bool planted_minimises = false;  ///< w* minimises the population objective
    bool mirrored = false;           ///< y and −y are equally likely: the origin is stationary
  };
  virtual Fields model_fields() = 0;
  /// \throws InputError on settings that make no model
  virtual Model model() const = 0;
  /// Adds constants that the family has beside the common ones.
  virtual void add_constants(const Model& /*law*/, const PublicFacts& /*facts*/,
                             Constants& /*constants*/) const {}
  /// The population objective of the continuous law, turned so that w* = ‖w*‖ e₁ and it is public;
  /// null if the law is another or has no exact form.
  std::unique_ptr<const Objective> turned_population(const Model& law, Index dimension) const;

 private:
  bool low_rank() const { return features.kind == FeatureLaw::Kind::low_rank; }
  /// Dimension of the features' space.
  Index inside(Index dimension) const { return low_rank() ? rank : dimension; }
  /// How fine the population objective's quadrature has to be; 0 if it has none.
  double detail(const Model& law) const;
  PlaneRule rule(const Model& law, Index dimension) const;
  void draw_atoms(const Model& law, const InstanceSpec& spec, std::shared_ptr<const GlmData> atoms,
                  Problem& problem) const;
  void add_landmarks(const Model& law, const Vector& planted, Problem& problem) const;
  std::optional<Slice> slice(const Vector& planted) const;
};

}  // namespace dpsosp
