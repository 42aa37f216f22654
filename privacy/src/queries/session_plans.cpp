// SPDX-License-Identifier: Apache-2.0
// Functions of public numbers alone: algorithms plan their sessions with them.
#include <algorithm>
#include <bit>
#include <cmath>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/privacy/tree_stream.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view in_test = "stationarity test";

}  // namespace

void check(const StationaritySpec& spec) {
  // Beyond, squares underflow or overflow: norms that read 0 are not clipped.
  const auto positive = [](std::string_view name, double value) {
    if (!(value >= 1e-150 && value <= 1e150)) reject(in_test, name, value, "in [1e-150, 1e150]");
  };
  positive("epsilon", spec.epsilon);
  positive("gradient_scale", spec.gradient_scale);
  positive("curvature_scale", spec.curvature_scale);
  positive("gradient_limit", spec.gradient_limit);
  positive("hessian_limit", spec.hessian_limit);
  if (!std::isfinite(spec.slack)) reject(in_test, "slack", spec.slack, "finite");
  if (spec.candidates < 1)
    reject(in_test, "candidates", static_cast<double>(spec.candidates), ">= 1");
  if (!(spec.failure > 0 && spec.failure < 1))
    reject(in_test, "failure", spec.failure, "in (0, 1)");
}

std::vector<ThresholdTest> plan_stationarity(const StationaritySpec& spec, double size) {
  check(spec);
  const double moved_gradient = 2.0 * spec.gradient_limit / size;
  const double moved_curvature = 2.0 * spec.hessian_limit / size;
  if (spec.form == SelectionForm::scalar) {
    const double s = std::max(2.0 * spec.gradient_limit / (size * spec.gradient_scale),
                              2.0 * spec.hessian_limit / (size * spec.curvature_scale));
    return {{spec.slack, s, s, spec.epsilon}};
  }
  const double a = spec.scales == SelectionScales::zero_out ? 0.5 : 1.0;
  ThresholdTest gradient{spec.gradient_scale, a * moved_gradient, moved_gradient, spec.epsilon};
  ThresholdTest curvature{spec.curvature_scale, a * moved_curvature, moved_curvature, spec.epsilon};
  for (ThresholdTest* test : {&gradient, &curvature}) {
    if (spec.form == SelectionForm::two_tests) {
      const double lg = std::log(2.0 * static_cast<double>(spec.candidates) / spec.failure);
      test->threshold += 16.0 * lg * test->sensitivity / spec.epsilon;
      test->epsilon = spec.epsilon / 2.0;  // Lap(4s/ε) and Lap(8s/ε)
    } else {
      test->threshold *= spec.slack;
    }
  }
  return {gradient, curvature};
}

double selection_noise(double sensitivity, double epsilon, double questions, double failure) {
  return 8.0 * sensitivity * (std::log(questions) + std::log(2.0 / failure)) / epsilon;
}

// Steps are those of liu-talwar-2025 notes, 2.1.
std::vector<std::pair<std::int64_t, std::int64_t>> tree_nodes(std::int64_t t) {
  std::vector<std::pair<std::int64_t, std::int64_t>> nodes;  // NODE, step 1
  std::int64_t covered = 0;
  for (int level = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(t))) - 1; level >= 0;
       --level) {  // NODE, step 2
    const std::int64_t size = std::int64_t{1} << level;
    if (covered + size > t) continue;  // NODE, step 3
    nodes.emplace_back(covered + 1, covered + size);
    covered += size;
  }
  return nodes;
}

double alternating_rounds(double inverse_temperature, double regularizer, double range, double step,
                          double error) {
  const double gap = inverse_temperature * range;
  const double sobolev = std::exp(gap) / (inverse_temperature * regularizer);
  return std::ceil(std::log(8.0 * gap / (error * error)) / (2.0 * std::log1p(step / sobolev)));
}

}  // namespace dpsosp
