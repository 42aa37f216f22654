// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_gd_sosp.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"

namespace dpsosp::baselines {
namespace {

constexpr double least_scale = 1e-140;  // of thresholds: below, squares underflow

/// Decides for each stored iterate whether it is accepted: step 5 of baselines notes, 3.1.
class Selector {
 public:
  Selector(Curator& curator, const DpGdSospParameters& p, Index candidates)
      : curator_(curator),
        p_(p),
        all_(curator.draw(BatchPolicy::all())),
        curvature_(std::max(std::sqrt(p.hessian_lipschitz * p.alpha), least_scale)) {
    const auto d = static_cast<double>(curator.facts().dimension);
    const auto n = static_cast<double>(curator.facts().records);
    const auto T = static_cast<double>(candidates);
    if (p.selection == Selecting::scalar) {
      session_ = std::make_unique<StationarityTest>(
          curator, all_,
          StationaritySpec{.epsilon = p.selection_epsilon,
                           .gradient_scale = std::max(p.alpha, least_scale),
                           .curvature_scale = curvature_,
                           .gradient_limit = p.clip,
                           .hessian_limit = p.hessian_limit,
                           .slack = p.slack});
      return;
    }
    const double s1 = p.selection_gradient_noise * 2.0 * p.clip / n;
    const double s2 =
        p.selection_hessian_noise * 2.0 * p.hessian_limit * std::sqrt(d) / n / std::numbers::sqrt2;
    gradient_bound_ = p.alpha + s1 * std::sqrt(2.0 * d * std::log(8.0 * T / p.failure));
    // the tail is 2 s₂ sqrt(ln(2K/ω)): a direction has deviation √2 s₂ (baselines notes, 3.1)
    curvature_bound_ =
        curvature_ + hessian_noise_norm(s2, d) + hessian_noise_tail(s2, p.failure / (2.0 * T));
    gradient_.resize(curator.facts().dimension);
    hessian_.resize(gradient_.size(), gradient_.size());
  }

  bool accepts(const Vector& w) {
    if (session_) return session_->accepts(w);
    curator_.gradient(Point(w), all_,
                      {p_.clip, Noise::sensitivity_ratio(p_.selection_gradient_noise)}, gradient_);
    curator_.hessian(Point(w), all_,
                     {p_.hessian_limit, 0, Noise::sensitivity_ratio(p_.selection_hessian_noise)},
                     hessian_);
    const double lambda_min = symmetric_eigenvalues(hessian_)[0];
    return gradient_.norm() <= gradient_bound_ && lambda_min >= -curvature_bound_;
  }

 private:
  Curator& curator_;
  const DpGdSospParameters& p_;
  Batch all_;
  double curvature_;
  std::unique_ptr<StationarityTest> session_;
  double gradient_bound_ = 0, curvature_bound_ = 0;
  Vector gradient_;
  Matrix hessian_;
};

}  // namespace

Index DpGdSosp::stride() const {
  return (parameters.steps + parameters.stored - 1) / parameters.stored;
}
Index DpGdSosp::candidates() const { return (parameters.steps + stride() - 1) / stride(); }

Outcome DpGdSosp::run(Curator& curator, Stream, Observer& observer) const {
  const DpGdSospParameters& p = parameters;
  Vector w = curator.facts().initial_point;
  Vector g(w.size());
  std::vector<Vector> kept;
  std::int64_t asked = 0;
  const auto outcome = [&](const Vector& point, Status status, Index steps) {
    return Outcome{point, status, steps, {{"asked", asked}}};
  };
  const Batch all = curator.draw(BatchPolicy::all());
  Index t = 0;
  try {
    for (; t < p.steps; ++t) {  // step 1
      observer.iterate(t, w);
      if (t % stride() == 0) kept.push_back(w);  // dev: every k-th, so that memory stays bounded
      curator.gradient(Point(w), all, {p.clip, Noise::sensitivity_ratio(p.noise)}, g);  // step 2
      w -= p.step_size * g;  // step 3: w_{t+1} = w_t − g/M
      if (!w.allFinite()) return outcome(w, Status::not_finite, t + 1);
    }
    Selector selector(curator, p, candidates());  // the paper's Algorithm 5
    for (const Vector& candidate : kept) {        // step 4
      ++asked;
      // steps 5 and 6
      if (selector.accepts(candidate)) return outcome(candidate, Status::certified, t);
    }
  } catch (const Refused& refusal) {
    return outcome(w, status_of(refusal), t);
  }
  return outcome(w, Status::steps_done, t);  // step 7
}

DpGdSospHorizon dp_gd_sosp_horizon(const DpGdSospParameters& p, double d, double M, double rho,
                                   double B, double alpha) {
  DpGdSospHorizon h{};
  const double c = p.escape_constant;
  h.log_factor = std::max(1.0, p.log_constant * std::log(d * M * B / (rho * alpha * p.failure)));
  h.decrease =
      std::sqrt(alpha * alpha * alpha / rho) / (std::pow(h.log_factor, 3) * std::pow(c, 5));
  h.escape = M * h.log_factor * c / std::sqrt(rho * alpha);
  const double by_gradient = alpha * alpha / (4.0 * (p.printed_horizon ? rho : M));
  h.steps = B / std::min(by_gradient, h.decrease / h.escape);
  return h;
}

bool DpGdSosp::tolerable(const ProblemNumbers& q, double rho_zcdp, double alpha) const {
  const DpGdSospParameters& p = parameters;
  const double T = std::ceil(dp_gd_sosp_horizon(p, q.d, q.M, q.rho, q.B, alpha).steps);
  const double K = std::min(T, static_cast<double>(p.stored));
  const double curvature = std::sqrt(q.rho * alpha);
  const double selecting = p.selection_share * rho_zcdp;
  const double s = gradient_deviation(q.G, q.n, rho_zcdp - selecting, T);
  if (!(gradient_noise_norm(s, q.d) <= alpha / std::numbers::sqrt2)) return false;
  if (p.selection == Selecting::scalar) {
    const double moved = std::max(2.0 * q.G / (q.n * alpha), 2.0 * q.M / (q.n * curvature));
    return selection_noise(moved, std::sqrt(2.0 * selecting), K, p.failure) <= 0.5;
  }
  const double s1 = gradient_deviation(q.G, q.n, selecting / 2.0, K);
  const double s2 = goe_deviation(q.M, q.n, q.d, selecting / 2.0, K);
  return s1 * std::sqrt(2.0 * q.d * std::log(8.0 * K / p.failure)) <= alpha / 2.0 &&
         hessian_noise_norm(s2, q.d) + hessian_noise_tail(s2, p.failure / (2.0 * K)) <=
             curvature / 2.0;
}

double DpGdSosp::min_alpha(const ProblemNumbers& q, double rho_zcdp) const {
  return smallest_alpha(1e-12 * q.G, 1e9 * q.G,
                        [&](double alpha) { return tolerable(q, rho_zcdp, alpha); });
}

Scheduled DpGdSosp::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                             Calibrator calibrator) {
  DpGdSospParameters& p = parameters;
  require_second_order(card(), facts);
  const ProblemNumbers q = numbers_of(facts);
  Scheduled s{.rule = filter_rule(budget, calibrator), .utility = Utility::repaired};
  const double R = s.rule.capacity;
  if (kind == Schedule::paper || calibrator == Calibrator::exact_gaussian)
    p.selection = Selecting::noisy;  // as printed; the exact filter grants no Laplace noise
  const double smallest = min_alpha(q, R);
  double wanted = p.target;
  if (kind == Schedule::paper && wanted == 0)
    wanted = std::sqrt(q.G * std::sqrt(q.d * q.M * q.B * std::log(1.0 / budget.delta)) /
                       (q.n * budget.epsilon));
  p.alpha = targeted_alpha(wanted, smallest, s);
  p.hessian_lipschitz = q.rho;
  p.steps =
      count_of(card().key, "steps", dp_gd_sosp_horizon(p, q.d, q.M, q.rho, q.B, p.alpha).steps);
  p.step_size = 1.0 / q.M;
  p.clip = q.G;
  p.hessian_limit = q.M;
  const double selecting = p.selection_share * R;
  const auto K = static_cast<double>(candidates());
  p.noise = noise_ratio_for(R - selecting, static_cast<double>(p.steps));
  p.selection_gradient_noise = p.selection_hessian_noise = noise_ratio_for(selecting / 2.0, K);
  p.selection_epsilon = std::sqrt(2.0 * selecting) * (1.0 - 1e-13);  // costs ε²/2
  s.alpha = 4.0 * p.alpha;  // accepted: ‖∇F‖ ≤ 2α and λ_min ≥ −2 sqrt(ρα)
  if (kind == Schedule::paper)
    s.add_note("alpha by the claimed rate with constant 1; noise by the accountant");
  if (p.printed_horizon && q.rho > q.M) {
    s.utility = Utility::disputed;
    s.add_note("the printed horizon is too short (B1)");
  }
  mark_vacuous(s, q.G);
  return s;
}

const AlgorithmCard& DpGdSosp::card() const {
  static const AlgorithmCard card{
      .key = "wang-chen-xu-2019/dp-gd",
      .title = "DP-GD with selection",
      .paper = "Wang, Chen, Xu 2019",
      .place = "DP-GD and its selection, Algorithm 5",
      .source = Source::reconstructed,
      .guarantee = "SOSP, empirical",
      .metric = Metric::sosp_level,
      .rate = "(sqrt(d)/(n eps))^(1/2)",
      .empirical = Exponents{-0.5, 0.25, -0.5},
      .operations = "gradient; Hessian for the selection",
      .output_rule = "the first stored iterate that the private selection accepts, else the last",
      .printed = "selection by noisy gradients and Hessians; horizon with alpha^2/(4 rho_H)",
      .utility = Utility::repaired};
  return card;
}

Fields DpGdSosp::fields() {
  using namespace range;
  DpGdSospParameters& p = parameters;
  return {
      field("steps", p.steps, positive, "T"),
      field("step_size", p.step_size, positive, "1/M"),
      field("clip", p.clip, positive, "G: per-record clip of gradients"),
      noise_field("noise", p.noise, "std / sensitivity of gradients"),
      field("alpha", p.alpha, positive, "alpha that the selection tests"),
      field("hessian_lipschitz", p.hessian_lipschitz, positive, "rho_H"),
      field("hessian_limit", p.hessian_limit, positive, "M: per-record limit of Hessians"),
      field("selection", p.selection,
            "by noisy gradients and Hessians, or by one threshold session"),
      field("selection_share", p.selection_share, open_unit, "of the budget, for the selection"),
      field("selection_epsilon", p.selection_epsilon, positive, "epsilon of the scalar session"),
      field("slack", p.slack, positive, "the scalar session accepts up to about slack times alpha"),
      noise_field("selection_gradient_noise", p.selection_gradient_noise,
                  "std / sensitivity of the noisy selection"),
      noise_field("selection_hessian_noise", p.selection_hessian_noise,
                  "std / sensitivity of the noisy selection"),
      field("stored", p.stored, positive, "iterates kept at most, evenly spaced"),
      field("failure", p.failure, open_unit, "omega"),
      field("log_constant", p.log_constant, positive, "C1 of the horizon"),
      field("escape_constant", p.escape_constant, positive, "c of the horizon"),
      field("target", p.target, not_negative, "alpha of the schedule; 0 = the smallest in reach"),
      field("printed_horizon", p.printed_horizon, "alpha^2/(4 rho_H) in the horizon")};
}

void DpGdSosp::set_variant(Variant variant) {
  const bool printed = variant == Variant::printed;
  parameters.selection = printed ? Selecting::noisy : Selecting::scalar;
  parameters.printed_horizon = printed;
}

double DpGdSosp::planned_share(const FilterRule& rule) const {
  if (parameters.selection == Selecting::noisy) return 1.0;
  return 1.0 - rule.charge(PureEvent{parameters.selection_epsilon}) / rule.capacity;
}

void DpGdSosp::set_common_noise(double sensitivity_ratio) {
  parameters.noise = parameters.selection_gradient_noise = parameters.selection_hessian_noise =
      sensitivity_ratio;
}

std::vector<PlannedQuery> DpGdSosp::plan(const PublicFacts&) const {
  const Index selecting = parameters.selection == Selecting::noisy ? 2 * candidates() : 0;
  return {{BatchPolicy::all(), parameters.steps + selecting}};
}

void DpGdSosp::check_settings(const PublicFacts& facts) const {
  require_second_order(card(), facts);
}

}  // namespace dpsosp::baselines
