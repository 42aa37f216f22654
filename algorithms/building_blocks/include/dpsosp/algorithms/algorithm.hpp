// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

/// Why a run ended.
enum class Status {
  steps_done,  ///< the horizon T; a normal end
  certified,   ///< the algorithm's own test passed; a normal end
  budget,      ///< the budget is too small for the next query, or for any that helps; a normal end
  data,        ///< no fresh records are left; a normal end
  cap,         ///< the paper's cap on refreshes; a normal end
  not_finite,  ///< an iterate is not finite: a failed run, `point` means nothing
};

constexpr auto words_of(Status) {
  using enum Status;
  return word_list<Status>("status", {{steps_done, "steps_done"},
                                      {certified, "certified"},
                                      {budget, "budget"},
                                      {data, "data"},
                                      {cap, "cap"},
                                      {not_finite, "not_finite"}});
}
inline std::string_view to_string(Status status) { return word_of(status); }

struct Outcome {
  Vector point;  ///< by the algorithm's output rule
  Status status = Status::steps_done;
  Index steps = 0;                             ///< iterations made
  std::map<std::string, std::int64_t> counts;  ///< refreshes, escapes, …: functions of releases
};

/// Watches a run. It changes nothing, and nothing that it computes flows back.
class Observer {
 public:
  virtual ~Observer() = default;
  /// x_t, before step t.
  virtual void iterate(Index t, ConstVectorRef x) = 0;
  /// The estimate of ∇F(x_t) that step t uses, made of released values alone. Methods that keep one
  /// between steps show it.
  virtual void estimate(Index /*t*/, ConstVectorRef /*x*/, ConstVectorRef /*gradient*/) {}
};

enum class Variant { printed, repaired };

constexpr auto words_of(Variant) {
  using enum Variant;
  return word_list<Variant>("variant", {{printed, "printed"}, {repaired, "repaired"}});
}

enum class Schedule {
  paper,
  practical,
  none,  ///< the settings alone; of a Preparation, and no algorithm's
};

constexpr auto words_of(Schedule) {
  using enum Schedule;
  return word_list<Schedule>("schedule",
                             {{paper, "paper"}, {practical, "practical"}, {none, "none"}});
}

/// Support for the promise of a run's parameters, strongest first.
enum class Utility { proved, repaired, disputed, heuristic, outside_theory, vacuous };

constexpr auto words_of(Utility) {
  using enum Utility;
  return word_list<Utility>("utility label", {{proved, "proved"},
                                              {repaired, "repaired"},
                                              {disputed, "disputed"},
                                              {heuristic, "heuristic"},
                                              {outside_theory, "outside-theory"},
                                              {vacuous, "vacuous"}});
}
inline std::string_view to_string(Utility utility) { return word_of(utility); }

/// Exponents of a rate n^n · d^d · ε^epsilon.
struct Exponents {
  double n;
  double d;
  double epsilon;
};

/// How much of the method's description was available when it was implemented.
enum class Source {
  full_text,      ///< algorithm and parameters as published
  reconstructed,  ///< theorem statements or a secondary account; the body is assembled from them
  derived,        ///< from the claimed rate alone
};

constexpr auto words_of(Source) {
  using enum Source;
  return word_list<Source>(
      "source", {{full_text, "full text"}, {reconstructed, "reconstructed"}, {derived, "derived"}});
}
inline std::string_view to_string(Source source) { return word_of(source); }

/// Quantity that a claim is measured by.
enum class Metric {
  gradient_norm,  ///< ‖∇F‖: first-order claims
  sosp_level,     ///< second-order claims
  excess_risk,    ///< F − min F
};

constexpr auto words_of(Metric) {
  using enum Metric;
  return word_list<Metric>(
      "metric",
      {{gradient_norm, "gradient_norm"}, {sosp_level, "sosp_level"}, {excess_risk, "excess_risk"}});
}
inline std::string_view to_string(Metric metric) { return word_of(metric); }

/// Description of an algorithm and its claims.
struct AlgorithmCard {
  std::string key;  ///< "paper/name"
  std::string title;
  std::string paper;
  std::string place;  ///< algorithm and theorem in the paper
  Source source = Source::full_text;
  std::string guarantee;  ///< FOSP, SOSP or excess risk; empirical or population
  Metric metric = Metric::sosp_level;
  std::string statistic = "output";     ///< the point that the claim is about
  std::string rate;                     ///< claimed, in symbols; logarithms dropped
  std::optional<Exponents> empirical;   ///< claimed, leading private term
  std::optional<Exponents> population;  ///< claimed, leading private term
  std::optional<double> sampling;       ///< claimed exponent of n in the population's other part
  std::string operations;               ///< record operations that it needs
  std::string output_rule;
  std::string printed;  ///< what the variant `printed` keeps; empty: there is one form
  PrivacyLabel privacy = PrivacyLabel::enforced;  ///< of the repaired variant
  /// The label of the printed variant where it has noise of its own: `violated` runs with the
  /// curator that departs as the authors' script does.
  PrivacyLabel printed_privacy = PrivacyLabel::enforced;
  Utility utility = Utility::heuristic;  ///< of the practical schedule where its premises hold
  bool needs_dual = false;               ///< runs on minimax problems only
  /// Reads each record once, in fresh batches; the league gives it records drawn as a stream.
  bool single_pass = false;
  /// "KEY: why" of the algorithm whose iterates it has without noise and clipping, with full
  /// batches, at both practical schedules; empty if there is none.
  std::string same_without_noise;
  int numbers_version = 1;  ///< raised by every change that moves a number; part of the run key
  /// Of a program (docs/isolation.md): the SHA-256 of every file that it is made of, by name.
  std::map<std::string, std::string> files{};

  bool is_program() const { return !files.empty(); }
  bool is_private() const { return privacy != PrivacyLabel::none; }
};

/// Decisions of a schedule.
struct Scheduled {
  FilterRule rule;     ///< for the curator
  double alpha = 0.0;  ///< promised accuracy in the card's metric; 0 if none is promised
  Utility utility = Utility::heuristic;
  std::string note;  ///< why the utility label is not `proved`
  /// ψ: promised excess risk of the output, that a second stage may start from; 0 if none.
  double excess_risk = 0.0;
  /// δ_E: probability at most with which an unclipped run leaves its gradient bound, whatever the
  /// data set of a stated class; 0 if that is not proved.
  double bound_failure = 0.0;

  /// Appends `text`, if there is any, to `note`, after a semicolon if that says something already.
  void add_note(std::string_view text);
};

/// One algorithm with its parameters. A run is a function of parameters, curator and stream.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  virtual const AlgorithmCard& card() const = 0;
  /// Quantity that the schedule's α bounds, where settings can change it from the card's.
  virtual Metric promised() const { return card().metric; }
  /// Every parameter, by name; each can be set from the command line.
  virtual Fields fields() = 0;
  /// Chooses the algorithm as printed, or with the repairs of docs/errata.md.
  virtual void set_variant(Variant variant) = 0;
  /// Budget for algorithms that choose their noise without a schedule: programs alone.
  virtual void set_budget(const PrivacyBudget& budget, Calibrator calibrator);
  /// The numbers, from public facts alone. \throws InputError if facts are missing
  virtual Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                             Calibrator calibrator) = 0;
  /// The most Gaussian queries that a run with these parameters makes; none for an algorithm whose
  /// noise only its schedule can set.
  virtual std::vector<PlannedQuery> plan(const PublicFacts& facts) const;
  /// The share of the rule's capacity that the plan may take, in (0, 1]; a selection, which is no
  /// Gaussian query, has the rest.
  virtual double planned_share(const FilterRule& rule) const;
  /// The same ratio of standard deviation to sensitivity for every query of the plan.
  /// \throws InputError without a plan
  virtual void set_common_noise(double sensitivity_ratio);
  /// \throws InputError for parameters out of range, or that make no sense on this problem
  void check(const PublicFacts& facts) const;
  /// Checks relations of parameters with each other and with facts; no range of a single one.
  virtual void check_settings(const PublicFacts& facts) const = 0;
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

struct AlgorithmEntry {
  std::string key;
  std::function<std::unique_ptr<Algorithm>()> create;
};

}  // namespace dpsosp
