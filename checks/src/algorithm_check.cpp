// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/checks/algorithm_check.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/run_json.hpp"

namespace dpsosp {

const QuickRun& quick_run(std::string_view algorithm) {
  const auto& runs = quick_runs();
  const auto found = std::ranges::find_if(
      runs, [&](const QuickRun& run) { return run.spec.algorithm == algorithm; });
  if (found != runs.end()) return *found;
  std::vector<std::string> keys;
  for (const QuickRun& run : runs) keys.push_back(run.spec.algorithm);
  reject_unknown("algorithm", algorithm, keys);
}

std::string command_of(const RunSpec& spec) {
  std::string text = fmt::format("dpsosp run --algorithm {} --problem {} --records {}",
                                 spec.algorithm, spec.problem, spec.records);
  if (spec.dimension) text += fmt::format(" --dimension {}", *spec.dimension);
  text += fmt::format(" --epsilon {} --delta {}", spec.epsilon, spec.delta);
  const RunSpec usual;
  const auto add_word = [&](const char* option, auto value, auto standard) {
    if (value != standard) text += fmt::format(" --{} {}", option, word_of(value));
  };
  add_word("variant", spec.variant, usual.variant);
  add_word("schedule", spec.schedule, usual.schedule);
  add_word("calibrator", spec.calibrator, usual.calibrator);
  for (const auto& [name, value] : spec.problem_settings)
    text += fmt::format(" --set problem.{}={}", name, value);
  for (const auto& [name, value] : spec.settings) text += fmt::format(" --set {}={}", name, value);
  return text;
}

bool AlgorithmCheck::passed() const { return std::ranges::all_of(lines, &CheckLine::passed); }

AlgorithmCheck check_algorithm(std::string_view algorithm) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const RunSpec& spec = quick_run(algorithm).spec;
  AlgorithmCheck check;
  check.algorithm = algorithm;
  check.command = command_of(spec);
  const RunDescription description = describe(spec);
  const auto begin = std::chrono::steady_clock::now();
  const RunResult run = compute_run(description);
  check.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const AlgorithmCard card = find_algorithm(algorithm)->card();
  check.metric = card.metric == Metric::excess_risk ? "value"
                 : run.output.sosp_level            ? "sosp_level"
                                                    : "gradient_norm";
  // A point that is not finite has no metric; it is worse than any start.
  check.start = metric_of(run, "start." + check.metric).value_or(infinite);
  check.output = metric_of(run, "output." + check.metric).value_or(infinite);
  const PrivacyLabel label = run.privacy.label, on_data = on_records(label);
  check.guarantee = on_data == PrivacyLabel::enforced ? run.privacy.guarantee : infinite;
  check.spent = run.privacy.spent;

  const auto line = [&](std::string property, bool passed, std::string detail) {
    check.lines.push_back({std::move(property), passed, std::move(detail)});
  };
  line("ends normally", run.algorithm.status != Status::not_finite,
       std::string(to_string(run.algorithm.status)));
  line("its output is better than its start", check.output < check.start,
       fmt::format("{} {:.4g} from {:.4g}", check.metric, check.output, check.start));
  line("its label is that of its card", on_data == card.privacy,
       label == on_data ? std::string(to_string(label))
                        : fmt::format("{}, {} on records", to_string(label), to_string(on_data)));
  if (on_data == PrivacyLabel::enforced)
    line("spends no more than it guarantees", check.spent <= check.guarantee * (1 + 1e-9),
         fmt::format("epsilon {:.6g} of {:.6g}", check.spent, check.guarantee));
  if (card.is_program())
    line("is refused no query that it plans", run.algorithm.status != Status::budget,
         fmt::format("{} queries", run.privacy.queries));
  line("the same key gives the same bits",
       nlohmann::json(compute_run(description)) == nlohmann::json(run),
       "two runs compared, output and ledger");
  line("takes less than a minute", check.seconds < 60, fmt::format("{:.2f} s", check.seconds));
  return check;
}

}  // namespace dpsosp
