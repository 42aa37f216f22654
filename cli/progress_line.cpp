// SPDX-License-Identifier: Apache-2.0
#include "progress_line.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "dpsosp/core/work_meter.hpp"
#include "dpsosp/experiments/progress.hpp"

namespace dpsosp {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double silent_seconds = 2.0;
constexpr std::chrono::milliseconds between_looks{250};
constexpr std::string_view clear_line = "\r\x1b[K";

void write_at_once(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::size_t line_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79U;
}

}  // namespace

std::string progress_text(std::string_view command, const ProgressState& state, double elapsed) {
  std::string text =
      state.share < 0 ? fmt::format("{}: {}", command, state.doing)
                      : fmt::format("{}: {:.0f} % of {}", command, 100 * state.share, state.doing);
  text += fmt::format(", {} elapsed", duration_text(elapsed));
  if (state.share > 0 && state.share < 1)
    text += fmt::format(", {} left", duration_text(state.elapsed / state.share - state.elapsed));
  if (!state.remark.empty()) text += "; " + state.remark;
  return text;
}

ProgressLine::ProgressLine(std::string command, bool quiet, Look look)
    : command_(std::move(command)),
      shown_(!quiet && isatty(STDERR_FILENO) == 1),
      thread_([this, look = std::move(look)](const std::stop_token& stop) {
        const auto start = std::chrono::steady_clock::now();
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        bool written = false;
        const auto stopping = [&] { return stop.stop_requested(); };
        while (!wake.wait_for(lock, stop, between_looks, stopping)) {
          const double elapsed = Seconds(std::chrono::steady_clock::now() - start).count();
          const ProgressState state = look(elapsed);
          if (!shown_ || elapsed < silent_seconds) continue;
          write_at_once(std::string(clear_line) +
                        progress_text(command_, state, elapsed).substr(0, line_width()));
          written = true;
        }
        if (written) write_at_once(clear_line);
      }) {}

ProgressLine::~ProgressLine() = default;

void ProgressLine::say(std::string_view line) const {
  write_at_once(fmt::format("{}{}\n", shown_ ? clear_line : "", line));
}

ProgressLine::Look look_at_work(std::string doing) {
  return [doing = std::move(doing), before = work_done()](double elapsed) {
    const WorkDone now = work_done();
    const auto planned = static_cast<double>(now.planned - before.planned);
    const auto done = static_cast<double>(now.done - before.done);
    return ProgressState{.doing = doing,
                         .share = planned > 0 ? std::min(1.0, done / planned) : -1.0,
                         .elapsed = elapsed};
  };
}

}  // namespace dpsosp
