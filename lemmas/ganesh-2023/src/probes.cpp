// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/ganesh_2023/discrete_exponential.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"
#include "dpsosp/lemmas/ganesh_2023.hpp"
#include "dpsosp/privacy/alternate_sampler.hpp"
#include "dpsosp/privacy/net.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "probes.hpp"

namespace dpsosp {
namespace {

using namespace ganesh_2023_probe;

Stream stream_of(std::uint64_t seed) {
  return Stream({.seed = seed, .purpose = Purpose::statistics});
}

/// Lemma 3.4 on F(x) = (-λ x₁² + M(x₂² + … + x_d²))/2 with M = ρ = 1: one kick of norm about γ,
/// then Γ steps of length 1/M along an estimate that errs by at most γ. The adversarial error
/// cancels the gradient's component along e₁ as far as γ allows; the benign one is a frozen
/// Gaussian of norm about γ/2, as between two refreshes.
EscapeTrial::Result escape(const EscapeTrial& p, std::uint64_t seed) {
  const auto d = p.dimension;
  const double gamma = p.gamma, lambda = p.curvature;
  Stream stream = stream_of(seed);
  const double coordinate = gamma / std::sqrt(static_cast<double>(d));
  Vector x(d), error(d);
  stream.fill_normal(coordinate, x);
  stream.fill_normal(coordinate / 2.0, error);
  const Index steps = ganesh_2023::escape_length(static_cast<double>(d), 1.0, 1.0, gamma);
  // Where the Hessian of a ρ-Lipschitz landscape may have changed by sqrt(ργ).
  const double away = std::sqrt(gamma);
  Index t = 0;
  for (; t < steps && std::abs(x[0]) < away; ++t) {
    Vector g = x;
    g[0] *= -lambda;
    if (p.adversarial)
      g[0] -= std::clamp(g[0], -gamma, gamma);
    else
      g += error;
    x -= g;
  }
  return {.left = std::abs(x[0]) >= away, .steps = t};
}

/// Lemma 4.1: one session of the two tests over candidates whose gradient norms spread over
/// [α, α + spread], an α-SOSP last.
SelectionSession::Result selection(const SelectionSession& p, std::uint64_t seed) {
  const double m = p.records, epsilon = p.epsilon, spread = p.spread;
  const StationaritySpec spec{.epsilon = epsilon,
                              .gradient_scale = p.alpha,
                              .curvature_scale = std::sqrt(p.alpha),
                              .gradient_limit = p.lipschitz,
                              .hessian_limit = p.smoothness,
                              .form = SelectionForm::two_tests,
                              .candidates = p.candidates,
                              .failure = p.failure};
  const auto tests = plan_stationarity(spec, m);
  Stream stream = stream_of(seed);
  std::vector<double> thresholds;
  for (const ThresholdTest& t : tests)
    thresholds.push_back(t.threshold + t.threshold_scale() * stream.laplace());
  for (Index k = 0; k < spec.candidates; ++k) {
    const bool good = k + 1 == spec.candidates;
    const double excess = good ? 0.0 : spread * stream.uniform();
    const std::array<double, 2> values{spec.gradient_scale + excess, spec.curvature_scale};
    bool yes = true;
    for (std::size_t i = 0; i < tests.size(); ++i)
      yes = values[i] + tests[i].question_scale() * stream.laplace() <= thresholds[i] && yes;
    if (yes) return {.accepted = true, .excess = excess};
  }
  return {.accepted = false, .excess = 0.0};
}

/// Theorem 4.6, α₂: sessions of the two tests on m records of P, over candidates whose gradients on
/// the population have norms α + e, e falling from `spread` by equal ratios to `spread`/10⁶, and
/// one of α last. Each candidate's gradient on the records is off by the mean of m signs times G/√d
/// in each coordinate; its curvature is far from the threshold. The excess e of what is accepted.
PopulationSelection::Result population_selection(const PopulationSelection& p, std::uint64_t seed) {
  const auto m = p.records, d = p.dimension;
  const double spread = p.spread, alpha = p.alpha, G = p.lipschitz;
  const StationaritySpec spec{.epsilon = p.epsilon,
                              .gradient_scale = alpha,
                              .curvature_scale = 1,
                              .gradient_limit = G,
                              .hessian_limit = 1,
                              .form = SelectionForm::two_tests,
                              .candidates = p.candidates,
                              .failure = p.failure};
  const ThresholdTest test = plan_stationarity(spec, static_cast<double>(m)).front();
  Stream stream = stream_of(seed);
  std::vector<double> excesses;
  for (std::size_t s = 0; s < p.sessions; ++s) {
    const double threshold = test.threshold + test.threshold_scale() * stream.laplace();
    for (Index k = 0; k < spec.candidates; ++k) {
      const bool good = k + 1 == spec.candidates;
      const double share = static_cast<double>(k) / static_cast<double>(spec.candidates);
      const double excess = good ? 0 : spread * std::pow(1e-6, share);
      double squared = 0;
      for (Index j = 0; j < d; ++j) {
        const double heads = static_cast<double>(stream.binomial(m, 0.5)) / static_cast<double>(m);
        const double off = G / std::sqrt(static_cast<double>(d)) * (2 * heads - 1);
        squared += std::pow(off + (j == 0 ? alpha + excess : 0), 2);
      }
      if (std::sqrt(squared) + test.question_scale() * stream.laplace() > threshold) continue;
      excesses.push_back(excess);
      break;
    }
  }
  if (excesses.empty()) return {.accepted = 0, .mean = 0, .quantile = 0};
  const auto accepted = excesses.size();
  double sum = 0;
  for (const double e : excesses) sum += e;
  const auto place = static_cast<std::size_t>((1 - spec.failure) * static_cast<double>(accepted));
  std::ranges::nth_element(excesses, excesses.begin() + static_cast<std::ptrdiff_t>(place));
  return {.accepted = static_cast<double>(accepted) / static_cast<double>(p.sessions),
          .mean = sum / static_cast<double>(accepted),
          .quantile = excesses[place]};
}

/// Claim 4.4: the least ζ at which the tail of an oracle's error is at most 2 exp(−t²/(2ζ²)), over
/// the claimed one with the constant 1, from `draws` draws, as far as 20 of them reach. Means of b
/// vectors of norm `limit` and mean 0, all coordinates of random sign or one coordinate alone, plus
/// Gaussian noise of deviation σ, √d σ = noise · limit/√b. For O₂ the limit is that of a unit move.
OracleTail::Result oracle_tail(const OracleTail& p, std::uint64_t seed) {
  const auto d = p.dimension, b = p.batch;
  const double root_b = std::sqrt(static_cast<double>(b)),
               root_d = std::sqrt(static_cast<double>(d));
  Stream stream = stream_of(seed);
  std::vector<double> norms;
  Vector error(d);
  for (std::size_t k = 0; k < p.draws; ++k) {
    error.setZero();
    for (Index j = 0; j < (p.one_coordinate ? 1 : d); ++j)
      error[j] = (p.one_coordinate ? 1 : 1 / root_d) *
                 (2 * static_cast<double>(stream.binomial(b, 0.5)) / static_cast<double>(b) - 1);
    stream.add_normal(p.noise / root_b / root_d, error);
    norms.push_back(error.norm());
  }
  std::ranges::sort(norms, std::greater<>());
  double needed = 0;
  for (std::size_t k = 20; k < p.draws; ++k) {
    const double tail = static_cast<double>(k) / static_cast<double>(p.draws);
    needed = std::max(needed, norms[k - 1] / std::sqrt(2 * std::log(2 / tail)));
  }
  const double claimed = (std::sqrt(std::log(static_cast<double>(d))) + p.noise) / root_b;
  return {.needed = needed / claimed};
}

/// Lemma 4.5 at one random point of cosine-saddle, a = 1, s = 1/2: what m records move gradient and
/// Hessian by. With q_j = (1/m) Σ_i 1{z_ij = 1} − 1/2 the gaps are −2 q_j sin s cos x_j and
/// 2 q_j sin s sin x_j.
Concentration::Result concentration(const Concentration& p, std::uint64_t seed) {
  const auto d = p.dimension, m = p.records;
  Stream stream = stream_of(seed);
  Vector x(d);
  for (double& v : x) v = 2.0 * std::numbers::pi * stream.uniform();
  std::vector<double> gradient, hessian;
  for (std::size_t k = 0; k < p.draws; ++k) {
    double sum = 0, largest = 0;
    for (Index j = 0; j < d; ++j) {
      const double q = static_cast<double>(stream.binomial(m, 0.5)) / static_cast<double>(m) - 0.5;
      const double gap = 2.0 * q * std::sin(0.5);
      sum += std::pow(gap * std::cos(x[j]), 2);
      largest = std::max(largest, std::abs(gap * std::sin(x[j])));
    }
    gradient.push_back(std::sqrt(sum));
    hessian.push_back(largest);
  }
  const auto quantile = [](std::vector<double> v) {
    const auto place = v.begin() + static_cast<std::ptrdiff_t>(v.size() * 95 / 100);
    std::ranges::nth_element(v, place);
    return *place;
  };
  return {.gradient = quantile(gradient), .hessian = quantile(hessian)};
}

/// The loss of the sampler's test: f_i(x) = 2 sin(3x + 0.3 i), i = 0..4, on [-1, 1].
class SineLoss final : public SampledLoss {
 public:
  static constexpr Index n = 5;
  Index count() const override { return n; }
  double one(Index i, ConstVectorRef x) override {
    return 2.0 * std::sin(3.0 * x[0] + 0.3 * static_cast<double>(i));
  }
  double mean(ConstVectorRef x) override {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += one(i, x);
    return sum / static_cast<double>(n);
  }
};

/// Lemma D.2: chains that start in the target's law stay there if every round is exact. β = 1,
/// βG = 6, βμ = 1/2; h = `scaled_step`/36.
Sampler::Result sampler(const Sampler& p, std::uint64_t seed) {
  const double scaled = p.scaled_step;
  const GibbsLaw law{.inverse_temperature = 1.0,
                     .regularizer = 0.5,
                     .domain = Domain::box(1.0),
                     .bound = 2.0,
                     .method = GibbsMethod::stochastic,
                     .step = scaled / 36.0,
                     .rounds = p.rounds};
  AlternateSampler sampler(law);
  SineLoss loss;
  constexpr int nodes = 4000;
  std::vector<double> mass(nodes);
  Vector x(1);
  const auto node = [](int k) { return -1.0 + (k + 0.5) * 2.0 / nodes; };
  double total = 0, mean = 0, second = 0;
  for (int k = 0; k < nodes; ++k) {
    x[0] = node(k);
    const double w = std::exp(-loss.mean(x) - 0.25 * x[0] * x[0]);
    total += w;
    mean += w * x[0];
    second += w * x[0] * x[0];
    mass[static_cast<std::size_t>(k)] = total;
  }
  mean /= total;
  second /= total;
  Stream stream = stream_of(seed);
  double s1 = 0, s2 = 0, s4 = 0;
  for (int c = 0; c < p.chains; ++c) {
    const auto at = std::ranges::lower_bound(mass, total * stream.uniform());
    x[0] = node(static_cast<int>(at - mass.begin()));
    for (int t = 0; t < p.rounds; ++t) sampler.round(loss, stream, x);
    s1 += x[0];
    s2 += x[0] * x[0];
    s4 += std::pow(x[0], 4);
  }
  const double c = p.chains, m1 = s1 / c, m2 = s2 / c;
  const EstimateCounts& counts = sampler.counts();
  const auto trials = static_cast<double>(counts.estimates);
  return {.acceptance = c * p.rounds / trials,
          .differences = static_cast<double>(counts.differences) / trials,
          .out_of_range = static_cast<double>(counts.out_of_range) / trials,
          .mean_errors = (m1 - mean) / std::sqrt((m2 - m1 * m1) / c),
          .second_errors = (m2 - second) / std::sqrt((s4 / c - m2 * m2) / c),
          .mean = m1,
          .target_mean = mean};
}

/// φ of multi-well, one coordinate, on the middles of `cells` cells of [-h, h].
struct Well {
  Vector u, value;
  double half_width, slope;  ///< slope: sup |φ'| on the nodes
};
Well well(Index cells) {
  const auto family = find_problem("multi-well");
  const Problem problem = family->make({.records = 2, .dimension = 1});
  Well w{.u = Vector(cells),
         .value = Vector(cells),
         .half_width = problem.facts.domain.radius,
         .slope = 0};
  Vector x(1), g(1);
  for (Index k = 0; k < cells; ++k) {
    x[0] = w.u[k] =
        w.half_width * ((2.0 * static_cast<double>(k) + 1.0) / static_cast<double>(cells) - 1.0);
    w.value[k] = problem.population->value(x);
    problem.population->gradient(x, g);
    w.slope = std::max(w.slope, std::abs(g[0]));
  }
  return w;
}

/// Theorem D.1: the largest ratio of KL(π_{t+1}, π) to KL(π_t, π) over t, for exact rounds on a
/// grid of multi-well with βGD = `exponent` and μ = d/(D²β).
Divergence::Result divergence(const Divergence& p, std::uint64_t) {
  const Well w = well(p.cells);
  const double D = 2.0 * w.half_width, beta = p.exponent / (w.slope * D), mu = 1.0 / (D * D * beta);
  const double h = 0.2 / std::pow(beta * w.slope, 2);
  const Vector log_target = -beta * w.value - 0.5 * beta * mu * w.u.cwiseAbs2();
  Vector target = log_target.array().exp();
  target /= target.sum();
  // y = x + sqrt(h) N(0, 1) leaves K; 5 deviations beyond it hold all but 1e-6 of it.
  const double width = D / static_cast<double>(p.cells);
  const auto margin = static_cast<Index>(std::ceil(5.0 * std::sqrt(h) / width));
  const Index wide = p.cells + 2 * margin;
  Eigen::MatrixXd kernel(wide, p.cells);  // of y given x
  for (Index i = 0; i < wide; ++i)
    for (Index k = 0; k < p.cells; ++k) {
      const double y = w.u[0] + static_cast<double>(i - margin) * width;
      kernel(i, k) = std::exp(-std::pow(y - w.u[k], 2) / (2.0 * h));
    }
  for (Index k = 0; k < p.cells; ++k) kernel.col(k) /= kernel.col(k).sum();
  const Vector normaliser = kernel * target;
  const auto kl = [&](const Vector& law) {
    double sum = 0;
    for (Index k = 0; k < p.cells; ++k)
      if (law[k] > 0) sum += law[k] * std::log(law[k] / target[k]);
    return sum;
  };
  Vector law = (-0.5 * beta * mu * w.u.cwiseAbs2()).array().exp();
  law /= law.sum();
  double before = kl(law), largest = 0;
  const double start = before;
  int t = 0;
  // Below 1e-12 the rounding of the grid sets the ratio.
  for (; t < p.rounds && before > 1e-12; ++t) {
    const Vector y = kernel * law;
    law = target.cwiseProduct(kernel.transpose() * y.cwiseQuotient(normaliser));
    const double after = kl(law);
    largest = std::max(largest, after / before);
    before = after;
  }
  const double sobolev = std::exp(p.exponent) / (beta * mu);
  return {.largest_ratio = largest,
          .claimed_ratio = std::pow(1.0 + h / sobolev, -2),
          .rounds = t,
          .first = start,
          .last = before};
}

/// Theorem D.1 where it is attained: exact rounds from N(shift, 1) towards N(0, 1), whose constant
/// C_LSI is 1, on a grid of [-16, 16].
GaussianDivergence::Result gaussian_divergence(const GaussianDivergence& p, std::uint64_t) {
  const double shift = p.shift, h = p.step;
  constexpr double reach = 16;
  const double width = 2 * reach / static_cast<double>(p.cells);
  const auto node = [&](Index k) { return -reach + (static_cast<double>(k) + 0.5) * width; };
  Vector target(p.cells), law(p.cells);
  for (Index k = 0; k < p.cells; ++k) {
    target[k] = std::exp(-0.5 * node(k) * node(k));
    law[k] = std::exp(-0.5 * std::pow(node(k) - shift, 2));
  }
  target /= target.sum();
  law /= law.sum();
  // The law of y given x. No x of noticeable mass sends y beyond the grid.
  Eigen::MatrixXd kernel(p.cells, p.cells);
  for (Index i = 0; i < p.cells; ++i)
    for (Index k = 0; k < p.cells; ++k)
      kernel(i, k) = width / std::sqrt(2 * std::numbers::pi * h) *
                     std::exp(-std::pow(node(i) - node(k), 2) / (2 * h));
  const Vector normaliser = kernel * target;
  const auto kl = [&] {
    double sum = 0;
    for (Index k = 0; k < p.cells; ++k)
      if (law[k] > 0) sum += law[k] * std::log(law[k] / target[k]);
    return sum;
  };
  double before = kl(), least = 1, largest = 0;
  for (int t = 0; t < p.rounds; ++t) {
    Vector ratio = kernel * law;
    for (Index i = 0; i < p.cells; ++i) ratio[i] = normaliser[i] > 0 ? ratio[i] / normaliser[i] : 0;
    law = target.cwiseProduct(kernel.transpose() * ratio);
    const double after = kl();
    least = std::min(least, after / before);
    largest = std::max(largest, after / before);
    before = after;
  }
  return {.least_ratio = least,
          .largest_ratio = largest,
          .claimed_ratio = std::pow(1.0 + h, -2),
          .last = before};
}

/// Theorem 5.9: how often the smallest frequency of k coins is not that of the biased one.
CoinSelection::Result coin_selection(const CoinSelection& p, std::uint64_t seed) {
  const auto n = p.records, k = p.coins;
  const double gap = p.bias * std::sqrt(std::log(static_cast<double>(k)) / static_cast<double>(n));
  Stream stream = stream_of(seed);
  double wrong = 0;
  for (int t = 0; t < p.draws; ++t) {
    const Index biased = stream.binomial(n, 0.5 - gap);
    Index least = n + 1, ties = 0;
    for (Index j = 1; j < k; ++j) {
      const Index heads = stream.binomial(n, 0.5);
      if (heads < least) ties = 0;
      least = std::min(least, heads);
      ties += heads == least;
    }
    if (least < biased)
      wrong += 1;
    else if (least == biased)
      wrong += static_cast<double>(ties) / static_cast<double>(ties + 1);
  }
  return {.wrong = wrong / p.draws, .excess = gap * wrong / p.draws};
}

/// Theorem 5.8 where its statistical part is attained: 2^d points, the corners of a cube, and
/// records that ask one random coordinate each. A record's loss at the better side is a coin of
/// mean (1 − h)/2, at the other one its opposite; h = bias √(d/n). The law of the mechanism is a
/// product, and the population risk is h times the mean chance of a coordinate to end on the wrong
/// side.
CornerMechanism::Result corner_mechanism(const CornerMechanism& p, std::uint64_t seed) {
  const auto n = p.records, d = p.dimension;
  const double epsilon = p.epsilon;
  const double h = p.bias * std::sqrt(static_cast<double>(d) / static_cast<double>(n));
  Stream stream = stream_of(seed);
  double wrong = 0;
  for (int t = 0; t < p.draws; ++t) {
    const Index asked = stream.binomial(n, 1.0 / static_cast<double>(d));
    const Index heads = stream.binomial(asked, (1 - h) / 2);
    const auto more = static_cast<double>(2 * heads - asked);  // loss of the better side
    wrong += 1 / (1 + std::exp(-epsilon * more / 2));
  }
  return {.wrong = wrong / p.draws, .risk = h * wrong / p.draws};
}

}  // namespace

std::vector<ProbeEntry> ganesh_2023_probes() {
  return {
      probe_entry<escape>(),         probe_entry<selection>(),
      probe_entry<concentration>(),  probe_entry<sampler>(),
      probe_entry<divergence>(),     probe_entry<gaussian_divergence>(),
      probe_entry<coin_selection>(), probe_entry<corner_mechanism>(),
      probe_entry<oracle_tail>(),    probe_entry<population_selection>(),
  };
}

}  // namespace dpsosp
