// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dpsosp/experiments/run.hpp"

namespace dpsosp {

class Objective;

/// Is told how far a run is. Nothing of the run depends on it.
class RunFollower {
 public:
  virtual ~RunFollower() = default;
  /// The records are made and the parameters are set.
  /// \param steps  at most, where the algorithm plans them
  virtual void begin(std::optional<Index> steps) = 0;
  /// Before step t. \param objective  by which x can be judged, from the records without noise;
  /// null in a release
  virtual void step(Index t, ConstVectorRef x, const Objective* objective) = 0;
  /// The algorithm has ended; its certificates are computed.
  virtual void end() = 0;
};

/// As without a follower; the results have the same bits.
RunResult compute_run(const RunDescription& description, const std::optional<Isolation>& isolation,
                      RunFollower& follower);
Release compute_release(const RunDescription& description,
                        const std::optional<Isolation>& isolation, RunFollower& follower);

/// How the records of an instance compare with this machine's memory.
struct MemoryNeed {
  double bytes = 0;               ///< that the records take, from what two small instances take
  double machine = 0;             ///< bytes of memory of this machine
  bool can_be_simulated = false;  ///< the problem has sampling = whole
};
/// None where it is not known: data sets, and C libraries that do not say what is allocated.
/// \throws InputError for an unknown problem or setting
std::optional<MemoryNeed> memory_need(const RunSpec& spec);

}  // namespace dpsosp
