// SPDX-License-Identifier: Apache-2.0
#include "replay/returned.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/experiments/run_inputs.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/problems/registry.hpp"
#include "replay/transcript.hpp"
#include "subjects/instances.hpp"

namespace dpsosp::audit {
namespace {

Problem problem_of(const RunDescription& run) {
  return find_problem(run.problem, run.problem_settings)
      ->make({.records = run.records,
              .dimension = run.dimension,
              .seed = run.seed,
              .data_seed = run.data_seed});
}

}  // namespace

std::string complaint_of_result(std::string_view algorithm, const ComputeRun& compute) {
  const RunDescription description = describe(small_run(algorithm));
  if (description.door != Door::enforced) return {};  // of no private run
  const RunResult result = compute(description);

  const Problem problem = problem_of(description);
  const auto own = find_algorithm(algorithm);
  const Scheduled scheduled = prepare(*own, preparation_of(description), problem.facts);
  StreamKey key = key_of(description);
  Curator curator(problem.facts, *problem.records, scheduled.rule, key);
  key.purpose = Purpose::algorithm;
  Unheard unheard;
  const Outcome outcome = own->run(curator, Stream::sealed(key), unheard);

  const auto& returned = result.point;
  if (!returned ||
      !same_bits(outcome.point, Eigen::Map<const Vector>(returned->data(), std::ssize(*returned))))
    return fmt::format("the output of a run on {} is not the algorithm's", description.problem);
  if (result.algorithm.status != outcome.status || result.algorithm.steps != outcome.steps)
    return fmt::format("status or steps of a run on {} are not the algorithm's",
                       description.problem);
  if (result.privacy.queries != curator.ledger().queries())
    return fmt::format("the ledger of a run on {} is not the curator's", description.problem);
  return {};
}

std::string complaint_of_release(const ComputeRelease& compute) {
  const RunDescription description = describe(small_run("wang-ye-xu-2017/dp-gd"));
  const std::vector<double> first = compute(description).point, second = compute(description).point;
  for (std::size_t k = 0; k < first.size(); ++k)
    if (std::ranges::find(second, first[k]) != second.end())
      return fmt::format("two releases of one run on {} have {:.17g} in common",
                         description.problem, first[k]);
  return {};
}

std::string complaint_of_published(const ComputeRelease& compute) {
  for (const char* key :
       {"wang-ye-xu-2017/dp-gd", "avdiukhin-2024/dp-sgd", "wang-xu-2020/dp-trust-region"}) {
    RunSpec spec = small_run(key);
    spec.problem = "glm-logistic";
    spec.problem_settings.clear();
    spec.records = 40;
    spec.dimension = 3;
    spec.settings = {{"steps", "4"}};
    // The records are clipped, or most of them are not.
    for (const char* lipschitz : {"0.7", "0.01"}) {
      spec.problem_settings["told.lipschitz"] = lipschitz;
      std::optional<nlohmann::json> first;
      for (spec.data_seed = 0; spec.data_seed < 3; ++spec.data_seed) {
        nlohmann::json said = compute(describe(spec));
        said.erase("point");
        if (!first)
          first = std::move(said);
        else if (said != *first)
          return fmt::format("{}: a release of other records says more than another point: {}", key,
                             nlohmann::json::diff(*first, said).dump());
      }
    }
  }
  return {};
}

}  // namespace dpsosp::audit
