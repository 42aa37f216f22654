// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/algorithms/preparation.hpp"
#include "dpsosp/isolation/sealed_program.hpp"

namespace dpsosp {

/// A guest that ended before it was done, or broke the protocol.
class GuestFailed : public std::runtime_error {
 public:
  /// \param wrote  of what it wrote to standard output and standard error, the part of the text
  /// that
  ///               a release keeps back
  explicit GuestFailed(const std::string& reason, const std::string& wrote = {})
      : std::runtime_error(reason + wrote), reason_(reason) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// What a guest decided before the run.
struct PreparedGuest {
  Scheduled scheduled;  ///< its rule grants no more than the budget
  std::map<std::string, std::string> parameters;
  std::vector<PlannedQuery> plan;  ///< of its Gaussian queries; empty if it tells none
};

/// Names of all questions that a run answers.
std::vector<std::string_view> answered_questions();

/// What a program needs beside its file.
struct Surroundings {
  std::string interpreter;            ///< absolute path; empty: the program's own
  std::vector<std::string> readable;  ///< files and folders beside the system's
  std::vector<std::string> modules;   ///< folders where Python looks for modules
};

/// `dpsosp-guest`: beside the running program, or else on PATH, as for a program of one's own that
/// is built against the installed package. Where it is nowhere: the path beside this program.
std::filesystem::path guest_program();

/// An algorithm in a process of its own, which has neither the records, nor the seed, nor a way to
/// this process but a socket on which it may ask what an algorithm may ask.
///
/// The process is guest_program(). It gives up files, network, other processes and privileges
/// (seccomp, Landlock) before any code of the algorithm runs.
class GuestProcess {
 public:
  /// Starts the guest. To be called before records are read.
  /// \param program  the caller's own, which speaks the protocol of docs/isolation.md; null: the
  ///                 suite's own algorithms
  /// \param starter  the path of dpsosp-guest; empty: guest_program()
  /// \throws InputError where it cannot be started
  explicit GuestProcess(const SealedProgram* program = nullptr, const std::string& starter = {},
                        const Surroundings& surroundings = {});
  /// Kills what is left of it.
  ~GuestProcess();
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;

  /// What a guest is told of its run.
  struct Told {
    std::string algorithm;  ///< key
    Preparation how;
    std::map<std::string, std::string> defaults{};  ///< of a card's settings that are not given
    std::optional<double> common_noise{};  ///< that it is told when it asks; none: calibrated
  };
  /// \throws InputError of the algorithm, or of a rule that exceeds the budget; GuestFailed
  PreparedGuest prepare(const Told& told, const PublicFacts& facts);

  /// Answers the guest's questions until it is done.
  /// \param coins  the algorithm's public coins, of which the guest gets the words and not the key
  /// \throws InputError of the algorithm; GuestFailed
  Outcome run(Curator& curator, const Stream& coins, Observer& observer);

 private:
  class Process;
  std::unique_ptr<Process> process_;
  std::string speaker_;  // before what a program says of its input; empty for algorithms
};

}  // namespace dpsosp
