// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/preparation.hpp"
#include "dpsosp/core/numbers_version.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/experiments/run_result.hpp"
#include "dpsosp/privacy/budget.hpp"

namespace dpsosp {

/// A run that ends without numbers, as a function of its description: a diverged iterate, a target
/// that no step size meets. Thrown by the function that computes runs; what() is the reason stored.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The curator that answers the run. Every value except `enforced` uses the unsound curator.
enum class Door {
  enforced,
  no_noise,         ///< epsilon = infinity, per-record clipping as usual
  no_data,          ///< noise only: every record contributes zero
  not_private,      ///< neither noise nor clipping: reference lines
  batch_mean_clip,  ///< the printed clipping of the mean
  no_clipping,  ///< noise for a nominal bound that nothing enforces: algorithms that do not clip
  script,  ///< as in an authors' script: its own noise, empty Poisson batches drawn anew, means
           ///< over the realised batch
};

constexpr auto words_of(Door) {
  using enum Door;
  return word_list<Door>("door", {{enforced, "enforced"},
                                  {no_noise, "no_noise"},
                                  {no_data, "no_data"},
                                  {not_private, "not_private"},
                                  {batch_mean_clip, "batch_mean_clip"},
                                  {no_clipping, "no_clipping"},
                                  {script, "script"}});
}

/// A private run as it is asked for.
struct RunSpec {
  std::string algorithm;                        ///< registry key
  std::string problem;                          ///< registry name
  std::map<std::string, std::string> settings;  ///< of the algorithm, after the schedule
  /// Settings of the problem; told.lipschitz, told.smoothness and told.suboptimality are factors on
  /// the constants that the algorithm is given, by which the result is not judged.
  std::map<std::string, std::string> problem_settings;
  Index records = 0;  ///< n; 0: the family's default
  std::optional<Index> dimension;
  double epsilon = 1.0;
  double delta = 1e-6;
  Calibrator calibrator = Calibrator::cks;
  Variant variant = Variant::repaired;
  Schedule schedule = Schedule::practical;
  NoiseRule noise = NoiseRule::schedule;
  std::int64_t noise_queries = 0;  ///< for NoiseRule::advanced; 0: as many as the run plans
  Door door = Door::enforced;
  std::uint64_t seed = 0;
  std::uint64_t data_seed = 0;
  Index observations = 200;  ///< uniform points of the trace; 0: none

  bool operator==(const RunSpec&) const = default;
};

/// Everything that decides the numbers of one private run: a RunSpec with nothing left open. The
/// number of records is known, `door` is the one that the algorithm needs, and of the problem's
/// settings those are listed that differ from its defaults. Its JSON (run_json.hpp) is the run's
/// description in a store.
struct RunDescription : RunSpec {
  /// Of a program: the SHA-256 of every file that it is made of. Part of the description, and of no
  /// random number, so that versions of a program are compared at common noise.
  std::map<std::string, std::string> program;
  /// Of a program's noise (set_program_secret); 0: none.
  std::uint64_t secret = 0;
  /// SHA-256 of the caller's own file that the records are read from; empty for all others.
  std::string data;
  int algorithm_numbers_version = 1;
  int library_numbers_version = dpsosp::library_numbers_version;
  int problem_numbers_version = 1;

  bool operator==(const RunDescription&) const = default;
};

/// Where an algorithm's steps are made: in a process that can reach neither the records nor the
/// seed.
struct Isolation {
  /// Path of the caller's program, in place of the suite's algorithm; empty: the described one.
  std::string program;
  std::string starter;  ///< path of dpsosp-guest; empty: beside the running program
};

/// The key that stands for a program: "program:" and the SHA-256 of its file. A run of a program
/// whose file has changed since is refused. \throws InputError
std::string program_key(const std::string& path);

/// Sets the secret of programs' runs, which enters their descriptions from now on, and the
/// key of their random numbers. Seed and description determine all noise, which can be subtracted;
/// a program may guess both, but not a number that was drawn after it was written.
void set_program_secret(std::uint64_t secret);
std::uint64_t program_secret();  ///< the one that was set; 0: none

/// \throws InputError for anything unknown or out of range, before any work
RunDescription describe(const RunSpec& spec);

/// The parameters with which the run would start, as its result has them. Makes no step, and costs
/// what the problem's public facts cost.
/// \throws InputError for what compute_run would refuse of sizes, settings and schedule
std::map<std::string, std::string> scheduled_parameters(const RunDescription& description);

/// Random numbers are keyed by the seed and the description, so no two different runs share noise;
/// only controls (`door`, `data_seed`) keep that of the run they control.
/// The result does not depend on whether the run is isolated.
/// \throws RunFailed if an iterate is not finite or a guest did not end well, InputError
RunResult compute_run(const RunDescription& description,
                      const std::optional<Isolation>& isolation = {});

/// The part of a run that may be published.
struct Release {
  AlgorithmResult algorithm;
  ScheduleResult schedule;
  PrivacyResult privacy;
  std::vector<double> point;
};

/// Runs with a ReleaseCurator, whose noise cannot be reproduced. \throws as compute_run, and
/// InputError where a query of the algorithm has no exact noise
Release compute_release(const RunDescription& description,
                        const std::optional<Isolation>& isolation = {});

/// The certificate of a point of the problem that `spec` names, of its sizes and seeds.
/// \param point  initial, origin, or a JSON array of d numbers
Certificate certify_point(const RunSpec& spec, const std::string& point);

}  // namespace dpsosp
