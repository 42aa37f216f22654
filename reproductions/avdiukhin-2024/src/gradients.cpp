// SPDX-License-Identifier: Apache-2.0
#include "gradients.hpp"

#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/well.hpp"

namespace dpsosp::avdiukhin_2024_exhibit {

Gradients gradients_met(const FinishedRun& run) {
  const RunResult& result = *run.result;
  const EvaluationLog& log = result.evaluation_log;
  Gradients g{};
  g.steps = static_cast<double>(result.algorithm.steps);
  g.nominal = metric_of(result, "parameters.clip").value();
  g.clips = !log.unclipped;
  g.violations = static_cast<double>(g.clips ? log.clipped : log.unclipped->violations);
  g.longest = g.nominal *
              (g.clips ? log.largest_norm_over_limit : log.unclipped->largest_norm_over_nominal);
  const auto n = static_cast<double>(run.run->records);
  const auto d = static_cast<double>(run.run->dimension.value_or(10));
  g.lemma_3_2 = avdiukhin_2024::lemma_3_2_bound(well_numbers(n, d), g.steps, run.run->delta);
  return g;
}

}  // namespace dpsosp::avdiukhin_2024_exhibit
