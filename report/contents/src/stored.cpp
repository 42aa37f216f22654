// SPDX-License-Identifier: Apache-2.0
#include "stored.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep_report.hpp"

namespace dpsosp::report {
namespace {

bool all_there(const Runs& runs, const std::vector<Job>& jobs) {
  return std::ranges::all_of(jobs, [&](const Job& job) { return runs.contains(job); });
}

}  // namespace

void add_once(std::vector<std::string>& list, const std::string& entry) {
  if (!entry.empty() && std::ranges::find(list, entry) == list.end()) list.push_back(entry);
}

ExhibitCard card_of(const ExhibitEntry& entry, const plots::Exhibit& exhibit) {
  return {.id = entry.id,
          .paper = exhibit.paper,
          .title = entry.title,
          .verdict = exhibit.verdict.text,
          .page = exhibit.id + "/index.html"};
}

std::string paper_of(std::string_view id) { return std::string(id.substr(0, id.find('/'))); }

std::string part_title(const std::string& part, const std::string& axis_label) {
  std::string axis = axis_label.substr(axis_label.rfind(' ') + 1);
  std::vector<std::string> rest;
  std::string word;
  for (const char c : part + "-") {
    if (c != '-') {
      word += c;
      continue;
    }
    if (word != "n" && word != "d" && word != "epsilon" && !word.empty()) rest.push_back(word);
    word.clear();
  }
  const std::string others = fmt::format("{}", fmt::join(rest, " "));
  return fmt::format("Against {}{}{}", axis, others.empty() ? "" : ", ", others);
}

Rate rate_of(const Slope& s, const std::optional<ClaimedExponent>& claimed,
             const std::string& sweep, const Arm* arm) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Rate r{.axis = axis_symbol(s.request.axis),
         .claimed_low = none,
         .claimed_high = none,
         .zone_low = none,
         .zone_high = none,
         .plan = s.of_plan,
         .in_noise = s.request.in_noise,
         .metric = metric_label(s.request.metric),
         .privacy = {s.privacy.begin(), s.privacy.end()},
         .sweep = sweep,
         .part = s.part,
         .arm = s.arm};
  if (claimed) {
    const Interval zone = zone_of(*claimed, s.request.rivals);
    r.claimed_low = claimed->low;
    r.claimed_high = claimed->high;
    r.zone_low = zone.low;
    r.zone_high = zone.high;
    r.word = to_string(headline_of(s.verdict));
    r.verdict = to_string(s.verdict.verdict);
    r.bound = to_string(s.verdict.bound);
    r.reason = s.verdict.reason;
  }
  if (s.fit) {
    r.value = s.fit->slope;
    r.low = s.fit->interval.low;
    r.high = s.fit->interval.high;
    r.drift = s.fit->drift;
    r.drifting = s.fit->drifting;
    r.seeds = s.fit->seeds;
    r.cells = s.fit->cells;
  }
  if (arm != nullptr) {
    r.algorithm = arm->spec.algorithm;
    r.problem = arm->spec.problem;
  }
  return r;
}

std::string short_number(double v) {
  constexpr double least = 1e-3, most = 1e5;  // those between are written in full
  if (v == 0 || !std::isfinite(v) || (std::abs(v) >= least && std::abs(v) < most))
    return fmt::format("{:g}", v);
  const std::string digits = fmt::format("{:.2e}", v);
  const std::size_t e = digits.find('e');
  const int exponent = std::stoi(digits.substr(e + 1));
  const std::string mantissa = fmt::format("{:g}", std::stod(digits.substr(0, e)));
  return fmt::format("{}10^{{{}{}}}", mantissa == "1" ? "" : mantissa + "·",
                     exponent < 0 ? "−" : "", std::abs(exponent));
}

std::string setting_of(const Sweep& sweep, const Part& part, std::size_t arm) {
  std::set<std::string> dimensions, records, epsilons;
  std::set<std::size_t> seeds;
  for (const Cell& cell : cells_of(sweep, part)) {
    if (cell.arm != arm) continue;
    const RunDescription& run = cell.first_run();
    if (run.dimension) dimensions.insert(fmt::format("{}", *run.dimension));
    if (run.records > 0) records.insert(short_number(static_cast<double>(run.records)));
    epsilons.insert(short_number(run.epsilon));
    seeds.insert(cell.runs.size());
  }
  const RunSpec& spec = sweep.arms[arm].spec;
  std::string setting = fmt::format("{} on {}", sweep.arms[arm].name, spec.problem);
  const auto add_fixed = [&](const char* name, const std::set<std::string>& values) {
    if (values.size() == 1) setting += fmt::format(", {} = {}", name, *values.begin());
  };
  add_fixed("d", dimensions);
  add_fixed("n", records);
  add_fixed("ε", epsilons);
  setting += fmt::format(", δ = {}", short_number(spec.delta));
  if (!seeds.empty())
    setting += seeds.size() == 1 ? fmt::format(", {} seeds", *seeds.begin())
                                 : fmt::format(", {} to {} seeds", *seeds.begin(), *seeds.rbegin());
  const auto sampling = spec.problem_settings.find("sampling");
  const bool simulated = sampling != spec.problem_settings.end() &&
                         (sampling->second == "whole" || sampling->second == "stream");
  return simulated ? setting + ", simulated records" : setting;
}

std::string Stored::setting_of(const std::string& sweep, const std::string& part,
                               const std::string& arm) const {
  const auto s = sweeps_.find(sweep);
  if (s == sweeps_.end()) return {};
  const auto p = std::ranges::find(s->second.parts, part, &Part::name);
  const auto a = std::ranges::find(s->second.arms, arm, &Arm::name);
  if (p == s->second.parts.end() || a == s->second.arms.end()) return {};
  return report::setting_of(s->second, *p, static_cast<std::size_t>(a - s->second.arms.begin()));
}

Stored::Stored(const Reproduced& reproduced, const Collection& collection)
    : reproduced_(reproduced), collection_(collection) {
  for (const BuiltInSweep& s : collection.catalogue.sweeps) {
    const std::string name(s.name);
    Sweep sweep = study().sweep(name);
    if (all_there(runs(), jobs_of(sweep))) sweeps_.emplace(name, std::move(sweep));
  }
  for (const Claim& c : collection.claims.claims) {
    bool there = std::ranges::all_of(c.slopes, [&](const ClaimedSlope& s) {
      return !collection.catalogue.has_sweep(s.sweep) || has_sweep(s.sweep);
    });
    const Predicate* p = collection.claims.predicate_of(c.id);
    if (there && p != nullptr && p->exhibit.empty())
      there = all_there(runs(), jobs_of(*p, study()));
    if (!there) {
      not_run_.push_back(&c);
      continue;
    }
    claims_.claims.push_back(c);
    if (p != nullptr) claims_.predicates.push_back(*p);
  }
  findings_ = find_claims(claims_, runs(), study());
  for (std::size_t k = 0; k < findings_.size(); ++k)
    for (Rate& r : rates_of(k)) rates_.push_back(std::move(r));
  league_ = league_of(runs(), study());
}

const Arm* Stored::arm_of(const std::string& sweep, const std::string& arm) const {
  const auto s = sweeps_.find(sweep);
  if (s == sweeps_.end()) return nullptr;
  const auto found = std::ranges::find(s->second.arms, arm, &Arm::name);
  return found == s->second.arms.end() ? nullptr : &*found;
}

const plots::Figure& Stored::figure_of(const std::string& sweep) const {
  auto [place, fresh] = figures_.try_emplace(sweep);
  if (fresh) {
    const Sweep& s = sweeps_.at(sweep);
    place->second = slopes_figure(runs(), s, "figure", s.title);
  }
  return place->second;
}

std::vector<Rate> Stored::rates_of(std::size_t k) const {
  const Claim& claim = claims_.claims[k];
  const Finding& f = findings_[k];
  std::vector<Rate> rates;
  for (std::size_t i = 0; i < f.slopes.size(); ++i) {
    if (!f.slopes[i]) continue;
    const ClaimedSlope& c = claim.slopes[i];
    Rate r = rate_of(*f.slopes[i], c.exponent, c.sweep, arm_of(c.sweep, c.arm));
    r.claim = claim.id;
    r.axis = axis_symbol(c.axis);
    r.part = c.part;
    r.arm = c.arm;
    rates.push_back(std::move(r));
  }
  return rates;
}

std::vector<WordCounts> words_of(const Stored& stored) {
  std::vector<WordCounts> rows;
  WordCounts all{.paper = "", .name = "all papers"};
  for (std::size_t k = 0; k < stored.findings().size(); ++k) {
    const Claim& c = stored.claims().claims[k];
    if (c.of != ClaimOf::paper) continue;
    const std::string paper = paper_of(c.id);
    auto row = std::ranges::find(rows, paper, &WordCounts::paper);
    if (row == rows.end()) {
      rows.push_back({.paper = paper, .name = paper});
      row = rows.end() - 1;
    }
    const std::string word(to_string(stored.findings()[k].headline));
    for (WordCounts* counts : {&*row, &all}) {
      ++counts->counts[word];
      ++counts->all;
    }
  }
  if (!rows.empty()) rows.push_back(std::move(all));
  return rows;
}

}  // namespace dpsosp::report
