// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/scale.hpp"
#include "dpsosp/plots/table.hpp"

/// What the papers claim, and what came out. The list is experiments/claims.toml.
namespace dpsosp {

/// A slope that a claim is about, measured by a part of a built-in sweep.
struct ClaimedSlope {
  std::string axis;
  ClaimedExponent exponent{0};
  std::string sweep;
  std::string part;
  std::string arm;
  std::string metric;  ///< empty: of the first slope that the part asks for
};

struct Claim {
  enum class Kind {
    slope,        ///< judged by the slopes of sweeps
    predicate,    ///< judged by code, see PredicateEntry
    unreachable,  ///< no affordable run shows it
    later,        ///< its exhibit is not written yet
  };
  std::string id;  ///< "lowy-2024/c1"
  std::string place;
  std::string says;     ///< what the paper claims
  std::string measure;  ///< what is measured here
  std::string expected;
  Kind kind = Kind::predicate;
  std::vector<ClaimedSlope> slopes;
  std::string holds_if;   ///< of a predicate
  std::string why;        ///< of what is not measured
  std::string needs;      ///< of an unreachable claim: the n and T that would show it
  std::string instead;    ///< of an unreachable claim: the claim below it that is tested
  std::string reference;  ///< what an independent program found
};
std::string_view to_string(Claim::Kind kind);

/// In the file's order. \throws InputError with the line if the file is wrong
const std::vector<Claim>& claims();

/// What was measured of a claim.
struct Finding {
  Verdict verdict = Verdict::not_measured;
  std::string measured;  ///< the numbers, in a few words
  std::string reason;    ///< why inconclusive, or in which way it fails; may be empty
  std::optional<double> value;
  std::optional<Interval> interval;
  std::vector<std::string>
      runs{};              ///< keys of the runs that it rests on, each once; none: formulas
  std::string rests_on{};  ///< the same in words: "formulas", "120 runs of zhou-2020"
};

/// The code that judges one predicate.
struct PredicateEntry {
  std::string claim;
  std::vector<nlohmann::json> (*jobs)(Scale scale);  ///< runs and probes that it needs
  Finding (*find)(const Runs& runs, Scale scale);
};

/// Every predicate, one line each.
const std::vector<PredicateEntry>& predicate_registry();

/// The jobs of every claim at this scale; sweeps and predicates.
std::vector<nlohmann::json> claim_jobs(Scale scale);

/// The finding of every claim, in the order of claims(). A slope claim is `as claimed` where every
/// axis is, `worse` where any is, else `inconclusive` where any is, else `better`.
std::vector<Finding> find_claims(const Runs& runs, Scale scale);

/// Counts by verdict and paper, and how many formulas alone decide; and one row a claim.
plots::Table claims_summary_table(const std::vector<Finding>& findings);
plots::Table claims_table(const std::vector<Finding>& findings);
nlohmann::json claims_json(const std::vector<Finding>* findings);

}  // namespace dpsosp
