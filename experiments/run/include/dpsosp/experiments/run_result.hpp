// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/members.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/experiments/ledger_summary.hpp"
#include "dpsosp/privacy/curator.hpp"

/// Result of a run. Certificates, trace, best iterate and evaluation log are functions of the
/// records: they are not private, and their JSON says so.
namespace dpsosp {

/// How the algorithm ended, and with what parameters it ran.
struct AlgorithmResult {
  Status status = Status::steps_done;
  Index steps = 0;
  std::map<std::string, std::int64_t> counts;
  Index records_used = 0;  ///< that a query was charged to
  std::map<std::string, std::string> parameters;

  bool operator==(const AlgorithmResult&) const = default;
};
DPSOSP_MEMBERS(AlgorithmResult, status, steps, counts, records_used, parameters);

/// Promise of the schedule.
struct ScheduleResult {
  double alpha = 0;  ///< in the card's metric; 0: nothing is promised
  Utility utility = Utility::heuristic;
  std::string note;

  bool operator==(const ScheduleResult&) const = default;
};
DPSOSP_MEMBERS(ScheduleResult, alpha, utility, note);

/// The filter that the run was held to.
struct FilterResult {
  Calibrator calibrator = Calibrator::cks;
  double capacity = 0;
  std::optional<double> order;
  double pure_capacity = 0;
  double delta_extra = 0;

  bool operator==(const FilterResult&) const = default;
};

/// A guarantee for data sets of a stated class, where the label is conditional.
struct ClassRelative {
  double epsilon = 0;
  double delta = 0;
  double bound_failure = 0;  ///< probability with which the run leaves its gradient bound

  bool operator==(const ClassRelative&) const = default;
};

/// The privacy of a run under replace-one adjacency.
struct PrivacyResult {
  PrivacyLabel label = PrivacyLabel::none;
  double guarantee = std::numeric_limits<double>::infinity();  ///< ε, the filter's budget
  double delta = 0;
  double spent = 0;  ///< ε that the ledger adds up to
  std::string spent_accountant;
  std::int64_t queries = 0;
  LedgerSummary ledger;
  std::optional<FilterResult> filter;
  std::optional<double> nominal;  ///< ε where a `conditional` run's assumption holds
  std::optional<ClassRelative> class_relative;
  std::string noise;  ///< for a release: where it comes from

  bool operator==(const PrivacyResult&) const = default;
};

/// An iterate that was looked at.
struct TraceRow {
  Index t = 0;
  double value = Certificate::unknown;
  double gradient_norm = Certificate::unknown;
  double lambda_min = Certificate::unknown;
  double sosp_level = Certificate::unknown;  ///< NaN without ρ
};

/// Points judged by the population objective.
struct PopulationResult {
  static constexpr bool null_for_none = true;
  Certificate start, output;
  std::optional<double> minimum;
};
DPSOSP_MEMBERS(PopulationResult, start, output, minimum);

/// ‖g_t − ∇F(x_t)‖ of a method's own estimates, over up to 200 steps.
struct EstimateErrors {
  std::size_t seen = 0;
  double median = 0;
  double largest = 0;
};
DPSOSP_MEMBERS(EstimateErrors, seen, median, largest);

/// Gradients above the bound that the noise is for, where nothing is clipped.
struct UnclippedLog {
  std::int64_t violations = 0;
  double largest_norm_over_nominal = 0;
  std::int64_t first_violation = -1;  ///< number of the query; −1: none
  double unseen = 0;                  ///< contributions that might be longer
};

struct EvaluationLog {
  double contributions = 0;  ///< per-record vectors summed
  std::int64_t clipped = 0;
  double largest_norm_over_limit = 0;
  std::optional<EstimateErrors> estimate_error;
  std::optional<double> estimates_out_of_range;  ///< share of a sampler's estimates cut off
  std::optional<UnclippedLog> unclipped;
};

struct RunResult {
  AlgorithmResult algorithm;
  ScheduleResult schedule;
  PrivacyResult privacy;
  Certificate start, origin, output;
  std::optional<double> minimum;               ///< min F, where it is known
  std::optional<PopulationResult> population;  ///< where both objectives are known
  EvaluationLog evaluation_log;
  std::optional<std::vector<double>> point;  ///< of up to 4096 numbers
  std::optional<std::vector<TraceRow>> trace;
  std::optional<TraceRow> best;  ///< the row of least sosp_level
};

}  // namespace dpsosp
