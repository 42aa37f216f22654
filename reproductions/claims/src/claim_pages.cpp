// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/sweep_report.hpp"

namespace dpsosp {
namespace {

using Paragraphs = std::vector<std::string>;

void add(Paragraphs& list, std::string_view label, const std::string& text) {
  if (text.empty()) return;
  list.push_back(label.empty() ? text : fmt::format("{}: {}", label, text));
}

/// The parts of sweeps that a claim's slopes are of, with why their ranges are what they are.
Paragraphs ranges(const Claim& claim, const Study& study) {
  Paragraphs list;
  for (const ClaimedSlope& s : claim.slopes) {
    std::string text = fmt::format(
        "{} on {}: sweep {}, part {}, arm {}", to_text(s.exponent), s.axis, s.sweep, s.part, s.arm);
    if (study.catalogue.has_sweep(s.sweep))
      for (const Part& part : study.sweep(s.sweep).parts)
        if (part.name == s.part)
          text +=
              fmt::format(", {} seeds{}{}", part.seeds, part.note.empty() ? "" : ". ", part.note);
    list.push_back(std::move(text));
  }
  return list;
}

std::string what_would_change(const Claim& claim, const Finding& f) {
  switch (f.verdict) {
    case Verdict::as_claimed:
    case Verdict::as_claimed_with_terms:
    case Verdict::as_claimed_or_better:
    case Verdict::better_than_claimed:
      return "An interval beyond the worse end of the zone, in a longer range or with more seeds.";
    case Verdict::worse_than_claimed:
      return "An interval that reaches the zone in a longer range, or a level that stays below the "
             "solved accuracy.";
    case Verdict::more_seeds:
      return "More seeds: --scale full runs two to five times as many, and a longer range.";
    case Verdict::no_power_law:
      return "A longer range, in which the curve is a line within a factor of 1.1.";
    case Verdict::holds:
      return f.runs.empty() ? "An error in the derivation." : "A run that breaks the condition.";
    case Verdict::fails:
      return f.runs.empty() ? "An error in the derivation, or another reading of the place."
                            : "Runs that meet the condition, or another reading of the place.";
    case Verdict::vacuous:
      return "Smaller constants or fewer logarithms in the printed bound.";
    case Verdict::inconclusive:
      return f.reason;
    case Verdict::not_reachable:
      return fmt::format("A test would take {}.", claim.needs);
    case Verdict::not_measured:
      break;
  }
  return claim.why;
}

}  // namespace

std::vector<plots::Page> claim_pages(const ClaimSet& set,
                                     const std::vector<Finding>& findings,
                                     const Study& study) {
  std::vector<plots::Page> pages;
  for (std::size_t k = 0; k < findings.size(); ++k) {
    const Claim& c = set.claims[k];
    const Finding& f = findings[k];
    plots::Page p{.id = page_of(c),
                  .title = c.id,
                  .subtitle = c.place,
                  .verdict = verdict_label({f.verdict, ""})};
    Paragraphs tested, result, argument;
    add(tested, "Measured", c.measure);
    add(tested, "Expected", c.expected);
    add(tested, "It holds if", c.holds_if);
    add(tested, "In its place", c.instead);
    for (std::string& range : ranges(c, study)) tested.push_back(std::move(range));
    if (f.parts.empty()) add(result, "", f.measured);
    for (const std::string& part : f.parts) result.push_back(part);
    if (f.parts.empty()) add(result, "Why", f.reason);
    add(result, "An independent program found", c.reference);
    add(result, "Kind of evidence", std::string(to_string(c.evidence)));
    add(result, "Rests on", f.rests_on);
    if (c.argument) {
      add(argument, "The authors might say", c.argument->objection);
      add(argument, "Answer", c.argument->answer);
      add(argument, "Changed for it", c.argument->changed);
      add(argument, "Still open", c.argument->open);
    }
    p.sections = {{"What the paper says", {c.says}},
                  {"As tested", std::move(tested)},
                  {"Result", std::move(result)},
                  {"What would change the verdict", {what_would_change(c, f)}},
                  {"The other side", std::move(argument)},
                  {"Command", {"./run reproduce claims"}}};
    std::erase_if(p.sections, [](const plots::Page::Section& s) {
      return s.paragraphs.empty() || s.paragraphs.front().empty();
    });
    pages.push_back(std::move(p));
  }
  return pages;
}

}  // namespace dpsosp
