// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/claims.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/work_meter.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/experiments/toml_reader.hpp"
#include "dpsosp/plots/quotation.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr const char* formulas = "formulas";

/// Cells of one arm of a part; none where the scale does not have the part.
std::vector<Cell> arm_cells(const Sweep& sweep, std::string_view part, std::string_view arm) {
  std::vector<Cell> found;
  for (const Part& p : sweep.parts) {
    if (p.name != part) continue;
    for (Cell& c : cells_of(sweep, p))
      if (sweep.arms[c.arm].name == arm) found.push_back(std::move(c));
  }
  return found;
}

Claim claim_of(const TomlNode& node) {
  const TomlTable t = node.table();
  t.allow({"id",      "place",    "of",    "printed", "hypotheses", "reading",  "ambiguity",
           "measure", "expected", "kind",  "slopes",  "holds_if",   "if_fails", "stands",
           "settles", "why",      "needs", "instead", "reference",  "exhibit",  "evidence"});
  const auto text = [&](const char* name) { return t.has(name) ? t.at(name).text() : ""; };
  Claim c;
  c.id = t.at("id").text();
  c.place = t.at("place").text();
  if (t.has("of")) c.of = t.at("of").checked([&] { return from_word<ClaimOf>(t.at("of").text()); });
  c.printed = text("printed");
  c.hypotheses = text("hypotheses");
  c.reading = t.at("reading").text();
  c.ambiguity = text("ambiguity");
  c.measure = text("measure");
  c.expected = text("expected");
  c.kind = t.at("kind").checked([&] { return from_word<Claim::Kind>(t.at("kind").text()); });
  c.holds_if = text("holds_if");
  c.stands = text("stands");
  c.settles = text("settles");
  c.why = text("why");
  c.needs = text("needs");
  c.instead = text("instead");
  c.reference = text("reference");
  if (t.has("evidence"))
    c.evidence =
        t.at("evidence").checked([&] { return from_word<EvidenceKind>(t.at("evidence").text()); });
  const auto required = [&](const char* name) {
    if (!t.has(name))
      node.fail(fmt::format("{} is missing in a claim of kind {}", name, to_string(c.kind)));
  };
  if (c.of == ClaimOf::paper)
    for (const char* name : {"printed", "hypotheses"})
      if (!t.has(name)) node.fail(fmt::format("{} is missing in a claim of the paper", name));
  if (t.has("if_fails")) {
    c.if_fails =
        t.at("if_fails").checked([&] { return from_word<Headline>(t.at("if_fails").text()); });
    if (c.if_fails != Headline::refuted && c.if_fails != Headline::slip)
      t.at("if_fails").refuse("\"refuted\" or \"slip\"");
    if (c.if_fails == Headline::slip && c.stands.empty())
      node.fail("stands is missing: what stands where the claim is a slip");
  }
  switch (c.kind) {
    case Claim::Kind::slope:
      required("slopes");
      for (const TomlNode& s : t.at("slopes").array()) {
        const TomlTable slope = s.table();
        slope.allow({"axis", "exponent", "sweep", "part", "arm", "metric", "rivals", "solved"});
        std::vector<double> rivals;
        if (slope.has("rivals"))
          for (const TomlNode& rival : slope.at("rivals").array()) rivals.push_back(rival.number());
        c.slopes.push_back(
            {.axis = slope.at("axis").text(),
             .exponent = std::make_from_tuple<ClaimedExponent>(slope.at("exponent").range()),
             .sweep = slope.at("sweep").text(),
             .part = slope.at("part").text(),
             .arm = slope.at("arm").text(),
             .metric = slope.at("metric").text(),
             .rivals = std::move(rivals),
             .solved = slope.has("solved") && slope.at("solved").boolean()});
      }
      break;
    case Claim::Kind::predicate:
      required("holds_if");
      break;
    case Claim::Kind::unreachable:
      required("needs");
      [[fallthrough]];
    case Claim::Kind::later:
      required("why");
      break;
  }
  return c;
}

std::string paper_of(const std::string& id) { return id.substr(0, id.find('/')); }

/// Slopes of the built-in sweeps that claims refer to, each sweep fitted once.
class Slopes {
 public:
  Slopes(const Runs& runs, const Study& study) : runs_(runs), study_(study) {}

  const Slope* find(const ClaimedSlope& wanted) {
    if (!study_.catalogue.has_sweep(wanted.sweep)) return nullptr;
    auto [place, fresh] = of_sweep_.try_emplace(wanted.sweep);
    if (fresh) place->second = slopes_of(runs_, study_.sweep(wanted.sweep));
    for (const Slope& s : place->second)
      if (s.part == wanted.part && s.arm == wanted.arm && s.request.axis == wanted.axis &&
          (wanted.metric.empty() || s.request.metric == wanted.metric))
        return &s;
    return nullptr;
  }

 private:
  const Runs& runs_;
  const Study& study_;
  std::map<std::string, std::vector<Slope>> of_sweep_;
};

/// Names what findings rest on.
class RestsOn {
 public:
  explicit RestsOn(const Study& study) {
    for (const BuiltInSweep& s : study.catalogue.sweeps)
      for (const Job& job : jobs_of(study.sweep(s.name))) sweep_of_[job.hash()] = s.name;
  }

  void name(Finding& f, const std::vector<Job>& jobs) const {
    std::set<std::string> seen;
    std::map<std::string, int> counts;  // by sweep
    int probes = 0, others = 0;
    for (const Job& job : jobs) {
      const std::string key = job.hash();
      if (!seen.insert(key).second) continue;
      f.runs.push_back(key);
      if (const auto sweep = sweep_of_.find(key); sweep != sweep_of_.end())
        ++counts[sweep->second];
      else
        ++(job.probe() != nullptr ? probes : others);
    }
    std::vector<std::string> words;
    const auto counted = [](int count, std::string_view what) {
      return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    for (const auto& [sweep, count] : counts)
      words.push_back(fmt::format("{} of {}", counted(count, "run"), sweep));
    if (others > 0) words.push_back(fmt::format("{} of its own", counted(others, "run")));
    if (probes > 0) words.push_back(counted(probes, "probe"));
    f.rests_on = words.empty() ? formulas : fmt::format("{}", fmt::join(words, ", "));
  }

 private:
  std::map<std::string, std::string> sweep_of_;
};

std::vector<Job> jobs_of_slopes(const Claim& claim, const Study& study) {
  std::vector<Job> jobs;
  for (const ClaimedSlope& s : claim.slopes) {
    if (!study.catalogue.has_sweep(s.sweep)) continue;
    const Sweep sweep = study.sweep(s.sweep);
    for (const Cell& c : arm_cells(sweep, s.part, s.arm))
      jobs.insert(jobs.end(), c.runs.begin(), c.runs.end());
  }
  return jobs;
}

/// Exponent, bound, and what limits, of one slope.
std::string three_parts(const Slope& s, const ClaimedSlope& wanted, const SlopeVerdict& v) {
  const SlopeFit& fit = *s.fit;
  std::string text =
      fmt::format("exponent {} for {}, zone {}: {}", to_text(fit), to_text(wanted.exponent),
                  to_text(zone_of(wanted.exponent, s.request.rivals)), to_string(v.verdict));
  if (!v.reason.empty()) text += fmt::format(" ({})", v.reason);
  text += fmt::format("; slope of means {:+.3f} {}. Bound: {}", fit.mean_slope,
                      to_text(fit.mean_interval), to_string(v.bound));
  if (s.over_promise) text += fmt::format(", levels at most {:.2g} of it", *s.over_promise);
  text += ". What limits: ";
  if (s.of_plan)
    text += fmt::format("the plan itself has the slope {:+.3f}", *s.of_plan);
  else
    text += "no plan has an accuracy here";
  return text + fmt::format(". {} cells from {:g} to {:g}, {} seeds and more.", fit.cells,
                            s.cells.front().x, s.cells.back().x, fit.seeds);
}

Finding slope_finding(const Claim& claim, Slopes& slopes, const Study& study) {
  using enum Verdict;
  Finding f;
  std::vector<Verdict> verdicts;
  std::vector<Headline> headlines;
  std::vector<std::string> measured, reasons;
  bool all_run = true;
  const bool several_arms = std::ranges::any_of(
      claim.slopes, [&](const ClaimedSlope& c) { return c.arm != claim.slopes.front().arm; });
  for (const ClaimedSlope& wanted : claim.slopes) {
    const std::string name =
        several_arms ? fmt::format("{}, {}", wanted.arm, wanted.axis) : wanted.axis;
    const Slope* s = slopes.find(wanted);
    f.slopes.push_back(s == nullptr ? std::nullopt : std::optional(*s));
    if (s == nullptr) {
      all_run = false;
      reasons.push_back(fmt::format("{}: {}", name,
                                    study.catalogue.has_sweep(wanted.sweep)
                                        ? "not run at this scale"
                                        : "its sweep does not exist yet"));
      continue;
    }
    const SlopeVerdict v = judge(*s, wanted.exponent, wanted.solved);
    f.slopes.back()->verdict = v;
    verdicts.push_back(v.verdict);
    headlines.push_back(headline_of(v));
    if (!v.reason.empty()) reasons.push_back(fmt::format("{}: {}", name, v.reason));
    const bool settled = confirms(v.verdict) || v.verdict == worse_than_claimed;
    measured.push_back(s->fit ? fmt::format("{} {} for {}: {}{}", name, to_text(*s->fit),
                                            to_text(wanted.exponent), to_string(v.verdict),
                                            settled ? "" : fmt::format(", {}", to_string(v.bound)))
                              : fmt::format("{}: no slope", name));
    if (s->fit) f.parts.push_back(fmt::format("{}: {}", name, three_parts(*s, wanted, v)));
    if (s->fit && !f.value) {
      f.value = s->fit->slope;
      f.interval = s->fit->interval;
    }
  }
  const auto any = [&](Verdict v) { return std::ranges::find(verdicts, v) != verdicts.end(); };
  f.verdict = verdicts.empty()             ? not_measured
              : any(worse_than_claimed)    ? worse_than_claimed
              : any(inconclusive)          ? inconclusive
              : !all_run                   ? inconclusive
              : any(no_power_law)          ? no_power_law
              : any(more_seeds)            ? more_seeds
              : any(as_claimed_with_terms) ? as_claimed_with_terms
              : any(as_claimed_or_better)  ? as_claimed_or_better
              : any(better_than_claimed)   ? better_than_claimed
                                           : as_claimed;
  const auto any_is = [&](Headline h) {
    return std::ranges::find(headlines, h) != headlines.end();
  };
  f.headline = any_is(Headline::refuted)                                 ? Headline::refuted
               : headlines.empty() || !all_run || any_is(Headline::open) ? Headline::open
               : any_is(Headline::bound_met)                             ? Headline::bound_met
                                                                         : Headline::confirmed;
  f.measured = fmt::format("{}", fmt::join(measured, "; "));
  f.reason = fmt::format("{}", fmt::join(reasons, "; "));
  return f;
}

}  // namespace

const Predicate* ClaimSet::predicate_of(const std::string& claim) const {
  const auto found = std::ranges::find(predicates, claim, &Predicate::claim);
  return found == predicates.end() ? nullptr : &*found;
}

Headline headline_of(const Claim& claim, Verdict verdict) {
  using enum Verdict;
  switch (verdict) {
    case holds:
    case as_claimed:
    case as_claimed_with_terms:
      return Headline::confirmed;
    case vacuous:
      return Headline::vacuous;
    case bound_met:
    case as_claimed_or_better:
    case better_than_claimed:
      return Headline::bound_met;
    case fails:
      return claim.if_fails;
    case worse_than_claimed:
    case more_seeds:
    case no_power_law:
    case inconclusive:
    case not_reachable:
    case not_measured:
      break;
  }
  return Headline::open;
}

plots::Label headline_label(Headline headline) {
  using enum Headline;
  const plots::Tone tone = headline == confirmed                          ? plots::Tone::good
                           : headline == bound_met || headline == vacuous ? plots::Tone::neutral
                           : headline == refuted                          ? plots::Tone::bad
                                                                          : plots::Tone::caution;
  return {std::string(to_string(headline)), tone};
}

std::vector<Claim> parse_claims(std::string_view toml, const std::string& source) {
  const TomlDocument document(toml, source);
  document.root().allow({"claim"});
  std::vector<Claim> list;
  std::set<std::string> ids;
  for (const TomlNode& node : document.root().at("claim").array()) {
    list.push_back(claim_of(node));
    if (!ids.insert(list.back().id).second) node.fail("two claims are called " + list.back().id);
  }
  return list;
}

void add_arguments(std::string_view toml, const std::string& source, std::vector<Claim>& claims) {
  const TomlDocument document(toml, source);
  document.root().allow({"argument"});
  for (const TomlNode& node : document.root().at("argument").array()) {
    const TomlTable t = node.table();
    t.allow({"id", "objection", "answer", "upheld", "changed", "open"});
    const std::string id = t.at("id").text();
    const auto claim = std::ranges::find(claims, id, &Claim::id);
    if (claim == claims.end()) t.at("id").refuse("the id of a claim of this paper");
    if (claim->argument) t.at("id").fail("two arguments for " + id);
    const auto text = [&](const char* name) { return t.has(name) ? t.at(name).text() : ""; };
    claim->argument = {.objection = t.at("objection").text(),
                       .answer = t.at("answer").text(),
                       .upheld = t.at("upheld").boolean(),
                       .changed = text("changed"),
                       .open = text("open")};
    if (claim->argument->upheld && claim->argument->changed.empty())
      node.fail("changed is missing: what the upheld objection has changed in " + id);
  }
}

std::vector<Job> claim_jobs(const ClaimSet& set, const Study& study) {
  std::vector<Job> jobs;
  std::set<std::string> sweeps;
  for (const Claim& c : set.claims) {
    for (const ClaimedSlope& s : c.slopes)
      if (study.catalogue.has_sweep(s.sweep) && sweeps.insert(s.sweep).second)
        for (Job& job : jobs_of(study.sweep(s.sweep))) jobs.push_back(std::move(job));
    if (const Predicate* p = set.predicate_of(c.id)) {
      std::vector<Job> of_claim = jobs_of(*p, study);
      if (!p->exhibit.empty() && !study.stores(of_claim)) continue;
      for (Job& job : of_claim) jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

std::vector<Finding> find_claims(const ClaimSet& set, const Runs& runs, const Study& study) {
  std::vector<Finding> findings;
  Slopes slopes(runs, study);
  const RestsOn rests_on(study);
  plan_work(std::ssize(set.claims));
  for (const Claim& c : set.claims) {
    Finding f;
    if (c.kind == Claim::Kind::slope) {
      f = slope_finding(c, slopes, study);
      rests_on.name(f, jobs_of_slopes(c, study));
    } else if (const Predicate* p = set.predicate_of(c.id)) {
      f = judge(*p, runs, study);
      f.headline = headline_of(c, f.verdict);
      if (f.rests_on.empty()) rests_on.name(f, jobs_judged(*p, runs, study));
    } else if (c.kind == Claim::Kind::unreachable) {
      f = {.verdict = Verdict::not_reachable, .measured = "needs " + c.needs, .reason = c.why};
    } else {
      f.reason = c.why;
    }
    findings.push_back(std::move(f));
    do_work();
  }
  return findings;
}

plots::Table claims_summary_table(const ClaimSet& set, const std::vector<Finding>& findings) {
  plots::Table t;
  t.id = "claims-by-verdict";
  t.title = "Claims by headline word";
  t.row_header = "source";
  t.column_groups.push_back({"", {}});
  for (const auto& [unused, word] : words_of(Headline{}).list)
    t.column_groups.back().columns.emplace_back(word);
  t.column_groups.back().columns.emplace_back("all");
  const auto count = [&](std::string label, const auto& counts_in) {
    plots::Row r{.label = std::move(label)};
    int sum = 0;
    for (const auto& [headline, unused] : words_of(Headline{}).list) {
      int of_headline = 0;
      for (std::size_t k = 0; k < findings.size(); ++k)
        of_headline += findings[k].headline == headline && counts_in(set.claims[k]);
      sum += of_headline;
      r.cells.push_back(of_headline == 0 ? plots::text_cell("") : plots::count_cell(of_headline));
    }
    r.cells.push_back(plots::count_cell(sum));
    return r;
  };
  const auto is_printed = [](const Claim& c) { return c.of == ClaimOf::paper; };
  std::set<std::string> papers;
  for (const Claim& c : set.claims) papers.insert(paper_of(c.id));
  plots::RowGroup by_paper{.label = "what the papers print"},
      by_kind{.label = "of these, by kind of evidence"}, others{.label = "other statements"};
  for (const std::string& paper : papers)
    by_paper.rows.push_back(
        count(paper, [&](const Claim& c) { return is_printed(c) && paper_of(c.id) == paper; }));
  by_paper.rows.push_back(count("all papers", is_printed));
  for (const auto& [kind, word] : words_of(EvidenceKind{}).list)
    by_kind.rows.push_back(count(std::string(word), [&, of = kind](const Claim& c) {
      return is_printed(c) && c.evidence == of;
    }));
  by_kind.rows.push_back(count("exponents, of measurement", [&](const Claim& c) {
    return is_printed(c) && c.kind == Claim::Kind::slope;
  }));
  for (const auto& [source, label] : {std::pair{ClaimOf::suite, "of this suite"},
                                      std::pair{ClaimOf::cited, "of work that the papers cite"},
                                      std::pair{ClaimOf::script, "of published code"}})
    others.rows.push_back(count(label, [of = source](const Claim& c) { return c.of == of; }));
  t.row_groups = {std::move(by_paper), std::move(by_kind), std::move(others)};
  t.notes = {
      "Confirmed: as the claim says. Bound met, exponent open: every level respects the upper "
      "bound, and the measured exponent, beside the claimed one, is not the claimed one or not "
      "told from others. Vacuous: a bound that nothing in reach could have broken. Refuted: by "
      "measurement, or by a contradiction under the source's own "
      "hypotheses. Slip: an error of text or constants that leaves the result standing. "
      "Measurement: of runs or probes. Derivation: by formulas, with their numbers. Privacy: by "
      "the accountant, under a stated adjacency. Reproduction: of published numbers."};
  return t;
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

std::string evidence_line(const Claim& claim, const Finding& f) {
  std::string line = fmt::format("{}: {}", to_string(claim.evidence), to_string(f.verdict));
  if (!f.rests_on.empty()) line += fmt::format("; {}", f.rests_on);
  return line;
}

plots::Table claims_table(const ClaimSet& set, const std::vector<Finding>& findings) {
  plots::Table t;
  t.id = "claims";
  t.title = "Every claim";
  t.row_header = "claim";
  t.column_groups.push_back(
      {"", {"place", "in its words", "our reading", "measured", "evidence", "verdict"}});
  for (std::size_t k = 0; k < findings.size(); ++k) {
    const Claim& c = set.claims[k];
    const Finding& f = findings[k];
    const std::string paper = paper_of(c.id);
    plots::Row row{.label = c.id.substr(paper.size() + 1)};
    row.cells = {plots::text_cell(c.place),
                 plots::text_cell(c.of == ClaimOf::paper ? plots::readable(c.printed)
                                                         : fmt::format("({})", to_string(c.of))),
                 plots::text_cell(c.reading),
                 plots::text_cell(f.measured),
                 plots::text_cell(evidence_line(c, f)),
                 plots::text_cell(f.reason)};
    row.cells.back().labels.push_back(headline_label(f.headline));
    t.add(std::move(row), paper);
  }
  return t;
}

json claims_json(const ClaimSet& set, const std::vector<Finding>* findings) {
  json all = json::array();
  for (std::size_t k = 0; k < set.claims.size(); ++k) {
    const Claim& c = set.claims[k];
    json j{{"id", c.id},           {"place", c.place},          {"of", to_string(c.of)},
           {"reading", c.reading}, {"kind", to_string(c.kind)}, {"evidence", to_string(c.evidence)},
           {"measure", c.measure}, {"expected", c.expected}};
    const auto add = [&](const char* name, const std::string& text) {
      if (!text.empty()) j[name] = text;
    };
    add("printed", c.printed);
    add("hypotheses", c.hypotheses);
    add("ambiguity", c.ambiguity);
    add("stands", c.stands);
    add("settles", c.settles);
    add("holds_if", c.holds_if);
    add("why", c.why);
    add("needs", c.needs);
    add("instead", c.instead);
    add("reference", c.reference);
    if (c.argument)
      j["argument"] = {{"objection", c.argument->objection},
                       {"answer", c.argument->answer},
                       {"upheld", c.argument->upheld}};
    for (const ClaimedSlope& s : c.slopes)
      j["slopes"].push_back({{"axis", s.axis},
                             {"exponent", to_json(s.exponent)},
                             {"metric", s.metric},
                             {"rivals", s.rivals},
                             {"sweep", s.sweep},
                             {"part", s.part},
                             {"arm", s.arm}});
    if (findings != nullptr) {
      const Finding& f = (*findings)[k];
      j["headline"] = to_string(f.headline);
      j["verdict"] = to_string(f.verdict);
      j["measured"] = f.measured;
      j["reason"] = f.reason;
      if (f.value) j["value"] = *f.value;
      if (f.interval) j["interval"] = {f.interval->low, f.interval->high};
      if (!f.rests_on.empty()) j["rests_on"] = f.rests_on;
      if (!f.runs.empty()) j["runs"] = f.runs;
    }
    all.push_back(std::move(j));
  }
  return all;
}

}  // namespace dpsosp
