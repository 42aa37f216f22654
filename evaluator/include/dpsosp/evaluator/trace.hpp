// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/evaluator/curvature.hpp"
#include "dpsosp/problems/objective.hpp"

namespace dpsosp {

/// Which iterates of a run are evaluated. Depends on counts alone, never on values, so two methods
/// with equally many iterates are evaluated at the same times.
struct ObservationPlan {
  Index uniform = 200;   ///< at most this many evenly spaced iterates; ≥ 2
  Index per_decade = 8;  ///< iterates round(10^(j / per_decade)), j = 0, 1, …; 0: none
  /// T, where it is known that iterates 0 … T will be seen: fixes the stride at ⌊T/uniform⌋ + 1.
  std::optional<Index> steps{};
};

/// Stored items of a sequence of unknown length: 0, s, 2s, …, at most `capacity`; the
/// stride s starts at `stride` and doubles when the store is full, and every other item is dropped.
/// Between capacity/2 and capacity items remain of any longer sequence.
class ThinnedPoints {
 public:
  struct Point {
    Index t = 0;
    Vector x;
  };
  ThinnedPoints(Index capacity, Index stride);
  void see(Index t, ConstVectorRef x);
  Index stride() const { return stride_; }
  const std::vector<Point>& points() const { return points_; }

 private:
  Index capacity_;
  Index stride_;
  Index seen_ = 0;
  std::vector<Point> points_;
};

/// The evaluation of one stored point. With a status other than `ok` only t is valid.
struct TracePoint {
  Index t = 0;  ///< as given by the algorithm
  EvaluationStatus status = EvaluationStatus::ok;
  double value = Certificate::unknown;          ///< F(x)
  double gradient_norm = Certificate::unknown;  ///< ‖∇F(x)‖
  double lambda_min = Certificate::unknown;     ///< an estimate; see CurvatureEstimate
  double residual = Certificate::unknown;
  bool converged = false;              ///< whether lambda_min met its tolerance
  Index products = 0;                  ///< Hessian products used
  std::optional<double> sosp_level{};  ///< absent without ρ
};

/// Stores copies of a run's points by an observation plan and evaluates them after the run.
class TraceRecorder {
 public:
  /// \throws InputError if a number of the plan is out of range.
  explicit TraceRecorder(const ObservationPlan& plan);

  /// Iterate t of the run; called for t = 0, 1, 2, … in order. The first and the last are always
  /// kept.
  void see(Index t, ConstVectorRef x);
  /// The stored iterates in order of t, each once.
  std::vector<const ThinnedPoints::Point*> stored() const;

  /// Evaluates every stored point in order, each λ_min estimate warm-started at the one before.
  /// \param hessian_lipschitz ρ ≥ 0; absent: no sosp_level.
  std::vector<TracePoint> evaluate(const Objective& objective,
                                   std::optional<double> hessian_lipschitz,
                                   const CurvatureOptions& options = {}) const;

 private:
  ObservationPlan plan_;
  Index seen_ = 0;
  ThinnedPoints uniform_;
  std::vector<ThinnedPoints::Point> logarithmic_;
  Index exponent_ = 0;  // j of the next logarithmic point
  ThinnedPoints::Point last_;
};

/// Position of the point with the smallest sosp_level, the earliest among equals; none without ρ.
std::optional<std::size_t> best(std::span<const TracePoint> trace);

}  // namespace dpsosp
