// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <Eigen/LU>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/ganesh_2023/discrete_exponential.hpp"
#include "dpsosp/ganesh_2023/exponential_sampler.hpp"
#include "dpsosp/privacy/net.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "parts.hpp"

namespace dpsosp {
namespace {

constexpr double run_delta = 1e-6;

/// A law on the middles of cells, with a loss and its least value.
struct OneDimension {
  std::vector<double> u, loss;
  double half_width = 0;

  double slope() const {
    double s = 0;
    for (std::size_t k = 1; k < u.size(); ++k)
      s = std::max(s, std::abs((loss[k] - loss[k - 1]) / (u[k] - u[k - 1])));
    return s;
  }
  /// E g under the density exp(−β loss − βμu²/2 − β tilt u).
  double mean(double beta, double mu, double tilt,
              const std::function<double(std::size_t)>& g) const {
    double total = 0, sum = 0;
    const double least = std::ranges::min(loss);
    for (std::size_t k = 0; k < u.size(); ++k) {
      const double w = std::exp(-beta * (loss[k] - least + tilt * u[k] + 0.5 * mu * u[k] * u[k]));
      total += w;
      sum += w * g(k);
    }
    return sum / total;
  }
};

OneDimension multi_well(std::size_t cells) {
  const Problem problem = find_problem("multi-well")->make({.records = 2, .dimension = 1});
  OneDimension f;
  f.half_width = problem.facts.domain.radius;
  Vector x(1);
  for (std::size_t k = 0; k < cells; ++k) {
    x[0] = f.half_width * ((2.0 * static_cast<double>(k) + 1.0) / static_cast<double>(cells) - 1.0);
    f.u.push_back(x[0]);
    f.loss.push_back(problem.population->value(x));
  }
  return f;
}

constexpr std::array exponents{1.0, 2.0, 5.0, 10.0, 100.0};

/// E F − min F, times β, of F = G|x| on a thin sector of a ball of radius D, in d dimensions, and
/// b = βGD: d P(d + 1, b)/P(d, b), P the regularised incomplete gamma function, by its series.
double sector_excess(double d, double b) {
  const auto series = [&](double s) {
    double term = 1, sum = 1;
    for (double k = 1; term > 1e-17 * sum; ++k) sum += term *= b / (s + k);
    return sum;
  };
  return d * b / (d + 1) * series(d + 1) / series(d);
}

constexpr std::array sector_dimensions{1.0, 2.0, 4.0, 16.0};
constexpr std::array sector_exponents{1.5, 2.0, 2.4, 5.0, 10.0};

Finding gibbs_printed() {
  bool below = true;
  std::vector<std::string> words;
  for (const double d : sector_dimensions) {
    double last = 0;  // the largest βGD/d of these at which the bound fails
    for (const double c : sector_exponents)
      if (sector_excess(d, c * d) > d * std::log(c)) last = c;
    below = below && last == 0;
    const double shown = d == 1 ? 1.5 : 2.0;
    words.push_back(fmt::format("d = {:g}: {:.3f}/beta against {:.3f}/beta at beta G D = {:g}", d,
                                sector_excess(d, shown * d), d * std::log(shown), shown * d));
    if (last > 0) words.back() += fmt::format(", fails up to {:g} d or more", last);
  }
  return {.verdict = holds_if(below),
          .measured = fmt::format("{}", fmt::join(words, "; ")),
          .reason = below ? "" : "an additive (d + 1)/beta is missing"};
}

Finding gibbs_repaired() {
  double largest = 0;
  for (const double b : exponents)
    largest = std::max(largest, (1.0 - b / std::expm1(b)) / (2.0 + std::log(b)));
  for (const double d : sector_dimensions)
    for (const double c : sector_exponents)
      largest = std::max(largest, sector_excess(d, c * d) / (d + 1 + d * std::log(c)));
  const OneDimension f = multi_well(20000);
  const double least = std::ranges::min(f.loss);
  for (const double d : {1.0, 2.0, 3.0})
    for (const double b : exponents)
      for (const bool regularised : {false, true}) {
        // F = (1/sqrt d) Σ φ(x_j): the law factorises, with β/sqrt(d) on each coordinate.
        const double G = f.slope(), D = 2.0 * f.half_width * std::sqrt(d), beta = b / (G * D);
        const double mu = regularised ? d / (D * D * beta) : 0.0;
        const double root = std::sqrt(d);
        const double excess = root * f.mean(beta / root, mu * root, 0.0,
                                            [&](std::size_t k) { return f.loss[k] - least; });
        largest = std::max(largest, excess / ganesh_2023::gibbs_excess(beta, mu, d, G, D));
      }
  return {
      .verdict = holds_if(largest <= 1.0),
      .measured = fmt::format("the excess is at most {:.3f} of the bound over 55 cases", largest),
      .value = largest};
}

Finding gibbs_stability() {
  const OneDimension f = multi_well(2000);
  // Per-record losses are steeper than F by the records' own slope, 1.
  const double D = 2.0 * f.half_width, G = f.slope() + 1.0, beta = 4.0 / (G * D);
  const double mu = 1.0 / (D * D * beta);
  std::vector<double> n, gap;
  bool below = true, sharper = true;
  for (const int m : {30, 100, 300, 1000}) {
    // z̄ = 2k/m − 1 with k binomial: F_P − F_D = −z̄ x.
    double sum = 0;
    for (int k = 0; k <= m; ++k) {
      const double log_mass = std::lgamma(m + 1.0) - std::lgamma(k + 1.0) -
                              std::lgamma(m - k + 1.0) - m * std::log(2.0);
      if (log_mass < -40) continue;
      const double tilt = 2.0 * k / m - 1.0;
      sum -=
          std::exp(log_mass) * tilt * f.mean(beta, mu, tilt, [&](std::size_t i) { return f.u[i]; });
    }
    n.push_back(m);
    gap.push_back(sum);
    below = below && sum <= 2.0 * G * G * std::exp(beta * G * D) / (m * mu);
    sharper = sharper && sum <= 2.0 * beta * G * G * D * D / m;
  }
  const double slope = log_slope(n, gap);
  return {.verdict = holds_if(below && std::abs(slope + 1) <= 0.1),
          .measured = fmt::format("gap {:.3g} at n = 30, {:.3g} at n = 1000, ~ n^{:.4f}; {} below "
                                  "2 beta (G D)^2/n too",
                                  gap.front(), gap.back(), slope, sharper ? "it is" : "it is not"),
          .value = slope};
}

std::vector<JobCell> langevin_cells(const Study& study) {
  std::vector<JobCell> cells = sweep_cells(study, "ganesh-2023-excess-risk");
  std::erase_if(cells, [](const JobCell& cell) {
    return cell.part != "one-dimension" || cell.arm != "DP-GLD, d = 1";
  });
  return cells;
}

/// G D √ln(1/δ)/(ε² ln n) at d = 1: a fixed diffusion time cannot show its law in n.
Finding langevin(const Evidence& e) {
  const PublicFacts facts =
      find_problem("ripple-location")->facts({.records = 100, .dimension = 1});
  const double range = facts.constants[constant::lipschitz] * facts.domain.diameter(1);
  double largest = 0, start = 0, least = std::numeric_limits<double>::infinity();
  std::vector<std::string> words;
  for (const JudgedCell& cell : e.cells) {
    const auto risk = cell.metric("output.excess_risk");
    if (risk.empty()) continue;
    const RunDescription& run = *cell.finished().front().run;
    start = std::max(start, mean(cell.metric("start.excess_risk")));
    const auto n = static_cast<double>(run.records);
    const double bound =
        range * std::sqrt(-std::log(run_delta)) / (run.epsilon * run.epsilon) / std::log(n);
    words.push_back(fmt::format("n = {:g}: risk {:.3f}, bound {:.3f}", n, mean(risk), bound));
    least = std::min(least, bound);
    if (bound < range) largest = std::max(largest, mean(risk) / bound);
  }
  if (words.empty()) return nothing_ran();
  return {
      .verdict = largest > 1     ? Verdict::fails
                 : start < least ? Verdict::vacuous
                                 : Verdict::bound_met,
      .measured = fmt::format("{}", fmt::join(words, "; ")),
      .reason = fmt::format("the start's excess, {:.3f}, is below every bound too; the diffusion "
                            "time of the schedule is a constant of this suite, since no finite "
                            "one is proved, so that the law in n is not seen",
                            start),
      .value = largest};
}

std::vector<JobCell> exponential_cells(const Study&) {
  RunSpec spec;
  spec.algorithm = "ganesh-2023/exponential-mechanism";
  spec.problem = "multi-well";
  spec.problem_settings = {{"sampling", "whole"}};
  spec.settings = {{"method", "rejection"}};
  spec.schedule = Schedule::paper;
  spec.dimension = 1;
  std::vector<JobCell> cells;
  for (const double n : {1e2, 1e4, 1e6, 1e8}) {
    spec.records = static_cast<Index>(n);
    cells.push_back(seeded_cell(spec, 200, {{"records", n}}));
  }
  return cells;
}

/// min F_P, at the stated minimiser: that of a grid is off by more than the excess of a cold law.
double least_of(const Problem& problem) {
  const auto best = std::ranges::find_if(problem.landmarks, [](const Landmark& l) {
    return l.kind == Landmark::Kind::minimiser && l.of == Landmark::Of::population;
  });
  return problem.population->value(best->point);
}

/// Theorem 5.6 on multi-well in d dimensions at δ = 10⁻⁶ with all constants 1: the law is a
/// product, and n enters by ln n alone.
class RegularisedMechanism {
 public:
  RegularisedMechanism(Index dimension, double epsilon)
      : d_(static_cast<double>(dimension)),
        epsilon_(epsilon),
        well_(multi_well(20000)),
        least_(least_of(find_problem("multi-well")->make({.records = 2, .dimension = 1}))) {
    const PublicFacts facts =
        find_problem("multi-well")->facts({.records = 100, .dimension = dimension});
    range_ = facts.constants[constant::lipschitz] * facts.domain.diameter(dimension);
    diameter_ = facts.domain.diameter(dimension);
  }

  double range() const { return range_; }
  double excess(double log_n) const {
    const double beta = epsilon_ * (log_n + std::log(d_)) / (range_ * root_log_delta());
    const double mu = ganesh_2023::printed_regularizer(beta, d_, diameter_), root = std::sqrt(d_);
    return root * well_.mean(beta / root, mu * root, 0.0,
                             [&](std::size_t k) { return well_.loss[k] - least_; });
  }
  double bound(double log_n) const {
    return range_ * d_ * std::log(log_n) * root_log_delta() / (epsilon_ * (log_n + std::log(d_)));
  }

 private:
  static double root_log_delta() { return std::sqrt(-std::log(run_delta)); }
  double d_, epsilon_;
  OneDimension well_;
  double least_;
  double range_ = 0, diameter_ = 0;
};

/// Slope of the excess in ln n between two values of it.
double slope_in_logarithm(const RegularisedMechanism& mechanism, double from, double to) {
  std::vector<double> x = log_grid(from, to, 5), y;
  for (const double log_n : x) y.push_back(mechanism.excess(log_n));
  return log_slope(x, y);
}

/// One within the theorem's (0, 1/2), and that of the runs.
constexpr std::array risk_epsilons{0.4, 1.0};

Finding exponential_risk(const Evidence& e) {
  const RegularisedMechanism mechanism(1, 1);
  bool agree = true;
  std::vector<std::string> words;
  for (const JudgedCell& cell : e.cells) {
    const double n = cell.number_at("records"), exact = mechanism.excess(std::log(n));
    const auto risks = cell.metric("population.output.excess_risk");
    agree = agree && std::abs(mean(risks) - exact) <= 4 * standard_error(risks);
    words.push_back(fmt::format("n = {:g}: {:.3f} ± {:.3f}, law {:.4f}, bound {:.2f}", n,
                                mean(risks), standard_error(risks), exact,
                                mechanism.bound(std::log(n))));
  }
  bool good = true;
  double slope = 0;
  for (const double epsilon : risk_epsilons) {
    const RegularisedMechanism law(1, epsilon);
    double largest = 0;
    for (const double log_n :
         {std::log(1e2), std::log(1e4), std::log(1e6), std::log(1e8), 1e2, 1e3, 1e4, 1e5, 1e6})
      largest = std::max(largest, law.excess(log_n) / law.bound(log_n));
    slope = slope_in_logarithm(law, 1e4, 1e6);
    good = good && largest <= 1 && std::abs(slope + 1) <= 0.02;
    words.push_back(
        fmt::format("the law at eps = {:g} is at most {:.3f} of the bound up to ln n = 1e6, where "
                    "it is {:.3g}, and goes as (ln n)^{:.4f} from ln n = 1e4 on",
                    epsilon, largest, law.excess(1e6), slope));
  }
  return {.verdict = holds_if(agree && good),
          .measured = fmt::format("{}", fmt::join(words, "; ")),
          .reason = agree ? "" : "runs are more than four standard errors off the law",
          .value = slope};
}

Finding exponential_risk_by_dimension() {
  bool good = true;
  std::vector<std::string> words;
  for (const Index d : {10, 100})
    for (const double epsilon : risk_epsilons) {
      const RegularisedMechanism mechanism(d, epsilon);
      double largest = 0;
      for (double log_n = 1e2; log_n <= 1.1e8; log_n *= 10)
        largest = std::max(largest, mechanism.excess(log_n) / mechanism.bound(log_n));
      const double slope = slope_in_logarithm(mechanism, 1e7, 1e8);
      double needed = 1e8;  // from this ln n on the bound is below G D
      while (mechanism.bound(needed / 1.01) < mechanism.range()) needed /= 1.01;
      good = good && largest <= 1 && std::abs(slope + 1) <= 0.02;
      words.push_back(
          fmt::format("d = {}, eps = {:g}: at most {:.3f} of the bound, which is below G D from "
                      "ln n = {:.0f} on; (ln n)^{:.4f} from ln n = 1e7 on",
                      d, epsilon, largest, needed, slope));
    }
  return {.verdict = holds_if(good), .measured = fmt::format("{}", fmt::join(words, "; "))};
}

/// φ of ripple-location, and its slope.
constexpr double ripple_amplitude = 0.1, ripple_frequency = 2 * std::numbers::pi;
double ripple(double t) {
  return std::sqrt(1 + t * t) - 1 + ripple_amplitude * (1 - std::cos(ripple_frequency * t));
}
double ripple_slope(double t) {
  return t / std::sqrt(1 + t * t) +
         ripple_amplitude * ripple_frequency * std::sin(ripple_frequency * t);
}

/// The weights of z_j = −1 and 1 in F = (1/d) Σ_j Σ_k p_jk φ(√d x_j − k), 2 × d, from the gradients
/// at two points.
Matrix ripple_weights(const Objective& F) {
  const Index d = F.dimension();
  const double root = std::sqrt(static_cast<double>(d));
  Eigen::Matrix2d slopes;
  Matrix right(2, d);
  Index row = 0;
  for (const double u : {0.3, -0.6}) {
    Vector gradient(d);
    F.gradient(Vector::Constant(d, u / root), gradient);
    slopes.row(row) << ripple_slope(u + 1) - ripple_slope(u), ripple_slope(u - 1) - ripple_slope(u);
    right.row(row++) = (root * gradient.array() - ripple_slope(u)).matrix().transpose();
  }
  return slopes.inverse() * right;
}

/// The mean excess of the discrete exponential mechanism on ripple-location, exactly: d sums over
/// the grid of one coordinate. Beside it the promise.
struct DiscreteMean {
  double excess, promise;
};
DiscreteMean discrete_mean(Index records, Index dimension, double epsilon) {
  const auto family = find_problem("ripple-location");
  Fields fields = family->fields();
  set_field(fields, family->name(), "sampling", "whole");
  const Problem problem = family->make({.records = records, .dimension = dimension});
  ganesh_2023::DiscreteExponential algorithm;
  const Scheduled s = algorithm.schedule(Schedule::practical, problem.facts,
                                         {.epsilon = epsilon, .delta = run_delta}, Calibrator{});
  const Domain& box = problem.facts.domain;
  const ProductGrid grid{Vector::Zero(1), box.radius,
                         Net::of(box, dimension, algorithm.search.net_radius).per_axis()};
  const auto d = static_cast<double>(dimension);
  const Matrix weights = ripple_weights(*problem.population);
  Matrix losses(grid.cells, 3);
  for (Index k = 0; k < grid.cells; ++k) {
    const double u = std::sqrt(d) * grid.value(0, k);
    losses.row(k) << ripple(u), ripple(u + 1) - ripple(u), ripple(u - 1) - ripple(u);
  }
  double sum = 0;
  for (Index j = 0; j < dimension; ++j) {
    const Vector loss = losses.col(0) + losses.rightCols(2) * weights.col(j);
    const Vector law =
        (-algorithm.search.inverse_temperature / d * (loss.array() - loss.minCoeff())).exp();
    sum += law.dot(loss) / law.sum() / d;
  }
  return {sum - least_of(problem), s.excess_risk};
}

std::vector<JobCell> discrete_cells(const Study& study) {
  std::vector<JobCell> cells = sweep_cells(study, "ganesh-2023-excess-risk");
  std::erase_if(cells, [](const JobCell& cell) {
    return cell.arm != "discrete exponential" || cell.part == "controls";
  });
  return cells;
}

Finding discrete_mean_slopes(const Evidence& e) {
  double apart = 0;  // of seeds and law, in standard errors
  int compared = 0;
  for (const JudgedCell& cell : e.cells) {
    const auto risks = cell.metric("output.excess_risk");
    if (risks.size() < 20) continue;
    const RunDescription& run = *cell.finished().front().run;
    const double law = discrete_mean(run.records, run.dimension.value(), run.epsilon).excess;
    apart = std::max(apart, std::abs(mean(risks) - law) / standard_error(risks));
    ++compared;
  }
  double largest = 0;
  const auto slope = [&](const std::vector<double>& x, auto&& mean_at) {
    std::vector<double> y;
    for (const double v : x) {
      const DiscreteMean m = mean_at(v);
      y.push_back(m.excess);
      largest = std::max(largest, m.excess / m.promise);
    }
    return log_slope(x, y);
  };
  const double in_n = slope(log_grid(1e4, 1e7, 7),
                            [](double n) { return discrete_mean(static_cast<Index>(n), 16, 1); });
  const double in_d = slope({8, 16, 32, 64, 128, 256, 512}, [](double d) {
    return discrete_mean(1000000, static_cast<Index>(d), 1);
  });
  const double in_epsilon = slope(
      log_grid(0.01, 1, 5), [](double epsilon) { return discrete_mean(1000000, 16, epsilon); });
  return {.verdict = holds_if(std::abs(in_n + 1) <= 0.05 && std::abs(in_d - 1) <= 0.05 &&
                              std::abs(in_epsilon + 1) <= 0.05 && largest <= 1 && apart <= 4),
          .measured = fmt::format("mean excess {:.4g} at n = 1e4, d = 16, eps = 1; ~ n^{:.4f}, "
                                  "d^{:.4f}, eps^{:.4f}, at most {:.3f} of the promise; seeds of "
                                  "{} cells at most {:.1f} standard errors off",
                                  discrete_mean(10000, 16, 1).excess, in_n, in_d, in_epsilon,
                                  largest, compared, apart),
          .reason = apart <= 4 ? "" : "seeds are more than four standard errors off the law"};
}

}  // namespace

std::vector<Predicate> ganesh_2023_mechanism_predicates() {
  return {
      {"ganesh-2023/table-1-dp-gld", langevin_cells, langevin},
      by_formulas("ganesh-2023/11", gibbs_printed),
      by_formulas("ganesh-2023/11-repaired", gibbs_repaired),
      by_formulas("ganesh-2023/12", gibbs_stability),
      {"ganesh-2023/13", exponential_cells, exponential_risk},
      by_formulas("ganesh-2023/13-dimension", exponential_risk_by_dimension),
      {"ganesh-2023/16-mean", discrete_cells, discrete_mean_slopes},
  };
}

}  // namespace dpsosp
