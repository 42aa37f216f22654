// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "dpsosp/core/members.hpp"
#include "dpsosp/core/numbers_version.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/run_key.hpp"

namespace dpsosp {

/// Everything that decides what a probe finds. Its JSON is its description in a store.
struct ProbeCall {
  std::string probe;
  nlohmann::json parameters;
  std::uint64_t seed = 0;
  struct Versions {
    int library = library_numbers_version;
    int probe = 1;
  } numbers_version;
};
DPSOSP_MEMBERS(ProbeCall::Versions, library, probe);
DPSOSP_MEMBERS(ProbeCall, probe, parameters, seed, numbers_version);

/// A run or a probe, with its key, which a store computes and keeps. Copies are cheap.
class Job {
 public:
  Job(const RunDescription& run);  // NOLINT: every run is a job
  Job(const ProbeCall& probe);     // NOLINT: and so is every probe
  /// From a description as a store has it. \throws InputError where it is bad
  explicit Job(const nlohmann::json& description);

  const RunKey& key() const { return state_->key; }
  const std::string& hash() const { return state_->key.hash(); }
  nlohmann::json description() const { return state_->key.description(); }
  /// Null where the job is the other one.
  const RunDescription* run() const { return state_->run ? &*state_->run : nullptr; }
  const ProbeCall* probe() const { return state_->probe ? &*state_->probe : nullptr; }
  std::uint64_t seed() const;

  bool operator==(const Job& other) const { return key() == other.key(); }

 private:
  struct State {
    RunKey key;
    std::optional<RunDescription> run{};
    std::optional<ProbeCall> probe{};
  };
  std::shared_ptr<const State> state_;
};

}  // namespace dpsosp
