// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "figure_runs.hpp"
#include "synthetic_training.hpp"

namespace dpsosp::avdiukhin_2024_figures_test {

using namespace avdiukhin_2024_figures;

inline constexpr double inf = std::numeric_limits<double>::infinity();

/// The runs of a figure at a scale, made up.
inline std::vector<CurveRun> made_up(std::string_view figure, Scale scale) {
  std::vector<CurveRun> runs;
  for (const VariantRuns& v : runs_of_figure(figure, scale))
    for (const auto& epsilon : v.epsilons)
      for (std::uint64_t seed = 0; seed < v.seeds; ++seed) {
        CurveRun run{
            .figure = v.figure, .variant = v.variant, .seed = seed, .training = v.training};
        run.training.epsilon = epsilon;
        run.result = synthetic_result(run.training, seed);
        runs.push_back(std::move(run));
      }
  return runs;
}

}  // namespace dpsosp::avdiukhin_2024_figures_test
