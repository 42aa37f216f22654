// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/objective.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// A stationary point whose kind is known. For tests, pictures and excess risk; a function of the
/// hidden parameters, so never public.
struct Landmark {
  enum class Kind { minimiser, strict_saddle };
  enum class Of { empirical, population };
  std::string name;
  Kind kind = Kind::minimiser;  ///< `minimiser` is global
  Of of = Of::population;
  Vector point;  ///< ∈ R^d; a stationary point of that objective
};
constexpr auto words_of(Landmark::Kind) {
  using enum Landmark::Kind;
  return word_list<Landmark::Kind>("landmark",
                                   {{minimiser, "minimiser"}, {strict_saddle, "strict saddle"}});
}
inline std::string_view to_string(Landmark::Kind kind) { return word_of(kind); }

/// A plane to draw: origin + a·along + b·across for a and b in the given ranges.
struct Slice {
  std::string caption;
  Vector origin, along, across;
  double a_from = -1, a_to = 1, b_from = -1, b_to = 1;
  std::string along_label = "x₁", across_label = "x₂";
};
/// The plane of the first two coordinates through `origin`, both from `from` to `to`; none if
/// d < 2.
std::optional<Slice> first_two_coordinates(std::string caption, Vector origin, double from,
                                           double to);

/// Public facts, private records, and the objectives by which a result is judged.
struct Problem {
  PublicFacts facts;
  std::unique_ptr<const AnyRecords> records;       ///< null where their sums are simulated
  std::unique_ptr<const SimulatedSums> simulated;  ///< null where there are records
  std::unique_ptr<const Objective> empirical;      ///< F, or Φ; null where records are a stream
  std::unique_ptr<const Objective> population;     ///< null where no exact form exists
  /// True if x is where the constants are stated to hold, where the domain alone does not say it.
  std::function<bool(ConstVectorRef)> region;

  /// Records at the extremes of what the proofs allow. They are no data; the search for violations
  /// starts with them. May be null.
  std::unique_ptr<const AnyRecords> extremes;
  /// Objectives of whole data sets at those corners, for constants of Φ and F that hold whatever
  /// the data.
  std::vector<std::unique_ptr<const Objective>> extreme_objectives;
  std::vector<Landmark> landmarks;
  std::optional<Slice> slice;  ///< of the population objective, of the empirical one without it

  /// Of the records, or without them.
  const RecordSums& sums() const {
    if (records) return *records;
    return *simulated;
  }
  bool in_region(ConstVectorRef x) const {
    return facts.domain.contains(x) && (!region || region(x));
  }
  /// The objective by which a point is judged where one is enough: the empirical one if there is
  /// one, else the population's.
  const Objective& objective() const { return empirical ? *empirical : *population; }
};

/// The size and the randomness of one instance.
struct InstanceSpec {
  Index records = 0;               ///< n ≥ 1
  std::optional<Index> dimension;  ///< d; the family's default without it
  std::uint64_t seed = 0;          ///< initial point
  std::uint64_t data_seed = 0;     ///< records; exchange it to exchange the whole data set
};

/// Notes on a family, beside its constants, for its page; Markdown.
struct ProblemNotes {
  std::string_view group;            ///< chapter
  std::string_view formula;          ///< loss, law of the records, objectives
  std::string_view source;           ///< paper key and place, or citation
  std::string_view critical_points;  ///< saddles and minimisers
};

/// A family of problems: its settings and the maker of instances, which makes each in the same
/// phases: the sizes, what else is public, its constants, and then what is drawn.
class ProblemFamily {
 public:
  virtual ~ProblemFamily() = default;

  virtual std::string_view name() const = 0;
  /// One line: formula and what it is good for.
  virtual std::string_view summary() const = 0;
  virtual ProblemNotes notes() const = 0;
  virtual Index default_records() const = 0;
  virtual Fields fields() = 0;
  /// Raised by every change of the family that moves a number; part of the run key.
  virtual int numbers_version() const { return 1; }
  /// facts() and what is drawn. \throws InputError on sizes or settings that make no instance
  Problem make(const InstanceSpec& spec) const;
  /// The public facts of an instance, which need no record. \throws InputError as make()
  PublicFacts facts(const InstanceSpec& spec) const;
  /// Data that must be fetched to make an instance, in one line; empty if
  /// nothing is.
  virtual std::string missing() const { return {}; }
  /// facts(), or nothing where they come from data that are missing. \throws InputError as make()
  std::optional<PublicFacts> known_facts(const InstanceSpec& spec) const;

 protected:
  // The phases, for at least one record and settings in their ranges. All but the last are public:
  // they may not depend on the data seed.

  /// True if facts() reads data that missing() may miss.
  virtual bool facts_need_data() const { return false; }
  virtual Index default_dimension() const { return 10; }
  virtual Index least_dimension() const { return 1; }
  /// d: what the spec says, or the default; families override it where the settings say it.
  /// \throws InputError on a dimension that makes no instance
  virtual Index dimension(const InstanceSpec& spec) const;
  /// \throws InputError on settings that together make no instance of that dimension
  virtual void check_settings(Index /*dimension*/) const {}
  /// Sets all but the constants of facts that have a name and sizes: domain, dual, start. `random`
  /// is of the initial point and gives no other numbers of its seed, such as those of the records.
  virtual void settle(const Stream& random, PublicFacts& facts) const = 0;
  /// With their proofs, for settled facts.
  virtual Constants constants(const PublicFacts& facts) const = 0;
  /// Sets all but the facts: records or simulated sums, objectives, extremes, and the landmarks of
  /// what was drawn.
  virtual void draw(const InstanceSpec& spec, Problem& problem) const = 0;
};

/// Refuses n < 1.
void check_records(std::string_view problem, Index records);
/// A constant with its proof in words; `attained` is all of it unless said otherwise.
Constant proved(double value, std::string region, std::string proof, double attained = 1.0);
void set_dual(PublicFacts& facts, DualKind kind, Vector initial, const Domain& domain = {});
/// Says of every landmark of the population that it is one of the empirical objective too.
void share_landmarks(std::vector<Landmark>& landmarks);

}  // namespace dpsosp
