// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/ada_dp_spider.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/finite.hpp"

namespace dpsosp::baselines {
namespace {

/// Thrown inside a run when the number of oracle calls is used up.
struct StepsDone {};

/// Ada-DP-SPIDER's oracle: g ≈ ∇F at the point it is asked at. Steps of baselines notes, 10.
class AdaptiveOracle {
 public:
  AdaptiveOracle(const AdaDpSpiderParameters& p, Curator& curator, Observer& observer)
      : p_(p),
        curator_(curator),
        observer_(observer),
        x_prev_(curator.facts().initial_point),
        g_(Vector::Zero(x_prev_.size())),
        increment_(x_prev_.size()) {}

  const Vector& operator()(const Vector& x) {
    if (calls_ == p_.steps) throw StepsDone{};
    observer_.iterate(calls_, x);
    // step 1; dev: returning to w̃ is a move like any other
    drift_ += (x - x_prev_).squaredNorm();
    if (drift_ >= p_.drift_threshold) {  // step 2
      p_.oracle.refresh(curator_, Point(x), Block::x, g_);
      drift_ = 0.0;
      ++refreshes_;
    } else {  // step 3
      p_.oracle.increment(curator_, Point(x), Point(x_prev_), Block::x, increment_);
      g_ += increment_;
    }
    observer_.estimate(calls_, x, g_);
    x_prev_ = x;  // step 4
    ++calls_;
    return g_;
  }
  Index calls() const { return calls_; }
  std::int64_t refreshes() const { return refreshes_; }

 private:
  const AdaDpSpiderParameters& p_;
  Curator& curator_;
  Observer& observer_;
  Vector x_prev_, g_, increment_;
  double drift_ = std::numeric_limits<double>::infinity();
  Index calls_ = 0;
  std::int64_t refreshes_ = 0;
};

}  // namespace

AdaDpSpider::AdaDpSpider() { parameters.oracle.increment_clip = IncrementClip::proportional; }

Outcome AdaDpSpider::run(Curator& curator, Stream, Observer& observer) const {
  const AdaDpSpiderParameters& p = parameters;
  AdaptiveOracle oracle(p, curator, observer);
  Vector x = curator.facts().initial_point;
  std::int64_t escapes = 0;
  const auto outcome = [&](const Vector& point, Status status) {
    return Outcome{
        point, status, oracle.calls(), {{"refreshes", oracle.refreshes()}, {"escapes", escapes}}};
  };
  try {
    while (true) {
      const Vector& g = oracle(x);  // step 5
      if (!all_finite(g)) return outcome(x, Status::not_finite);
      if (p.chi == 0 || g.norm() > 3.0 * p.chi) {  // step 6
        x -= p.step_size * g;
        if (!all_finite(x)) return outcome(x, Status::not_finite);
        continue;
      }
      const Vector x_near = x;  // step 7: w̃, near-stationary
      bool escaped = false;
      for (Index round = 0; round < p.escape_rounds && !escaped; ++round) {
        x = x_near;  // step 8
        for (Index tau = 0; tau < p.escape_steps && !escaped; ++tau) {
          x -= p.step_size * oracle(x);
          if (!all_finite(x)) return outcome(x, Status::not_finite);
          escaped = (x - x_near).norm() >= p.escape_radius;
        }
      }
      if (!escaped) return outcome(x_near, Status::certified);  // step 9
      ++escapes;
    }
  } catch (const Refused& refusal) {
    return outcome(x, status_of(refusal));
  } catch (const StepsDone&) {
    return outcome(x, Status::steps_done);
  }
}

/// Constants 1, one pass over disjoint batches, the full zCDP budget for every record; U = Δ₀ and
/// G, M, ρ from the facts. χ is the error of the oracle, α = 4χ the promise; κ minimises the error.
/// \source baselines notes, 10; xu-2026 notes, 2.4
Scheduled AdaDpSpider::schedule(Schedule kind, const PublicFacts& facts,
                                const PrivacyBudget& budget, Calibrator calibrator) {
  AdaDpSpiderParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  const Constants& c = facts.constants;
  const double n = static_cast<double>(facts.records);
  const double d = static_cast<double>(facts.dimension);
  const double G = c[constant::lipschitz];
  const double M = c[constant::smoothness];
  const double rho = c[constant::hessian_lipschitz];
  const double U = c[constant::suboptimality];
  Scheduled s{.rule = filter_rule(budget, calibrator), .alpha = 0, .utility = {}, .note = {}};
  const double z = noise_ratio_for(s.rule.capacity, 1.0);

  struct Choice {
    double error, kappa, b1, b2, eta;
  };
  const auto best_at = [&](double alpha) {
    const double chi = alpha / 4.0;
    const double eta = std::min(1.0 / M, std::sqrt(rho * alpha) / (M * M));
    Choice best{std::numeric_limits<double>::infinity(), 0, 0, 0, eta};
    for (double kappa = 1e-9 * U / M; kappa < 1e4 * U / M; kappa *= 1.1) {
      const double b1 = std::floor(std::min(n / 2.0, n * kappa / (2.0 * U * eta)));
      const double b2 = std::floor(std::min(n / 2.0, n * eta * chi * chi / (2.0 * U)));
      if (b1 < 1 || b2 < 1) continue;
      const double s1 = 2.0 * G / b1 * z;
      const double s2 = 2.0 * M / b2 * z;
      const double error =
          std::sqrt(d * (s1 * s1 + kappa * s2 * s2) + G * G / b1 + kappa * M * M / b2);
      if (error < best.error) best = {error, kappa, b1, b2, eta};
    }
    return best;
  };
  double low = 1e-12 * G, high = 1e3 * G;
  for (int k = 0; k < 100; ++k) {
    const double middle = std::sqrt(low * high);
    (best_at(middle).error <= middle / 4.0 ? high : low) = middle;
  }
  const Choice choice = best_at(high);
  if (!(choice.b1 >= 1 && choice.b2 >= 1))
    throw InputError(
        fmt::format("{}: {} records are too few for one pass", card().key, facts.records));
  s.alpha = high;
  p.chi = s.alpha / 4.0;
  p.step_size = choice.eta;
  p.drift_threshold = choice.kappa;
  const double curvature = std::sqrt(rho * s.alpha);
  const double iota = std::max(1.0, std::log(d * n));
  p.escape_steps = static_cast<Index>(std::ceil(std::min(1e12, iota / (choice.eta * curvature))));
  p.escape_radius = std::sqrt(s.alpha / rho) / iota;
  // An escape lowers F by sqrt(α³/ρ)/(8ι³), which Q compares U with (baselines notes, 10).
  const double decrease = std::sqrt(std::pow(s.alpha, 3) / rho) / (8.0 * std::pow(iota, 3));
  constexpr double failure = 0.1;  // ω
  p.escape_rounds = static_cast<Index>(
      std::ceil(5.2 * std::log(std::max(std::exp(1.0), 2.0 * U / (failure * decrease)))));
  p.oracle.sampling = Sampling::fresh;
  p.oracle.refresh_batch = static_cast<Index>(choice.b1);
  p.oracle.increment_batch = static_cast<Index>(choice.b2);
  p.steps = static_cast<Index>(n);  // the data end first
  p.oracle.clip_refresh = G;
  p.oracle.increment_clip = IncrementClip::proportional;
  p.oracle.clip_increment = M;
  set_common_noise(z);
  s.utility = s.alpha >= G ? Utility::vacuous : Utility::heuristic;
  s.note = kind == Schedule::paper
               ? "the published constants are lost in the source; logarithms and constants are 1"
               : "logarithms and constants are 1";
  if (s.alpha >= G)
    s.note = fmt::format("alpha = {:.4g} is no smaller than the gradient bound {:.4g}", s.alpha, G);
  return s;
}

const AlgorithmCard& AdaDpSpider::card() const {
  static const AlgorithmCard card{
      .key = "tao-2025/ada-dp-spider",
      .title = "Ada-DP-SPIDER",
      .paper = "Tao et al. 2025",
      .place = "Gauss-PSGD with Ada-DP-SPIDER",
      .source = Source::reconstructed,
      .guarantee = "SOSP, population",
      .rate = "n^(-1/3) + (sqrt(d)/(n eps))^(2/5)",
      .empirical = {},
      .population = Exponents{-0.4, 0.2, -0.4},
      .sampling = -1.0 / 3,
      .operations = "gradient and gradient difference",
      .output_rule = "the near-stationary point that no escape left; at the end the last iterate",
      .single_pass = true};
  return card;
}

Fields AdaDpSpider::fields() {
  using namespace range;
  AdaDpSpiderParameters& p = parameters;
  Fields f{field("steps", p.steps, positive, "oracle calls at most"),
           field("step_size", p.step_size, positive, "eta"),
           field("drift_threshold", p.drift_threshold, positive, "kappa, unit of x squared"),
           field("chi", p.chi, not_negative, "chi: near-stationary when |g| <= 3 chi; 0 = never"),
           field("escape_rounds", p.escape_rounds, positive, "Q"),
           field("escape_steps", p.escape_steps, positive, "Gamma"),
           field("escape_radius", p.escape_radius, positive, "R")};
  p.oracle.add_fields(f);
  return f;
}

// Both variants are the same: no error of the source's pseudo-code changes what it does.
void AdaDpSpider::set_variant(Variant) {}

void AdaDpSpider::set_common_noise(double sensitivity_ratio) {
  parameters.oracle.refresh_noise = parameters.oracle.increment_noise = sensitivity_ratio;
}

std::vector<PlannedQuery> AdaDpSpider::plan(const PublicFacts& facts) const {
  return {{parameters.oracle.dearest_policy(facts.records), parameters.steps}};
}

void AdaDpSpider::check_settings(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
  parameters.oracle.check(card().key, facts.records);
}

}  // namespace dpsosp::baselines
