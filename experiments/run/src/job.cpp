// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/job.hpp"

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/json_members.hpp"
#include "dpsosp/experiments/run_json.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

RunDescription described_run(const json& description) {
  try {
    return description.get<RunDescription>();
  } catch (const json::exception& e) {
    throw InputError(std::string("description of a run: ") + e.what());
  }
}

}  // namespace

Job::Job(const RunDescription& run)
    : state_(std::make_shared<State>(State{.key = RunKey(json(run)), .run = run})) {}

Job::Job(const ProbeCall& probe)
    : state_(std::make_shared<State>(State{.key = RunKey(write_json(probe)), .probe = probe})) {}

Job::Job(const json& description) {
  State state{.key = RunKey(description)};
  if (description.contains("probe"))
    state.probe = read_json<ProbeCall>(description, {"description of a probe"});
  else if (description.contains("algorithm"))
    state.run = described_run(description);
  state_ = std::make_shared<State>(std::move(state));
}

std::uint64_t Job::seed() const {
  return run() != nullptr ? run()->seed : probe() != nullptr ? probe()->seed : 0;
}

}  // namespace dpsosp
