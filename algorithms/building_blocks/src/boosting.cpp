// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/boosting.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

Index boosting_repetitions(double failure) {
  if (!(failure > 0 && failure < 1)) reject("boosting", "failure", failure, "in (0, 1)");
  return static_cast<Index>(std::ceil(std::log2(2.0 / failure) - 1e-12));
}

double boosting_error(double range, double epsilon, Index repetitions, double failure) {
  return range / epsilon * (std::log(static_cast<double>(repetitions)) + std::log(2.0 / failure));
}

Index choose_best(Curator& curator, const Matrix& points, double lipschitz, double epsilon) {
  ExponentialMechanism mechanism(curator, curator.draw(BatchPolicy::all()));
  const Vector centre = points.rowwise().mean();
  return mechanism.choose(points, centre, lipschitz, epsilon);
}

}  // namespace dpsosp
