// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/checks/check.hpp"
#include "dpsosp/core/vector.hpp"
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

/// The tails of all numbers of an audit together: single algorithms have too few. Each line fails
/// by chance with probability at most 1e-6.
std::vector<CheckLine> pooled_tails(const NoiseNumbers& all);

/// Record and replay: a run on one data set, and the same run on the other with every released
/// value replaced by that of the first. Noise, choices and secret batches are tested for goodness
/// of fit, with false alarms of probability at most 1e-6 each; random numbers are fixed.
struct ReplayAudit {
  std::string algorithm;
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
  std::vector<CheckLine> lines;

  bool passed() const;
};

struct ReplayOptions {
  std::string_view plant = {};  ///< name of a bug (audit_plants), or empty
  /// Name of a problem to run on, a network's say; empty: the audit's own small instances, which
  /// reach every branch. On a problem that states no constants the parameters are the algorithm's
  /// defaults, with noise for their plan.
  std::string_view problem = {};
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
  std::string algorithm;
  std::string instance;
  Index runs = 0;
  double claimed = 0;    ///< ε, the filter's budget
  double accounted = 0;  ///< ε of the charges to the exchanged record, of the costliest run
  /// ε of these charges with the most noise that the error rates rule out: a lower bound of the
  /// run's ε if its noise has the charged distribution at any scale.
  double audited = 0;
  double direct = 0;  ///< lower bound of ε at δ from the error rates alone, whatever the noise
  bool falsified = false;  ///< the error rates, or the law, contradict the charges
  std::string law;  ///< what is wrong with the law of noise, choices or batches; empty: nothing
  /// Probability that the same attack falsifies the claim where all noise is 1.25 times too small;
  /// negative: not measured.
  double power = -1;
  double answers = 0;  ///< of a run, on average
  NoiseNumbers noise;
};

/// \param plant  name of a bug (audit_plants), or empty
StatisticalAudit audit_statistics(std::string_view algorithm,
                                  const StatisticalOptions& options,
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
  AuditPlant plant;
  Index pairs = 0;       ///< of replayed neighbours until it was caught; 0: it was not
  std::string property;  ///< which failed
  /// Runs on either data set until the statistical attack caught it: the first of 125, 250, 500 …
  /// up to the most allowed; 0: it did not.
  Index runs = 0;

  bool caught() const { return pairs > 0 || runs > 0; }
};
PlantAudit audit_plant(std::string_view name, Index most_runs);

/// Keys of the registered algorithms that claim privacy, and of those that the audit has of its
/// own: "curator/gradients", "release/gradients" and so on.
std::vector<std::string> audited_algorithms();

/// Everything as jobs: for each algorithm both attacks, and every plant.
struct AuditJobs {
  struct OfAlgorithm {
    std::string algorithm;
    nlohmann::json replay, statistics;
  };
  std::vector<OfAlgorithm> algorithms;
  std::vector<nlohmann::json> plants;

  std::vector<nlohmann::json> all() const;
  /// Noise numbers in the results of both attacks on an algorithm.
  static NoiseNumbers noise_of(const nlohmann::json& replay, const nlohmann::json& statistics);
};
AuditJobs audit_jobs(const Study& study, std::uint32_t seed = 0);
/// \param runs  of the statistical attack; 0: those of the scale
AuditJobs::OfAlgorithm audit_jobs(std::string_view algorithm,
                                  const Study& study,
                                  Index runs = 0,
                                  std::uint32_t seed = 0);

/// What the audit brings to a catalogue.
std::vector<ProbeEntry> audit_probes();
std::vector<ExhibitEntry> audit_exhibits();

}  // namespace dpsosp
