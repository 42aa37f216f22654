// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "dpsosp/experiments/claims.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "exhibits.hpp"
#include "rates_table.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

std::vector<json> all_jobs(Scale scale) {
  std::vector<json> jobs = claim_jobs(scale);
  for (const std::string& name : rate_sweeps(scale))
    for (json& job : jobs_of(built_in_sweep(name, scale))) jobs.push_back(std::move(job));
  return jobs;
}

plots::Exhibit all_claims(const Runs& runs, Scale scale) {
  const std::vector<Finding> findings = find_claims(runs, scale);
  plots::Exhibit e;
  e.id = "claims";
  e.paper = "All papers";
  e.title = "Every claim and its verdict";
  e.paper_says = {
      "What a claim says is told in our words, with its place in the paper. A slope is as claimed "
      "where it lies within 0.05 of the claimed exponent with a 95 % interval of half-width at "
      "most 0.05, no drift over the range and no cell a factor of 1.5 off the line; claims "
      "without a slope hold or fail by the rule that experiments/claims.toml states. Those "
      "that formulas alone decide, without a run, are counted apart."};
  e.tables = {claims_summary_table(findings), claims_table(findings), rates_table(runs, scale)};
  std::size_t decided = 0;
  for (const Finding& f : findings)
    decided += f.verdict != Verdict::inconclusive && f.verdict != Verdict::not_reachable &&
               f.verdict != Verdict::not_measured;
  e.verdict = {fmt::format("{} of {} claims decided", decided, findings.size()),
               plots::Tone::neutral};
  return e;
}

}  // namespace

std::vector<ExhibitEntry> summary_exhibits() {
  return {
      {"claims", "Every claim and its verdict; every rate", "All papers", all_jobs, all_claims}};
}

}  // namespace dpsosp
