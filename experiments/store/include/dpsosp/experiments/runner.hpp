// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/job.hpp"
#include "dpsosp/experiments/progress.hpp"
#include "dpsosp/experiments/store.hpp"

namespace dpsosp {

/// A signal came that asks for the end: SIGINT (Ctrl-C), SIGTERM, SIGHUP, or SIGUSR1, by which
/// schedulers announce the end of the time. All runs that were done are stored; what() says how
/// many, where, and how to go on.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal, const std::string& what) : std::runtime_error(what), signal_(signal) {}
  int signal() const { return signal_; }
  /// The program's exit code: 128 + signal; SIGUSR1 ends it as SIGTERM does.
  int exit_code() const { return 128 + (signal_ == SIGUSR1 ? SIGTERM : signal_); }

 private:
  int signal_;
};

/// Result of a job; a pure function, called from several threads at a time.
using Compute = std::function<nlohmann::json(const Job& job)>;

struct RunOptions {
  int threads = 1;  ///< runs at a time, ≥ 1; each run is single-threaded
  /// Compute failed runs again instead of taking their failure from the store.
  bool retry_failed = false;
  Progress* progress = nullptr;  ///< shown while it works; none if null
};

/// Computes the runs that the log lacks, as run_jobs does, and reads none of them back.
void compute_missing(RunLog& log, const std::vector<Job>& jobs, const Compute& compute,
                     const RunOptions& options = {});

/// Computes the runs that the store lacks, `threads` at a time, and stores each as it finishes.
///
/// \return the run of every job, in the order of `jobs`. All are read back from the store, so a
///         resumed call returns the same bytes as one that was never stopped, at any number of
///         threads. Equal jobs are computed once. One call at a time in a process.
///
/// A job that throws is stored as failed with its reason (RunFailed: what(); any other exception:
/// "exception: " + what()) and the others go on.
/// \throws InputError if a job throws InputError, or
///         if the store cannot be written. No further run is started then; the runs in progress are
///         stored first.
/// \throws Interrupted after a signal, when the runs in progress are stored. The same signal again
///         ends the program at once and loses those runs only.
std::vector<StoredRun> run_jobs(Store& store, const std::vector<Job>& jobs, const Compute& compute,
                                const RunOptions& options = {});

}  // namespace dpsosp
