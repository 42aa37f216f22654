// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/experiments/run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <unordered_set>

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <unistd.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/loop_order.hpp"
#include "job_queue.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

// A signal handler reaches nothing but globals.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int> interrupted{0};  // the signal that came first; 0: none
static_assert(std::atomic<int>::is_always_lock_free);

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGUSR1};

// Milliseconds at which a signal came first; 0: not yet.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::array<std::atomic<std::int64_t>, NSIG> first_came{};

/// A scheduler sends SIGTERM to every process of a job, and its script passes it on: what comes
/// within this time of the first is the same request.
constexpr std::int64_t same_request = 1500;  // milliseconds

extern "C" void on_interrupt(int signal) {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = 1000 * time.tv_sec + time.tv_nsec / 1000000 + 1;
  std::int64_t first = 0;
  if (!first_came[static_cast<std::size_t>(signal)].compare_exchange_strong(first, now)) {
    if (signal == SIGUSR1 || (signal != SIGINT && now - first < same_request)) return;
    ::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  int none = 0;
  interrupted.compare_exchange_strong(none, signal);
  constexpr std::string_view after_interrupt =
      "\nstopping when the runs in progress are stored; Ctrl-C again stops at once\n";
  constexpr std::string_view after_other =
      "\nstopping when the runs in progress are stored; the same signal again stops at once\n";
  constexpr std::string_view after_warning =
      "\nthe time is nearly over: stopping when the runs in progress are stored\n";
  const std::string_view note = signal == SIGINT    ? after_interrupt
                                : signal == SIGUSR1 ? after_warning
                                                    : after_other;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, note.data(), note.size());
}

/// While it lives, the first signal of a kind that asks for the end sets `interrupted` and the
/// second ends the program, but for SIGUSR1. Where a signal was ignored (Ctrl-C in the background
/// of a script, SIGHUP under nohup), it still is.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted = 0;
    for (auto& came : first_came) came = 0;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART;
    for (std::size_t k = 0; k < ending_signals.size(); ++k) {
      sigaction(ending_signals[k], &action, &previous_[k]);
      if (previous_[k].sa_handler == SIG_IGN) sigaction(ending_signals[k], &previous_[k], nullptr);
    }
  }
  ~InterruptGuard() {
    for (std::size_t k = 0; k < ending_signals.size(); ++k)
      sigaction(ending_signals[k], &previous_[k], nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  std::array<struct sigaction, ending_signals.size()> previous_{};
};

/// Calls progress.tick() every second while it lives.
class Ticker {
 public:
  explicit Ticker(Progress& progress)
      : thread_([&progress](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any wake;
          std::unique_lock lock(mutex);
          const auto stopping = [&] { return stop.stop_requested(); };
          while (!wake.wait_for(lock, stop, std::chrono::seconds(1), stopping)) progress.tick();
        }) {}

 private:
  std::jthread thread_;
};

std::string field_text(const json& description, const char* field) {
  return description.contains(field) ? description[field].dump() : "";
}

/// The first error, by order of jobs, that stops everything.
class FirstError {
 public:
  void keep(std::size_t job, std::exception_ptr error) {
    const std::scoped_lock lock(mutex_);
    if (error_ && job_ < job) return;
    job_ = job;
    error_ = std::move(error);
    any_ = true;
  }
  bool any() const { return any_; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::size_t job_ = 0;
  std::exception_ptr error_;
  std::atomic<bool> any_{false};
};

/// Common part of jobs of like cost: all but their seeds.
std::string kind_of(const RunKey& key) {
  json description = key.description();
  description.erase("seed");
  description.erase("data_seed");
  return description.dump();
}

struct Done {
  RunStatus status;
  std::optional<double> cpu_seconds;  // none where another process has computed it
};

/// Computes one run and keeps it.
Done run_one(RunLog& log, const RunKey& key, const Compute& compute, Provenance provenance) {
  const json description = key.description();
  provenance.numbers_version = field_text(description, "numbers_version");
  provenance.seed = field_text(description, "seed");
  provenance.started = utc_now();
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = thread_cpu_seconds();
  StoredRun run{.key = key, .status = RunStatus::finished, .reason = "", .result = nullptr};
  const auto failed = [&run](std::string reason) {
    run.status = RunStatus::failed;
    run.reason = std::move(reason);
  };
  try {
    run.result = compute(Job(description));
  } catch (const InputError&) {
    throw;
  } catch (const RunFailed& e) {
    failed(e.what());
  } catch (const std::exception& e) {
    failed(std::string(failed_by_exception) + e.what());
  }
  provenance.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  provenance.cpu_seconds = thread_cpu_seconds() - cpu_start;
  log.put(run, provenance);
  return {run.status, provenance.cpu_seconds};
}

/// The status of a run that need not be computed.
std::optional<RunStatus> settled(const RunLog& log, const RunKey& key, bool retry_failed) {
  const std::optional<RunStatus> status = log.status(key);
  if (status == RunStatus::failed && retry_failed) return std::nullopt;
  return status;
}

struct Plan {
  std::vector<const RunKey*> pending;  ///< to be computed, in the order of jobs, each once
  std::size_t stored = 0;
  std::size_t stored_failed = 0;
};

Plan plan_of(const RunLog& log, const std::vector<RunKey>& keys, bool retry_failed) {
  Plan plan;
  std::unordered_set<std::string> seen;
  for (const RunKey& key : keys) {
    if (!seen.insert(key.hash()).second) continue;
    const std::optional<RunStatus> status = settled(log, key, retry_failed);
    if (!status) plan.pending.push_back(&key);
    if (status) ++plan.stored;
    if (status == RunStatus::failed) ++plan.stored_failed;
  }
  return plan;
}

}  // namespace

void compute_missing(RunLog& log, const std::vector<Job>& jobs, const Compute& compute,
                     const RunOptions& options) {
  if (options.threads < 1) reject("run", "threads", options.threads, ">= 1");
  std::vector<RunKey> keys;
  for (const Job& job : jobs) keys.push_back(job.key());
  const Plan plan = plan_of(log, keys, options.retry_failed);
  const std::vector<const RunKey*>& pending = plan.pending;
  Progress quiet(ProgressStyle::quiet);
  Progress& progress = options.progress != nullptr ? *options.progress : quiet;

  const Provenance origin = pending.empty() ? Provenance{} : provenance();
  FirstError error;
  std::vector<std::string> kinds;
  std::ranges::transform(pending, std::back_inserter(kinds),
                         [](const RunKey* key) { return kind_of(*key); });
  JobQueue queue(kinds);
  const auto work = [&](int) {
    while (!error.any() && interrupted == 0) {
      const std::optional<std::size_t> k = queue.next();
      if (!k) return;
      try {
        // Another process may have stored it since.
        const std::optional<RunStatus> stored = settled(log, *pending[*k], options.retry_failed);
        Done done{stored.value_or(RunStatus::failed), std::nullopt};
        // A run that waits for its own loops must not begin another: its seconds are its own.
        if (!stored)
          tbb::this_task_arena::isolate(
              [&] { done = run_one(log, *pending[*k], compute, origin); });
        queue.finished(*k, done.cpu_seconds);
        progress.advance(done.status == RunStatus::failed, queue.work());
      } catch (...) {
        error.keep(*k, std::current_exception());
      }
    }
  };

  progress.start(plan.stored + pending.size(), plan.stored, plan.stored_failed);
  int stopped = 0;
  {
    const InterruptGuard guard;
    const Ticker ticker(progress);
    const tbb::global_control allow(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(options.threads));
    LoopOrder order;
    tbb::task_arena(options.threads).execute([&] {
      tbb::parallel_for(0, options.threads, order.of(work), tbb::simple_partitioner());
    });
    order.join();
    stopped = interrupted;
  }
  progress.stop();
  error.rethrow();
  if (stopped != 0)
    throw Interrupted(
        stopped,
        fmt::format(
            "interrupted: {} of {} runs are stored in {}; the same command goes on from there",
            std::ranges::count_if(keys,
                                  [&](const RunKey& key) { return log.status(key).has_value(); }),
            keys.size(), log.file().string()));
}

std::vector<StoredRun> run_jobs(Store& store, const std::vector<Job>& jobs, const Compute& compute,
                                const RunOptions& options) {
  compute_missing(store, jobs, compute, options);
  std::vector<StoredRun> runs;
  runs.reserve(jobs.size());
  for (const Job& job : jobs) runs.push_back(store.find(job.key()).value());
  return runs;
}

}  // namespace dpsosp
