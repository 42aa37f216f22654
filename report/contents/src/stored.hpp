// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/claims/reproduction.hpp"
#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/report/model.hpp"
#include "dpsosp/reproductions/league.hpp"

/// What the runs at hand say, looked up once for all pages.
namespace dpsosp::report {

class Stored {
 public:
  Stored(const Reproduced& reproduced, const Collection& collection);

  const Reproduced& reproduced() const { return reproduced_; }
  const Collection& collection() const { return collection_; }
  const Study& study() const { return reproduced_.study; }
  const Runs& runs() const { return reproduced_.runs; }

  /// The claims whose runs are at hand, and what was found of them.
  const ClaimSet& claims() const { return claims_; }
  const std::vector<Finding>& findings() const { return findings_; }
  /// Those that are not, by id.
  const std::vector<const Claim*>& not_run() const { return not_run_; }

  /// Built-in sweeps whose runs are all at hand.
  bool has_sweep(const std::string& name) const { return sweeps_.contains(name); }
  const std::map<std::string, Sweep>& sweeps() const { return sweeps_; }
  const Arm* arm_of(const std::string& sweep, const std::string& arm) const;
  /// setting_of() by names; empty where there is none.
  std::string setting_of(const std::string& sweep, const std::string& part,
                         const std::string& arm) const;
  /// The figure of a sweep: every fitted part.
  const plots::Figure& figure_of(const std::string& sweep) const;

  /// None where its runs are not all here.
  const std::optional<League>& league() const { return league_; }

  /// The slopes of the claim's finding.
  std::vector<Rate> rates_of(std::size_t claim) const;
  /// Those of all claims.
  const std::vector<Rate>& rates() const { return rates_; }

 private:
  const Reproduced& reproduced_;
  const Collection& collection_;
  std::map<std::string, Sweep> sweeps_;
  ClaimSet claims_;
  std::vector<Finding> findings_;
  std::vector<const Claim*> not_run_;
  std::vector<Rate> rates_;
  std::optional<League> league_;
  mutable std::map<std::string, plots::Figure> figures_;
};

/// A slope as the pages show it; without a claimed exponent its range and zone are NaN.
Rate rate_of(const Slope& slope, const std::optional<ClaimedExponent>& claimed,
             const std::string& sweep, const Arm* arm);
/// "1000", "4·10^{9}", "10^{−4}"
std::string short_number(double v);
/// "DP-SPIDER on double-well, d = 4, n = 10^{6}, ε = 1, δ = 10^{−6}, 5 seeds": what the part does
/// not vary; and that records are simulated, where they are
std::string setting_of(const Sweep& sweep, const Part& part, std::size_t arm);

/// Unless it is empty or there.
void add_once(std::vector<std::string>& list, const std::string& entry);
ExhibitCard card_of(const ExhibitEntry& entry, const plots::Exhibit& exhibit);
std::string paper_of(std::string_view id);  ///< "xu-2026" of "xu-2026/x1"
/// As a panel's title: "against n, population" of part "population-n".
std::string part_title(const std::string& part, const std::string& axis_label);

std::vector<ForestGroup> forest_of(const Stored& stored);
IndexPage index_of(const Stored& stored, const std::vector<ForestGroup>& forest, const Site& site);
ClaimsPage claim_list_of(const Stored& stored);
std::vector<ClaimPage> claim_pages_of(const Stored& stored);
std::vector<ExhibitPage> exhibit_pages_of(const Stored& stored,
                                          const std::vector<ForestGroup>& forest);
std::vector<AlgorithmPage> algorithm_pages_of(const Stored& stored,
                                              const std::vector<ForestGroup>& forest,
                                              const Site& site);
std::vector<ProblemPage> problem_pages_of(const Stored& stored);
std::vector<PaperPage> paper_pages_of(const Stored& stored, const std::vector<ForestGroup>& forest,
                                      const Site& site);
std::optional<WhichPage> which_of(const Stored& stored);
std::vector<LeagueRank> ranks_of(const Stored& stored, std::string_view algorithm);
/// Of a report that has a league.
TextPage league_page(const Stored& stored);
std::vector<TextPage> text_pages_of(const Stored& stored, const Site& site);

std::vector<WordCounts> words_of(const Stored& stored);

}  // namespace dpsosp::report
