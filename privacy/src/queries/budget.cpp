// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/budget.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <mutex>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/accounting/filter.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/accounting/renyi.hpp"
#include "dpsosp/privacy/query.hpp"

namespace dpsosp {
namespace {

std::vector<CountedEvent> events_of(std::span<const PlannedQuery> plan, Index records,
                                    double ratio) {
  std::vector<CountedEvent> events;
  for (const PlannedQuery& q : plan) {
    if (q.count == 0) continue;
    const GaussianPlan one =
        plan_gaussian(q.policy, q.use, records, 1.0, Noise::sensitivity_ratio(ratio));
    events.push_back({*one.event, q.count});
  }
  return events;
}

/// What a calibration by Rényi orders depends on.
struct AskedNoise {
  std::vector<PlannedQuery> plan;
  Index records;
  PrivacyBudget budget;
  bool operator==(const AskedNoise&) const = default;
};

CalibratedNoise calibrate_by_renyi(const AskedNoise& asked) {
  const AccountOptions options{.accountant = Accountant::rdp};
  const double ratio = smallest_noise_multiplier(
      [&](double z) { return events_of(asked.plan, asked.records, z); }, Adjacency::replace_one,
      asked.budget.epsilon, asked.budget.delta, options);
  const auto events = events_of(asked.plan, asked.records, ratio);
  const Guarantee g = epsilon_of(events, Adjacency::replace_one, asked.budget.delta, options);
  if (g.epsilon == 0)  // only noise that drowns everything meets the target
    reject("calibrator rdp", "epsilon", asked.budget.epsilon,
           "one that its orders can prove at this delta; use cks");
  CalibratedNoise noise{ratio, filter_rule(asked.budget, Calibrator::rdp, g.order)};
  // Charges are rounded: the filter must grant the last of them, too.
  const auto all = [&] {
    long double sum = 0;
    for (const CountedEvent& e : events_of(asked.plan, asked.records, noise.sensitivity_ratio))
      sum += static_cast<long double>(e.count) * noise.rule.charge(e.event);
    return static_cast<double>(sum);
  };
  while (all() > PrivacyFilter(noise.rule.capacity).most())
    noise.sensitivity_ratio *= 1.0 + 4.0 * std::numeric_limits<double>::epsilon();
  return noise;
}

/// The last calibrations: they take milliseconds, and a study's runs ask for few of them.
class Calibrations {
 public:
  CalibratedNoise of(const AskedNoise& asked) {
    {
      const std::scoped_lock lock(mutex_);
      const auto found = std::ranges::find(known_, asked, &Known::first);
      if (found != known_.end()) return found->second;
    }
    const CalibratedNoise noise = calibrate_by_renyi(asked);
    const std::scoped_lock lock(mutex_);
    if (known_.size() == most_known) known_.pop_front();
    known_.emplace_back(asked, noise);
    return noise;
  }

 private:
  using Known = std::pair<AskedNoise, CalibratedNoise>;
  static constexpr std::size_t most_known = 64;

  std::mutex mutex_;
  std::deque<Known> known_;
};

}  // namespace

void check(const PrivacyBudget& budget) {
  if (!(budget.epsilon > 0 && std::isfinite(budget.epsilon)))
    reject("privacy budget", "epsilon", budget.epsilon, "finite and > 0");
  if (!(budget.delta > 0 && budget.delta < 1))
    reject("privacy budget", "delta", budget.delta, "in (0, 1)");
}

double zcdp_budget(const PrivacyBudget& budget, Calibrator calibrator) {
  check(budget);
  switch (calibrator) {
    case Calibrator::bun_steinke:
      return rho_for(budget.epsilon, budget.delta, Conversion::bs);
    case Calibrator::cks:
      return rho_for(budget.epsilon, budget.delta, Conversion::cks);
    case Calibrator::exact_gaussian: {
      const double mu = gaussian_mu_for(budget.epsilon, budget.delta);
      return 0.5 * mu * mu;
    }
    case Calibrator::rdp:
      break;
  }
  throw InputError("calibrator rdp has no zCDP budget; use cks, bun-steinke or exact-gaussian");
}

FilterRule filter_rule(const PrivacyBudget& whole, Calibrator calibrator,
                       std::optional<double> order, double pure_epsilon, double delta_extra) {
  check(whole);
  if (!(pure_epsilon >= 0 && pure_epsilon <= whole.epsilon))
    reject("privacy budget", "pure_epsilon", pure_epsilon, "in [0, epsilon]");
  if (!(delta_extra >= 0 && delta_extra < whole.delta))
    reject("privacy budget", "delta_extra", delta_extra, "in [0, delta)");
  const PrivacyBudget budget{whole.epsilon - pure_epsilon, whole.delta - delta_extra};
  const double failures = delta_extra / (1.0 + std::exp(whole.epsilon));
  if (budget.epsilon == 0) return {calibrator, order, 0.0, pure_epsilon, failures, whole.epsilon};
  if (calibrator != Calibrator::rdp)
    return {calibrator, {}, zcdp_budget(budget, calibrator), pure_epsilon, failures, whole.epsilon};
  if (!order || !(*order > 1))
    throw InputError(
        "calibrator rdp needs an order fixed in advance, which only a plan of sampled queries "
        "gives; "
        "with a schedule use cks, bun-steinke or exact-gaussian");
  // cks: ε = R + ln(1 − 1/a) − ln(δa)/(a − 1), solved for R
  const double a = *order;
  const double capacity =
      budget.epsilon - std::log1p(-1.0 / a) + std::log(budget.delta * a) / (a - 1.0);
  if (!(capacity > 0)) reject("calibrator rdp", "order", a, "an order that leaves a budget");
  return {calibrator, order, capacity, pure_epsilon, failures, whole.epsilon};
}

void check(const FilterRule& rule, const PrivacyBudget& budget) {
  const auto expect = [](std::string_view name, double value, double most) {
    constexpr double rounding = 1e-12;
    if (!(value >= 0 && value <= most * (1 + rounding)))
      reject("filter rule", name, value, fmt::format("in [0, {:.17g}], the budget", most));
  };
  check(budget);
  const double both = 1.0 + std::exp(budget.epsilon);
  expect("pure_capacity", rule.pure_capacity, budget.epsilon);
  expect("alone_epsilon", rule.alone_epsilon, budget.epsilon);
  expect("delta_extra", rule.delta_extra, budget.delta / both);
  if (rule.capacity == 0) return;
  // both is infinite from epsilon = 710 on
  const double kept = rule.delta_extra == 0 ? 0.0 : rule.delta_extra * both;
  const FilterRule whole =
      filter_rule(budget, rule.calibrator, rule.order, rule.pure_capacity, kept);
  expect("capacity", rule.capacity, whole.capacity);
}

double FilterRule::charge(const Event& event) const {
  // What the ledger's accountants would refuse must not be granted: it could not be accounted for.
  dpsosp::check(event);
  dpsosp::check(without_amplification(event));
  if (calibrator == Calibrator::rdp) {
    if (!order) throw InputError("calibrator rdp needs an order > 1 fixed in advance");
    return rdp(event, *order, Adjacency::replace_one);
  }
  const Event full = without_amplification(event);
  const bool gaussian = std::holds_alternative<GaussianEvent>(full);
  const auto rho = zcdp(full);
  if (!rho || (calibrator == Calibrator::exact_gaussian && !gaussian))
    throw UnsupportedError("the filter's calibrator has no proof for this kind of query");
  return *rho;
}

PrivacyBudget slice(const PrivacyBudget& budget, Calibrator calibrator, double share) {
  if (!(share > 0 && share <= 1)) reject("budget", "share", share, "in (0, 1]");
  const double rho = zcdp_budget(budget, calibrator) * share * (1.0 - 1e-11);
  // The conversions are inverse to the capacities: bisect on epsilon, which share does not exceed.
  double low = 0.0, high = budget.epsilon;
  for (int k = 0; k < 200 && low < high; ++k) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    (zcdp_budget({middle, budget.delta}, calibrator) <= rho ? low : high) = middle;
  }
  return {low, budget.delta};
}

CalibratedNoise calibrate_common_noise(std::span<const PlannedQuery> plan, Index records,
                                       const PrivacyBudget& budget, Calibrator calibrator) {
  check(budget);
  double total = 0;
  for (const PlannedQuery& q : plan) {
    if (q.count < 0)
      reject("calibration", "count", static_cast<double>(q.count), "at least 0 queries");
    total += static_cast<double>(q.count);
  }
  if (!(total > 0)) throw InputError("calibration: no query is planned");
  if (calibrator != Calibrator::rdp) {
    const FilterRule rule = filter_rule(budget, calibrator);
    return {noise_ratio_for(rule.capacity, total), rule};
  }
  static Calibrations calibrations;
  return calibrations.of({{plan.begin(), plan.end()}, records, budget});
}

double noise_within(std::span<const PlannedQuery> plan, Index records, const FilterRule& rule,
                    double allowance, double floor) {
  const auto too_dear = [&](double ratio) {
    double cost = 0;
    for (const CountedEvent& e : events_of(plan, records, ratio))
      cost += static_cast<double>(e.count) * rule.charge(e.event);
    return cost > allowance;
  };
  double low = floor, high = 2.0 * floor;
  while (too_dear(high)) high *= 2.0;
  for (int k = 0; k < 200 && high > low * (1 + 1e-13); ++k) {
    const double middle = std::sqrt(low * high);
    (too_dear(middle) ? low : high) = middle;
  }
  return low * (1.0 + 1e-12);
}

double noise_ratio_for(double rho, double count) {
  // Rounded up by more than the charges' rounding, so that the filter grants the last of them.
  return std::sqrt(count / (2.0 * rho)) * (1.0 + 4.0 * std::numeric_limits<double>::epsilon());
}

}  // namespace dpsosp
