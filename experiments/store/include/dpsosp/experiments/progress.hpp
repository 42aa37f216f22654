// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace dpsosp {

enum class ProgressStyle {
  quiet,  ///< writes nothing
  lines,  ///< a line at every tenth of the work, and between them at lengthening intervals
  live,   ///< one line that is written over
};

/// CPU seconds of the runs that were computed and of those to come.
struct Work {
  double done = 0;
  double left = 0;
  std::size_t untimed =
      0;  ///< cells of which no run has finished, and whose part of left is a guess
};

/// `live` if standard error is a terminal, else `lines`; `quiet` if asked.
ProgressStyle progress_style(bool quiet);

/// How far a set of runs is: done of all, stored before, failed, runs a second, elapsed, left.
/// Writes to the sink only, by default standard error, so standard output stays clean. All members
/// may be called from several threads.
class Progress {
 public:
  using Sink = std::function<void(std::string_view text)>;
  using Clock = std::function<double()>;  ///< seconds; never goes back

  explicit Progress(ProgressStyle style);
  /// \param columns  width of the terminal; a live line is cut to columns − 1 characters.
  Progress(ProgressStyle style, Sink sink, Clock clock, std::size_t columns = 80);

  /// \param total   all runs, those already stored included.
  /// \param stored  how many were already stored; they are done, but do not count for the rate.
  /// \param failed  how many of the stored ones failed.
  void start(std::size_t total, std::size_t stored, std::size_t failed);
  /// One more run is done.
  /// \param work  tells the time left; without it, every run counts alike
  void advance(bool failed, const Work& work = {});
  /// Some time has passed. Call it about once a second, so that a long run does not look dead.
  void tick();
  /// No more runs will come; shows the last state.
  void stop();

 private:
  void show(bool last);
  std::string state(double now) const;

  ProgressStyle style_;
  Sink sink_;
  Clock clock_;
  std::size_t columns_;
  std::mutex mutex_;
  std::size_t total_ = 0;
  std::size_t stored_ = 0;
  std::size_t failed_ = 0;
  std::size_t done_ = 0;
  Work work_;
  std::size_t shown_done_ = 0;
  std::size_t shown_tenth_ = 0;
  double started_ = 0;
  double shown_ = 0;
};

/// "12s", "3m05s", "2h07m", "4d03h"; seconds ≥ 0.
std::string duration_text(double seconds);

}  // namespace dpsosp
