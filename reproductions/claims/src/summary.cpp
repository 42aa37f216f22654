// SPDX-License-Identifier: Apache-2.0
#include "summary.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/claims/claim_exhibit.hpp"
#include "dpsosp/claims/claims.hpp"
#include "dpsosp/claims/rates_table.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {
namespace {

std::vector<Job> all_jobs(const ClaimSet& claims, const Study& study) {
  std::vector<Job> jobs = claim_jobs(claims, study);
  for (const std::string& name : rate_sweeps(study))
    for (Job& job : jobs_of(study.sweep(name))) jobs.push_back(std::move(job));
  return jobs;
}

plots::Exhibit all_claims(const ClaimSet& claims, const Runs& runs, const Study& study) {
  const std::vector<Finding> findings = find_claims(claims, runs, study);
  plots::Exhibit e;
  e.id = "claims";
  e.paper = "All papers";
  e.title = "Every claim and its verdict";
  e.paper_says = {
      "Each claim stands in its paper's words, with their place, and apart from them in our "
      "reading. Six words say what came out, and the column evidence says of what kind it is. "
      "docs/claims.md has the rules and how often they err. Each claim has a page, with the "
      "authors' side where it is not confirmed."};
  e.tables = {claims_summary_table(claims, findings), claims_table(claims, findings),
              rates_table(runs, study)};
  std::size_t printed = 0, met = 0, vacuous = 0, open = 0;
  for (std::size_t k = 0; k < findings.size(); ++k) {
    if (claims.claims[k].of != ClaimOf::paper) continue;
    ++printed;
    met += findings[k].headline == Headline::bound_met;
    vacuous += findings[k].headline == Headline::vacuous;
    open += findings[k].headline == Headline::open;
  }
  e.verdict = {
      fmt::format(
          "{} of {} printed claims decided; of {} the bound alone holds, {} are vacuous, {} "
          "are open",
          printed - met - vacuous - open, printed, met, vacuous, open),
      plots::Tone::neutral};
  return e;
}

}  // namespace

ExhibitEntry claims_exhibit(const std::shared_ptr<const ClaimSet>& claims) {
  return {
      "claims", "Every claim and its verdict; every rate", "All papers",
      [claims](const Study& study) { return all_jobs(*claims, study); },
      [claims](const Runs& runs, const Study& study) { return all_claims(*claims, runs, study); }};
}

std::optional<ExhibitEntry> claim_exhibit(const ClaimSet& set, std::string_view id) {
  const auto claim = std::ranges::find(set.claims, id, &Claim::id);
  if (claim == set.claims.end()) return {};
  ClaimSet alone{.claims = {*claim}};
  if (const Predicate* p = set.predicate_of(claim->id)) alone.predicates.push_back(*p);
  const auto claims = std::make_shared<const ClaimSet>(std::move(alone));
  ExhibitEntry entry{.id = claim->id,
                     .title = claim->place,
                     .paper = claim->id.substr(0, claim->id.find('/')),
                     .jobs = [claims](const Study& study) { return claim_jobs(*claims, study); }};
  plots::Exhibit shown{.id = claim->id, .paper = entry.paper, .title = claim->place};
  std::ranges::replace(shown.id, '/', '-');
  entry.render = [claims, shown](const Runs& runs, const Study& study) {
    const std::vector<Finding> findings = find_claims(*claims, runs, study);
    plots::Exhibit exhibit = shown;
    exhibit.verdict = headline_label(findings.front().headline);
    exhibit.paper_says = {claims->claims.front().reading};
    exhibit.tables = {claims_table(*claims, findings)};
    return exhibit;
  };
  return entry;
}

}  // namespace dpsosp
