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

std::vector<JobCell> c3_bound_cells(const Study& study) {
  const int seeds = study.scale == Scale::smoke ? 10 : 1000;
  return probe_cells(study, "dimension", {2, 16}, [seeds](double d) {
    return MechanismTail{.dimension = static_cast<Index>(d), .records = 100000, .seeds = seeds};
  });
}

Finding c3_bound(const Evidence& e) {
  if (!e.all_finished()) return nothing_ran();
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

std::vector<JobCell> published_cells(const Study& study) {
  return {{.at = {}, .jobs = lowy_2024_exhibit::published_jobs(study)}};
}

}  // namespace

std::vector<Predicate> lowy_2024_probe_predicates() {
  return {
      {"lowy-2024/c3-bound", c3_bound_cells, c3_bound},
      {"lowy-2024/c14-projection", c14_projection_cells, c14_projection},
      {"lowy-2024/c17", published_cells, c17},
  };
}

}  // namespace dpsosp
