// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/checks/check.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/probe.hpp"
#include "dpsosp/experiments/study.hpp"

/// Attacks on privacy claims. Every registered algorithm runs with the sound curator, on data
/// sets that differ in one record; adjacency is replace-one.
namespace dpsosp {

/// Numbers of additive noise that were compared with their law, as normal scores.
struct NoiseNumbers {
  std::int64_t count = 0;
  std::array<std::int64_t, 4> beyond{};  ///< 3, 4, 5 and 6 deviations, on either side
  std::vector<double> extremes;          ///< distances beyond 4.5, the first few hundred
  void add(const NoiseNumbers& other);
};
DPSOSP_MEMBERS(NoiseNumbers, count, beyond, extremes);

/// The tails of all numbers of an audit together: single algorithms have too few. Each line fails
/// by chance with probability at most 1e-6.
std::vector<CheckLine> pooled_tails(const NoiseNumbers& all);

/// Record and replay: a run on one data set, and the same run on the other with every released
/// value replaced by that of the first. Noise, choices and secret batches are tested for goodness
/// of fit, with false alarms of probability at most 1e-6 each; random numbers are fixed.
struct ReplayAudit {
  Index instances = 0;  ///< problems, variants and ways of drawing batches
  Index pairs = 0;      ///< of neighbours, one recorded and one replayed run each
  Index answers = 0;    ///< compared
  struct OfQuery {
    Index answers = 0;
    double attained = 0;
  };
  std::map<std::string, OfQuery> queries;  ///< by name
  double attained = 0;     ///< largest move of an answer over what is charged for it
  Index first_caught = 0;  ///< number of the pair that first failed; 0: none did
  NoiseNumbers noise;
  bool passed = false;  ///< every check
  std::vector<CheckLine> checks;
};
DPSOSP_MEMBERS(CheckLine, property, passed, detail);
DPSOSP_MEMBERS(ReplayAudit::OfQuery, answers, attained);
DPSOSP_MEMBERS(ReplayAudit, instances, pairs, answers, queries, attained, first_caught, noise,
               passed, checks);

struct ReplayOptions {
  std::string_view plant = {};  ///< name of a bug (audit_plants), or empty
  /// Name of a problem to run on, a network's say; empty: the audit's own small instances, which
  /// reach every branch. On a problem that states no constants the parameters are the algorithm's
  /// defaults, with noise for their plan.
  std::string_view problem = {};
  std::map<std::string, std::string> problem_settings = {};
  Index most_instances = 0;   ///< as many, evenly chosen; 0: all
  bool until_caught = false;  ///< stop at the first pair that fails
  std::uint32_t seed = 0;     ///< another one draws other random numbers everywhere
};
/// \throws InputError for unknown names, and for algorithms that claim no privacy
ReplayAudit audit_replay(std::string_view algorithm, const ReplayOptions& options = {});

struct StatisticalOptions {
  Index runs = 2000;   ///< on each of the two data sets, ≥ 8
  double epsilon = 8;  ///< less where the instance says so: runs cannot contradict a large pure one
  double delta = 1e-6;
  double confidence = 0.999;
  bool power = true;  ///< measure it, which doubles the time
  std::uint32_t seed = 0;
};

/// Many runs of a small instance on either of two data sets, told apart by the likelihood ratio of
/// all that they release, with error rates that hold with probability `confidence`.
struct StatisticalAudit {
  std::string instance;
  Index runs = 0;
  double delta = 0, confidence = 0;  ///< of the options
  double claimed = 0;                ///< ε, the filter's budget
  double accounted = 0;  ///< ε of the charges to the exchanged record, of the costliest run
  /// ε of these charges with the most noise that the error rates rule out: a lower bound of the
  /// run's ε if its noise has the charged distribution at any scale.
  double audited = 0;
  double direct = 0;  ///< lower bound of ε at δ from the error rates alone, whatever the noise
  bool falsified = false;  ///< the error rates, or the law, contradict the charges
  std::string law;  ///< what is wrong with the law of noise, choices or batches; empty: nothing
  /// Probability that the same attack falsifies the claim where all noise is 1.25 times too small,
  /// if it was measured.
  std::optional<double> power;
  double answers = 0;  ///< of a run, on average
  NoiseNumbers noise;
};
DPSOSP_MEMBERS(StatisticalAudit, instance, runs, delta, confidence, claimed, accounted, audited,
               direct, falsified, law, power, answers, noise);

/// \param plant  name of a bug (audit_plants), or empty
StatisticalAudit audit_statistics(std::string_view algorithm, const StatisticalOptions& options,
                                  std::string_view plant = {});

/// A bug planted as a negative control of the attacks.
struct AuditPlant {
  std::string name;
  std::string wrong;  ///< what is wrong
  std::string host;   ///< the algorithm that it is planted in
};
const std::vector<AuditPlant>& audit_plants();

/// What caught a plant, and after how many runs.
struct PlantAudit {
  std::string name, wrong, host;  ///< as of an AuditPlant
  Index pairs = 0;                ///< of replayed neighbours until it was caught; 0: it was not
  std::string property;           ///< which failed
  /// Runs on either data set until the statistical attack caught it: the first of 125, 250, 500 …
  /// up to the most allowed; 0: it did not.
  Index runs = 0;
  Index most_runs = 0;
  bool caught = false;
};
DPSOSP_MEMBERS(PlantAudit, name, wrong, host, pairs, property, runs, most_runs, caught);

/// Keys of the registered algorithms that claim privacy, and of those that the audit has of its
/// own: "curator/gradients", "release/gradients" and so on.
std::vector<std::string> audited_algorithms();

/// The audits as probes. `plant` is the name of a bug or empty; no seed stands for seed 0.
struct ReplayJob {
  static constexpr ProbeName probe{"audit/replay", 6};
  std::string algorithm;
  int algorithm_version;
  std::string plant;
  std::optional<std::uint32_t> seed;
  Index instances;  ///< at most so many; 0: all
  using Result = ReplayAudit;
};
DPSOSP_MEMBERS(ReplayJob, algorithm, algorithm_version, plant, seed, instances);
ReplayAudit audit_replay(const ReplayJob& job);

struct StatisticsJob {
  static constexpr ProbeName probe{"audit/statistics", 6};
  std::string algorithm;
  int algorithm_version;
  std::string plant;
  std::optional<std::uint32_t> seed;
  Index runs;
  double epsilon, delta, confidence;
  using Result = StatisticalAudit;
};
DPSOSP_MEMBERS(StatisticsJob, algorithm, algorithm_version, plant, seed, runs, epsilon, delta,
               confidence);
StatisticalAudit audit_statistics(const StatisticsJob& job);

struct PlantJob {
  static constexpr ProbeName probe{"audit/plant", 5};
  std::string plant;
  int algorithm_version;
  Index most_runs;
  using Result = PlantAudit;
};
DPSOSP_MEMBERS(PlantJob, plant, algorithm_version, most_runs);
PlantAudit audit_plant(const PlantJob& job);

/// A check of what all claims rest on: accountants, filters, clipped sums, sources of random
/// numbers and releases. Each fails by chance with probability at most 1e-6.
struct CommonJob {
  static constexpr ProbeName probe{"audit/common", 1};
  std::string check;  ///< name of one (audit_common_checks)
  bool little;        ///< at smoke
  std::optional<std::uint32_t> seed;
  using Result = CheckLine;
};
DPSOSP_MEMBERS(CommonJob, check, little, seed);
/// \throws InputError for unknown names
CheckLine audit_common(const CommonJob& job);
std::vector<std::string> audit_common_checks();

/// Everything as jobs: for each algorithm both attacks, every plant, and what all rests on.
struct AuditJobs {
  struct OfAlgorithm {
    std::string algorithm;
    ReplayJob replay;
    StatisticsJob statistics;
  };
  std::vector<OfAlgorithm> algorithms;
  std::vector<PlantJob> plants;
  std::vector<CommonJob> common;

  std::vector<Job> all(const Study& study) const;
};
AuditJobs audit_jobs(const Study& study, std::uint32_t seed = 0);
/// \param runs  of the statistical attack; 0: those of the scale
AuditJobs::OfAlgorithm audit_jobs(std::string_view algorithm, const Study& study, Index runs = 0,
                                  std::uint32_t seed = 0);

/// What the audit brings to a catalogue.
std::vector<ProbeEntry> audit_probes();
std::vector<ExhibitEntry> audit_exhibits();

}  // namespace dpsosp
