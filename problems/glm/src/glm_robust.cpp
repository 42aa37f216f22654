// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/glm_robust.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view labels_formula =
    "‖x‖ ≤ 1, c = `scale`. x has a law that rotations leave alone, by default on an r-dimensional "
    "subspace (`features` = low_rank). y = σ⟨w*, x⟩ + e: σ = −1 with probability `opposed`, else "
    "1; e is N(0, noise²), or N(0, outlier_noise²) with probability `outliers`. With `support` = "
    "K the law is uniform on K such atoms, in mirrored pairs (x, ±y) if `opposed` = 1/2. ";

}  // namespace

Fields GlmRobust::model_fields() {
  using namespace range;
  return {field("scale", scale, positive, "c, where the loss stops growing"),
          field("noise", noise, not_negative, "standard deviation of the labels' noise"),
          field("outliers", outliers, probability, "probability of an outlier"),
          field("outlier_noise", outlier_noise, not_negative,
                "standard deviation of an outlier's noise"),
          field("opposed", opposed, between(0, 0.5),
                "probability of y = -<w*,x> + noise; a saddle at 0 for 0.5")};
}

bool GlmRobust::noiseless() const {
  return opposed == 0 && (noise == 0 || outliers == 1) && (outlier_noise == 0 || outliers == 0);
}

GlmFamily::Model GlmRobust::labelled() const {
  Model made;
  made.draw = [noise = noise, outliers = outliers, outlier_noise = outlier_noise, p = opposed](
                  double u, Stream& stream) {
    const double sign = stream.bernoulli(p) ? -1 : 1;
    const double deviation = stream.bernoulli(outliers) ? outlier_noise : noise;
    return sign * u + deviation * stream.normal();
  };
  // The loss depends on t − y alone and t ranges over R, so a few labels are enough.
  made.extreme_labels = Vector{{0, scale, -2 * scale}};
  made.exact_fit = noiseless();
  made.mirrored = opposed == 0.5;
  return made;
}

GlmWelsch::GlmWelsch() {
  features.kind = FeatureLaw::Kind::low_rank;
  planted_norm = 3;
  radius = 6;
}

std::string_view GlmWelsch::summary() const {
  return "(c^2/2)(1 - exp(-(<w,x> - y)^2/c^2)), low-rank x, outliers; saddle at 0 for mixed signs";
}

ProblemNotes GlmWelsch::notes() const {
  static const std::string formula =
      "f(w; x, y) = (c²/2)(1 − e^{−(⟨w, x⟩ − y)²/c²}), " + std::string(labels_formula) +
      "Population objective: over N(0, τ²) noise, E e^{−(t − y)²/c²} = (c/k) e^{−(t − u)²/k²}, "
      "k² = c² + 2τ², the rest by quadrature over the plane of w and w*; the atoms' mean with a "
      "support.";
  return {
      .group = "Generalised linear models",
      .formula = formula,
      .source = "lowy-2024 notes, 6 (Z4)",
      .critical_points =
          "`opposed` = 0: w* minimises the population objective, for E φ(δ − e) is least at "
          "δ = 0 when e has a symmetric unimodal law; F flattens far from it. `opposed` = 1/2: F "
          "is even, the origin is stationary, and a strict saddle once E φ″(⟨w*, x⟩)⟨w*, x⟩² "
          "< 0, which the defaults meet: the minimisers are a pair near ±w*. Directions "
          "orthogonal to the features are flat."};
}

GlmFamily::Model GlmWelsch::model() const {
  Model made = labelled();
  made.loss = welsch_loss(scale);
  made.gap_attained = 0.532;
  made.planted_minimises = opposed == 0;
  const double narrowest =
      std::min(outliers < 1 ? noise : outlier_noise, outliers > 0 ? outlier_noise : noise);
  made.resolved = 9 * hypotenuse(scale, std::sqrt(2.0) * narrowest);
  made.expected =
      [c = scale, p = opposed,
       parts = std::array{std::pair{1 - outliers, noise}, std::pair{outliers, outlier_noise}}](
          int order, ConstVectorRef t, ConstVectorRef u, VectorRef out) {
        out.setZero();
        if (order == 0) out.setConstant(c * c / 2);
        const auto add = [&](double probability, double sign, double deviation) {
          if (probability == 0) return;
          const double k = hypotenuse(c, std::sqrt(2.0) * deviation);
          const Eigen::ArrayXd r = (t.array() - sign * u.array()) / k;
          const Eigen::ArrayXd bump = probability * (c / k) * (-r.square()).exp();
          if (order == 0)
            out.array() -= c * c / 2 * bump;
          else if (order == 1)
            out.array() += c * c / k * r * bump;
          else
            out.array() += (c / k) * (c / k) * (1 - 2 * r.square()) * bump;
        };
        for (const auto& [share, deviation] : parts) {
          add(share * (1 - p), 1, deviation);
          add(share * p, -1, deviation);
        }
      };
  return made;
}

GlmTukey::GlmTukey() {
  features.kind = FeatureLaw::Kind::low_rank;
  planted_norm = 3;
  radius = 6;
  scale = 2;
  support = 2000;
}

std::string_view GlmTukey::summary() const {
  return "Tukey's biweight of <w,x> - y, low-rank x, outliers; exactly flat beyond c, 2000 atoms";
}

ProblemNotes GlmTukey::notes() const {
  static const std::string formula =
      "f(w; x, y) = (c²/6)(1 − (1 − r²/c²)³) for |r| ≤ c and c²/6 beyond, r = ⟨w, x⟩ − y, " +
      std::string(labels_formula) +
      "Population objective: the atoms' mean; none without a support, for φ is no smoother than "
      "C² and a quadrature would not be exact.";
  return {
      .group = "Generalised linear models",
      .formula = formula,
      .source = "lowy-2024 notes, 6 (Z4)",
      .critical_points =
          "`opposed` = 1/2: atoms come in pairs (x, ±y), F is even, the origin is stationary and "
          "by default a strict saddle between minimisers near ±w*. Without noise, w* has "
          "F = 0. Every point with |⟨w, x⟩ − y| > c for all records is stationary: report the "
          "excess risk beside the gradient."};
}

GlmFamily::Model GlmTukey::model() const {
  Model made = labelled();
  made.loss = tukey_loss(scale);
  made.gap_attained = 0.545;
  made.analytic = false;
  made.expected = [loss = made.loss, p = opposed,
                   parts = std::array{std::pair{1 - outliers, noise},
                                      std::pair{outliers, outlier_noise}}](
                      int order, ConstVectorRef t, ConstVectorRef u, VectorRef out) {
    // Trapezoid rule over the noise, to ten standard deviations.
    constexpr int steps = 100;
    out.setZero();
    Vector part(t.size());
    for (int k = -steps; k <= steps; ++k) {
      const double z = 10.0 * k / steps;
      const double weight = std::exp(-z * z / 2) * 10.0 / steps / std::sqrt(2 * std::numbers::pi);
      for (const auto& [share, deviation] : parts)
        for (const double sign : {1.0, -1.0}) {
          const double probability = share * weight * (sign > 0 ? 1 - p : p);
          if (probability == 0) continue;
          loss->derivative(order, t, (sign * u.array() + deviation * z).matrix(), part);
          out += probability * part;
        }
    }
  };
  return made;
}

}  // namespace dpsosp
