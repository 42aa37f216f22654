// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/short_steps.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/algorithms/power_method.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/privacy/line_search.hpp"

namespace dpsosp::baselines {
namespace {

/// The lowest eigenpair of an estimate of ∇²F.
struct Curvature {
  double value;
  Vector direction;
};

/// The queries of one run, and what they have cost.
class Asker {
 public:
  Asker(Curator& curator, const ShortStepsParameters& p, Stream& stream)
      : curator_(curator),
        p_(p),
        stream_(stream),
        policy_(p.policy(curator.facts().records)),
        hessian_(p.curvature == CurvatureRule::dense ? curator.facts().dimension : 0,
                 p.curvature == CurvatureRule::dense ? curator.facts().dimension : 0) {}

  void set_noises(double gradient, double hessian, double epsilon) {
    gradient_noise_ = gradient;
    hessian_noise_ = hessian;
    epsilon_ = epsilon;
  }
  double gradient_cost() const { return 0.5 / (gradient_noise_ * gradient_noise_); }
  double hessian_cost() const { return 0.5 / (hessian_noise_ * hessian_noise_); }
  double search_cost() const { return 0.5 * epsilon_ * epsilon_; }
  double spent() const { return spent_; }

  void gradient(const Vector& w, Vector& g) {
    curator_.gradient(Point(w), curator_.draw(policy_),
                      {p_.clip, Noise::sensitivity_ratio(gradient_noise_)}, g);
    spent_ += gradient_cost();
  }

  Curvature curvature(const Vector& w) {
    if (p_.curvature == CurvatureRule::dense) {
      curator_.hessian(
          Point(w), curator_.draw(policy_),
          {p_.hessian_limit, p_.hessian_rank, Noise::sensitivity_ratio(hessian_noise_)}, hessian_);
      spent_ += hessian_cost();
      const SymmetricEigen eigen = symmetric_eigen(hessian_);
      return {eigen.values[0], eigen.vectors.col(0)};
    }
    const LeastEigenpair lowest =
        noisy_power_method(curator_, policy_, w,
                           {p_.power_iterations, 0.0, p_.hessian_limit, hessian_noise_}, stream_);
    spent_ += static_cast<double>(lowest.products) * hessian_cost();
    return {lowest.value, lowest.direction};
  }

  /// The first of γ₀, βγ₀, … whose point w + γ·direction lowers F by required(γ); `safe` at the
  /// end.
  template <class Required>
  double search(const Vector& w, const Vector& direction, double safe, double factor,
                const Required& required) {
    const double first = p_.search_start * safe;
    const double reach = first * direction.norm();
    if (!(reach >= 1e-150 && reach <= 1e150)) return safe;
    LineSearch session(curator_, curator_.draw(policy_), w,
                       {.epsilon = epsilon_, .loss_limit = p_.clip, .reach = reach * (1.0 + 1e-9)});
    spent_ += search_cost();
    const auto tries = static_cast<Index>(std::ceil(-std::log(p_.search_start) / std::log(factor)));
    double gamma = first;
    for (Index k = 0; k < tries; ++k, gamma *= factor) {
      ++trials_;
      if (session.decreases(w + gamma * direction, required(gamma))) return gamma;
    }
    return safe;
  }
  std::int64_t trials() const { return trials_; }

 private:
  Curator& curator_;
  const ShortStepsParameters& p_;
  Stream& stream_;
  BatchPolicy policy_;
  Matrix hessian_;
  double gradient_noise_ = 0, hessian_noise_ = 0, epsilon_ = 0, spent_ = 0;
  std::int64_t trials_ = 0;
};

}  // namespace

double ShortStepsParameters::curvature_threshold() const {
  return std::sqrt(hessian_lipschitz * alpha) / (1.0 + hessian_error);
}
double ShortStepsParameters::safe_step() const {
  return 2.0 * (1.0 - gradient_error - search_decrease) / smoothness;
}
double ShortStepsParameters::safe_curvature_step() const {
  const double rest = 1.0 - hessian_error - curvature_search_decrease;
  return 1.5 * rest + 3.0 * std::sqrt(0.25 * rest * rest - 2.0 / 3.0 * step_error);
}
double ShortStepsParameters::decrease() const {
  const double eg = gradient_threshold(), eH = curvature_threshold();
  const double cube = eH * eH * eH / (hessian_lipschitz * hessian_lipschitz);
  if (step_rule == StepRule::line_search) {  // half of what is asked for: the session's noise
    const double t2 = safe_curvature_step();
    return std::min(0.5 * search_decrease * safe_step() * eg * eg,
                    0.25 * curvature_search_decrease * t2 * t2 * cube);
  }
  return std::min((1.0 - 2.0 * gradient_error) * eg * eg / (2.0 * smoothness),
                  2.0 * (1.0 / 3.0 - step_error - hessian_error) * cube);
}

// Steps of baselines notes, 9.
Outcome ShortSteps::run(Curator& curator, Stream stream, Observer& observer) const {
  const ShortStepsParameters& p = parameters;
  const double eg = p.gradient_threshold(), eH = p.curvature_threshold();
  Asker asker(curator, p, stream);
  Vector w = curator.facts().initial_point;
  Vector g(w.size()), direction(w.size());
  std::int64_t curved = 0;
  const auto outcome = [&](Status status, Index steps) {
    return Outcome{w, status, steps, {{"curvature_steps", curved}, {"trials", asker.trials()}}};
  };
  const auto first =
      p.two_phase ? static_cast<Index>(std::floor(std::sqrt(static_cast<double>(p.steps)))) : 0;
  if (p.two_phase) {
    const Noises z = noises_for(0.75 * p.budget, static_cast<double>(first));
    asker.set_noises(z.gradient, z.hessian, z.epsilon);
  } else {
    asker.set_noises(p.gradient_noise, p.hessian_noise, p.search_epsilon);
  }
  for (Index t = 0; t < first + p.steps; ++t) {  // step 1
    if (p.two_phase && t == first) {             // R/4, and what the first phase left
      const Noises z = noises_for(p.budget - asker.spent(), static_cast<double>(p.steps));
      asker.set_noises(z.gradient, z.hessian, z.epsilon);
    }
    observer.iterate(t, w);
    try {
      asker.gradient(w, g);  // step 2
      const double length = g.norm();
      if (length > eg) {  // step 3
        double gamma = 1.0 / p.smoothness;
        if (p.step_rule == StepRule::line_search) {
          direction = -g;
          gamma = asker.search(w, direction, p.safe_step(), p.search_factor, [&](double trial) {
            return p.search_decrease * trial * length * length;
          });
        }
        w -= gamma * g;
      } else {
        Curvature curvature = asker.curvature(w);  // step 4
        const double lambda = curvature.value;
        if (!std::isfinite(lambda)) return outcome(Status::not_finite, t + 1);
        if (lambda > -eH) return outcome(Status::certified, t + 1);  // step 5
        if (curvature.direction.dot(g) > 0) curvature.direction *= -1.0;
        double gamma = 2.0 * std::abs(lambda) / p.hessian_lipschitz;
        if (p.step_rule == StepRule::line_search)
          gamma = asker.search(w, curvature.direction,
                               p.safe_curvature_step() * std::abs(lambda) / p.hessian_lipschitz,
                               p.curvature_search_factor, [&](double trial) {
                                 return 0.5 * p.curvature_search_decrease * trial * trial *
                                        std::abs(lambda);
                               });
        w += gamma * curvature.direction;  // step 6
        ++curved;
      }
    } catch (const Refused& refusal) {
      return outcome(status_of(refusal), t);
    }
    if (!w.allFinite()) return outcome(Status::not_finite, t + 1);
  }
  return outcome(Status::steps_done, first + p.steps);  // step 7
}

}  // namespace dpsosp::baselines
