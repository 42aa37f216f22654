// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace dpsosp {

/// What a command is doing, how far it is, and what more there is to say.
struct ProgressState {
  std::string doing;
  double share = -1;   ///< of the work, in [0, 1]; negative: unknown
  double elapsed = 0;  ///< seconds that the share took
  std::string remark{};
};

/// "run: 30 % of 400 steps, 2m05s elapsed, 4m51s left; best ..."; without a share "run: step 120,
/// 2m05s elapsed".
std::string progress_text(std::string_view command, const ProgressState& state, double elapsed);

/// One line on standard error while it lives, from two seconds on, written over as the work goes
/// on and cleared at the end. None where standard error is no terminal, and none if it is quiet.
class ProgressLine {
 public:
  /// Called four times a second, from a thread of its own, with the seconds that have passed.
  using Look = std::function<ProgressState(double elapsed)>;

  ProgressLine(std::string command, bool quiet, Look look);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_shown() const { return shown_; }
  /// Writes a line that stays. May be called from any thread.
  void say(std::string_view line) const;

 private:
  std::string command_;
  bool shown_;
  std::jthread thread_;
};

/// A progress line of what the process's work meter says.
ProgressLine::Look look_at_work(std::string doing);

}  // namespace dpsosp
