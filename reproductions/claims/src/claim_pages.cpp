// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "quotation.hpp"

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
  if (f.headline == Headline::open) {
    if (!claim.settles.empty()) return claim.settles;
    if (!claim.needs.empty()) return fmt::format("A test would take {}.", claim.needs);
    if (f.verdict == Verdict::more_seeds)
      return "More seeds: --scale full runs two to five times as many, and a longer range.";
    if (f.verdict == Verdict::no_power_law)
      return "A longer range, in which the curve is a line within a factor of 1.1.";
    return f.reason.empty() ? claim.why : f.reason;
  }
  if (claim.kind == Claim::Kind::slope)
    return f.headline == Headline::refuted
               ? "An interval that reaches the claimed exponent in a longer range, or levels that "
                 "stay below the solved accuracy."
               : "An interval beyond the worse end of the zone, in a longer range or with more "
                 "seeds.";
  switch (f.verdict) {
    case Verdict::fails:
      return f.runs.empty() ? "An error in the derivation, or another reading of the place."
                            : "Runs that meet the condition, or another reading of the place.";
    case Verdict::vacuous:
      return "Smaller constants or fewer logarithms in the printed bound.";
    default:
      return f.runs.empty() ? "An error in the derivation." : "A run that breaks the condition.";
  }
}

/// That computes the runs of a claim.
std::string command(const ClaimSet& set, const Claim& claim) {
  const Predicate* predicate = set.predicate_of(claim.id);
  const bool on_request = predicate != nullptr && !predicate->exhibit.empty();
  return fmt::format("./run reproduce {}", on_request ? predicate->exhibit : "claims");
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
                  .verdict = headline_label(f.headline)};
    Paragraphs words, reading, tested, result, argument;
    if (c.of == ClaimOf::paper) {
      words.push_back(fmt::format("“{}”", readable(c.printed)));
      add(words, "Under", c.hypotheses);
    } else {
      words.push_back(c.of == ClaimOf::suite ? "No words of the paper: a statement of this suite."
                      : c.of == ClaimOf::cited
                          ? "No words of the paper: a statement of work that it cites."
                          : "No words of the paper: a statement about published code.");
    }
    add(reading, "", c.reading);
    add(reading, "What the paper leaves open", c.ambiguity);
    add(tested, "Measured", c.measure);
    add(tested, "Expected", c.expected);
    add(tested, "It holds if", c.holds_if);
    add(tested, "In its place", c.instead);
    for (std::string& range : ranges(c, study)) tested.push_back(std::move(range));
    if (f.parts.empty()) add(result, "", f.measured);
    for (const std::string& part : f.parts) result.push_back(part);
    if (f.parts.empty()) add(result, "Why", f.reason);
    add(result, "An independent program found", c.reference);
    if (f.headline == Headline::slip || f.headline == Headline::refuted)
      add(result, "What stands", c.stands);
    add(result, "Evidence", evidence_line(c, f));
    if (c.argument) {
      add(argument, "The authors might say", c.argument->objection);
      add(argument, "Answer", c.argument->answer);
      add(argument, "Changed for it", c.argument->changed);
      add(argument, "Still open", c.argument->open);
    }
    p.sections = {{"In the paper's words", std::move(words)},
                  {"Our reading", std::move(reading)},
                  {"As tested", std::move(tested)},
                  {"Result", std::move(result)},
                  {"What would change the verdict", {what_would_change(c, f)}},
                  {"The other side", std::move(argument)},
                  {"Command", {command(set, c)}}};
    std::erase_if(p.sections, [](const plots::Page::Section& s) {
      return s.paragraphs.empty() || s.paragraphs.front().empty();
    });
    pages.push_back(std::move(p));
  }
  return pages;
}

}  // namespace dpsosp
