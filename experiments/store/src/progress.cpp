// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace dpsosp {
namespace {

constexpr double live_interval = 0.1;   // seconds; faster than this is flicker
constexpr double line_interval = 10.0;  // seconds, at the start

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write_to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

ProgressStyle progress_style(bool quiet) {
  if (quiet) return ProgressStyle::quiet;
  return isatty(STDERR_FILENO) == 1 ? ProgressStyle::live : ProgressStyle::lines;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  const long long minutes = whole / 60;
  const long long hours = minutes / 60;
  if (minutes == 0) return fmt::format("{}s", whole);
  if (hours == 0) return fmt::format("{}m{:02}s", minutes, whole % 60);
  if (hours < 24) return fmt::format("{}h{:02}m", hours, minutes % 60);
  return fmt::format("{}d{:02}h", hours / 24, hours % 24);
}

Progress::Progress(ProgressStyle style)
    : Progress(style, write_to_stderr, steady_seconds, terminal_columns()) {}

Progress::Progress(ProgressStyle style, Sink sink, Clock clock, std::size_t columns)
    : style_(style), sink_(std::move(sink)), clock_(std::move(clock)), columns_(columns) {}

void Progress::start(std::size_t total, std::size_t stored, std::size_t failed) {
  const std::scoped_lock lock(mutex_);
  total_ = total;
  stored_ = stored;
  failed_ = failed;
  done_ = stored;
  work_ = {};
  shown_done_ = total + 1;
  started_ = clock_();
  show(true);
}

void Progress::advance(bool failed, const Work& work) {
  const std::scoped_lock lock(mutex_);
  ++done_;
  work_ = work;
  if (failed) ++failed_;
  show(false);
}

void Progress::tick() {
  const std::scoped_lock lock(mutex_);
  show(false);
}

void Progress::stop() {
  const std::scoped_lock lock(mutex_);
  show(true);
  if (style_ == ProgressStyle::live) sink_("\n");
}

void Progress::show(bool last) {
  if (style_ == ProgressStyle::quiet) return;
  const double now = clock_();
  const std::size_t tenth = total_ == 0 ? 10 : 10 * done_ / total_;
  if (style_ == ProgressStyle::live) {
    if (!last && now - shown_ < live_interval) return;
    sink_("\r\x1b[K" + state(now).substr(0, columns_ - 1));
  } else {
    // A tenth of the elapsed time keeps the log of a day's work short.
    const double interval = std::max(line_interval, 0.1 * (now - started_));
    if (last ? done_ == shown_done_ : tenth == shown_tenth_ && now - shown_ < interval) return;
    sink_(state(now) + '\n');
  }
  shown_ = now;
  shown_done_ = done_;
  shown_tenth_ = tenth;
}

std::string Progress::state(double now) const {
  const double elapsed = now - started_;
  const std::size_t computed = done_ - stored_;
  std::string text = fmt::format("{}/{} runs", done_, total_);
  if (stored_ > 0) text += fmt::format(", {} stored before", stored_);
  if (failed_ > 0) text += fmt::format(", {} failed", failed_);
  if (computed > 0 && elapsed > 0)
    text += fmt::format(", {:.3g}/s", static_cast<double>(computed) / elapsed);
  text += fmt::format(", {} elapsed", duration_text(elapsed));
  if (computed > 0 && done_ < total_) {
    const double left = work_.done > 0
                            ? work_.left / work_.done
                            : static_cast<double>(total_ - done_) / static_cast<double>(computed);
    text += fmt::format(", {} left", duration_text(elapsed * left));
    if (work_.untimed > 0)
      text += fmt::format(" ({} cell{} untimed)", work_.untimed, work_.untimed == 1 ? "" : "s");
  }
  return text;
}

}  // namespace dpsosp
