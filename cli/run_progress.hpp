// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "dpsosp/experiments/run_follower.hpp"
#include "progress_line.hpp"

namespace dpsosp {

/// Shows how far a run is, and what its iterates are worth: gradient norms, computed from the
/// records without noise and so not private. They take at most a hundredth of the time, but for the
/// eleven of `watch`.
class RunProgress final : public RunFollower {
 public:
  /// \param watch  write a line at each tenth of the steps and at each new best, also where
  ///               standard error is no terminal
  RunProgress(std::string command, bool quiet, bool watch);

  void begin(std::optional<Index> steps) override;
  void step(Index t, ConstVectorRef x, const Objective* objective) override;
  void end() override;

 private:
  enum class Phase { preparing, running, certifying };

  ProgressState look(double elapsed);
  void warn_of_hours(double elapsed);
  void measure(Index t, ConstVectorRef x, const Objective& objective, bool at_a_tenth);

  std::string command_;
  bool quiet_;
  bool watch_;

  // Written by the thread of the run, read by that of the line.
  std::atomic<Phase> phase_{Phase::preparing};
  std::atomic<double> phase_began_{0};
  std::atomic<Index> planned_{0};  ///< 0: unknown
  std::atomic<Index> steps_{0};
  std::atomic<double> best_;
  // Written by the thread of the line.
  std::atomic<bool> measure_is_due_{false};
  std::atomic<double> next_measure_;
  bool warned_ = false;

  // Of the thread of the run.
  Vector gradient_;
  Index next_tenth_ = 0;  ///< step of the next line of `watch`
  Index best_step_ = 0;

  ProgressLine line_;  // last: its thread uses all of the above
};

}  // namespace dpsosp
