// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

/// Why a run ended.
enum class Status {
  steps_done,  ///< the horizon T; a normal end
  certified,   ///< the algorithm's own test passed; a normal end
  budget,      ///< the next query would exceed the privacy budget; a normal end
  data,        ///< no fresh records are left; a normal end
  cap,         ///< the paper's cap on refreshes; a normal end
  not_finite,  ///< an iterate is not finite: a failed run, `point` means nothing
};
std::string_view to_string(Status status);

struct Outcome {
  Vector point;  ///< by the algorithm's output rule
  Status status = Status::steps_done;
  Index steps = 0;                             ///< iterations made
  std::map<std::string, std::int64_t> counts;  ///< refreshes, escapes, …: functions of releases
};

/// Looks, changes nothing. What it computes never flows back.
class Observer {
 public:
  virtual ~Observer() = default;
  /// x_t, before step t.
  virtual void iterate(Index t, ConstVectorRef x) = 0;
};

enum class Variant { printed, repaired };
enum class Schedule { paper, practical };

/// What is known of the utility of a run's parameters.
enum class Utility { proved, repaired, disputed, heuristic, outside_theory, vacuous };
std::string_view to_string(Utility utility);

/// Exponents of a rate n^n · d^d · ε^epsilon.
struct Exponents {
  double n;
  double d;
  double epsilon;
};

/// What an algorithm is and claims.
struct AlgorithmCard {
  std::string key;  ///< "paper/name"
  std::string title;
  std::string paper;
  std::string guarantee;                ///< FOSP, SOSP or excess risk; empirical or population
  std::optional<Exponents> empirical;   ///< claimed
  std::optional<Exponents> population;  ///< claimed, private part; the sampling part is n^{-1/3}
  std::string operations;               ///< record operations that it needs
  std::string output_rule;
  bool needs_dual = false;  ///< runs on minimax problems alone
  bool is_private = true;
  int numbers_version = 1;  ///< raised by every change that moves a number; part of the run key
};

/// What a schedule decided.
struct Scheduled {
  FilterRule rule;     ///< for the curator
  double alpha = 0.0;  ///< promised accuracy (sosp_level); 0 if none is promised
  Utility utility = Utility::heuristic;
  std::string note;  ///< why the utility label is not `proved`
};

/// One algorithm with its parameters. A run is a function of parameters, curator and stream.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  virtual const AlgorithmCard& card() const = 0;
  /// Every parameter, by name; each can be set from the command line.
  virtual Fields fields() = 0;
  /// What the algorithm does: as printed, or with the repairs of docs/errata.md.
  virtual void set_variant(Variant variant) = 0;
  /// The numbers, from public facts alone. \throws InputError if facts are missing
  virtual Scheduled schedule(Schedule kind,
                             const PublicFacts& facts,
                             const PrivacyBudget& budget,
                             Calibrator calibrator) = 0;
  /// The most private queries that a run with these parameters makes.
  virtual std::vector<PlannedQuery> plan(const PublicFacts& facts) const = 0;
  /// The same ratio of standard deviation to sensitivity for every query.
  virtual void set_common_noise(double sensitivity_ratio) = 0;
  /// \throws InputError for parameters that make no sense on this problem
  virtual void check(const PublicFacts& facts) const = 0;
  /// \param stream  of Purpose::algorithm: kicks, ball draws, output indices
  virtual Outcome run(Curator& curator, Stream stream, Observer& observer) const = 0;
};

/// The status that a refusal means.
Status status_of(const Refused& refusal);

/// Refuses problems without a dual. Minimax algorithms call it from check().
void require_dual(const AlgorithmCard& card, const PublicFacts& facts);

/// Refuses problems with a shared dual, where no record has a gradient of the value function.
/// Minimisation algorithms call it from check() and schedule().
void refuse_shared_dual(const AlgorithmCard& card, const PublicFacts& facts);

/// Parameters of `owner` that must be finite and > 0, or finite and >= 0. \throws InputError
void require_positive(std::string_view owner, std::string_view name, double value);
void require_positive(std::string_view owner, std::string_view name, Index value);
void require_not_negative(std::string_view owner, std::string_view name, double value);
void require_not_negative(std::string_view owner, std::string_view name, Index value);

struct AlgorithmEntry {
  std::string key;
  std::unique_ptr<Algorithm> (*create)();
};

}  // namespace dpsosp
