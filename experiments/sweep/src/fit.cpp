// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double tail = 0.025;
constexpr double huber_tuning = 1.345;                  // 95 % efficient under normal errors
constexpr double mad_to_deviation = 1.482602218505602;  // 1/Φ⁻¹(3/4)

double median_in_place(std::span<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*std::max_element(values.begin(), middle) + *middle);
}

/// Makes the percentile interval of a mean of s normal values as wide as Student's.
double few_samples_factor(double s) {
  const double student = quantile(boost::math::students_t(s - 1), 1 - tail);
  return student * std::sqrt(s / (s - 1)) / quantile(boost::math::normal(), 1 - tail);
}

/// The percentile interval of the resampled estimates, stretched about the estimate; sorts.
Interval percentile_interval(std::vector<double>& resampled, double estimate, double stretch) {
  std::sort(resampled.begin(), resampled.end());
  const auto rank = static_cast<std::size_t>(tail * static_cast<double>(resampled.size() + 1));
  const double low = resampled[rank - 1];
  const double high = resampled[resampled.size() - rank];
  return {.low = estimate - stretch * (estimate - low),
          .high = estimate + stretch * (high - estimate)};
}

void check(const FitOptions& options) {
  if (!(tail * (options.resamples + 1) >= 1))
    reject("fit", "resamples", options.resamples, "at least 39, to have a 2.5 % quantile");
  if (!(options.drift_tolerance >= 0))
    reject("fit", "drift_tolerance", options.drift_tolerance, "a number >= 0");
  if (!(options.off_line_tolerance >= 1))
    reject("fit", "off_line_tolerance", options.off_line_tolerance, "a factor >= 1");
}

Stream statistics_stream(const FitOptions& options, std::uint64_t use) {
  return Stream(StreamKey{.seed = options.seed, .purpose = Purpose::statistics}.child(use));
}

struct Observation {
  double log_value;
  double share;      ///< value over the cell's largest
  std::size_t seed;  ///< place among the seeds of the sample
};

/// Cells by ascending x, the observations of each by ascending seed: no order of the input is left.
struct Sample {
  std::vector<double> log_x;        ///< of the cells
  std::vector<double> log_largest;  ///< of the cells' values
  std::vector<std::vector<Observation>> cells;
  std::size_t seeds = 0;   ///< that appear in any cell
  std::size_t fewest = 0;  ///< observations of a cell
  double largest_log = 0;  ///< |log value|
};

std::string cell_name(const FitCell& cell) { return fmt::format("fit: cell x = {:g}", cell.x); }

void check(const FitCell& cell) {
  const std::string where = cell_name(cell);
  if (!(cell.x > 0 && std::isfinite(cell.x))) reject("fit", "x", cell.x, "finite and > 0");
  if (cell.seeds.size() != cell.values.size())
    reject(where, "seeds", std::to_string(cell.seeds.size()),
           fmt::format("one for each of the {} values", cell.values.size()));
  if (cell.failed < 0) reject(where, "failed", cell.failed, ">= 0");
  if (cell.values.size() < 2)
    reject(where, "values", std::to_string(cell.values.size()), "at least 2");
  for (std::size_t i = 0; i < cell.values.size(); ++i)
    if (!(cell.values[i] > 0 && std::isfinite(cell.values[i])))
      reject(where, fmt::format("value of seed {}", cell.seeds[i]), cell.values[i],
             "finite and > 0, to have a logarithm");
}

Sample sample_of(std::span<const FitCell> cells) {
  if (cells.size() < 3) reject("fit", "cells", std::to_string(cells.size()), "at least 3");
  std::vector<const FitCell*> ordered;
  std::vector<std::uint64_t> seeds;
  for (const FitCell& cell : cells) {
    check(cell);
    ordered.push_back(&cell);
    seeds.insert(seeds.end(), cell.seeds.begin(), cell.seeds.end());
  }
  std::sort(ordered.begin(), ordered.end(), [](auto* a, auto* b) { return a->x < b->x; });
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());

  Sample sample{.seeds = seeds.size(), .fewest = seeds.size()};
  std::vector<std::size_t> appearances(seeds.size(), 0);
  for (const FitCell* cell : ordered) {
    // Neighbours whose logarithms round to one number are equal for the fit.
    if (!sample.log_x.empty() && !(sample.log_x.back() < std::log(cell->x)))
      reject("fit", "x", cell->x, "different x in different cells");
    sample.log_x.push_back(std::log(cell->x));
    const double largest = std::ranges::max(cell->values);
    sample.log_largest.push_back(std::log(largest));
    auto& observations = sample.cells.emplace_back();
    for (std::size_t i = 0; i < cell->values.size(); ++i) {
      const auto place = std::lower_bound(seeds.begin(), seeds.end(), cell->seeds[i]);
      observations.push_back({.log_value = std::log(cell->values[i]),
                              .share = cell->values[i] / largest,
                              .seed = static_cast<std::size_t>(place - seeds.begin())});
      sample.largest_log = std::max(sample.largest_log, std::abs(observations.back().log_value));
      ++appearances[observations.back().seed];
    }
    std::sort(observations.begin(), observations.end(),
              [](const auto& a, const auto& b) { return a.seed < b.seed; });
    const auto twice =
        std::adjacent_find(observations.begin(), observations.end(),
                           [](const auto& a, const auto& b) { return a.seed == b.seed; });
    if (twice != observations.end())
      reject(cell_name(*cell), "seed", std::to_string(seeds[twice->seed]), "each seed once");
    sample.fewest = std::min(sample.fewest, observations.size());
  }
  const auto common = std::count(appearances.begin(), appearances.end(), cells.size());
  if (common < 2) reject("fit", "seeds that all cells have", std::to_string(common), "at least 2");
  return sample;
}

/// Prior weights of the observations: how often an observation's seed was drawn, divided by the
/// draws of all seeds of its cell. In every cell they add up to 1.
class Weights {
 public:
  explicit Weights(const Sample& sample) : sample_(&sample), drawn_(sample.seeds, 1) {
    for (const auto& cell : sample.cells) of_cell_.emplace_back(cell.size());
    spread();
  }

  std::span<const double> of_cell(std::size_t cell) const { return of_cell_[cell]; }
  /// How often each seed was drawn.
  const std::vector<int>& drawn() const { return drawn_; }

  /// Draws as many seeds as there are, with replacement, the same ones for all cells. A draw that
  /// leaves a cell empty is repeated; as two seeds are in all cells, that is at most one in seven.
  void draw(Stream& stream) {
    do {
      std::fill(drawn_.begin(), drawn_.end(), 0);
      for (std::size_t k = 0; k < drawn_.size(); ++k)
        ++drawn_[static_cast<std::size_t>(stream.below(std::ssize(drawn_)))];
    } while (!spread());
  }

 private:
  bool spread() {
    for (std::size_t c = 0; c < of_cell_.size(); ++c) {
      const auto& cell = sample_->cells[c];
      int count = 0;
      for (const Observation& o : cell) count += drawn_[o.seed];
      if (count == 0) return false;
      for (std::size_t i = 0; i < cell.size(); ++i)
        of_cell_[c][i] = static_cast<double>(drawn_[cell[i].seed]) / count;
    }
    return true;
  }

  const Sample* sample_;
  std::vector<int> drawn_;
  std::vector<std::vector<double>> of_cell_;
};

/// Huber regression of log value on 1, u, …, u^(terms − 1), u = (log x − centre)/half range.
template <int terms>
class HuberRegression {
 public:
  using Coefficients = Eigen::Matrix<double, terms, 1>;

  HuberRegression(const Sample& sample, const Weights& weights, double centre, double half_range)
      : sample_(&sample),
        rounding_(64 * std::numeric_limits<double>::epsilon() * sample.largest_log) {
    for (const double log_x : sample.log_x) {
      Coefficients& powers = powers_.emplace_back();
      powers[0] = 1;
      for (int k = 1; k < terms; ++k) powers[k] = powers[k - 1] * (log_x - centre) / half_range;
    }
    estimate_ = step(weights, Coefficients::Zero(), infinity);  // least squares
    scale_ = deviation(weights);
    for (int k = 0; k < 100; ++k) {
      estimate_ = solve(weights);
      const double before = std::exchange(scale_, deviation(weights));
      if (std::abs(scale_ - before) <= 1e-13 * before) break;
    }
  }

  const Coefficients& estimate() const { return estimate_; }

  /// The minimiser of the convex Huber loss with the scale of the data, by Newton's method, which
  /// ends once no observation crosses the threshold, or else by iteratively reweighted least
  /// squares. Resamples keep that scale, so that one in which a wild seed comes often does
  /// not count it as usual.
  Coefficients solve(const Weights& weights) const {
    Coefficients c = estimate_;
    for (int k = 0; k < 20; ++k) {
      const Coefficients change = newton_step(weights, c, huber_tuning * scale_);
      c += change;
      if (change.template lpNorm<Eigen::Infinity>() <= 1e-10 * scale_) return c;
    }
    c = estimate_;
    for (int k = 0; k < 200; ++k) {
      const Coefficients change = step(weights, c, huber_tuning * scale_);
      c += change;
      if (change.template lpNorm<Eigen::Infinity>() <= 1e-10 * scale_) break;
    }
    return c;
  }

  /// How far a cell lies above the curve of coefficients c: the mean residual, wild seeds weighing
  /// as little as they do in the regression.
  double above(std::size_t cell, const Weights& weights, const Coefficients& c) const {
    const auto [weight, weighted] = residuals(cell, weights, c, huber_tuning * scale_);
    return weighted / weight;
  }

  /// (Σ v)²/Σ v² for the share v of each seed in the variance of coefficient k, were all runs
  /// independent and of one variance: the number of seeds if none lacks a run. At least 2, as the
  /// two seeds of all cells have the largest share.
  double effective_seeds(int k) const {
    Eigen::Matrix<double, terms, terms> normal = Eigen::Matrix<double, terms, terms>::Zero();
    for (const Coefficients& p : powers_) normal += p * p.transpose();
    const Coefficients row = normal.ldlt().solve(Coefficients::Unit(k));
    std::vector<double> shares(sample_->seeds, 0);
    for (std::size_t cell = 0; cell < powers_.size(); ++cell) {
      const auto& observations = sample_->cells[cell];
      const double weight = row.dot(powers_[cell]) / static_cast<double>(observations.size());
      for (const Observation& o : observations) shares[o.seed] += weight * weight;
    }
    double sum = 0;
    double squares = 0;
    for (const double v : shares) {
      sum += v;
      squares += v * v;
    }
    return sum * sum / squares;
  }

 private:
  struct Residuals {
    double weight;    ///< sum of the weights
    double weighted;  ///< sum of weight times residual
  };
  /// The residuals of a cell, where one beyond the threshold weighs less.
  Residuals residuals(std::size_t cell, const Weights& weights, const Coefficients& c,
                      double threshold) const {
    const auto prior = weights.of_cell(cell);
    const auto& observations = sample_->cells[cell];
    const double fitted = powers_[cell].dot(c);
    Residuals sum{0, 0};
    for (std::size_t i = 0; i < prior.size(); ++i) {
      if (prior[i] == 0) continue;
      const double r = observations[i].log_value - fitted;
      const double size = std::abs(r);
      const double w = size <= threshold ? prior[i] : prior[i] * threshold / size;
      sum.weight += w;
      sum.weighted += w * r;
    }
    return sum;
  }

  Coefficients step(const Weights& weights, const Coefficients& c, double threshold) const {
    Eigen::Matrix<double, terms, terms> normal = Eigen::Matrix<double, terms, terms>::Zero();
    Coefficients right = Coefficients::Zero();
    for (std::size_t cell = 0; cell < powers_.size(); ++cell) {
      const auto [weight, weighted] = residuals(cell, weights, c, threshold);
      normal.noalias() += weight * powers_[cell] * powers_[cell].transpose();
      right += weighted * powers_[cell];
    }
    return normal.ldlt().solve(right);
  }

  Coefficients newton_step(const Weights& weights, const Coefficients& c, double threshold) const {
    Eigen::Matrix<double, terms, terms> hessian = Eigen::Matrix<double, terms, terms>::Zero();
    Coefficients descent = Coefficients::Zero();
    int curved = 0;  // cells with an observation within the threshold
    for (std::size_t cell = 0; cell < powers_.size(); ++cell) {
      const auto prior = weights.of_cell(cell);
      const auto& observations = sample_->cells[cell];
      const double fitted = powers_[cell].dot(c);
      double within = 0, pull = 0;
      for (std::size_t i = 0; i < prior.size(); ++i) {
        const double r = observations[i].log_value - fitted;
        within += std::abs(r) <= threshold ? prior[i] : 0.0;
        pull += prior[i] * std::clamp(r, -threshold, threshold);
      }
      curved += within > 0;
      hessian.noalias() += within * powers_[cell] * powers_[cell].transpose();
      descent += pull * powers_[cell];
    }
    if (curved < terms) return step(weights, c, threshold);
    return hessian.ldlt().solve(descent);
  }

  /// Weighted median of |residual| as a standard deviation; data on the curve keep their rounding.
  double deviation(const Weights& weights) const {
    std::vector<std::pair<double, double>> sizes;  // |residual|, weight
    for (std::size_t cell = 0; cell < powers_.size(); ++cell) {
      const double fitted = powers_[cell].dot(estimate_);
      for (std::size_t i = 0; i < sample_->cells[cell].size(); ++i)
        sizes.emplace_back(std::abs(sample_->cells[cell][i].log_value - fitted),
                           weights.of_cell(cell)[i]);
    }
    std::sort(sizes.begin(), sizes.end());
    const double half = 0.5 * static_cast<double>(powers_.size());
    double sum = 0;
    std::size_t k = 0;
    while ((sum += sizes[k].second) < half * (1 - 1e-12)) ++k;
    const bool between = sum <= half * (1 + 1e-12);
    const double mad = between ? 0.5 * (sizes[k].first + sizes[k + 1].first) : sizes[k].first;
    return std::max(mad_to_deviation * mad, rounding_);
  }

  const Sample* sample_;
  std::vector<Coefficients> powers_;  // of u, one a cell
  double rounding_;
  Coefficients estimate_;
  double scale_ = 0;
};

/// Slope of the least-squares line through the logarithms of the cells' means.
double slope_of_means(const Sample& sample, const Weights& weights, double centre) {
  double xx = 0, xy = 0;
  double mean_x = 0;
  for (const double log_x : sample.log_x) mean_x += log_x - centre;
  mean_x /= static_cast<double>(sample.log_x.size());
  for (std::size_t c = 0; c < sample.cells.size(); ++c) {
    const auto of_cell = weights.of_cell(c);
    double sum = 0;
    for (std::size_t i = 0; i < of_cell.size(); ++i) sum += of_cell[i] * sample.cells[c][i].share;
    const double x = sample.log_x[c] - centre - mean_x;
    xx += x * x;
    xy += x * (sample.log_largest[c] + std::log(sum));
  }
  return xy / xx;
}

std::vector<LocalSlope> local_slopes(std::span<const FitCell> cells) {
  std::vector<std::pair<double, double>> points;  // log x, log of the median
  for (const FitCell& cell : cells)
    points.emplace_back(std::log(cell.x), std::log(median(cell.values)));
  std::sort(points.begin(), points.end());
  std::vector<LocalSlope> slopes;
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    const auto [x0, y0] = points[k];
    const auto [x1, y1] = points[k + 1];
    slopes.push_back({.x = std::exp(0.5 * (x0 + x1)), .slope = (y1 - y0) / (x1 - x0)});
  }
  return slopes;
}

constexpr std::size_t exact_pairs = 16;
constexpr int random_flips = 20000;

/// Two-sided: how often |Σ ± d| is as large as |Σ d| over all signs, which are equally likely if
/// the laws of d and −d are the same.
double sign_flip_p(std::span<const double> differences, Stream stream) {
  if (differences.empty()) return 1;
  const double observed = std::abs(std::accumulate(differences.begin(), differences.end(), 0.0));
  double sizes = 0;
  for (const double d : differences) sizes += std::abs(d);
  const double least = observed - 1e-12 * sizes;  // ties differ by rounding
  const auto large = [&](auto&& sign_bit) {
    double sum = 0;
    for (std::size_t i = 0; i < differences.size(); ++i)
      sum += sign_bit(i) ? -differences[i] : differences[i];
    return std::abs(sum) >= least ? 1 : 0;
  };
  int count = 0;
  if (differences.size() <= exact_pairs) {
    const std::uint32_t all = 1U << differences.size();
    for (std::uint32_t signs = 0; signs < all; ++signs)
      count += large([&](std::size_t i) { return (signs >> i & 1U) != 0; });
    return static_cast<double>(count) / all;
  }
  std::uint64_t word = 0;
  for (int draw = 0; draw < random_flips; ++draw)
    count += large([&](std::size_t i) {
      if (i % 64 == 0) word = stream.bits();
      return (word >> (i % 64) & 1U) != 0;
    });
  return (1.0 + count) / (1.0 + random_flips);  // the data themselves are one of the draws
}

}  // namespace

double median(std::vector<double> values) {
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
    return std::numeric_limits<double>::quiet_NaN();
  return median_in_place(values);
}

double SlopeFit::at(double x) const { return std::exp(intercept + slope * std::log(x)); }

SlopeFit fit_slope(std::span<const FitCell> cells, const FitOptions& options) {
  check(options);
  const Sample sample = sample_of(cells);
  const double half_range = 0.5 * (sample.log_x.back() - sample.log_x.front());
  const double centre = sample.log_x.front() + half_range;
  Weights weights(sample);
  const HuberRegression<2> line(sample, weights, centre, half_range);
  const HuberRegression<3> parabola(sample, weights, centre, half_range);
  const auto slope_of = [&](const auto& c) { return c[1] / half_range; };
  // c₂u² bends by 2c₂(log x_last − log x_first)/half_range².
  const auto drift_of = [&](const auto& c) { return 4 * c[2] / half_range; };
  const auto end_of = [&](const auto& c, double u) { return (c[1] + 2 * u * c[2]) / half_range; };

  std::vector<double> slopes(static_cast<std::size_t>(options.resamples));
  std::vector<double> drifts(slopes.size()), firsts(drifts), lasts(drifts), means(drifts);
  const std::size_t count = sample.cells.size();
  std::vector<double> above(count);
  for (std::size_t c = 0; c < count; ++c) above[c] = line.above(c, weights, line.estimate());
  std::vector<std::vector<double>> aboves(count, std::vector<double>(slopes.size()));
  // Six seeds can be drawn in 462 ways only, so most resamples have been seen before.
  std::map<std::vector<int>, std::size_t> first_drawn;
  Stream stream = statistics_stream(options, 0);
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    weights.draw(stream);
    if (const auto [same, fresh] = first_drawn.emplace(weights.drawn(), k); !fresh) {
      for (auto* values : {&slopes, &drifts, &firsts, &lasts, &means})
        (*values)[k] = (*values)[same->second];
      for (std::vector<double>& of_cell : aboves) of_cell[k] = of_cell[same->second];
      continue;
    }
    const auto resampled = line.solve(weights);
    slopes[k] = slope_of(resampled);
    for (std::size_t c = 0; c < count; ++c) aboves[c][k] = line.above(c, weights, resampled);
    const auto curve = parabola.solve(weights);
    drifts[k] = drift_of(curve);
    firsts[k] = end_of(curve, -1);
    lasts[k] = end_of(curve, 1);
    means[k] = slope_of_means(sample, weights, centre);
  }

  SlopeFit fit{.slope = slope_of(line.estimate()),
               .drift = drift_of(parabola.estimate()),
               .mean_slope = slope_of_means(sample, Weights(sample), centre),
               .local = local_slopes(cells),
               .cells = static_cast<int>(sample.cells.size()),
               .seeds = static_cast<int>(sample.fewest)};
  const double line_stretch = few_samples_factor(line.effective_seeds(1));
  fit.interval = percentile_interval(slopes, fit.slope, line_stretch);
  fit.mean_interval = percentile_interval(means, fit.mean_slope, line_stretch);
  fit.intercept = line.estimate()[0] - fit.slope * centre;
  const double curve_stretch = few_samples_factor(parabola.effective_seeds(2));
  fit.drift_interval = percentile_interval(drifts, fit.drift, curve_stretch);
  fit.first = percentile_interval(firsts, end_of(parabola.estimate(), -1), curve_stretch);
  fit.last = percentile_interval(lasts, end_of(parabola.estimate(), 1), curve_stretch);
  fit.drifting = !fit.drift_interval.contains(0) && std::abs(fit.drift) > options.drift_tolerance;
  const auto curve_over_line = [&](double u) {
    const auto& q = parabola.estimate();
    return std::abs(q[0] + q[1] * u + q[2] * u * u - line.estimate()[0] - line.estimate()[1] * u);
  };
  fit.off_curve = std::exp(std::max(curve_over_line(-1), curve_over_line(1)));
  const double stretch = few_samples_factor(static_cast<double>(sample.fewest));
  for (std::size_t c = 0; c < count; ++c)
    if (!percentile_interval(aboves[c], above[c], stretch).contains(0))
      fit.off_line = std::max(fit.off_line, std::exp(std::abs(above[c])));
  fit.bent = fit.off_line > options.off_line_tolerance;
  for (const FitCell& cell : cells) fit.failed += cell.failed;
  return fit;
}

double plain_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    mx += x[k] / n;
    my += y[k] / n;
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    xx += (x[k] - mx) * (x[k] - mx);
    xy += (x[k] - mx) * (y[k] - my);
  }
  return xy / xx;
}

double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> log_x, log_y;
  for (const double v : x) log_x.push_back(std::log(v));
  for (const double v : y) log_y.push_back(std::log(v));
  return plain_slope(log_x, log_y);
}

std::string to_text(Interval interval) {
  return fmt::format("[{:+.3f}, {:+.3f}]", interval.low, interval.high);
}

std::string to_text(const SlopeFit& fit) {
  return fmt::format("{:+.3f} {}", fit.slope, to_text(fit.interval));
}

Interval bootstrap_interval(std::size_t seeds, double estimate,
                            const std::function<double(std::span<const std::size_t>)>& statistic,
                            const FitOptions& options) {
  check(options);
  if (seeds < 2) return {.low = -infinity, .high = infinity};
  std::vector<double> resampled(static_cast<std::size_t>(options.resamples));
  std::vector<std::size_t> drawn(seeds);
  Stream stream = statistics_stream(options, 2);
  for (double& value : resampled) {
    for (std::size_t& seed : drawn)
      seed = static_cast<std::size_t>(stream.below(static_cast<Index>(seeds)));
    value = statistic(drawn);
  }
  return percentile_interval(resampled, estimate, few_samples_factor(static_cast<double>(seeds)));
}

PairedComparison compare(std::string name, std::span<const double> first,
                         std::span<const double> second, const FitOptions& options) {
  check(options);
  if (first.size() != second.size())
    reject(name, "values of the second", std::to_string(second.size()),
           fmt::format("{}, as many as of the first", first.size()));
  const auto usable = [](double v) { return v > 0 && std::isfinite(v); };
  std::vector<double> differences;  // of logarithms: exchanging the two turns the sign and no more
  for (std::size_t i = 0; i < first.size(); ++i)
    if (usable(first[i]) && usable(second[i]))
      differences.push_back(std::log(first[i]) - std::log(second[i]));

  PairedComparison comparison{.name = std::move(name),
                              .pairs = static_cast<int>(differences.size()),
                              .ratio = std::exp(median(differences)),
                              .interval = {.low = 0, .high = infinity}};
  comparison.p = sign_flip_p(differences, statistics_stream(options, 1));
  comparison.adjusted_p = comparison.p;
  if (differences.size() < 2) return comparison;

  std::vector<double> drawn(differences.size());
  const Interval logs = bootstrap_interval(
      differences.size(), median(differences),
      [&](std::span<const std::size_t> pairs) {
        std::ranges::transform(pairs, drawn.begin(), [&](std::size_t k) { return differences[k]; });
        return median_in_place(drawn);
      },
      options);
  comparison.interval = {.low = std::exp(logs.low), .high = std::exp(logs.high)};
  return comparison;
}

void adjust(std::vector<PairedComparison>& comparisons) {
  std::vector<PairedComparison*> by_p;
  for (PairedComparison& c : comparisons) by_p.push_back(&c);
  std::stable_sort(by_p.begin(), by_p.end(), [](auto* a, auto* b) { return a->p < b->p; });
  double floor = 0;
  for (std::size_t k = 0; k < by_p.size(); ++k) {
    floor = std::max(floor, std::min(1.0, static_cast<double>(by_p.size() - k) * by_p[k]->p));
    by_p[k]->adjusted_p = floor;
  }
}

}  // namespace dpsosp
