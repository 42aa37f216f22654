// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// How the noise of a run is found.
enum class NoiseRule {
  schedule,    ///< by the algorithm's schedule, `paper` or `practical`
  calibrated,  ///< one common ratio, the least that fits the budget by our accountant
  advanced,    ///< one common ratio by advanced composition, as xu-2026 publishes it
  none,        ///< no noise: epsilon = infinity
};

/// What the run is answered by. Everything but `enforced` needs the unsound door.
enum class Door {
  enforced,
  no_noise,         ///< epsilon = infinity, per-record clipping as usual
  no_data,          ///< noise only: every record contributes zero
  not_private,      ///< neither noise nor clipping: reference lines
  batch_mean_clip,  ///< the printed clipping of the mean
  no_clipping,  ///< noise for a nominal bound that nothing enforces: algorithms that do not clip
  script,  ///< of an authors' script: its own noise, empty Poisson batches drawn anew, means over
           ///< the realised batch
};

/// \throws InputError for an unknown word
Door door_of(const std::string& text);

/// Everything that decides the numbers of one private run.
struct RunSpec {
  std::string algorithm;                        ///< registry key
  std::string problem;                          ///< registry name
  std::map<std::string, std::string> settings;  ///< of the algorithm, after the schedule
  /// Of the problem; told.lipschitz, told.smoothness and told.suboptimality are factors on the
  /// constants that the algorithm is told, by which the result is not judged.
  std::map<std::string, std::string> problem_settings;
  Index records = 0;  ///< n; 0: the family's default
  std::optional<Index> dimension;
  double epsilon = 1.0;
  double delta = 1e-6;
  std::string calibrator = "cks";      ///< bun-steinke, cks, exact-gaussian, rdp
  std::string variant = "repaired";    ///< printed, repaired
  std::string schedule = "practical";  ///< paper, practical; "none" with another noise rule
  NoiseRule noise = NoiseRule::schedule;
  std::int64_t noise_queries = 0;  ///< of NoiseRule::advanced; 0: as many as the run plans
  Door door = Door::enforced;
  std::uint64_t seed = 0;
  std::uint64_t data_seed = 0;
  Index observations = 200;  ///< uniform points of the trace; 0: none
};

/// The description of a run: canonical, complete, with the numbers versions of what it uses.
/// \throws InputError for anything unknown or out of range, before any work
nlohmann::json describe(const RunSpec& spec);

/// Refuses what compute_run would refuse of sizes, settings and schedule; makes no step. Costs what
/// the problem's public facts cost. \throws InputError
void check_run(const nlohmann::json& description);
/// The same, and returns the parameters with which the run would start, as its result has them.
std::map<std::string, std::string> scheduled_parameters(const nlohmann::json& description);

/// Runs what `describe` made. The result has the keys
///   algorithm: status, steps, counts, records_used, parameters;   schedule: alpha, utility, note;
///   privacy: label, guarantee, delta, spent, accountant, adjacency, ledger;
///   start, origin, output: certificates;   minimum: min F, or null;   point;
///     best: a row of the trace;   trace: rows [t, value, ‖∇‖, λ_min, sosp_level];
///   population: start, output and minimum by the population objective, where both are known;
///   evaluation_log: per-record vectors summed (contributions), clip counts, of methods that keep
///   an
///     estimate its error ‖g_t − ∇F(x_t)‖ over up to 200 steps, and of unclipped runs the gradients
///     above the nominal bound.
/// Certificates, trace, best and evaluation_log are functions of the records: not private, and so
/// marked. Random numbers are keyed by the seed and the description, so no two different runs share
/// noise; only controls (door, data_seed) keep that of the run they control.
/// \throws RunFailed if an iterate is not finite, InputError
nlohmann::json compute_run(const nlohmann::json& description);

/// Runs what `describe` made behind the door for releases (release_curator.hpp), with noise that
/// nobody can draw again, and returns what may be published and nothing else: the keys algorithm,
/// schedule, privacy (with `noise`) and point of compute_run. \throws as compute_run, and
/// InputError where the algorithm asks for what has no exact noise
nlohmann::json compute_release(const nlohmann::json& description);

/// A certificate of a point of a problem, as in the results of runs.
nlohmann::json certify_point(const std::string& problem,
                             const std::map<std::string, std::string>& problem_settings,
                             Index records,
                             std::optional<Index> dimension,
                             std::uint64_t seed,
                             std::uint64_t data_seed,
                             const std::string& point);

}  // namespace dpsosp
