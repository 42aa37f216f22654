// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "dpsosp/core/words.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/run_key.hpp"

namespace dpsosp {

enum class RunStatus {
  finished,  ///< `result` holds the run's numbers
  failed,    ///< the run has no numbers; `reason` says why
};

constexpr auto words_of(RunStatus) {
  using enum RunStatus;
  return word_list<RunStatus>("status", {{finished, "finished"}, {failed, "failed"}});
}
inline std::string_view to_string(RunStatus status) { return word_of(status); }

/// A run as it is stored.
struct StoredRun {
  RunKey key;
  RunStatus status = RunStatus::finished;
  std::string reason;     ///< empty if finished
  nlohmann::json result;  ///< null if failed; numbers as to_json_number writes them
};

/// Beginning of the reason of a run that an exception ended: not by its description but by
/// where it ran, as for want of memory. Any other outcome of the run replaces it.
inline constexpr std::string_view failed_by_exception = "exception: ";

/// Where computed runs are kept. Several threads may call all members at a time.
/// Every member throws InputError with one line if the file cannot be read or written.
class RunLog {
 public:
  RunLog() = default;
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  virtual ~RunLog() = default;

  virtual const std::filesystem::path& file() const = 0;
  /// How the run ended, if it is kept.
  virtual std::optional<RunStatus> status(const RunKey& key) const = 0;
  virtual void put(const StoredRun& run, const Provenance& provenance) = 0;
};

}  // namespace dpsosp
