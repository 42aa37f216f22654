// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/checks/algorithm_check.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/json_number.hpp"

namespace dpsosp {

using nlohmann::json;

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
                                 spec.algorithm,
                                 spec.problem,
                                 spec.records);
  if (spec.dimension) text += fmt::format(" --dimension {}", *spec.dimension);
  text += fmt::format(" --epsilon {} --delta {}", spec.epsilon, spec.delta);
  if (spec.variant != "repaired") text += " --variant " + spec.variant;
  if (spec.schedule != "practical") text += " --schedule " + spec.schedule;
  if (spec.calibrator != "cks") text += " --calibrator " + spec.calibrator;
  for (const auto& [name, value] : spec.problem_settings)
    text += fmt::format(" --set problem.{}={}", name, value);
  for (const auto& [name, value] : spec.settings) text += fmt::format(" --set {}={}", name, value);
  return text;
}

bool AlgorithmCheck::passed() const { return std::ranges::all_of(lines, &CheckLine::passed); }

AlgorithmCheck check_algorithm(std::string_view algorithm) {
  const RunSpec& spec = quick_run(algorithm).spec;
  AlgorithmCheck check;
  check.algorithm = algorithm;
  check.command = command_of(spec);
  const json description = describe(spec);
  const auto begin = std::chrono::steady_clock::now();
  const json run = compute_run(description);
  check.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const AlgorithmCard& card = find_algorithm(algorithm)->card();
  check.metric = card.metric == Metric::excess_risk        ? "value"
                 : run.at("output").contains("sosp_level") ? "sosp_level"
                                                           : "gradient_norm";
  check.start = from_json_number(run.at("start").at(check.metric));
  check.output = from_json_number(run.at("output").at(check.metric));
  const json& privacy = run.at("privacy");
  const std::string label = privacy.at("label");
  check.guarantee = label == to_string(PrivacyLabel::enforced)
                        ? privacy.at("guarantee").get<double>()
                        : std::numeric_limits<double>::infinity();
  check.spent = from_json_number(privacy.at("spent"));

  const auto line = [&](std::string property, bool passed, std::string detail) {
    check.lines.push_back({std::move(property), passed, std::move(detail)});
  };
  const std::string status = run.at("algorithm").at("status");
  line("ends normally", status != "not_finite", status);
  line("its output is better than its start",
       check.output < check.start,
       fmt::format("{} {:.4g} from {:.4g}", check.metric, check.output, check.start));
  line("its label is that of its card", label == to_string(card.privacy), label);
  if (label == to_string(PrivacyLabel::enforced))
    line("spends no more than it guarantees",
         check.spent <= check.guarantee * (1 + 1e-9),
         fmt::format("epsilon {:.6g} of {:.6g}", check.spent, check.guarantee));
  line("the same key gives the same bits",
       compute_run(description) == run,
       "two runs compared, output and ledger");
  line("takes less than a minute", check.seconds < 60, fmt::format("{:.2f} s", check.seconds));
  return check;
}

}  // namespace dpsosp
