// SPDX-License-Identifier: Apache-2.0
#include "run_progress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/experiments/progress.hpp"
#include "dpsosp/problems/objective.hpp"

namespace dpsosp {
namespace {

constexpr double share_of_time = 0.01;
constexpr double first_measure = 2.0;  // seconds
constexpr double first_watched_measure = 1.0;
constexpr double long_run = 3600.0;      // seconds that are announced
constexpr double measured_before = 1.0;  // seconds of steps

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string norm_text(double norm) { return fmt::format("{:.4g}", norm); }

}  // namespace

RunProgress::RunProgress(std::string command, bool quiet, bool watch)
    : command_(std::move(command)),
      quiet_(quiet),
      watch_(watch),
      phase_began_(seconds_now()),
      best_(std::numeric_limits<double>::infinity()),
      next_measure_(seconds_now() + (watch ? first_watched_measure : first_measure)),
      line_(command_, quiet, [this](double elapsed) { return look(elapsed); }) {
  if (watch_)
    line_.say(fmt::format(
        "{}: the gradient norms below are computed from the records without noise: not private",
        command_));
}

void RunProgress::begin(std::optional<Index> steps) {
  planned_ = steps.value_or(0);
  phase_began_ = seconds_now();
  phase_ = Phase::running;
}

void RunProgress::end() {
  phase_began_ = seconds_now();
  phase_ = Phase::certifying;
}

void RunProgress::step(Index t, ConstVectorRef x, const Objective* objective) {
  steps_.store(t, std::memory_order_relaxed);
  if (objective == nullptr) return;
  const bool at_a_tenth = watch_ && planned_ > 0 && t >= next_tenth_;
  if (at_a_tenth || measure_is_due_.load(std::memory_order_relaxed))
    measure(t, x, *objective, at_a_tenth);
}

void RunProgress::measure(Index t, ConstVectorRef x, const Objective& objective, bool at_a_tenth) {
  const double before = seconds_now();
  gradient_.resize(objective.dimension());
  objective.gradient(x, gradient_);
  const double norm = gradient_.stableNorm();
  const double after = seconds_now();
  measure_is_due_ = false;
  next_measure_ = after + std::max((after - before) / share_of_time, watch_ ? 1.0 : 0.0);
  const bool is_best = norm < best_;
  if (is_best) {
    best_ = norm;
    best_step_ = t;
  }
  if (!watch_ || !(at_a_tenth || is_best)) return;
  const Index planned = planned_;
  std::string line = fmt::format("{}: step {}", command_, t);
  if (planned > 0)
    line += fmt::format(" of {} ({:.0f} %)", planned,
                        100.0 * static_cast<double>(t) / static_cast<double>(planned));
  line += fmt::format(", gradient norm {}", norm_text(norm));
  line += is_best ? std::string(", the best so far")
                  : fmt::format(", best {} at step {}", norm_text(best_), best_step_);
  line_.say(line);
  if (at_a_tenth) {
    const double tenth = static_cast<double>(planned) / 10.0;
    next_tenth_ = std::max<Index>(
        t + 1,
        static_cast<Index>(std::ceil((std::floor(static_cast<double>(t) / tenth) + 1) * tenth)));
  }
}

ProgressState RunProgress::look(double elapsed) {
  const double now = seconds_now(), in_phase = now - phase_began_;
  switch (phase_.load()) {
    case Phase::preparing:
      return {.doing = "records and noise are prepared", .elapsed = elapsed};
    case Phase::certifying:
      return {.doing = "certificates of the output are computed", .elapsed = elapsed};
    case Phase::running:
      break;
  }
  if ((line_.is_shown() || watch_) && now >= next_measure_) measure_is_due_ = true;
  warn_of_hours(in_phase);
  const Index steps = steps_, planned = planned_;
  ProgressState state{.doing = fmt::format("step {}", steps), .elapsed = in_phase};
  if (planned > 0) {
    state.doing = fmt::format("{} steps", planned);
    state.share = std::min(1.0, static_cast<double>(steps) / static_cast<double>(planned));
  }
  if (std::isfinite(best_))
    state.remark = fmt::format("best gradient norm {} (not private)", norm_text(best_));
  return state;
}

void RunProgress::warn_of_hours(double in_phase) {
  const Index steps = steps_, planned = planned_;
  if (quiet_ || warned_ || steps == 0 || planned == 0 || in_phase < measured_before) return;
  warned_ = true;
  const double all = in_phase / static_cast<double>(steps) * static_cast<double>(planned);
  if (all < long_run) return;
  line_.say(fmt::format(
      "{}: {} steps will take about {}, by the first {} in {}; --set steps=N makes fewer, Ctrl-C "
      "ends the run without a result",
      command_, planned, duration_text(all), steps, duration_text(in_phase)));
}

}  // namespace dpsosp
