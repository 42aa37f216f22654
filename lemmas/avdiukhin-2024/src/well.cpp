// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lemmas/avdiukhin_2024/well.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "dpsosp/lemmas/avdiukhin_2024/probes.hpp"

namespace dpsosp::avdiukhin_2024_exhibit {

using namespace avdiukhin_2024_probe;

namespace {

constexpr double rho = 8.0 / (3.0 * 1.7320508075688772);  // of the double well
constexpr double gap = 0.6530477748538477;                // −F* of one well
constexpr double deviation = 1.0;                         // every record's own gradient

}  // namespace

avdiukhin_2024::Numbers well_numbers(double records, double dimension) {
  return {.records = records,
          .dimension = dimension,
          .smoothness = 1.0,
          .gap = gap,
          .deviation = deviation};
}

double saddle_level() { return 1.0 / rho; }

double first_bound() { return 2.0 * std::sqrt(gap) + deviation; }

std::vector<JobCell> given_noise_cells(const Study& study, std::string_view law,
                                       const std::vector<double>& noise_factors) {
  struct Setting {
    Index dimension, batch;
    double c_step;
  };
  const bool smoke = study.scale == Scale::smoke, full = study.scale == Scale::full;
  std::vector<JobCell> cells;
  for (const double factor : noise_factors)
    for (const Setting& s : {Setting{2, 1, 1.0}, Setting{10, 10, 1.0}, Setting{2, 1, 1.0 / 128},
                             Setting{10, 10, 1.0 / 128}}) {
      const bool long_run = s.c_step < 1.0;  // 128 times the steps of the others
      if (long_run && (smoke || factor != noise_factors.front())) continue;
      const std::uint64_t seeds = smoke || (long_run && !full) ? 1 : 20;
      cells.push_back(probe_cell(study,
                                 NoiseGiven{.law = std::string(law),
                                            .records = 10000,
                                            .dimension = s.dimension,
                                            .batch = s.batch,
                                            .alpha = 0.2,
                                            .c_step = s.c_step,
                                            .noise_factor = factor},
                                 {{"dimension", static_cast<double>(s.dimension)},
                                  {"c_step", s.c_step},
                                  {"noise_factor", factor}},
                                 seeds));
    }
  return cells;
}

GivenNoise given_noise_met(const Evidence& e) {
  GivenNoise met;
  for (const JudgedCell& cell : e.cells) {
    if (!cell.cell().sweep.empty()) continue;
    met.done = met.done && cell.all_finished();
    for (const double share : cell.numbers(&NoiseGiven::Result::share)) {
      ++met.runs;
      met.kept += share >= 0.5;
      met.least = std::min(met.least, share);
    }
    for (const double steep : cell.numbers(&NoiseGiven::Result::steep))
      met.most_steep = std::max(met.most_steep, steep);
    for (const double longest : cell.numbers(&NoiseGiven::Result::longest))
      met.longest = std::min(met.longest, longest);
  }
  met.done = met.done && met.runs > 0;
  return met;
}

double visible_event_delta(double epsilon, double delta, double failure) {
  // Randomised response inside the set, and an outcome of its own for either failure.
  const double inside = 1.0 - delta - failure;
  const double likely = inside / (1.0 + std::exp(-epsilon));
  const double unlikely = inside / (1.0 + std::exp(epsilon));
  const std::array p{delta, likely, unlikely, 0.0, failure, 0.0};
  const std::array q{0.0, unlikely, likely, delta, 0.0, failure};
  double reached = 0.0;
  for (std::size_t k = 0; k < p.size(); ++k)
    reached += std::max(0.0, p[k] - std::exp(epsilon) * q[k]);
  return reached;
}

double extremal_delta(double epsilon, double delta, double failure) {
  // Randomised response with an escape of probability δ on either side.
  const double likely = (1.0 - delta) / (1.0 + std::exp(-epsilon));
  const double unlikely = (1.0 - delta) / (1.0 + std::exp(epsilon));
  std::array p{delta, likely, unlikely, 0.0};
  std::array q{0.0, unlikely, likely, delta};
  // Where P is more likely its failure adds mass and Q's takes it away.
  const double from_p = std::min(failure, p[2]), from_q = std::min(failure, q[1]);
  p[2] -= from_p;
  p[0] += from_p;
  q[1] -= from_q;
  q[3] += from_q;
  double reached = 0.0;
  for (std::size_t k = 0; k < p.size(); ++k)
    reached += std::max(0.0, p[k] - std::exp(epsilon) * q[k]);
  return reached;
}

}  // namespace dpsosp::avdiukhin_2024_exhibit
