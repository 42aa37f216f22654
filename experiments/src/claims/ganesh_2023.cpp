// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/probe.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/ganesh_2023/exponential_sampler.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"
#include "dpsosp/privacy/accounting/conversion.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/problems/problem.hpp"
#include "ganesh_2023_runs.hpp"
#include "predicates.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

constexpr double delta = 1e-6;

Verdict holds_if(bool condition) { return condition ? Verdict::holds : Verdict::fails; }

std::vector<json> no_jobs(Scale) { return {}; }

struct MeanAndError {
  double mean = 0, error = 0;
};
MeanAndError mean_of(const std::vector<double>& v) {
  MeanAndError m;
  const auto n = static_cast<double>(v.size());
  for (const double x : v) m.mean += x / n;
  for (const double x : v) m.error += (x - m.mean) * (x - m.mean) / (n - 1) / n;
  m.error = std::sqrt(m.error);
  return m;
}

ProblemNumbers unit_problem(double n, double d) {
  return {.n = n, .d = d, .G = 1, .M = 1, .rho = 1, .B = 1};
}

double phi_of(double epsilon) { return rho_for(epsilon, delta, Conversion::bs); }

// ----------------------------------------------------------------------- formulas

Finding cap_covers_escapes(const Runs&, Scale) {
  bool covered = true;
  std::vector<std::string> words;
  for (const double n : {1e4, 1e6, 1e8}) {
    const auto s = ganesh_2023::practical_empirical(unit_problem(n, 16), phi_of(1) / 2);
    const double escapes = static_cast<double>(s.steps) / static_cast<double>(s.escape_steps);
    const double cap = std::ceil(4.0 / s.drift_threshold);
    covered = covered && escapes <= cap;
    words.push_back(fmt::format("n = {:g}: {:.1f} escapes, cap {:g}", n, escapes, cap));
  }
  return {.verdict = holds_if(covered), .measured = fmt::format("{}", fmt::join(words, "; "))};
}

Finding fresh_rate(const Runs&, Scale) {
  std::vector<double> n, alpha;
  for (double x = 1e10; x <= 1.1e13; x *= 10) {
    n.push_back(x);
    alpha.push_back(
        ganesh_2023::practical_empirical(unit_problem(x, 16), phi_of(1) / 2, true).alpha);
  }
  const double slope = power(n, alpha);
  return {.verdict = holds_if(std::abs(slope + 2.0 / 3) <= 0.02),
          .measured = fmt::format("alpha ~ n^{:.4f} over 1e10..1e13", slope),
          .reason = "every escape's call is counted and paid for",
          .value = slope};
}

Finding fresh_population(const Runs&, Scale) {
  const auto slope = [](double epsilon) {
    std::vector<double> n, alpha;
    for (double x = 1e12; x <= 1.1e16; x *= 10) {
      n.push_back(x);
      alpha.push_back(
          ganesh_2023::practical_population(unit_problem(x, 16), x / 2, phi_of(epsilon) / 2, true)
              .alpha);
    }
    return power(n, alpha);
  };
  const double small = slope(1e-4), large = slope(100);
  return {
      .verdict = holds_if(std::abs(small + 3.0 / 7) <= 0.02 && std::abs(large + 1.0 / 3) <= 0.02),
      .measured =
          fmt::format("alpha ~ n^{:.4f} at eps = 1e-4, n^{:.4f} at eps = 100", small, large),
      .reason = std::abs(small + 3.0 / 7) <= 0.02 && std::abs(large + 1.0 / 3) > 0.02
                    ? "the statistical part fails; the private part shows no difference here"
                    : "",
      .value = small};
}

/// Replace-one zCDP of a query of sensitivity 2c/b with noise of deviation σ.
double charge(double c, double b, double sigma) { return std::pow(2.0 * c / b / sigma, 2) / 2.0; }

Finding empirical_privacy(const Runs&, Scale) {
  const double n = 1e6, phi = 0.02, T = 1e5, T1 = 400;
  const auto spent = [&](double factor) {
    return T1 * charge(1, n, factor * std::sqrt(T1) / (n * std::sqrt(phi))) +
           T * charge(1, n, factor * std::sqrt(T) / (n * std::sqrt(phi)));
  };
  const double proof = spent(2) / phi, text = spent(1) / phi;
  return {.verdict = holds_if(proof <= 0.5 + 1e-9 && text <= 0.5 + 1e-9),
          .measured =
              fmt::format("under replace-one {:.3f} phi with the proof's noise, {:.3f} phi with "
                          "the main text's, instead of phi/2; where a record is zeroed out, a "
                          "quarter: {:.3f} and {:.3f} phi",
                          proof,
                          text,
                          proof / 4,
                          text / 4)};
}

Finding population_privacy(const Runs&, Scale) {
  const double phi = 0.02;
  const auto t = ganesh_2023::theorem_4_6_at(unit_problem(1e8, 16), phi, 0.02, 0.02);
  const double first = charge(1, t.refresh_batch, t.refresh_deviation) / phi;
  const double second = charge(1, t.increment_batch, t.increment_deviation) / phi;
  return {.verdict = holds_if(std::max(first, second) <= 0.5 + 1e-12),
          .measured = fmt::format(
              "under replace-one a record of O1 pays {:.3f} phi, one of O2 {:.3f} phi; where a "
              "record is zeroed out, {:.3f} and {:.3f} phi",
              first,
              second,
              first / 4,
              second / 4)};
}

Finding selection_privacy(const Runs&, Scale) {
  double total = 0;
  for (const ThresholdTest& t : plan_stationarity({.epsilon = 1,
                                .gradient_scale = 0.1,
                                .curvature_scale = 0.3,
                                .gradient_limit = 1,
                                .hessian_limit = 2,
                                .form = SelectionForm::two_tests,
                                .scales = SelectionScales::zero_out,
                                .candidates = 100,
                                .failure = 0.1},
                                                  5000))
    total += t.true_epsilon();
  return {
      .verdict = holds_if(total <= 1.0 + 1e-12),
      .measured = fmt::format("a session costs {:.6f} epsilon under replace-one, {:.6f} where a "
                              "record is zeroed out",
                              total,
                              total / 2)};
}

Finding risk_privacy(const Runs&, Scale) {
  double largest = 0;
  for (const double epsilon : {0.5, 1.0, 4.0})
    for (const double d : {1.0, 2.0, 4.0})
      for (double n = 1e2; n <= 1.1e8; n *= 10) {
        const double beta = ganesh_2023::inverse_temperature_of(
            ganesh_2023::BetaMode::printed, n, d, 1, 1, {.epsilon = epsilon, .delta = delta}, 12);
        largest = std::max(largest, 2.0 * beta / n / epsilon);
      }
  return {.verdict = holds_if(largest <= 1.0),
          .measured = fmt::format("2 beta G D/n is at most {:.4f} epsilon", largest)};
}

Finding rounds_of_units(const Runs&, Scale) {
  // Printed: C_LSI/(h G D) (βGD + 2 ln(1/δ)), with h = 1/((βG)² ln(2T/δ)) and T itself in h; with f
  // ten times as large G is, and β a tenth, so that βG and h stay.
  const auto rounds = [](double G) {
    const double beta = 2.0 / G, D = 2.0, mu = 1.0 / (D * D * beta);
    const double sobolev = ganesh_2023::sobolev_constant(beta, mu, G, D);
    const double step = ganesh_2023::sampler_steps(beta, mu, G, D, delta, 1).step;
    return sobolev / (step * G * D) * (beta * G * D + 2.0 * std::log(1.0 / delta));
  };
  const double ratio = rounds(10) / rounds(1);
  return {.verdict = holds_if(std::abs(ratio - 1) <= 1e-9),
          .measured = fmt::format("10 f takes {:.6g} times the rounds of f", ratio),
          .value = ratio};
}

Finding gradients_evaluated(const Runs&, Scale) {
  // T = M B/α² with α = (sqrt(68 d G M B/R_t)/n)^{2/3}, R_t two thirds of the zCDP of ε, here its
  // small-ε form ε²/(4 ln(1/δ)): the claim is about orders, not about one conversion.
  const auto total = [](double n, double d, double epsilon) {
    const double budget = epsilon * epsilon / (4.0 * std::log(1.0 / delta)) * 2.0 / 3.0;
    const double alpha = std::pow(std::sqrt(68.0 * d / budget) / n, 2.0 / 3.0);
    return n / (alpha * alpha);
  };
  const auto slope = [](const std::vector<double>& x, const std::function<double(double)>& f) {
    std::vector<double> y;
    for (const double v : x) y.push_back(f(v));
    return power(x, y);
  };
  const double in_n = slope({1e4, 1e5, 1e6, 1e7, 1e8}, [&](double n) { return total(n, 16, 1); });
  const double in_d = slope({4, 16, 64, 256}, [&](double d) { return total(1e6, d, 1); });
  const double in_epsilon =
      slope({0.1, 0.2, 0.4, 0.7, 1}, [&](double e) { return total(1e6, 16, e); });
  return {
      .verdict = holds_if(std::abs(in_n - 7.0 / 3) <= 0.05 && std::abs(in_d + 2.0 / 3) <= 0.05 &&
                          std::abs(in_epsilon - 4.0 / 3) <= 0.05),
      .measured = fmt::format(
          "by the schedule's formulas n^{:.3f}, d^{:.3f}, eps^{:.3f}", in_n, in_d, in_epsilon)};
}

Finding against_liu_talwar(const Runs&, Scale) {
  const double d = 16;
  int as_said = 0, places = 0;
  std::vector<std::string> words;
  for (const auto& [n, epsilon] : {std::pair{1e10, 1e-2},
                                   std::pair{1e12, 1e-2},
                                   std::pair{1e14, 1e-2},
                                   std::pair{1e14, 1e-4},
                                   std::pair{1e16, 1e-4}}) {
    const ProblemNumbers f = unit_problem(n, d);
    const double phi = phi_of(epsilon);
    const double ratio = ganesh_2023::practical_population(f, n, phi).alpha /
                         liu_talwar_2025::solve(f, phi, n).alpha;
    const bool private_regime = std::sqrt(d) / epsilon > std::pow(n, 2.0 / 9);
    ++places;
    as_said += private_regime == (ratio > 1);
    words.push_back(fmt::format("{:.3f} (n = {:g}, eps = {:g}{})",
                                ratio,
                                n,
                                epsilon,
                                private_regime ? ", private regime" : ""));
  }
  return {.verdict = holds_if(as_said == places),
          .measured = fmt::format("alpha of Stochastic Spider over that of adaptive batches: {}",
                                  fmt::join(words, "; ")),
          .reason = as_said == places
                        ? ""
                        : fmt::format("{} of {} as said: logarithms and constants move the "
                                      "crossing, and the tree's depth flattens the slope",
                                      as_said,
                                      places)};
}

// ----------------------------------------------------------------------- quadrature

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
  double mean(double beta,
              double mu,
              double tilt,
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

Finding gibbs_printed(const Runs&, Scale) {
  // f = Gx on [-D/2, D/2] in units of GD: E - min = 1/b - 1/(e^b - 1), b = βGD.
  bool below = true;
  std::vector<std::string> words;
  for (const double b : exponents) {
    const double excess = 1.0 - b / std::expm1(b), bound = std::log(b);
    below = below && excess <= bound;
    words.push_back(
        fmt::format("beta G D = {:g}: {:.3f}/beta, bound {:.3f}/beta", b, excess, bound));
  }
  return {.verdict = holds_if(below), .measured = fmt::format("{}", fmt::join(words, "; "))};
}

Finding gibbs_repaired(const Runs&, Scale) {
  double largest = 0;
  for (const double b : exponents)
    largest = std::max(largest, (1.0 - b / std::expm1(b)) / (2.0 + std::log(b)));
  const OneDimension f = multi_well(20000);
  const double least = std::ranges::min(f.loss);
  for (const double d : {1.0, 2.0, 3.0})
    for (const double b : exponents)
      for (const bool regularised : {false, true}) {
        // F = (1/sqrt d) Σ φ(x_j): the law factorises, with β/sqrt(d) on each coordinate.
        const double G = f.slope(), D = 2.0 * f.half_width * std::sqrt(d), beta = b / (G * D);
        const double mu = regularised ? d / (D * D * beta) : 0.0;
        const double root = std::sqrt(d);
        const double excess = root * f.mean(beta / root, mu * root, 0.0, [&](std::size_t k) {
          return f.loss[k] - least;
        });
        largest = std::max(largest, excess / ganesh_2023::gibbs_excess(beta, mu, d, G, D));
      }
  return {
      .verdict = holds_if(largest <= 1.0),
      .measured = fmt::format("the excess is at most {:.3f} of the bound over 35 cases", largest),
      .value = largest};
}

Finding gibbs_stability(const Runs&, Scale) {
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
  const double slope = power(n, gap);
  return {.verdict = holds_if(below && std::abs(slope + 1) <= 0.1),
          .measured = fmt::format("gap {:.3g} at n = 30, {:.3g} at n = 1000, ~ n^{:.4f}; {} below "
                                  "2 beta (G D)^2/n too",
                                  gap.front(),
                                  gap.back(),
                                  slope,
                                  sharper ? "it is" : "it is not"),
          .value = slope};
}

// ----------------------------------------------------------------------- probes

std::vector<json> probes(std::string_view name, const json& parameters, std::uint64_t seeds) {
  std::vector<json> jobs;
  for (std::uint64_t s = 0; s < seeds; ++s) jobs.push_back(describe_probe(name, parameters, s));
  return jobs;
}

std::vector<double> values(const Runs& runs, const std::vector<json>& jobs, const char* name) {
  std::vector<double> v;
  for (const json& job : jobs) {
    const StoredRun& run = runs.at(job);
    if (run.status != RunStatus::finished) continue;
    const json& value = run.result.at(name);
    v.push_back(value.is_boolean() ? double(value.get<bool>()) : from_json_number(value));
  }
  return v;
}

double share(const Runs& runs, const std::vector<json>& jobs, const char* name) {
  return mean_of(values(runs, jobs, name)).mean;
}

std::vector<json> escape_jobs(Scale) {
  std::vector<json> jobs;
  for (const bool adversarial : {false, true})
    for (json& job : probes(
             "ganesh-2023/escape",
             {{"dimension", 16}, {"gamma", 0.01}, {"curvature", 0.2}, {"adversarial", adversarial}},
             100))
      jobs.push_back(std::move(job));
  return jobs;
}

Finding adversarial_escape(const Runs& runs, Scale scale) {
  const auto jobs = escape_jobs(scale);
  const auto half = jobs.begin() + 100;
  const double benign = share(runs, {jobs.begin(), half}, "left");
  const double adversarial = share(runs, {half, jobs.end()}, "left");
  return {.verdict = holds_if(benign >= 0.95 && adversarial >= 0.95),
          .measured =
              fmt::format("{:.0f} of 100 seeds leave under the cancelling error, {:.0f} under a "
                          "frozen Gaussian one",
                          100 * adversarial,
                          100 * benign)};
}

std::vector<json> descent_jobs(Scale) {
  std::vector<json> jobs;
  for (const char* problem : {"cosine-saddle", "quartic-saddle", "double-well"})
    jobs.push_back(
        describe_probe("ganesh-2023/descent", {{"problem", problem}, {"pairs", 3400}}, 0));
  return jobs;
}

Finding descent_printed(const Runs& runs, Scale scale) {
  const double first = std::ranges::max(values(runs, descent_jobs(scale), "first"));
  const double second = std::ranges::max(values(runs, descent_jobs(scale), "second"));
  return {
      .verdict = holds_if(first <= 1e-12 && second <= 1e-12),
      .measured = fmt::format("over 10200 pairs, in units of eta gamma^2: first inequality by at "
                              "least {:.3f}, second by at least {:.3f}",
                              -first,
                              -second)};
}

Finding descent_repaired(const Runs& runs, Scale scale) {
  const double worst = std::ranges::max(values(runs, descent_jobs(scale), "repaired"));
  return {.verdict = holds_if(worst <= 1e-12),
          .measured = fmt::format("by at least {:.3f} eta gamma^2 over 10200 pairs", -worst)};
}

json selection_parameters(double m, double epsilon) {
  return {{"records", m},
          {"epsilon", epsilon},
          {"spread", 0.5},
          {"alpha", 0.1},
          {"lipschitz", 1},
          {"smoothness", 2},
          {"candidates", 100},
          {"failure", 0.1}};
}
constexpr std::uint64_t selection_seeds = 2000;

std::vector<json> selection_jobs(Scale) {
  std::vector<json> jobs;
  for (const auto& [m, epsilon] : {std::pair{5000.0, 1.0}, {10000.0, 1.0}, {5000.0, 2.0}})
    for (json& job :
         probes("ganesh-2023/selection", selection_parameters(m, epsilon), selection_seeds))
      jobs.push_back(std::move(job));
  return jobs;
}

Finding selection_accuracy(const Runs& runs, Scale) {
  const auto session = [&](double m, double epsilon) {
    const auto jobs =
        probes("ganesh-2023/selection", selection_parameters(m, epsilon), selection_seeds);
    return std::pair(values(runs, jobs, "accepted"), values(runs, jobs, "excess"));
  };
  const auto [accepted, excess] = session(5000, 1);
  const double lg = std::log(2.0 * 100 / 0.1), allowed = 32.0 * lg * 2.0 / 5000;
  double failures = 0;
  for (std::size_t k = 0; k < accepted.size(); ++k)
    failures += accepted[k] == 0.0 || excess[k] > allowed;
  const auto n = static_cast<double>(accepted.size());
  // One-sided at level 1e-3 under a failure rate of 0.1.
  const double most = 0.1 * n + 3.09 * std::sqrt(0.09 * n);
  const double base = mean_of(excess).mean;
  const double by_m = mean_of(session(10000, 1).second).mean / base;
  const double by_epsilon = mean_of(session(5000, 2).second).mean / base;
  return {.verdict = holds_if(failures <= most && std::abs(by_m / 0.5 - 1) <= 0.05 &&
                              std::abs(by_epsilon / 0.5 - 1) <= 0.05),
          .measured =
              fmt::format("{:.0f} of {:.0f} sessions fail; mean error {:.4f} of {:.4f} allowed; "
                          "times {:.3f} at twice m, {:.3f} at twice epsilon",
                          failures,
                          n,
                          base,
                          allowed,
                          by_m,
                          by_epsilon)};
}

constexpr std::array concentration_records{100, 1000, 10000, 100000, 1000000};
json concentration_parameters(int m) { return {{"dimension", 10}, {"records", m}, {"draws", 200}}; }
std::vector<json> concentration_jobs(Scale) {
  std::vector<json> jobs;
  for (const int m : concentration_records)
    for (json& job : probes("ganesh-2023/concentration", concentration_parameters(m), 20))
      jobs.push_back(std::move(job));
  return jobs;
}

Finding concentration(const Runs& runs, Scale) {
  std::vector<double> m, gradient, hessian;
  double largest = 0;
  for (const int records : concentration_records) {
    const auto jobs = probes("ganesh-2023/concentration", concentration_parameters(records), 20);
    const auto g = values(runs, jobs, "gradient"), h = values(runs, jobs, "hessian");
    m.push_back(records);
    gradient.push_back(mean_of(g).mean);
    hessian.push_back(mean_of(h).mean);
    // cosine-saddle at d = 10: G = sqrt(10), M = 1.
    const double root = std::sqrt(std::log(200.0) / records);
    largest = std::max({largest,
                        std::ranges::max(g) / (4.0 * std::sqrt(10.0) * root),
                        std::ranges::max(h) / (4.0 * root)});
  }
  const double sg = power(m, gradient), sh = power(m, hessian);
  return {.verdict =
              holds_if(std::abs(sg + 0.5) <= 0.05 && std::abs(sh + 0.5) <= 0.05 && largest <= 1.0),
          .measured =
              fmt::format("gradient ~ m^{:.4f}, Hessian ~ m^{:.4f}; at most {:.3f} of the bounds",
                          sg,
                          sh,
                          largest)};
}

std::vector<json> sampler_jobs(Scale) {
  const double small = 0.2 / std::log(2000.0 / 1e-6);
  std::vector<json> jobs;
  for (const double step : {small, 0.72})
    jobs.push_back(describe_probe(
        "ganesh-2023/sampler", {{"scaled_step", step}, {"chains", 20000}, {"rounds", 50}}, 0));
  return jobs;
}

Finding sampler(const Runs& runs, Scale scale) {
  const auto jobs = sampler_jobs(scale);
  const auto at = [&](const char* name, std::size_t k) {
    return values(runs, {jobs[k]}, name).at(0);
  };
  const double acceptance = at("acceptance", 0), differences = at("differences", 0);
  const bool good = std::abs(acceptance - 0.5) <= 0.05 &&
                    std::abs(differences / std::exp(1.0) - 1) <= 0.02 &&
                    std::abs(at("mean_errors", 0)) <= 4 && std::abs(at("second_errors", 0)) <= 4 &&
                    std::abs(at("mean_errors", 1)) > 10;
  return {
      .verdict = holds_if(good),
      .measured = fmt::format(
          "small step: acceptance {:.4f}, {:.4f} differences a trial, out of range {:.2g}, moments "
          "off by "
          "{:.1f} and {:.1f} standard errors; h (beta G)^2 = 0.72: out of range {:.3f}, mean off "
          "by {:.0f}",
          acceptance,
          differences,
          at("out_of_range", 0),
          at("mean_errors", 0),
          at("second_errors", 0),
          at("out_of_range", 1),
          at("mean_errors", 1))};
}

std::vector<json> divergence_jobs(Scale) {
  std::vector<json> jobs;
  for (const double b : {1.0, 2.0, 4.0})
    jobs.push_back(describe_probe(
        "ganesh-2023/divergence", {{"cells", 400}, {"rounds", 50}, {"exponent", b}}, 0));
  return jobs;
}

Finding divergence(const Runs& runs, Scale scale) {
  bool good = true;
  std::vector<std::string> words;
  for (const json& job : divergence_jobs(scale)) {
    const double largest = values(runs, {job}, "largest_ratio").at(0);
    const double claimed = values(runs, {job}, "claimed_ratio").at(0);
    good = good && largest <= claimed * (1 + 1e-6);
    words.push_back(
        fmt::format("beta G D = {:g}: a factor of at most {:.4f} a round, claimed {:.6f}",
                    job.at("parameters").at("exponent").get<double>(),
                    largest,
                    claimed));
  }
  return {.verdict = holds_if(good), .measured = fmt::format("{}", fmt::join(words, "; "))};
}

std::vector<json> net_jobs(Scale) {
  std::vector<json> jobs;
  for (const auto& [d, n] : {std::pair{1, 1000}, {1, 10000}, {2, 1000}})
    for (json& job :
         probes("ganesh-2023/net", {{"dimension", d}, {"records", n}, {"epsilon", 1}}, 20))
      jobs.push_back(std::move(job));
  return jobs;
}

Finding net(const Runs& runs, Scale scale) {
  const auto excess = values(runs, net_jobs(scale), "excess"),
             bound = values(runs, net_jobs(scale), "bound");
  double largest = 0;
  for (std::size_t k = 0; k < excess.size(); ++k) largest = std::max(largest, excess[k] / bound[k]);
  return {.verdict = holds_if(largest <= 1.0 && !excess.empty()),
          .measured =
              fmt::format("at most {:.3f} of the bound over {} data sets", largest, excess.size()),
          .value = largest};
}

json coin_parameters(int n, int k) {
  return {{"records", n}, {"coins", k}, {"draws", 2000}, {"bias", 0.25}};
}
std::vector<json> coin_jobs(Scale) {
  std::vector<json> jobs;
  for (const int n : {1000, 10000, 100000, 1000000})
    for (const int k : {16, 64, 256})
      jobs.push_back(describe_probe("ganesh-2023/coins", coin_parameters(n, k), 0));
  return jobs;
}

Finding coins(const Runs& runs, Scale scale) {
  double least = 1e300, largest = 0;
  for (const json& job : coin_jobs(scale)) {
    const json& p = job.at("parameters");
    const double unit =
        std::sqrt(std::log(p.at("coins").get<double>()) / p.at("records").get<double>());
    const double scaled = values(runs, {job}, "excess").at(0) / unit;
    least = std::min(least, scaled);
    largest = std::max(largest, scaled);
  }
  return {.verdict = holds_if(least >= 0.1 && largest <= 1.5 * least),
          .measured = fmt::format("excess over A sqrt(ln k/n): {:.4f} to {:.4f}", least, largest)};
}

// ----------------------------------------------------------------------- runs of mechanisms

std::vector<json> langevin_jobs_at(double n) {
  std::vector<json> jobs;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RunSpec spec;
    spec.algorithm = "wang-chen-xu-2019/dp-gld";
    spec.problem = "ripple-location";
    spec.problem_settings = {{"sampling", "whole"}};
    spec.records = static_cast<Index>(n);
    spec.dimension = 4;
    spec.seed = spec.data_seed = seed;
    jobs.push_back(describe(spec));
  }
  return jobs;
}
constexpr std::array langevin_records{1e3, 1e4, 1e5, 1e6};
std::vector<json> langevin_jobs(Scale) {
  std::vector<json> jobs;
  for (const double n : langevin_records)
    for (json& job : langevin_jobs_at(n)) jobs.push_back(std::move(job));
  return jobs;
}

std::vector<double> metrics(const Runs& runs,
                            const std::vector<json>& jobs,
                            std::string_view name) {
  std::vector<double> v;
  for (const json& job : jobs) {
    const StoredRun& run = runs.at(job);
    if (run.status != RunStatus::finished) continue;
    if (const auto value = metric_of(run.result, name)) v.push_back(*value);
  }
  return v;
}

/// Whether risk · ln n (over what else the law has) grows by at most a fifth: it falls as 1/ln n.
bool follows_logarithm(const std::vector<double>& scaled) {
  return std::ranges::max(scaled) <= 1.2 * scaled.front();
}

Finding langevin(const Runs& runs, Scale) {
  std::vector<double> scaled;
  std::vector<std::string> words;
  for (const double n : langevin_records) {
    const auto risk = metrics(runs, langevin_jobs_at(n), "output.excess_risk");
    if (risk.empty()) return {.verdict = Verdict::inconclusive, .reason = "no run finished"};
    scaled.push_back(mean_of(risk).mean * std::log(n) / 4.0);
    words.push_back(
        fmt::format("n = {:g}: risk {:.3f}, scaled {:.3f}", n, mean_of(risk).mean, scaled.back()));
  }
  const bool seen = follows_logarithm(scaled);
  return {.verdict = seen ? Verdict::holds : Verdict::inconclusive,
          .measured = fmt::format("{}", fmt::join(words, "; ")),
          .reason = seen ? ""
                         : "the diffusion time of the schedule is a constant of this suite, since "
                           "no finite one is proved; the printed rate needs one that grows with n"};
}

std::vector<json> exponential_jobs_at(double n) {
  std::vector<json> jobs;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RunSpec spec;
    spec.algorithm = "ganesh-2023/exponential-mechanism";
    spec.problem = "multi-well";
    spec.problem_settings = {{"sampling", "whole"}};
    spec.settings = {{"method", "rejection"}};
    spec.schedule = "paper";
    spec.records = static_cast<Index>(n);
    spec.dimension = 1;
    spec.seed = spec.data_seed = seed;
    jobs.push_back(describe(spec));
  }
  return jobs;
}
constexpr std::array exponential_records{1e2, 1e4, 1e6, 1e8};
std::vector<json> exponential_jobs(Scale) {
  std::vector<json> jobs;
  for (const double n : exponential_records)
    for (json& job : exponential_jobs_at(n)) jobs.push_back(std::move(job));
  return jobs;
}

Finding exponential_risk(const Runs& runs, Scale) {
  const PublicFacts facts = find_problem("multi-well")->facts({.records = 100, .dimension = 1});
  const double G = facts.constants[constant::lipschitz], D = facts.domain.diameter(1);
  const OneDimension f = multi_well(20000);
  const double least = std::ranges::min(f.loss);
  bool below = true, agree = true;
  std::vector<double> scaled;
  std::vector<std::string> words;
  for (const double n : exponential_records) {
    const MeanAndError m =
        mean_of(metrics(runs, exponential_jobs_at(n), "population.output.excess_risk"));
    const double beta = ganesh_2023::inverse_temperature_of(
        ganesh_2023::BetaMode::printed, n, 1, G, D, {.epsilon = 1, .delta = delta}, 12);
    const double mu = ganesh_2023::printed_regularizer(beta, 1, D);
    const double exact = f.mean(beta, mu, 0.0, [&](std::size_t k) { return f.loss[k] - least; });
    const double bound = ganesh_2023::gibbs_excess(beta, mu, 1, G, D);
    below = below && exact <= bound;
    agree = agree && std::abs(m.mean - exact) <= 4 * m.error;
    scaled.push_back(exact * std::log(n) / std::log(std::log(n)));
    words.push_back(fmt::format(
        "n = {:g}: {:.3f} ± {:.3f}, law {:.4f}, bound {:.2f}", n, m.mean, m.error, exact, bound));
  }
  const bool seen = follows_logarithm(scaled);
  return {.verdict = !below || !agree ? Verdict::fails
                     : seen           ? Verdict::holds
                                      : Verdict::inconclusive,
          .measured = fmt::format("{}", fmt::join(words, "; ")),
          .reason = !below   ? "the law's mean is above the bound"
                    : !agree ? "runs are more than four standard errors off the law"
                    : seen   ? ""
                             : fmt::format("the bound holds with room, so the law in it is not "
                                           "seen: risk ln n/ln ln n grows {:.2f} times",
                                         scaled.back() / scaled.front())};
}

}  // namespace

double power(const std::vector<double>& x, const std::vector<double>& y) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    mx += std::log(x[k]) / n;
    my += std::log(y[k]) / n;
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    xx += std::pow(std::log(x[k]) - mx, 2);
    xy += (std::log(x[k]) - mx) * (std::log(y[k]) - my);
  }
  return xy / xx;
}

PublicFacts facts_of(const json& description) {
  const auto family = find_problem(description.at("problem").get<std::string>());
  Fields fields = family->fields();
  for (const auto& [name, value] : description.at("problem_settings").items())
    set_field(fields, family->name(), name, value.get<std::string>());
  return family->facts({.records = description.at("records"),
                        .dimension = description.at("dimension").get<Index>()});
}

double selection_scale(double n, double epsilon) {
  return plan_stationarity({.epsilon = epsilon,
                            .gradient_scale = 1,
                            .curvature_scale = 1,
                            .gradient_limit = 1,
                            .hessian_limit = 1},
                           n)
      .front()
      .question_scale();
}

std::vector<PredicateEntry> ganesh_2023_predicates() {
  return {
      {"ganesh-2023/table-1-dp-gld", langevin_jobs, langevin},
      {"ganesh-2023/table-2-tran-cutkosky-2022-gradients", no_jobs, gradients_evaluated},
      {"ganesh-2023/1", spider_empirical_jobs, spider_estimator_error},
      {"ganesh-2023/2", escape_jobs, adversarial_escape},
      {"ganesh-2023/2-benign", spider_empirical_jobs, spider_benign_escape},
      {"ganesh-2023/3", descent_jobs, descent_printed},
      {"ganesh-2023/3-repaired", descent_jobs, descent_repaired},
      {"ganesh-2023/4", spider_empirical_jobs, spider_refresh_count},
      {"ganesh-2023/5", no_jobs, cap_covers_escapes},
      {"ganesh-2023/6", selection_jobs, selection_accuracy},
      {"ganesh-2023/6-privacy", no_jobs, selection_privacy},
      {"ganesh-2023/7-fresh", no_jobs, fresh_rate},
      {"ganesh-2023/7-privacy", no_jobs, empirical_privacy},
      {"ganesh-2023/7-privacy-repaired", spider_empirical_jobs, spider_budget_kept},
      {"ganesh-2023/8", concentration_jobs, concentration},
      {"ganesh-2023/9-fresh", no_jobs, fresh_population},
      {"ganesh-2023/9-privacy", no_jobs, population_privacy},
      {"ganesh-2023/10", spider_empirical_jobs, spider_selection_cost},
      {"ganesh-2023/11", no_jobs, gibbs_printed},
      {"ganesh-2023/11-repaired", no_jobs, gibbs_repaired},
      {"ganesh-2023/12", no_jobs, gibbs_stability},
      {"ganesh-2023/13", exponential_jobs, exponential_risk},
      {"ganesh-2023/13-privacy", no_jobs, risk_privacy},
      {"ganesh-2023/14", sampler_jobs, sampler},
      {"ganesh-2023/15", divergence_jobs, divergence},
      {"ganesh-2023/15-rounds", no_jobs, rounds_of_units},
      {"ganesh-2023/16-net", net_jobs, net},
      {"ganesh-2023/16-population", population_risk_jobs, population_risk},
      {"ganesh-2023/17", coin_jobs, coins},
      {"ganesh-2023/18", no_jobs, against_liu_talwar},
  };
}

}  // namespace dpsosp
