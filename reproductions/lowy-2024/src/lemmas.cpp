// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/study.hpp"
#include "parts.hpp"
#include "probes.hpp"
#include "published.hpp"

namespace dpsosp {
namespace {

using namespace lowy_2024_probe;

bool all_finished(const Evidence& e) {
  return std::ranges::all_of(e.cells, &JudgedCell::all_finished);
}

std::vector<JobCell> c3_bound_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const int d : {2, 16})
    cells.push_back(probe_cell(
        study,
        MechanismTail{
            .dimension = d, .records = 100000, .seeds = study.scale == Scale::smoke ? 10 : 1000},
        {{"dimension", d}}));
  return cells;
}

Finding c3_bound(const Evidence& e) {
  if (!all_finished(e)) return nothing_ran();
  std::vector<std::string> cells;
  bool holds = true;
  for (const JudgedCell& cell : e.cells) {
    const auto [above, seeds, largest, p] = cell.results<MechanismTail::Result>().front();
    // P[Bin(seeds, p) ≥ above], refused below 1e-3
    double tail = 1, term = std::pow(1 - p, seeds);
    for (int k = 0; k < above; ++k) {
      tail -= term;
      term *= static_cast<double>(seeds - k) / (k + 1) * p / (1 - p);
    }
    holds = holds && tail >= 1e-3;
    cells.push_back(fmt::format("d = {:g}: {} of {} above, largest {:.2g} of ψ",
                                cell.number_at("dimension"), above, seeds, largest));
  }
  return {.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(cells, "; "))};
}

std::vector<JobCell> c12_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const double n : {1e3, 1e4, 1e5, 1e6})
    cells.push_back(probe_cell(study, WorstPopulationExcess{.records = n}, {{"records", n}}));
  return cells;
}

Finding c12(const Evidence& e) {
  if (!all_finished(e)) return nothing_ran();
  std::vector<double> records, levels;
  std::vector<std::string> cells;
  bool leads = true, below = true;
  for (const JudgedCell& cell : e.cells) {
    const double n = cell.number_at("records"),
                 level = cell.numbers(&WorstPopulationExcess::Result::mechanism).front();
    const double minimiser = cell.numbers(&WorstPopulationExcess::Result::minimiser).front();
    const double bound = cell.numbers(&WorstPopulationExcess::Result::bound).front();
    below = below && level <= bound;
    cells.push_back(
        fmt::format("n = {:.0e}: {:.3g}, {:.3f} times exact minimisation's, {:.2g} of ψ", n, level,
                    level / minimiser, level / bound));
    if (n < 1e4) continue;
    leads = leads && level <= 1.5 * minimiser;
    records.push_back(n);
    levels.push_back(level);
  }
  const double slope = log_slope(records, levels);
  const bool holds = leads && below && std::abs(slope + 0.5) <= slope_tolerance;
  return {
      .verdict = holds ? Verdict::holds : Verdict::inconclusive,
      .measured = fmt::format("exponent {:+.4f} in n from 1e4 on; largest excess over the laws, "
                              "LD = 1: {}",
                              slope, fmt::join(cells, "; ")),
      .value = slope};
}

std::vector<JobCell> c14_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const int d : {100, 400, 1600})
    for (const int r : {5, 50, 200})
      for (const int k : {4, 16, 64, 256}) {
        if (r > d || (study.scale == Scale::smoke && (d > 100 || k > 16))) continue;
        cells.push_back(
            probe_cell(study, ProjectionDeviation{.dimension = d,
                                                  .rank = r,
                                                  .projected = k,
                                                  .maps = study.scale == Scale::full ? 20 : 5}));
      }
  return cells;
}

Finding c14(const Evidence& e) {
  if (!all_finished(e)) return nothing_ran();
  std::vector<double> medians, all;
  for (const JudgedCell& cell : e.cells) {
    const std::vector<double> scaled = cell.results<ProjectionDeviation::Result>().front().scaled;
    medians.push_back(median(scaled));
    all.insert(all.end(), scaled.begin(), scaled.end());
  }
  const auto above = std::ranges::count_if(all, [](double v) { return v > 1; });
  const bool holds = static_cast<double>(above) <= 0.05 * static_cast<double>(all.size());
  return {
      .verdict = holds_if(holds),
      .measured = fmt::format("√k × deviation over L: medians {:.2f} to {:.2f}, largest {:.2f}, "
                              "{} of {} above 1",
                              std::ranges::min(medians), std::ranges::max(medians),
                              std::ranges::max(all), above, all.size()),
      .reason = holds ? "" : "more than 5 % of the deviations found are above 1",
      .value = std::ranges::max(all)};
}

/// By projected dimension, from small to large.
std::vector<JobCell> c14_projection_cells(const Study& study) {
  if (study.scale == Scale::smoke) return {};
  const bool full = study.scale == Scale::full;
  std::vector<JobCell> cells;
  for (const int k : full ? std::vector{4, 8, 16, 32, 64, 128, 256, 512} : std::vector{8, 128, 512})
    cells.push_back(probe_cell(study,
                               ProjectionSize{.rank = 50,
                                              .support = 400,
                                              .records = 100000,
                                              .dimension = 1000,
                                              .projected = k,
                                              .epsilon = 1},
                               {{"projected", k}}, full ? 20 : 7));
  return cells;
}

Finding c14_projection(const Evidence& e) {
  if (e.cells.empty())
    return {.verdict = Verdict::inconclusive, .reason = "runs only at scale quick or full"};
  std::vector<std::vector<double>> values;
  std::vector<double> medians;
  std::vector<std::string> cells;
  for (const JudgedCell& cell : e.cells) {
    values.push_back(cell.numbers(&ProjectionSize::Result::mean_gradient));
    if (values.back().empty()) return nothing_ran();
    medians.push_back(median(values.back()));
    cells.push_back(fmt::format("{:g}: {:.3g}", cell.number_at("projected"), medians.back()));
  }
  const auto least = static_cast<std::size_t>(std::ranges::min_element(medians) - medians.begin());
  const std::string measured =
      fmt::format("median gradient norm at k = {}", fmt::join(cells, ", "));
  if (values.front().size() < 7)  // Holm's p of two comparisons cannot be below 0.05
    return {.verdict = Verdict::inconclusive, .measured = measured, .reason = "too few seeds"};
  if (least == 0 || least + 1 == medians.size())
    return {.verdict = Verdict::fails,
            .measured = measured,
            .reason = least == 0 ? "least at the smallest k" : "still falls at the largest k"};
  std::vector<PairedComparison> ends{compare("small k", values.front(), values[least]),
                                     compare("large k", values.back(), values[least])};
  adjust(ends);
  const bool higher =
      std::ranges::all_of(ends, [](const PairedComparison& c) { return c.ratio >= 1.1; });
  const bool holds = higher && std::ranges::all_of(ends, [](const PairedComparison& c) {
                       return c.adjusted_p < 0.05;
                     });
  return {.verdict = holds_if(holds),
          .measured = measured,
          .reason = holds ? "" : "an end does not exceed the least by 10 %"};
}

Finding c17(const Evidence& e) {
  using namespace lowy_2024_exhibit;
  const bool tuned = e.study.scale != Scale::smoke;
  const auto train = [&](const char* variant, const char* stage, double epsilon) {
    return published_cell(e.runs, e.study, {variant, tuned}, stage, epsilon).train;
  };
  std::vector<PairedComparison> comparisons, as_script;
  for (const double epsilon : published_epsilons(e.study))
    for (const char* stage : {"dp_sgd", "dp_spider"}) {
      const std::string name = fmt::format("ε = {:g} {}", epsilon, stage);
      comparisons.push_back(compare(name, train("repaired", "warm_start", epsilon),
                                    train("repaired", stage, epsilon)));
      as_script.push_back(
          compare(name, train("printed", "warm_start", epsilon), train("printed", stage, epsilon)));
    }
  adjust(comparisons);
  adjust(as_script);
  const auto better = [](const PairedComparison& c) { return c.ratio < 1 && c.adjusted_p < 0.05; };
  const auto worse = [](const PairedComparison& c) { return c.ratio > 1 && c.adjusted_p < 0.05; };
  const auto won = std::ranges::count_if(comparisons, better);
  const auto lost = std::ranges::count_if(comparisons, worse);
  const auto all = std::ssize(comparisons);
  std::vector<std::string> rest;
  for (const PairedComparison& c : comparisons)
    if (!better(c))
      rest.push_back(fmt::format("{} {:.3f} (p = {:.2g})", c.name, c.ratio, c.adjusted_p));
  return {
      .verdict = won == all ? Verdict::holds
                 : lost > 0 ? Verdict::fails
                            : Verdict::inconclusive,
      .measured = fmt::format(
          "significantly better in {} of {} comparisons, worse in {}, {} step sizes; with the "
          "script's noise better in {}, worse in {}, which does not count: its methods spend "
          "unequal ε",
          won, all, lost, tuned ? "tuned" : "default", std::ranges::count_if(as_script, better),
          std::ranges::count_if(as_script, worse)),
      .reason = rest.empty() ? "" : fmt::format("ratios to the others: {}", fmt::join(rest, ", "))};
}

constexpr double largest_gradient = 5, difference_on_own_loss = 2;  // L; records are x, |x| <= 1

std::vector<JobCell> script_privacy_cells(const Study& study, double difference) {
  std::vector<JobCell> cells;
  for (const double epsilon : {0.1, 1.0, 8.0})
    cells.push_back(probe_cell(
        study,
        ScriptPrivacy{.epsilon = epsilon, .clip = largest_gradient, .difference = difference},
        {{"epsilon", epsilon}}));
  return cells;
}

/// A stated ε is exceeded where the lower bound is above it, and kept where the upper one is not.
Finding c17_privacy(const Evidence& e) {
  if (!all_finished(e)) return nothing_ran();
  std::vector<std::string> cells, exceeded;
  bool kept = true;
  double largest = 0;
  for (const JudgedCell& cell : e.cells) {
    const double stated = cell.number_at("epsilon");
    const double lower = cell.numbers(&ScriptPrivacy::Result::lower).front(),
                 upper = cell.numbers(&ScriptPrivacy::Result::upper).front();
    kept = kept && upper <= stated;
    largest = std::max(largest, lower / stated);
    if (lower > stated) exceeded.push_back(fmt::format("{:g}", stated));
    cells.push_back(fmt::format("stated {:g}: [{:.3g}, {:.3g}]", stated, lower, upper));
  }
  return {.verdict = !exceeded.empty() ? Verdict::fails
                     : kept            ? Verdict::holds
                                       : Verdict::inconclusive,
          .measured = fmt::format("replace-one, δ = 1e-3: {}", fmt::join(cells, "; ")),
          .reason = exceeded.empty() ? ""
                                     : fmt::format("the lower bound is above ε at {}",
                                                   fmt::join(exceeded, " and ")),
          .value = largest};
}

std::vector<JobCell> published_cells(const Study& study) {
  return {{.at = {}, .jobs = lowy_2024_exhibit::published_jobs(study)}};
}

}  // namespace

std::vector<Predicate> lowy_2024_lemma_predicates() {
  return {
      {"lowy-2024/c3-bound", c3_bound_cells, c3_bound},
      {"lowy-2024/c12", c12_cells, c12},
      {"lowy-2024/c14", c14_cells, c14},
      {"lowy-2024/c14-projection", c14_projection_cells, c14_projection},
      {"lowy-2024/c17", published_cells, c17},
      {"lowy-2024/c17-privacy",
       [](const Study& study) { return script_privacy_cells(study, 2 * largest_gradient); },
       c17_privacy},
      {"lowy-2024/c17-privacy-own-loss",
       [](const Study& study) { return script_privacy_cells(study, difference_on_own_loss); },
       c17_privacy},
  };
}

}  // namespace dpsosp
