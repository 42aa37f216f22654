// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "dpsosp/algorithms/preparation.hpp"
#include "dpsosp/isolation/sealed_program.hpp"

namespace dpsosp {

/// A guest that ended before it was done, or broke the protocol.
class GuestFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a guest decided before the run.
struct PreparedGuest {
  Scheduled scheduled;  ///< its rule grants no more than the budget
  std::map<std::string, std::string> parameters;
};

/// An algorithm in a process of its own, which has neither the records, nor the seed, nor a way to
/// this process but a socket on which it may ask what an algorithm may ask.
///
/// The process is `dpsosp-guest`, which lies beside the running program. It gives up files,
/// network, other processes and privileges (seccomp, Landlock) before any code of the algorithm
/// runs.
class GuestProcess {
 public:
  /// Starts the guest. To be called before records are read.
  /// \param program  the caller's own, which speaks the protocol of docs/isolation.md; null: the
  ///                 suite's own algorithms
  /// \param starter  the path of dpsosp-guest; empty: beside the running program
  /// \throws InputError where it cannot be started
  explicit GuestProcess(const SealedProgram* program = nullptr, const std::string& starter = {});
  /// Kills what is left of it.
  ~GuestProcess();
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;

  /// \param algorithm  key
  /// \throws InputError of the algorithm, or of a rule that exceeds the budget; GuestFailed
  PreparedGuest prepare(const std::string& algorithm,
                        const Preparation& how,
                        const PublicFacts& facts);

  /// Answers the guest's questions until it is done.
  /// \param coins  of the algorithm's public coins; the guest gets their words, not the key
  /// \throws InputError of the algorithm; GuestFailed
  Outcome run(Curator& curator, const StreamKey& coins, Observer& observer);

 private:
  class Process;
  std::unique_ptr<Process> process_;
  std::string speaker_;  // before what a program says of its input; empty for algorithms
};

}  // namespace dpsosp
