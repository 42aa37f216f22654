// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/fit.hpp"

namespace dpsosp::verdict_rule {
namespace {

constexpr int cell_count = 5;
constexpr double deviation = 0.2;
constexpr int resamples = 500;  // a fit has 2000; the ends of intervals move by 2 % of their width

double log_level(Shape shape, double log_n, double middle, double half_range) {
  const double u = (log_n - middle) / half_range;
  const auto power = [&](double off) { return (claimed + off) * log_n; };
  const auto drifting = [&](double change) {
    return power(0) + 0.25 * change * half_range * u * u;
  };
  switch (shape) {
    case Shape::exact:
      break;
    case Shape::off_02:
      return power(0.02);
    case Shape::off_05:
      return power(0.05);
    case Shape::off_10:
      return power(0.1);
    case Shape::off_20:
      return power(0.2);
    case Shape::faster_10:
      return power(-0.1);
    case Shape::small_drift:
      return drifting(0.12);
    case Shape::drift:
      return drifting(0.4);
    case Shape::logarithm:
      return power(0) + std::log(log_n);
    case Shape::step:
      return power(0) + (u > 0.1 ? -0.5 : 0.5) * std::log(3.0);
    case Shape::bound_logarithm:
      return power(0) + std::log(log_n);
    case Shape::bound_logarithm_off_10:
      return power(0.1) + std::log(log_n);
  }
  return power(0);
}

double exponential(Stream& stream) { return -std::log1p(-stream.uniform()); }

/// A draw of mean 0 and deviation 1.
double scatter_of(Scatter scatter, double common, Stream& stream) {
  switch (scatter) {
    case Scatter::normal:
      break;
    case Scatter::heavy: {
      double squares = 0;
      for (int k = 0; k < 3; ++k) squares += std::pow(stream.normal(), 2);
      return stream.normal() / std::sqrt(squares);  // t_3 has variance 3
    }
    case Scatter::skewed:
      return exponential(stream) - 1.0;
    case Scatter::shared:
      return std::sqrt(0.5) * (common + stream.normal());
  }
  return stream.normal();
}

std::vector<FitCell> simulated_sweep(Shape shape, Scatter scatter, int seeds, Stream& stream) {
  const double first = std::log(1e4), last = std::log(1e6);
  std::vector<double> common;
  for (int s = 0; s < seeds; ++s) common.push_back(stream.normal());
  std::vector<FitCell> cells;
  for (int c = 0; c < cell_count; ++c) {
    const double log_n = first + (last - first) * c / (cell_count - 1);
    FitCell cell{.x = std::exp(log_n)};
    for (int s = 0; s < seeds; ++s) {
      const double about = scatter_of(scatter, common[static_cast<std::size_t>(s)], stream);
      cell.seeds.push_back(static_cast<std::uint64_t>(s));
      cell.values.push_back(std::exp(
          log_level(shape, log_n, 0.5 * (first + last), 0.5 * (last - first)) + deviation * about));
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

/// The verdict on the first `seeds` seeds of every cell.
SlopeVerdict judged(std::vector<FitCell> cells, int seeds, Shape shape, const FitOptions& options) {
  for (FitCell& cell : cells) {
    cell.seeds.resize(static_cast<std::size_t>(seeds));
    cell.values.resize(static_cast<std::size_t>(seeds));
  }
  const SlopeFit fit = fit_slope(cells, options);
  std::optional<SlopeFit> over_bound;
  if (shape == Shape::bound_logarithm || shape == Shape::bound_logarithm_off_10) {
    for (FitCell& cell : cells)
      for (double& v : cell.values) v /= std::pow(cell.x, claimed) * std::log(cell.x);
    over_bound = fit_slope(cells, options);
  }
  return judge(fit, claimed, rivals, HardEnd::large, over_bound ? &*over_bound : nullptr);
}

}  // namespace

Simulation::Result simulate(const Simulation& parameters, std::uint64_t seed) {
  const auto [shape, scatter, first_seeds, most_seeds, simulations] = parameters;
  Simulation::Result result{};
  for (int k = 0; k < simulations; ++k) {
    Stream stream(StreamKey{.seed = seed, .purpose = Purpose::statistics}
                      .child(static_cast<std::uint64_t>(shape))
                      .child(static_cast<std::uint64_t>(scatter))
                      .child(static_cast<std::uint64_t>(most_seeds))
                      .child(static_cast<std::uint64_t>(k)));
    const FitOptions options{.resamples = resamples, .seed = static_cast<std::uint64_t>(k)};
    const std::vector<FitCell> cells = simulated_sweep(shape, scatter, most_seeds, stream);
    int seeds = first_seeds;
    SlopeVerdict v = judged(cells, seeds, shape, options);
    while (v.verdict == Verdict::more_seeds && seeds < most_seeds) {
      seeds = std::min(2 * seeds, most_seeds);
      v = judged(cells, seeds, shape, options);
    }
    ++result.verdicts[std::string(to_string(v.verdict))];
    ++result.bounds[std::string(to_string(v.bound))];
    ++result.headlines[std::string(to_string(headline_of(v)))];
    result.seeds += static_cast<double>(seeds) / simulations;
  }
  return result;
}

}  // namespace dpsosp::verdict_rule
