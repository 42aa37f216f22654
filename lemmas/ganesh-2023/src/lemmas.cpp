// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/lemmas/ganesh_2023.hpp"
#include "probes.hpp"

namespace dpsosp {
namespace {

using namespace ganesh_2023_probe;

std::vector<JobCell> escape_cells(const Study& study) {
  // Lemma 3.4 wants λ ≥ sqrt(ρα), α = γ ln³(BMd/(ρωγ)); this γ leaves λ below M = 1.
  constexpr double dimension = 16, gamma = 1e-5, failure = 0.01;
  const double curvature = std::sqrt(gamma * std::pow(std::log(dimension / (failure * gamma)), 3));
  std::vector<JobCell> cells;
  for (const bool adversarial : {false, true})
    cells.push_back(probe_cell(study,
                               EscapeTrial{.dimension = static_cast<Index>(dimension),
                                           .gamma = gamma,
                                           .curvature = curvature,
                                           .adversarial = adversarial},
                               {{"adversarial", adversarial}}, 100));
  return cells;
}

Finding adversarial_escape(const Evidence& e) {
  const double benign = mean(e.cells[0].numbers(&EscapeTrial::Result::left));
  const double adversarial = mean(e.cells[1].numbers(&EscapeTrial::Result::left));
  return {.verdict = holds_if(benign >= 0.95 && adversarial >= 0.95),
          .measured =
              fmt::format("{:.0f} of 100 seeds leave under the cancelling error, {:.0f} under a "
                          "frozen Gaussian one",
                          100 * adversarial, 100 * benign)};
}

std::vector<JobCell> selection_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const auto& [m, epsilon] : {std::pair{5000.0, 1.0}, {10000.0, 1.0}, {5000.0, 2.0}})
    cells.push_back(probe_cell(study,
                               SelectionSession{.records = m,
                                                .epsilon = epsilon,
                                                .spread = 0.5,
                                                .alpha = 0.1,
                                                .lipschitz = 1,
                                                .smoothness = 2,
                                                .candidates = 100,
                                                .failure = 0.1},
                               {{"records", m}, {"epsilon", epsilon}}, 2000));
  return cells;
}

Finding selection_accuracy(const Evidence& e) {
  const auto accepted = e.cells[0].numbers(&SelectionSession::Result::accepted),
             excess = e.cells[0].numbers(&SelectionSession::Result::excess);
  const double lg = std::log(2.0 * 100 / 0.1), allowed = 32.0 * lg * 2.0 / 5000;
  double failures = 0;
  for (std::size_t k = 0; k < accepted.size(); ++k)
    failures += accepted[k] == 0.0 || excess[k] > allowed;
  const auto n = static_cast<double>(accepted.size());
  // One-sided at level 1e-3 under a failure rate of 0.1.
  const double most = 0.1 * n + 3.09 * std::sqrt(0.09 * n);
  const double base = mean(excess);
  const double by_m = mean(e.cells[1].numbers(&SelectionSession::Result::excess)) / base;
  const double by_epsilon = mean(e.cells[2].numbers(&SelectionSession::Result::excess)) / base;
  return {.verdict = holds_if(failures <= most && std::abs(by_m / 0.5 - 1) <= 0.05 &&
                              std::abs(by_epsilon / 0.5 - 1) <= 0.05),
          .measured =
              fmt::format("{:.0f} of {:.0f} sessions fail; mean error {:.4f} of {:.4f} allowed; "
                          "times {:.3f} at twice m, {:.3f} at twice epsilon",
                          failures, n, base, allowed, by_m, by_epsilon)};
}

/// From where the noise of the selection leads, at small ε, to where sampling does.
std::vector<JobCell> population_selection_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const double epsilon : {1e9, 3e-3})
    for (const int m : {10000, 100000, 1000000, 10000000})
      cells.push_back(
          probe_cell(study,
                     PopulationSelection{.records = m,
                                         .dimension = 4,
                                         .epsilon = epsilon,
                                         .alpha = 0.1,
                                         .spread = epsilon > 1 ? 1.0 : 100.0,
                                         .lipschitz = 1,
                                         .candidates = 100,
                                         .failure = 0.1,
                                         .sessions = study.scale == Scale::smoke ? 50U : 600U},
                     {{epsilon > 1 ? "sampling" : "noise", m}}));
  return cells;
}

Finding population_selection_error(const Evidence& e) {
  if (!e.all_finished()) return nothing_ran();
  double largest = 0, least_accepted = 1;
  const auto slope = [&](std::size_t first, std::string_view axis, double epsilon) {
    std::vector<double> m, excess;
    for (std::size_t k = first; k < first + 4; ++k) {
      const JudgedCell& cell = e.cells[k];
      m.push_back(cell.number_at(axis));
      excess.push_back(cell.numbers(&PopulationSelection::Result::mean).at(0));
      // G = 1, Dg = 2/m, ω = 0.1, T = 100, d = 4; the constant of the sampling term is 1.
      const double bound = 32 * std::log(2 * 100 / 0.1) * 2 / (m.back() * epsilon) +
                           std::log(4 / 0.1) / std::sqrt(m.back());
      largest =
          std::max(largest, cell.numbers(&PopulationSelection::Result::quantile).at(0) / bound);
      least_accepted =
          std::min(least_accepted, cell.numbers(&PopulationSelection::Result::accepted).at(0));
    }
    return log_slope(m, excess);
  };
  const double sampled = slope(0, "sampling", 1e9), noised = slope(4, "noise", 3e-3);
  return {.verdict = holds_if(largest <= 1 && std::abs(sampled + 0.5) <= 0.05 &&
                              std::abs(noised + 1) <= 0.05),
          .measured = fmt::format("the 90 % quantile of the accepted points' excess is at most "
                                  "{:.3f} of the bound; its mean goes as m^{:.3f} at eps = 1e9 and "
                                  "m^{:.3f} at 0.003; at least {:.2f} of the sessions accept",
                                  largest, sampled, noised, least_accepted),
          .value = sampled};
}

std::vector<JobCell> oracle_tail_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const bool one_coordinate : {false, true})
    for (const int d : {2, 16, 64})
      for (const int batch : {1, 30, 1000})
        for (const double noise : {0.0, 1.0, 10.0})
          cells.push_back(
              probe_cell(study, OracleTail{.dimension = d,
                                           .batch = batch,
                                           .noise = noise,
                                           .one_coordinate = one_coordinate,
                                           .draws = study.scale == Scale::smoke ? 500U : 4000U}));
  return cells;
}

Finding oracle_tails(const Evidence& e) {
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (const JudgedCell& cell : e.cells)
    for (const double needed : cell.numbers(&OracleTail::Result::needed)) {
      least = std::min(least, needed);
      largest = std::max(largest, needed);
    }
  if (largest == 0) return nothing_ran();
  return {
      .verdict = holds_if(largest <= 2),
      .measured = fmt::format("a norm-sub-Gaussian parameter of {:.3f} to {:.3f} of the claimed "
                              "one with the constant 1, over {} settings",
                              least, largest, e.cells.size()),
      .value = largest};
}

std::vector<JobCell> concentration_cells(const Study& study) {
  return probe_cells(
      study, "records", {1e2, 1e3, 1e4, 1e5, 1e6},
      [](double m) {
        return Concentration{.dimension = 10, .records = static_cast<Index>(m), .draws = 200};
      },
      20);
}

Finding concentration_rates(const Evidence& e) {
  std::vector<double> m, gradient, hessian;
  double largest = 0;
  for (const JudgedCell& cell : e.cells) {
    const auto g = cell.numbers(&Concentration::Result::gradient),
               h = cell.numbers(&Concentration::Result::hessian);
    m.push_back(cell.number_at("records"));
    gradient.push_back(mean(g));
    hessian.push_back(mean(h));
    // cosine-saddle at d = 10: G = sqrt(10), M = 1.
    const double scale = std::log(200.0) / std::sqrt(m.back());
    largest = std::max(
        {largest, std::ranges::max(g) / (std::sqrt(10.0) * scale), std::ranges::max(h) / scale});
  }
  const double sg = log_slope(m, gradient), sh = log_slope(m, hessian);
  return {.verdict =
              holds_if(std::abs(sg + 0.5) <= 0.05 && std::abs(sh + 0.5) <= 0.05 && largest <= 1.0),
          .measured =
              fmt::format("gradient ~ m^{:.4f}, Hessian ~ m^{:.4f}; at most {:.3f} of the bounds",
                          sg, sh, largest)};
}

std::vector<JobCell> sampler_cells(const Study& study) {
  return probe_cells(study, "step", {0.2 / std::log(2000.0 / 1e-6), 0.72}, [](double step) {
    return Sampler{.scaled_step = step, .chains = 20000, .rounds = 50};
  });
}

Finding sampler_moments(const Evidence& e) {
  const auto small = e.cells[0].results<Sampler::Result>().at(0),
             large = e.cells[1].results<Sampler::Result>().at(0);
  const bool good = std::abs(small.acceptance - 0.5) <= 0.05 &&
                    std::abs(small.differences / std::exp(1.0) - 1) <= 0.02 &&
                    std::abs(small.mean_errors) <= 4 && std::abs(small.second_errors) <= 4 &&
                    std::abs(large.mean_errors) > 10;
  return {
      .verdict = holds_if(good),
      .measured = fmt::format(
          "small step: acceptance {:.4f}, {:.4f} differences a trial, out of range {:.2g}, moments "
          "off by "
          "{:.1f} and {:.1f} standard errors; h (beta G)^2 = 0.72: out of range {:.3f}, mean off "
          "by {:.0f}",
          small.acceptance, small.differences, small.out_of_range, small.mean_errors,
          small.second_errors, large.out_of_range, large.mean_errors)};
}

std::vector<JobCell> divergence_cells(const Study& study) {
  std::vector<JobCell> cells = probe_cells(study, "exponent", {1, 2, 4}, [](double b) {
    return Divergence{.cells = 400, .rounds = 50, .exponent = b};
  });
  cells.push_back(
      probe_cell(study, GaussianDivergence{.cells = 800, .rounds = 12, .shift = 3, .step = 0.25}));
  return cells;
}

Finding divergence_of_round(const Evidence& e) {
  bool good = true;
  std::vector<std::string> words;
  const std::size_t wells = e.cells.size() - 1;
  for (std::size_t k = 0; k < wells; ++k) {
    const JudgedCell& cell = e.cells[k];
    const auto well = cell.results<Divergence::Result>().at(0);
    good = good && well.largest_ratio <= well.claimed_ratio * (1 + 1e-6);
    words.push_back(
        fmt::format("beta G D = {:g}: a factor of at most {:.4f} a round, claimed {:.6f}",
                    cell.number_at("exponent"), well.largest_ratio, well.claimed_ratio));
  }
  const auto [least, largest, claimed, last] =
      e.cells[wells].results<GaussianDivergence::Result>().at(0);
  good = good && std::abs(least / claimed - 1) <= 1e-3 && std::abs(largest / claimed - 1) <= 1e-3;
  words.push_back(fmt::format("shifted Gaussian: {:.5f} to {:.5f} a round, claimed {:.5f}", least,
                              largest, claimed));
  return {.verdict = holds_if(good), .measured = fmt::format("{}", fmt::join(words, "; "))};
}

std::vector<JobCell> coin_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const int n : {1000, 10000, 100000, 1000000})
    for (const int k : {16, 64, 256})
      cells.push_back(
          probe_cell(study, CoinSelection{.records = n, .coins = k, .draws = 2000, .bias = 0.25},
                     {{"records", n}, {"coins", k}}));
  return cells;
}

Finding coins(const Evidence& e) {
  double least = 1e300, largest = 0;
  for (const JudgedCell& cell : e.cells) {
    const double unit = std::sqrt(std::log(cell.number_at("coins")) / cell.number_at("records"));
    const double scaled = cell.numbers(&CoinSelection::Result::excess).at(0) / unit;
    least = std::min(least, scaled);
    largest = std::max(largest, scaled);
  }
  return {.verdict = holds_if(least >= 0.1 && largest <= 1.5 * least),
          .measured = fmt::format("excess over A sqrt(ln k/n): {:.4f} to {:.4f}", least, largest)};
}

std::vector<JobCell> corner_mechanism_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const int d : {4, 16, 64, 256})
    for (const int n : {1000000, 10000000, 100000000})
      for (const double bias : {0.5, 0.75, 1.0})
        cells.push_back(probe_cell(
            study,
            CornerMechanism{
                .records = n, .dimension = d, .draws = 20000, .epsilon = 1, .bias = bias},
            {{"records", n}, {"dimension", d}}));
  return cells;
}

/// Theorem 5.8 where its statistical part leads: the risk of the worst bias at each n and d.
Finding corner_mechanism_risk(const Evidence& e) {
  std::map<std::pair<double, double>, double> worst;  // by dimension and records
  for (const JudgedCell& cell : e.cells) {
    double& risk = worst[{cell.number_at("dimension"), cell.number_at("records")}];
    risk = std::max(risk, cell.numbers(&CornerMechanism::Result::risk).at(0));
  }
  double largest = 0, private_share = 0;
  std::map<double, std::vector<double>> records, dimensions, by_records, by_dimension;
  for (const auto& [at, risk] : worst) {
    const auto [d, n] = at;
    const double log_points = d * std::log(2.0);
    const double noise = 2.0 / n * (log_points + 1), sampling = std::sqrt(2 * log_points / n);
    largest = std::max(largest, risk / (noise + sampling));
    private_share = std::max(private_share, noise / (noise + sampling));
    records[d].push_back(n);
    by_records[d].push_back(risk);
    dimensions[n].push_back(d);
    by_dimension[n].push_back(risk);
  }
  bool good = largest <= 1.0;
  std::vector<std::string> words;
  for (const auto& [d, n] : records) {
    const double slope = log_slope(n, by_records[d]);
    good = good && std::abs(slope + 0.5) <= 0.05;
    words.push_back(fmt::format("d = {:g}: n^{:.3f}", d, slope));
  }
  for (const auto& [n, d] : dimensions) {
    const double slope = log_slope(d, by_dimension[n]);
    good = good && std::abs(slope - 0.5) <= 0.05;
    words.push_back(fmt::format("n = {:g}: d^{:.3f}", n, slope));
  }
  return {.verdict = holds_if(good),
          .measured = fmt::format("at most {:.3f} of the bound, whose private part is at most "
                                  "{:.3f} of it; {}",
                                  largest, private_share, fmt::join(words, "; ")),
          .value = largest};
}

}  // namespace

std::vector<Predicate> ganesh_2023_lemma_predicates() {
  return {
      {"ganesh-2023/2", escape_cells, adversarial_escape},
      {"ganesh-2023/6", selection_cells, selection_accuracy},
      {"ganesh-2023/8", concentration_cells, concentration_rates},
      {"ganesh-2023/10-population", population_selection_cells, population_selection_error},
      {"ganesh-2023/14", sampler_cells, sampler_moments},
      {"ganesh-2023/15", divergence_cells, divergence_of_round},
      {"ganesh-2023/16-population", corner_mechanism_cells, corner_mechanism_risk},
      {"ganesh-2023/17", coin_cells, coins},
      {"ganesh-2023/claim-4-4", oracle_tail_cells, oracle_tails},
  };
}

}  // namespace dpsosp
