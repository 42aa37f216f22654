// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/experiments/study.hpp"
#include "stored.hpp"

namespace dpsosp::report {
namespace {

/// Sizes and budgets of the runs that a claim rests on.
class RunRange {
 public:
  void add(const RunDescription& run, const RunResult* result) {
    n_.add(static_cast<double>(run.records));
    if (run.dimension) d_.add(static_cast<double>(*run.dimension));
    epsilon_.add(run.epsilon);
    ++all_;
    simulated_ += result != nullptr && result->privacy.label == PrivacyLabel::simulated;
  }

  /// "simulated records, n = 4·10^{9} to 4·10^{11}, d = 16, ε = 10^{−4}"; empty of no run.
  std::string text() const {
    if (all_ == 0) return {};
    const char* records = simulated_ == 0      ? ""
                          : simulated_ == all_ ? "simulated records, "
                                               : "in part simulated records, ";
    return records + n_.text("n") + d_.text(", d") + epsilon_.text(", ε");
  }

 private:
  struct Range {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    void add(double v) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
    std::string text(const char* name) const {
      if (low > high) return {};
      const std::string first = fmt::format("{} = {}", name, short_number(low));
      return low == high ? first : fmt::format("{} to {}", first, short_number(high));
    }
  };

  Range n_, d_, epsilon_;
  int all_ = 0, simulated_ = 0;
};

/// The panels of the claim's slopes, with its arms and their guides alone.
std::optional<plots::Figure> figure_of(const std::vector<Rate>& rates, const Stored& stored) {
  plots::Figure f{.id = "figure", .caption = ""};
  std::set<std::string> settings;
  std::vector<std::pair<std::string, std::string>> drawn;
  for (const Rate& r : rates) {
    if (!stored.has_sweep(r.sweep)) continue;
    for (const plots::Panel& whole : stored.figure_of(r.sweep).panels) {
      if (whole.origin.part != r.part || whole.y.label != r.metric) continue;
      const std::pair key{r.sweep + "/" + r.part, r.metric};
      if (std::ranges::find(drawn, key) != drawn.end()) continue;
      drawn.push_back(key);
      plots::Panel p = whole;
      p.title = part_title(r.part, p.x.label);
      const auto of_claim = [&](const plots::Series& s) {
        return !s.dashed && std::ranges::any_of(rates, [&](const Rate& other) {
          return other.sweep == r.sweep && other.part == r.part && other.arm == s.label;
        });
      };
      const auto guides_one = [&](const plots::Series& guide) {
        return guide.dashed && std::ranges::any_of(whole.series, [&](const plots::Series& s) {
                 if (!of_claim(s)) return false;
                 return guide.label == s.label + ", solved α" ||
                        (guide.label == "claimed exponent" && !guide.x.empty() && guide.x == s.x &&
                         guide.y.front() == s.y.front());
               });
      };
      std::erase_if(p.series,
                    [&](const plots::Series& s) { return !of_claim(s) && !guides_one(s); });
      if (!p.series.empty()) f.panels.push_back(std::move(p));
    }
    if (auto s = stored.setting_of(r.sweep, r.part, r.arm); !s.empty()) settings.insert(s);
  }
  if (f.panels.empty()) return {};
  f.caption =
      "Medians over seeds, bars from the smallest to the largest. Dotted: the claimed exponent "
      "through the first cell; dashed: the accuracy that the schedule solved for. Where not "
      "varied: ";
  f.caption += fmt::format("{}.", fmt::join(settings, "; "));
  return f;
}

}  // namespace

ClaimsPage claim_list_of(const Stored& stored) {
  ClaimsPage page;
  for (std::size_t k = 0; k < stored.findings().size(); ++k) {
    const Claim& c = stored.claims().claims[k];
    const Finding& f = stored.findings()[k];
    page.claims.push_back({.id = c.id,
                           .paper = paper_of(c.id),
                           .place = c.place,
                           .of = std::string(to_string(c.of)),
                           .reading = c.reading,
                           .measured = f.measured,
                           .word = std::string(to_string(f.headline)),
                           .evidence = evidence_line(c, f)});
  }
  return page;
}

std::vector<ClaimPage> claim_pages_of(const Stored& stored) {
  std::vector<ClaimPage> pages;
  const std::vector<Claim>& claims = stored.claims().claims;
  for (std::size_t k = 0; k < claims.size(); ++k) {
    const Claim& c = claims[k];
    const Finding& f = stored.findings()[k];
    ClaimPage p{.id = c.id,
                .paper = paper_of(c.id),
                .place = c.place,
                .word = std::string(to_string(f.headline)),
                .verdict = std::string(to_string(f.verdict)),
                .evidence = evidence_line(c, f)};
    if (c.of == ClaimOf::paper)
      p.printed = c.printed;
    else
      p.no_quotation = c.of == ClaimOf::suite ? "No words of the paper: a statement of this suite."
                       : c.of == ClaimOf::cited
                           ? "No words of the paper: a statement of work that it cites."
                           : "No words of the paper: a statement about published code.";
    p.hypotheses = c.hypotheses;
    p.reading = c.reading;
    p.ambiguity = c.ambiguity;
    p.measure = c.measure;
    p.expected = c.expected;
    p.holds_if = c.holds_if;
    p.instead = c.instead;
    p.measured = f.measured;
    p.reason = f.reason;
    p.reference = c.reference;
    if (f.headline == Headline::slip || f.headline == Headline::refuted) p.stands = c.stands;
    p.change = what_would_change(c, f);
    if (c.argument) {
      p.objection = c.argument->objection;
      p.answer = c.argument->answer;
      p.changed = c.argument->changed;
      p.open = c.argument->open;
    }
    p.rates = stored.rates_of(k);
    p.figure = figure_of(p.rates, stored);
    std::vector<std::string> sweeps;
    for (const Rate& r : p.rates) {
      add_once(sweeps, r.sweep);
      add_once(p.algorithms, r.algorithm);
      add_once(p.problems, r.problem);
    }
    RunRange range;
    for (const ClaimedSlope& s : c.slopes) {
      const auto sweep = stored.sweeps().find(s.sweep);
      if (sweep == stored.sweeps().end()) continue;
      for (const Part& part : sweep->second.parts) {
        if (part.name != s.part) continue;
        if (!part.note.empty()) add_once(p.notes, part.note);
        for (const Cell& cell : cells_of(sweep->second, part))
          if (sweep->second.arms[cell.arm].name == s.arm && !cell.runs.empty())
            range.add(cell.first_run(), stored.runs().result(cell.runs.front()));
      }
    }
    if (const Predicate* predicate = stored.claims().predicate_of(c.id)) {
      for (const JobCell& cell :
           predicate->exhibit.empty() ? predicate->cells(stored.study()) : std::vector<JobCell>{}) {
        add_once(sweeps, cell.sweep);
        for (const Job& job : cell.jobs) {
          const RunDescription* run = job.run();
          if (run == nullptr) continue;
          add_once(p.algorithms, run->algorithm);
          add_once(p.problems, run->problem);
          range.add(*run, stored.runs().result(job));
          break;
        }
      }
      if (!predicate->exhibit.empty()) {
        p.exhibits.push_back(predicate->exhibit);
        p.commands.push_back({"Its runs", "./run reproduce " + predicate->exhibit});
      }
    }
    p.runs = range.text();
    for (const std::string& sweep : sweeps)
      p.commands.push_back({"The runs of " + sweep, "./run dpsosp sweep " + sweep});
    p.commands.push_back(
        {"This claim alone, with its runs and its verdict", "./run reproduce " + c.id});
    if (k > 0) p.previous = claims[k - 1].id;
    if (k + 1 < claims.size()) p.next = claims[k + 1].id;
    pages.push_back(std::move(p));
  }
  return pages;
}

}  // namespace dpsosp::report
