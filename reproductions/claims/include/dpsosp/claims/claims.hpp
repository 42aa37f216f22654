// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/claims/predicate.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/verdict.hpp"
#include "dpsosp/plots/table.hpp"

/// What papers claim, and what came out.
namespace dpsosp {

/// A slope that a claim is about, measured by a part of a built-in sweep.
struct ClaimedSlope {
  std::string axis;
  ClaimedExponent exponent{0};
  std::string sweep;
  std::string part;
  std::string arm;
  std::string metric;            ///< what the statement is about
  std::vector<double> rivals{};  ///< other exponents that the paper names on this axis
  bool solved = false;           ///< the schedule's solved α is the bound, with all its terms
};

/// The side of a claim's authors, argued by a reader who did not write the verdict.
struct Argument {
  std::string objection;
  std::string answer;
  bool upheld = false;  ///< whether the objection is right
  std::string changed;  ///< what it has changed in the claim; of an upheld one
  std::string open;     ///< what it asks for and is not done yet
};

/// What a verdict is worth as evidence; totals are kept apart.
enum class EvidenceKind {
  measurement,   ///< of runs or probes
  derivation,    ///< by formulas, with their numbers
  privacy,       ///< by the accountant, under a stated adjacency
  reproduction,  ///< of published numbers
};

/// Whose words a claim is. Totals of a paper are of its own words alone.
enum class ClaimOf {
  paper,  ///< the paper states it
  suite,  ///< a statement of this suite: a repair, a derivation, a check
  cited,  ///< of work that the paper cites
  script  ///< of published code
};

struct Claim {
  enum class Kind {
    slope,        ///< judged by the slopes of sweeps
    predicate,    ///< judged by code, see Predicate
    unreachable,  ///< no affordable run shows it
    later,        ///< its exhibit is not written yet
  };
  std::string id;  ///< "lowy-2024/c1"
  std::string place;
  ClaimOf of = ClaimOf::paper;
  std::string printed;     ///< the paper's words; formulas in LaTeX between $
  std::string hypotheses;  ///< under which the paper states it
  std::string reading;     ///< what we take it to say, in one sentence
  std::string ambiguity;   ///< what the paper does not print, and the readings that are tested
  std::string measure;     ///< what is measured here
  std::string expected;
  Kind kind = Kind::predicate;
  std::vector<ClaimedSlope> slopes;
  std::string holds_if;                   ///< of a predicate
  Headline if_fails = Headline::refuted;  ///< of a predicate that fails; or `slip`
  std::string stands;                     ///< of a slip: what of the result stands
  std::string settles;                    ///< what would settle it where it is open
  std::string why;                        ///< of what is not measured
  std::string needs;      ///< of an unreachable claim: the n and T that would show it
  std::string instead;    ///< of an unreachable claim: the claim below it that is tested
  std::string reference;  ///< what an independent program found
  EvidenceKind evidence = EvidenceKind::measurement;
  std::optional<Argument> argument{};
};

constexpr auto words_of(ClaimOf) {
  using enum ClaimOf;
  return word_list<ClaimOf>(
      "source of a claim",
      {{paper, "paper"}, {suite, "suite"}, {cited, "cited"}, {script, "script"}});
}
inline std::string_view to_string(ClaimOf of) { return word_of(of); }

constexpr auto words_of(EvidenceKind) {
  using enum EvidenceKind;
  return word_list<EvidenceKind>("kind of evidence", {{measurement, "measurement"},
                                                      {derivation, "derivation"},
                                                      {privacy, "privacy"},
                                                      {reproduction, "reproduction"}});
}
inline std::string_view to_string(EvidenceKind kind) { return word_of(kind); }

constexpr auto words_of(Claim::Kind) {
  using enum Claim::Kind;
  return word_list<Claim::Kind>(
      "kind of claim",
      {{slope, "slope"}, {predicate, "predicate"}, {unreachable, "unreachable"}, {later, "later"}});
}
inline std::string_view to_string(Claim::Kind kind) { return word_of(kind); }

/// The claims of a paper's claims.toml, in the file's order.
/// \param source  for messages: the file's name
/// \throws InputError with the line if the text is wrong
std::vector<Claim> parse_claims(std::string_view toml, const std::string& source);

/// Gives claims the arguments of a paper's arguments.toml.
/// \throws InputError with the line if the text is wrong or names another claim
void add_arguments(std::string_view toml, const std::string& source, std::vector<Claim>& claims);

/// Lists put together: of what several source files bring.
template <class T>
std::vector<T> joined(std::initializer_list<std::vector<T>> lists) {
  std::vector<T> all;
  for (const std::vector<T>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Claims, and the code that judges those which are predicates.
struct ClaimSet {
  std::vector<Claim> claims;
  std::vector<Predicate> predicates;

  /// The code that judges the claim of that id; null if there is none.
  const Predicate* predicate_of(const std::string& claim) const;
};

/// The jobs of every claim at this scale; sweeps and predicates.
std::vector<Job> claim_jobs(const ClaimSet& set, const Study& study);

/// The finding of every claim, in the order of the set. Of several slopes a claim has the first
/// headline of `refuted`, `open`, `bound met`, `confirmed` that any has.
std::vector<Finding> find_claims(const ClaimSet& set, const Runs& runs, const Study& study);

/// The headline of a claim that is judged without slopes.
Headline headline_of(const Claim& claim, Verdict verdict);
plots::Label headline_label(Headline headline);
/// What the evidence is, in one line: its kind, the verdict of the test, what it rests on.
std::string evidence_line(const Claim& claim, const Finding& finding);

/// Counts of headline words, of what papers print by paper and by kind of evidence, and of other
/// statements; and one row a claim.
plots::Table claims_summary_table(const ClaimSet& set, const std::vector<Finding>& findings);
plots::Table claims_table(const ClaimSet& set, const std::vector<Finding>& findings);
/// What would change the verdict, in one or two sentences.
std::string what_would_change(const Claim& claim, const Finding& finding);
/// \param findings  null: none yet
nlohmann::json claims_json(const ClaimSet& set, const std::vector<Finding>* findings);

}  // namespace dpsosp
