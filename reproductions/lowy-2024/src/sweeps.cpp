// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <Eigen/QR>

#include "contour.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/ganesh_2023/exponential_sampler.hpp"
#include "dpsosp/lowy_2024/warm_population.hpp"
#include "parts.hpp"
#include "probes.hpp"

namespace dpsosp {
namespace {

using namespace lowy_2024_probe;

/// E‖∇F‖² over a uniform output: over the recorded iterates, a row for those since the row before.
double mean_square_gradient(const std::vector<TraceRow>& trace) {
  double sum = 0, before = static_cast<double>(trace.front().t) - 1;
  const double first = before;
  for (const TraceRow& row : trace) {
    const auto t = static_cast<double>(row.t);
    sum += (t - before) * row.gradient_norm * row.gradient_norm;
    before = t;
  }
  return sum / (before - first);
}

Finding c2(const Evidence& e) {
  int cells = 0, broken = 0;
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (const char* sweep :
       {"arora-2023-dp-spider", "lowy-2024-warm-exponential", "lowy-2024-warm-quasar"})
    for (const char* part : {"n", "d", "epsilon"})
      for (const char* arm : {"DP-SPIDER", "warm start"})
        for (const JudgedCell* cell : e.of(sweep, part, arm)) {
          const auto all = cell->finished();
          const auto promise = cell->metric("schedule.alpha");
          if (all.empty() || promise.size() != all.size()) continue;
          std::vector<double> squares;
          for (const FinishedRun& r : all)
            squares.push_back(mean_square_gradient(r.result->trace.value()));
          const double bound = promise.front() * promise.front();
          ++cells;
          broken += mean(squares) > bound + 3 * standard_error(squares);
          least = std::min(least, std::sqrt(mean(squares) / bound));
          largest = std::max(largest, std::sqrt(mean(squares) / bound));
        }
  if (cells == 0) return {.reason = "no cell at this scale"};
  return {.verdict = holds_if(broken == 0),
          .measured = fmt::format("{} cells, {} above the bound; root mean square gradient over "
                                  "promise {:.2f} to {:.2f}",
                                  cells, broken, least, largest),
          .value = largest};
}

std::vector<JobCell> c2_excess_cells(const Study& study) {
  const bool smoke = study.scale == Scale::smoke;
  return probe_cells(
      study, "psi", {1e-3, 3.162e-3, 1e-2, 3.162e-2, 1e-1},
      [smoke](double psi) {
        return StartAtExcess{.excess = psi, .records = smoke ? 10000 : 100000};
      },
      smoke ? 2 : 6);
}

Finding c2_excess(const Evidence& e) {
  std::vector<FitCell> measured;
  std::vector<double> psi, promised;
  for (const JudgedCell& cell : e.cells) {
    if (!cell.all_finished()) return nothing_ran();
    psi.push_back(cell.number_at("psi"));
    promised.push_back(cell.numbers(&StartAtExcess::Result::promise).front());
    FitCell c{.x = psi.back(), .values = cell.numbers(&StartAtExcess::Result::mean_gradient)};
    for (const Job& job : cell.cell().jobs) c.seeds.push_back(job.seed());
    measured.push_back(std::move(c));
  }
  const double of_promise = log_slope(psi, promised);
  const SlopeFit fit = fit_slope(measured);
  return {
      .verdict = holds_if(std::abs(of_promise - 1.0 / 3) <= slope_tolerance &&
                          fit.interval.low <= 1.0 / 3 + slope_tolerance),
      .measured = fmt::format("exponent in ψ: promise {:+.3f}, measured {:+.3f} [{:+.3f}, {:+.3f}]",
                              of_promise, fit.slope, fit.interval.low, fit.interval.high),
      .value = fit.slope,
      .interval = fit.interval};
}

/// Slope of −log ratio on log n and log d, by least squares: the exponent of the contours n ∝ d^x.
double contour_exponent(const std::vector<lowy_2024_exhibit::MovedCell>& cells,
                        const std::vector<std::size_t>& seeds) {
  Matrix x(std::ssize(cells), 3);
  Vector y(std::ssize(cells));
  for (Index k = 0; k < y.size(); ++k) {
    const auto& cell = cells[static_cast<std::size_t>(k)];
    double sum = 0;
    for (const std::size_t seed : seeds) sum += std::log(cell.ratios[seed]);
    x.row(k) << 1, std::log(cell.records), std::log(cell.dimension);
    y[k] = sum / static_cast<double>(seeds.size());
  }
  const Vector slopes = x.colPivHouseholderQr().solve(y);
  return -slopes[2] / slopes[1];
}

Finding c5(const Evidence& e) {
  const auto cells = lowy_2024_exhibit::moved_cells(e.runs, e.study);
  std::set<double> dimensions;
  for (const auto& cell : cells) dimensions.insert(cell.dimension);
  if (dimensions.size() < 3)
    return {.verdict = Verdict::inconclusive,
            .reason = "both methods move to a third of their start at fewer than three dimensions"};
  const std::size_t count = cells.front().ratios.size();
  std::vector<std::size_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), 0UL);
  const double exponent = contour_exponent(cells, seeds);
  std::vector<double> resampled;
  Stream stream(StreamKey{.seed = 0, .purpose = Purpose::statistics});
  for (int k = 0; k < 1000; ++k) {
    for (std::size_t& seed : seeds)
      seed = static_cast<std::size_t>(stream.uniform() * static_cast<double>(count));
    resampled.push_back(contour_exponent(cells, seeds));
  }
  std::ranges::sort(resampled);
  const Interval interval{resampled[25], resampled[974]};
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& cell : cells) {
    least = std::min(least, median(cell.ratios));
    most = std::max(most, median(cell.ratios));
  }
  Finding f = finding(
      interval.low > 0.85 && interval.high < 1.15,
      fmt::format("contours of the ratio are n ~ d^{:.3f} {} over {} cells at {} "
                  "dimensions; ratios {:.3g} to {:.3g}",
                  exponent, to_text(interval), cells.size(), dimensions.size(), least, most),
      "not parallel to d = n eps");
  if (interval.low <= 1.15 && interval.high >= 0.85 && f.verdict == Verdict::fails) {
    f.verdict = Verdict::more_seeds;
    f.reason = "an end of the interval is beyond 0.15 of 1";
  }
  f.value = exponent;
  f.interval = interval;
  return f;
}

Finding c9_floor(const Evidence& e) {
  int cells = 0, broken = 0;
  double worst = 0;
  for (const char* part : {"n", "d"})
    for (const char* arm : {"KL-SPIDER, k = 2", "KL-SPIDER, k = 4/3"})
      for (const JudgedCell* cell : e.of("menart-2024-kl-spider", part, arm)) {
        const auto excess = cell->metric("output.excess_risk");
        const auto target = cell->metric("schedule.alpha");
        if (excess.empty() || target.size() != excess.size()) continue;
        std::size_t above = 0;
        for (std::size_t k = 0; k < excess.size(); ++k) {
          above += excess[k] > target[k];
          worst = std::max(worst, excess[k] / target[k]);
        }
        ++cells;
        broken += static_cast<double>(above) > 0.05 * static_cast<double>(excess.size());
      }
  return {.verdict = holds_if(broken == 0),
          .measured = fmt::format(
              "{} cells, {} with more than 5 % of the seeds above ψ; largest excess {:.3g} ψ",
              cells, broken, worst),
          .value = worst};
}

/// Lemma 6.2 hides logarithms: its exponent is confirmed by slopes alone, its bound is met where
/// the runs keep ψ.
Finding kl_excess(const Evidence& e, std::initializer_list<std::string_view> parts) {
  constexpr std::string_view sweep = "menart-2024-kl-spider", metric = "output.excess_risk";
  int cells = 0, broken = 0;
  double largest = 0;
  for (const std::string_view part : parts)
    for (const JudgedCell* cell : e.of(sweep, part)) {
      const auto excess = cell->metric(metric), target = cell->metric("schedule.alpha");
      if (excess.empty() || target.size() != excess.size()) continue;
      std::size_t above = 0;
      for (std::size_t k = 0; k < excess.size(); ++k) {
        above += excess[k] > target[k];
        largest = std::max(largest, excess[k] / target[k]);
      }
      ++cells;
      broken += static_cast<double>(above) > 0.05 * static_cast<double>(excess.size());
    }
  if (cells == 0) return nothing_ran();
  std::vector<std::string> slopes;
  bool confirmed = true;
  for (const Slope& s : slopes_of(e.runs, e.study.sweep(std::string(sweep)))) {
    if (std::ranges::find(parts, s.part) == parts.end() || s.request.metric != metric) continue;
    confirmed = confirmed && s.fit && headline_of(s.verdict) == Headline::confirmed;
    if (s.fit)
      slopes.push_back(fmt::format("{} {:+.3f} {}, {}", s.part, s.fit->slope,
                                   to_text(s.fit->interval), to_string(s.verdict.verdict)));
  }
  const std::string measured = fmt::format(
      "{} cells, {} with more than 5 % of the seeds above ψ, largest excess {:.3g} ψ; "
      "slopes: {}",
      cells, broken, largest, fmt::join(slopes, "; "));
  if (broken > 0)
    return {.verdict = Verdict::inconclusive,
            .measured = measured,
            .reason = "above ψ, whose constants are those of the notes"};
  return {.verdict = confirmed && !slopes.empty() ? Verdict::holds : Verdict::bound_met,
          .measured = measured,
          .value = largest};
}

Finding c9(const Evidence& e) {
  return kl_excess(e, {"n-ripples", "n-ripples-k-4-3", "d-ripples", "d-ripples-k-4-3"});
}

Finding c9_paper_constants(const Evidence& e) { return kl_excess(e, {"n-paper-constants"}); }

Finding c12_bound(const Evidence& e) {
  constexpr double failure = 0.05;
  int cells = 0, broken = 0, vacuous = 0;
  double largest = 0;
  for (const char* part : {"n", "d"})
    for (const JudgedCell* cell :
         e.of("lowy-2024-exponential-mechanism-population", part, "exponential mechanism")) {
      std::size_t above = 0, counted = 0;
      for (const FinishedRun& r : cell->finished()) {
        const double L = metric_of(*r.result, "parameters.lipschitz").value();
        const double lambda = metric_of(*r.result, "parameters.inverse_temperature").value();
        const double rad = metric_of(*r.result, "parameters.net_radius").value();
        const auto n = static_cast<double>(r.run->records);
        const auto d = static_cast<double>(r.run->dimension.value());
        const double D = r.run->epsilon * n / (2 * L * lambda);
        // cells of side 2 rad/√d over a box of side D/√d
        const double log_net = d * std::log(std::ceil(D / (2 * rad)));
        const double psi = lowy_2024::population_excess(log_net, lambda, L * rad, L, D, n, failure);
        constexpr std::string_view excess = "population.output.excess_risk";
        if (!says_something(*r.result, excess, psi)) continue;
        const double share = metric_of(*r.result, excess).value() / psi;
        ++counted;
        above += share > 1;
        largest = std::max(largest, share);
      }
      if (counted == 0) {
        ++vacuous;
        continue;
      }
      ++cells;
      broken += static_cast<double>(above) > failure * static_cast<double>(counted);
    }
  if (cells == 0)
    return {.verdict = Verdict::inconclusive,
            .measured = fmt::format("{} cells are uninformative", vacuous),
            .reason = std::string(no_better_than_start)};
  const bool far_below = broken == 0 && largest < 0.01;
  return {.verdict = far_below ? Verdict::vacuous : holds_if(broken == 0),
          .measured = fmt::format("{} cells, {} with more than 5 % of the seeds above ψ; largest "
                                  "excess {:.2g} ψ; {} more cells are uninformative",
                                  cells, broken, largest, vacuous),
          .value = largest};
}

Finding c19(const Evidence& e) {
  std::vector<FitCell> cells;
  double least = 1;
  for (const JudgedCell* cell : e.of("lowy-2024-ramp", "n", "DP-SPIDER")) {
    FitCell c{.x = cell->number_at("records")};
    for (const FinishedRun& r : cell->finished()) {
      const double at = metric_of(*r.result, "trace.mean_gradient_norm").value();
      least = std::min(least, at / metric_of(*r.result, "start.gradient_norm").value());
      c.seeds.push_back(r.run->seed);
      c.values.push_back(at);
    }
    cells.push_back(std::move(c));
  }
  const SlopeFit fit = fit_slope(cells);
  return {
      .verdict = holds_if(least >= 0.99 && std::abs(fit.slope + 2.0 / 3) <= slope_tolerance),
      .measured = fmt::format("exponent {:+.3f} in n; mean gradient at least {:.4f} of the start's",
                              fit.slope, least),
      .value = fit.slope,
      .interval = fit.interval};
}

}  // namespace

std::vector<Predicate> lowy_2024_sweep_predicates() {
  return {
      on_sweeps("lowy-2024/c2",
                {"arora-2023-dp-spider", "lowy-2024-warm-exponential", "lowy-2024-warm-quasar"},
                c2),
      {"lowy-2024/c2-excess", c2_excess_cells, c2_excess},
      on_sweeps("lowy-2024/c5", {lowy_2024_exhibit::contour_sweep}, c5),
      on_sweeps("lowy-2024/c9", {"menart-2024-kl-spider"}, c9),
      on_sweeps("lowy-2024/c9-floor", {"menart-2024-kl-spider"}, c9_floor),
      on_sweeps("lowy-2024/c9-paper-constants", {"menart-2024-kl-spider"}, c9_paper_constants),
      on_sweeps("lowy-2024/c12-bound", {"lowy-2024-exponential-mechanism-population"}, c12_bound),
      on_sweeps("lowy-2024/c19", {"lowy-2024-ramp"}, c19),
  };
}

}  // namespace dpsosp
