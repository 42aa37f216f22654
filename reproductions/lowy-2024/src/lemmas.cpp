// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/study.hpp"
#include "parts.hpp"
#include "published.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

std::vector<json> c3_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const int d : {1, 2, 3})
    jobs.push_back(study.probe(
        "lowy-2024/exact-exponential-mechanism",
        {{"dimension", d}, {"pairs", study.scale == Scale::smoke ? 5 : 100}, {"records", 20}}));
  return jobs;
}

Finding c3(const Runs& runs, const Study& study) {
  std::vector<std::string> cells;
  bool holds = true;
  for (const json& job : c3_jobs(study)) {
    const json& r = runs.at(job).result;
    const double ratio = r.at("log_ratio_over_bound"), tail = r.at("tail_over_bound");
    holds = holds && ratio <= 1 + 1e-12 && tail <= 1;
    cells.push_back(fmt::format("d = {}, {} points: log-ratio {:.3f} of its bound, tail {:.2g}",
                                job.at("parameters").at("dimension").get<int>(),
                                r.at("points").get<Index>(),
                                ratio,
                                tail));
  }
  return {.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(cells, "; "))};
}

std::vector<json> c3_bound_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const int d : {2, 16})
    jobs.push_back(study.probe("lowy-2024/exponential-mechanism-tail",
                               {{"dimension", d},
                                {"records", 100000},
                                {"seeds", study.scale == Scale::smoke ? 10 : 1000}}));
  return jobs;
}

Finding c3_bound(const Runs& runs, const Study& study) {
  std::vector<std::string> cells;
  bool holds = true;
  for (const json& job : c3_bound_jobs(study)) {
    const json& r = runs.at(job).result;
    const int above = r.at("above"), seeds = r.at("seeds");
    const double p = r.at("failure");
    // P[Bin(seeds, p) ≥ above], refused below 1e-3
    double tail = 1, term = std::pow(1 - p, seeds);
    for (int k = 0; k < above; ++k) {
      tail -= term;
      term *= static_cast<double>(seeds - k) / (k + 1) * p / (1 - p);
    }
    holds = holds && tail >= 1e-3;
    cells.push_back(fmt::format("d = {}: {} of {} above, largest {:.2g} of ψ",
                                job.at("parameters").at("dimension").get<int>(),
                                above,
                                seeds,
                                r.at("largest").get<double>()));
  }
  return {.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(cells, "; "))};
}

std::vector<json> c14_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const int d : {100, 400, 1600})
    for (const int r : {5, 50, 200})
      for (const int k : {4, 16, 64, 256}) {
        if (r > d || (study.scale == Scale::smoke && (d > 100 || k > 16))) continue;
        jobs.push_back(study.probe("lowy-2024/projection-deviation",
                                   {{"dimension", d},
                                    {"rank", r},
                                    {"projected", k},
                                    {"maps", study.scale == Scale::full ? 20 : 5}}));
      }
  return jobs;
}

Finding c14(const Runs& runs, const Study& study) {
  std::vector<double> medians, all;
  for (const json& job : c14_jobs(study)) {
    const std::vector<double> scaled = runs.at(job).result.at("scaled");
    medians.push_back(median(scaled));
    all.insert(all.end(), scaled.begin(), scaled.end());
  }
  const auto above = std::ranges::count_if(all, [](double v) { return v > 1; });
  const bool holds = static_cast<double>(above) <= 0.05 * static_cast<double>(all.size());
  return {
      .verdict = holds_if(holds),
      .measured = fmt::format("√k × deviation over L: medians {:.2f} to {:.2f}, largest {:.2f}, "
                              "{} of {} above 1",
                              std::ranges::min(medians),
                              std::ranges::max(medians),
                              std::ranges::max(all),
                              above,
                              all.size()),
      .reason = holds ? "" : "more than 5 % of the deviations found are above 1",
      .value = std::ranges::max(all)};
}

/// From small to large.
std::vector<int> projected_dimensions(const Study& study) {
  if (study.scale == Scale::full) return {4, 8, 16, 32, 64, 128, 256, 512};
  return {64, 256, 512};
}

std::vector<json> c14_projection_cell(const Study& study, int projected) {
  std::vector<json> jobs;
  for (std::uint64_t seed = 0; seed < (study.scale == Scale::full ? 20U : 2U); ++seed)
    jobs.push_back(study.probe("lowy-2024/projection-size",
                               {{"rank", 50},
                                {"support", 400},
                                {"records", 100000},
                                {"dimension", 1000},
                                {"projected", projected},
                                {"epsilon", 1}},
                               seed));
  return jobs;
}

std::vector<json> c14_projection_jobs(const Study& study) {
  std::vector<json> jobs;
  if (study.scale == Scale::smoke) return jobs;
  for (const int k : projected_dimensions(study))
    for (json& job : c14_projection_cell(study, k)) jobs.push_back(std::move(job));
  return jobs;
}

Finding c14_projection(const Runs& runs, const Study& study) {
  if (study.scale == Scale::smoke)
    return {.verdict = Verdict::inconclusive, .reason = "runs only at scale quick or full"};
  std::vector<std::vector<double>> values;
  std::vector<double> medians;
  std::vector<std::string> cells;
  for (const int k : projected_dimensions(study)) {
    values.emplace_back();
    for (const json& job : c14_projection_cell(study, k))
      if (const StoredRun& run = runs.at(job); run.status == RunStatus::finished)
        values.back().push_back(run.result.at("mean_gradient"));
    if (values.back().empty())
      return {.verdict = Verdict::inconclusive, .reason = "no run finished"};
    medians.push_back(median(values.back()));
    cells.push_back(fmt::format("{}: {:.3g}", k, medians.back()));
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

std::vector<json> c14_privacy_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const double stretch : {10.0, 1000.0})
    jobs.push_back(study.probe(
        "lowy-2024/projected-sensitivity",
        {{"stretch", stretch}, {"cap", 2}, {"maps", study.scale == Scale::smoke ? 2 : 20}}));
  return jobs;
}

Finding c14_privacy(const Runs& runs, const Study& study) {
  std::vector<std::string> cells;
  bool holds = true;
  for (const json& job : c14_privacy_jobs(study)) {
    const json& r = runs.at(job).result;
    const double clipped = r.at("clipped"), capped = r.at("capped");
    holds = holds && clipped <= 1 + rounding && capped <= 1 + rounding;
    cells.push_back(fmt::format("stretched by {:g}: {:.4f} of the charge, {:.4f} without a clip",
                                job.at("parameters").at("stretch").get<double>(),
                                clipped,
                                capped));
  }
  return {.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(cells, "; "))};
}

Finding c17(const Runs& runs, const Study& study) {
  using namespace lowy_2024_exhibit;
  const bool tuned = study.scale != Scale::smoke;
  const auto train = [&](const char* variant, const char* stage, double epsilon) {
    return published_cell(runs, study, {variant, tuned}, stage, epsilon).train;
  };
  std::vector<PairedComparison> comparisons, as_script;
  for (const double epsilon : published_epsilons(study))
    for (const char* stage : {"dp_sgd", "dp_spider"}) {
      const std::string name = fmt::format("ε = {:g} {}", epsilon, stage);
      comparisons.push_back(compare(
          name, train("repaired", "warm_start", epsilon), train("repaired", stage, epsilon)));
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
          "unequal ε (lowy-2024/c17-privacy)",
          won,
          all,
          lost,
          tuned ? "tuned" : "default",
          std::ranges::count_if(as_script, better),
          std::ranges::count_if(as_script, worse)),
      .reason = rest.empty() ? "" : fmt::format("ratios to the others: {}", fmt::join(rest, ", "))};
}

Finding c17_privacy(const Runs& runs, const Study& study) {
  using namespace lowy_2024_exhibit;
  std::vector<std::string> cells;
  double largest = 0;
  for (const char* stage : {"dp_sgd", "dp_spider", "warm_start"}) {
    const double spent = published_cell(runs, study, {"printed", false}, stage, 1).spent;
    largest = std::max(largest, spent);
    cells.push_back(fmt::format("{} {:.3g}", stage, spent));
  }
  return {.verdict = holds_if(largest <= 1),
          .measured = fmt::format("ε spent at ε = 1: {}", fmt::join(cells, ", ")),
          .value = largest};
}

std::vector<json> published_claim_jobs(const Study& study) {
  return lowy_2024_exhibit::published_jobs(study);
}

}  // namespace

std::vector<Predicate> lowy_2024_lemma_predicates() {
  return {
      judged_by("lowy-2024/c3", c3_jobs, c3),
      judged_by("lowy-2024/c3-bound", c3_bound_jobs, c3_bound),
      judged_by("lowy-2024/c14", c14_jobs, c14),
      judged_by("lowy-2024/c14-projection", c14_projection_jobs, c14_projection),
      judged_by("lowy-2024/c14-privacy", c14_privacy_jobs, c14_privacy),
      judged_by("lowy-2024/c17", published_claim_jobs, c17),
      judged_by("lowy-2024/c17-privacy", published_claim_jobs, c17_privacy),
  };
}

}  // namespace dpsosp
