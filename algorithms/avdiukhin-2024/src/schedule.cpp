// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/algorithms/second_order.hpp"
#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/query.hpp"

namespace dpsosp::avdiukhin_2024 {
namespace {

constexpr double grid_ratio = 1.1;  // of the horizons that the practical schedule compares
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Largest argument for which a monotone predicate holds; `low` holds, `high` does not.
template <class Holds>
double last_that_holds(double low, double high, const Holds& holds) {
  for (int k = 0; k < 200 && high > low * (1 + 1e-13); ++k) {
    const double middle = std::sqrt(low * high);
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

/// Noise over sensitivity of T steps, from the part of the budget that the selection leaves.
struct StepNoise {
  double ratio;
  FilterRule rule;
};

StepNoise noise_for(const BatchPolicy& policy, Index records, Index steps, double share,
                    const PrivacyBudget& budget, Calibrator calibrator) {
  const double left = share > 0 ? (1.0 - share) * (1.0 - 1e-11) : 1.0;
  const auto count = static_cast<double>(steps);
  if (calibrator != Calibrator::rdp) {
    const FilterRule rule = filter_rule(budget, calibrator);
    return {noise_ratio_for(left * rule.capacity, count), rule};
  }
  const std::vector<PlannedQuery> plan{{policy, steps}};
  const CalibratedNoise whole = calibrate_common_noise(plan, records, budget, calibrator);
  if (share == 0) return {whole.sensitivity_ratio, whole.rule};
  return {
      noise_within(plan, records, whole.rule, left * whole.rule.capacity, whole.sensitivity_ratio),
      whole.rule};
}

/// The largest ε of a pure mechanism that costs no more than `allowance` under the rule.
double pure_epsilon_within(const FilterRule& rule, double allowance) {
  const auto fits = [&](double epsilon) { return rule.charge(PureEvent{epsilon}) <= allowance; };
  double too_large = 1.0;
  while (fits(too_large)) too_large *= 2.0;
  return last_that_holds(1e-12, too_large, fits);
}

/// What both schedules know before they choose a horizon.
struct Premises {
  MinibatchSgdParameters& p;
  const PublicFacts& facts;
  PrivacyBudget nominal;  // of noise and accountant
  Calibrator calibrator;
  GradientPolicy policy;
  ProblemNumbers problem;
  Numbers n;
  double largest_deviation;
  double failure;  // δ_E
  bool proves;     // unclipped, with the proved C

  bool amplified() const { return calibrator == Calibrator::rdp; }
  BatchPolicy batches() const { return batch_policy(p.sampling, p.batch, facts.records); }
  double divisor() const { return batches().divisor(facts.records); }
  /// B in the theorems' σ²/B: infinite for full batches, which have no sampling noise.
  double theory_batch() const {
    return p.sampling == Sampling::all ? infinity : static_cast<double>(p.batch);
  }
  StepNoise noise(Index steps) const {
    return noise_for(batches(), facts.records, steps, p.selection.share, nominal, calibrator);
  }
  double first_bound() const { return 2.0 * std::sqrt(n.smoothness * n.gap) + largest_deviation; }
  /// C at the noise Δ = ratio·last, one round of its fixed-point iteration.
  double bound(double steps, double step_size, double ratio, double last, double batch) const {
    switch (p.bound) {
      case BoundRule::lipschitz:
        return problem.G;
      case BoundRule::given:
        return p.clip;
      case BoundRule::lemma_3_2:
        return lemma_3_2_bound(n, steps, nominal.delta, 1.0, p.length_scale);
      case BoundRule::proved:
        break;
    }
    const UnclippedRun run{batch, steps, step_size, largest_deviation, failure};
    const double C = last > 0 ? last : first_bound();
    return std::sqrt(2.0 * n.smoothness * proved_gap(n, run, ratio * C)) + largest_deviation;
  }
  /// A bound of the variance of a batch's mean gradient. dev: for Poisson batches it is the second
  /// moment of the gradients that counts, not their variance (docs/errata.md, A16).
  double sampling_variance(double C) const {
    if (p.sampling == Sampling::all) return 0.0;
    const double one = p.sampling == Sampling::poisson ? C : std::min(C, n.deviation);
    return one * one / static_cast<double>(p.batch);
  }
};

struct Horizon {
  Index steps = 0;
  double bound = 0, step_size = 0, alpha = infinity;
  StepNoise noise{};
};

/// The practical numbers at one horizon, C and η at their common fixed point; α is infinite where
/// there is none.
Horizon horizon_at(const Premises& s, Index steps) {
  Horizon h{.steps = steps, .noise = s.noise(steps)};
  const auto T = static_cast<double>(steps);
  const double ratio = 2.0 * h.noise.ratio / s.divisor();  // Δ/C
  double C = s.bound(T, 1.0 / s.n.smoothness, ratio, 0.0, s.theory_batch());
  for (int k = 0; k < 1000 && C < largest_bound; ++k) {
    const double noise = ratio * C;
    const Descent best =
        best_descent(s.n, T, s.sampling_variance(C) + s.n.dimension * noise * noise);
    const double next = s.bound(T, best.step_size, ratio, C, s.theory_batch());
    if (std::abs(next - C) <= 1e-12 * C) {
      h.bound = s.p.bound == BoundRule::proved ? C * (1.0 + 1e-10) : C;
      h.step_size = best.step_size;
      h.alpha = best.alpha;
      return h;
    }
    C = next;
  }
  return h;
}

/// The least horizon whose α is within the slack of the best. The scan ends where η < 1/(4L).
/// \source avdiukhin-2024 notes, 3.5
Horizon practical_horizon(const Premises& s) {
  const auto passed = [&](const Horizon& h) {
    return std::isfinite(h.alpha) && h.step_size < 0.25 / s.n.smoothness;
  };
  const auto scan = [&](double from, double to, double ratio) {
    std::vector<Horizon> seen;
    for (double T = from; T <= to; T = std::max(T + 1.0, std::ceil(ratio * T))) {
      seen.push_back(horizon_at(s, static_cast<Index>(T)));
      if (passed(seen.back())) break;
    }
    return seen;
  };
  const auto least_within = [&](const std::vector<Horizon>& seen, double best) {
    for (const Horizon& h : seen)
      if (h.alpha <= (1.0 + s.p.horizon_slack) * best) return h;
    return seen.back();
  };
  const auto best_alpha = [](const std::vector<Horizon>& seen) {
    return std::ranges::min_element(seen, {}, &Horizon::alpha)->alpha;
  };
  if (!s.amplified()) {
    const auto seen = scan(1.0, 1e15, grid_ratio);
    return least_within(seen, best_alpha(seen));
  }
  // Amplified calibration is slow: octaves first, then the grid within one.
  const auto octaves = scan(1.0, 1e15, 2.0);
  const double best = best_alpha(octaves);
  const auto last = static_cast<double>(least_within(octaves, best).steps);
  return least_within(scan(std::max(1.0, std::floor(0.5 * last)), last, grid_ratio), best);
}

/// B for amplified queries where none is set: with the noise of full batches, Δ² ≥ σ²/B.
Index chosen_batch(Premises s, MinibatchSgdParameters full) {
  full.sampling = Sampling::all;
  Premises unsampled{full,      s.facts, s.nominal,           Calibrator::cks, s.policy,
                     s.problem, s.n,     s.largest_deviation, s.failure,       s.proves};
  const Horizon h = practical_horizon(unsampled);
  const double noise = 2.0 * h.noise.ratio / s.n.records * h.bound;
  const double one = s.p.sampling == Sampling::poisson ? h.bound : std::min(h.bound, s.n.deviation);
  return static_cast<Index>(std::clamp(std::ceil(one * one / (noise * noise)), 1.0, s.n.records));
}

void choose_batches(Premises& s) {
  MinibatchSgdParameters& p = s.p;
  if (!s.amplified()) {  // sampling would cost and not amplify
    p.sampling = Sampling::all;
    p.batch = std::clamp<Index>(p.batch, 1, s.facts.records);
    return;
  }
  if (p.sampling != Sampling::sample && p.sampling != Sampling::poisson)
    p.sampling = s.policy == GradientPolicy::none ? Sampling::sample : Sampling::poisson;
  if (p.batch < 1 || p.batch > s.facts.records) p.batch = chosen_batch(s, p);
}

Scheduled practical(Premises& s) {
  MinibatchSgdParameters& p = s.p;
  const Horizon h = practical_horizon(s);
  if (!std::isfinite(h.alpha))
    throw InputError("avdiukhin-2024: no horizon has a bounded gradient at this noise");
  p.steps = h.steps;
  p.step_size = h.step_size;
  p.clip = h.bound;
  p.noise = h.noise.ratio;
  return {.rule = h.noise.rule,
          .alpha = h.alpha,
          .utility = Utility::heuristic,
          .note =
              "alpha bounds the root mean square of the iterates' gradients; of curvature "
              "nothing is proved",
          .bound_failure = s.failure};
}

/// Theorem 3.5 with the c₂ at which the noise is enough, or with c₂ = 1 (NoiseForm::naive).
/// \source avdiukhin-2024, Theorem 3.5; avdiukhin-2024 notes, 3.5
Scheduled paper(Premises& s, std::string_view key) {
  MinibatchSgdParameters& p = s.p;
  const double guess = naive_kappa(s.n.records, s.nominal);
  const Calibrator unsampled = s.amplified() ? Calibrator::cks : s.calibrator;
  const double kappa =
      p.noise_form == NoiseForm::naive
          ? guess
          : 2.0 / s.n.records *
                noise_ratio_for((1.0 - p.selection.share) * zcdp_budget(s.nominal, unsampled), 1.0);
  CircleSpec spec{.kappa = kappa,
                  .batch = s.theory_batch(),
                  .constants = p.constants,
                  .delta = s.nominal.delta,
                  .rho = p.constants == TheoremConstants::corrected
                             ? s.facts.constants[constant::hessian_lipschitz]
                             : 0.0,
                  .lemma_step = p.lemma_step,
                  .length = p.length_scale,
                  .strict_noise = p.strict_noise};
  const Circle circle =
      resolve_circle(s.n, spec, [&](double steps, double step_size, double ratio, double last) {
        return s.bound(steps, step_size, ratio, last, s.theory_batch());
      });
  p.steps = count_of(key, "steps", circle.steps);
  p.step_size = circle.step_size;
  p.clip = circle.bound;
  const auto T = static_cast<double>(p.steps);
  const StepNoise enough = s.noise(p.steps);
  Scheduled made{.rule = enough.rule,
                 .alpha = circle.alpha,
                 .utility = Utility::disputed,
                 .note = fmt::format("c2 = {:.3g} in Theorem 3.1", kappa / guess),
                 .bound_failure = s.failure};
  p.noise = enough.ratio;
  if (p.noise_form == NoiseForm::naive) {
    p.noise = kappa * std::sqrt(T) * s.divisor() / 2.0;
    made.note += fmt::format(
        ", whose noise costs epsilon = {:.4g} under replace-one",
        implied_epsilon(s.batches(), s.facts.records, p.steps, p.noise, s.nominal.delta));
  }
  if (s.proves) {  // C at the rounded horizon and the noise that is added
    const UnclippedRun run{s.theory_batch(), T, p.step_size, s.largest_deviation, s.failure};
    const auto C = proved_bound(s.n, run, 2.0 * p.noise / s.divisor());
    if (C) p.clip = *C;
    if (!C) made.bound_failure = 0.0;
    if (!C) made.add_note("no gradient bound is proved at that noise");
  }
  return made;
}

}  // namespace

double implied_epsilon(const BatchPolicy& policy, Index records, Index steps, double ratio,
                       double delta) {
  const GaussianPlan one =
      plan_gaussian(policy, BatchUse::one_query, records, 1.0, Noise::sensitivity_ratio(ratio));
  const CountedEvent events[]{{*one.event, steps}};
  const CountedEvent unsampled[]{{without_amplification(*one.event), steps}};
  return std::min(epsilon_of(events, Adjacency::replace_one, delta).epsilon,
                  epsilon_of(unsampled, Adjacency::replace_one, delta).epsilon);
}

Scheduled MinibatchSgd::schedule(Schedule kind, const PublicFacts& facts,
                                 const PrivacyBudget& budget, Calibrator calibrator) {
  MinibatchSgdParameters& p = parameters;
  const std::string& key = card().key;
  refuse_shared_dual(card(), facts);
  dpsosp::check(budget);
  const bool selects = p.selection.share > 0;
  const bool by_power = selects && p.eigenvalue == EigenvalueRule::power;
  if (by_power) require_second_order(card(), facts, facts.dimension);  // products, no dense Hessian
  if (selects && !by_power && !selection_fits(facts, calibrator))
    reject(key, "selection_share", p.selection.share,
           "0: a selection needs a minimisation problem of at most 512 dimensions, and a "
           "calibrator other than exact-gaussian");
  const ProblemNumbers c = numbers_of(facts, selects);
  if (!(c.B > 0)) reject(key, "suboptimality", c.B, "> 0: the start is a minimiser");
  const double deviation = p.deviation > 0 ? p.deviation : 2.0 * c.G;
  const double largest = p.largest_deviation > 0 ? p.largest_deviation
                         : p.deviation > 0       ? deviation * std::sqrt(1.0 + std::log(c.n))
                                                 : deviation;
  const bool proves = policy_ == GradientPolicy::none && p.bound == BoundRule::proved;
  Premises s{.p = p,
             .facts = facts,
             .nominal = {budget.epsilon, proves ? budget.delta / 2.0 : budget.delta},
             .calibrator = calibrator,
             .policy = policy_,
             .problem = c,
             .n = {c.n, c.d, c.M, c.B, deviation},
             .largest_deviation = largest,
             .failure = bound_failure(budget),
             .proves = proves};
  choose_batches(s);
  Scheduled made = kind == Schedule::practical ? practical(s) : paper(s, key);
  // The bound of avdiukhin-2024 notes, 3.3 holds for full batches and those without replacement.
  const auto everywhere = [&](std::string_view name) {
    return facts.constants.at(name).region == "everywhere";
  };
  // An unclipped run may leave any region, so its constants must hold everywhere.
  const bool stated = everywhere(constant::smoothness) &&
                      (p.deviation > 0 || everywhere(constant::lipschitz));  // σ = 2G without it
  if (!proves || p.sampling == Sampling::poisson || !stated) made.bound_failure = 0.0;
  p.selection.alpha = made.alpha;
  p.hessian_limit = c.M;
  const double allowance = p.selection.share * made.rule.capacity;
  p.selection.epsilon = selects && !by_power
                            ? pure_epsilon_within(made.rule, allowance / p.selection.charges())
                            : 0.0;
  p.power_products = 0;
  if (by_power) {
    // a quarter of √(ρα) for the method, half of it in all (avdiukhin-2024 notes, 2.4)
    const double error = std::min(0.25 * std::sqrt(c.rho * made.alpha), c.M);
    p.power_products =
        count_of(key, "products",
                 power_products(c.M, error, c.d,
                                p.power_failure / static_cast<double>(p.selection.candidates + 2)));
    const PlannedQuery queries{BatchPolicy::all(),
                               power_selection_queries(p.selection.candidates, p.power_products)};
    p.power_noise =
        noise_within({&queries, 1}, facts.records, made.rule, allowance * (1.0 - 1e-11), 1e-3);
  }
  mark_vacuous(made, c.G);
  return made;
}

}  // namespace dpsosp::avdiukhin_2024
