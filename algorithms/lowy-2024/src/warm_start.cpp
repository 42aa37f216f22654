// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lowy_2024/warm_start.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/stages.hpp"
#include "dpsosp/baselines/dp_spider.hpp"
#include "dpsosp/baselines/kl_spider.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"

namespace dpsosp::lowy_2024 {
namespace {

/// Hides the iterates of A. The output is one of B's iterates, and A's may outnumber them.
class Unseen final : public Observer {
 public:
  void iterate(Index /*t*/, ConstVectorRef /*x*/) override {}
};

}  // namespace

WarmStart::WarmStart(std::unique_ptr<Algorithm> first, bool pure)
    : first_(std::move(first)),
      spider_(std::make_unique<baselines::DpSpider>()),
      sosp_(std::make_unique<ganesh_2023::StochasticSpider>()),
      pure_(pure) {
  if (pure_) parameters.first_slice = 0.0;
}

const Algorithm& WarmStart::second() const {
  return parameters.finder == Finder::dp_spider ? *spider_ : *sosp_;
}

Algorithm& WarmStart::second() {
  return parameters.finder == Finder::dp_spider ? *spider_ : *sosp_;
}

// Steps of lowy-2024 notes, 2.2.
Outcome WarmStart::run(Curator& curator, Stream stream, Observer& observer) const {
  const WarmStartParameters& p = parameters;
  if (!p.warm) return second().run(curator, stream.child(1), observer);
  ChildSpec spec{"first", p.first_slice};
  if (pure_) spec.pure_share = 1.0;
  Unseen unseen;
  Outcome outcome;
  try {
    Curator first = curator.child(spec);  // step 1
    // step 2: w₀ ← A
    outcome = first_->run(first, stream.child(0), unseen);
  } catch (const Refused& refusal) {
    observer.iterate(0, curator.facts().initial_point);
    return {curator.facts().initial_point, status_of(refusal), 0, {}};
  }
  Outcome whole{outcome.point, outcome.status, outcome.steps, {}};
  add_stage_counts(whole, "first", outcome);
  if (outcome.status == Status::not_finite) return whole;
  spec = {"second", p.second_slice};
  if (pure_) spec.pure_share = 0.0;
  spec.initial_point = outcome.point;
  spec.suboptimality = p.warm_excess;
  // step 3: w_priv ← B from w₀, given ψ
  run_last_stage(whole, "second", second(), curator, spec, stream.child(1), observer);
  return whole;  // step 4
}

double WarmStart::practical_share(const PublicFacts&) const { return 1.0 / 3; }

Scheduled WarmStart::schedule_warm(Schedule kind, const PublicFacts& facts,
                                   const PrivacyBudget& budget, Calibrator calibrator) {
  WarmStartParameters& p = parameters;
  const bool paper = kind == Schedule::paper;
  const double x = p.share > 0 ? p.share : paper ? 0.5 : practical_share(facts);
  const auto part = [&](double share) {  // a share of ε; under `paper` half of δ too
    return PrivacyBudget{share * budget.epsilon, paper ? 0.5 * budget.delta : budget.delta};
  };
  Scheduled whole{.rule = filter_rule(budget, calibrator, {}, pure_ ? x * budget.epsilon : 0.0),
                  .note = {}};
  PrivacyBudget first = part(x), second = part(1.0 - x);
  if (!pure_ && !paper) {
    first = slice(budget, calibrator, x);
    second = slice(budget, calibrator, 1.0 - x);
  }
  const auto share_of = [&](const PrivacyBudget& b) {
    return std::min(1.0, filter_rule(b, calibrator).capacity / whole.rule.capacity);
  };
  p.first_slice = pure_ ? 0.0 : paper ? share_of(first) : x;
  p.second_slice = paper ? share_of(second) : pure_ ? 1.0 : 1.0 - x;

  const Scheduled a = first_->schedule(kind, facts, first, calibrator);
  // ψ (lowy-2024, Theorem 3.2); Δ bounds the gap of the original start, not of w₀.
  p.warm_excess = a.excess_risk;
  PublicFacts warm = facts;
  warm.constants.set(constant::suboptimality, {p.warm_excess, Origin::estimated, "warm start"});
  const Scheduled b = this->second().schedule(kind, warm, second, calibrator);
  if ((a.rule.pure_capacity > 0 && !pure_) || b.rule.pure_capacity > 0)
    throw InputError(
        fmt::format("{}: a stage that keeps a part of epsilon for a private choice (boosting, "
                    "selection) has no place in a warm start; turn that off",
                    card().key));
  whole.alpha = b.alpha;
  whole.utility = std::max(a.utility, b.utility);
  if (p.finder == Finder::stochastic_spider)  // its escape is disputed; ψ holds in expectation
    whole.utility = std::max(whole.utility, Utility::disputed);
  whole.add_note(a.note);
  whole.add_note(b.note);
  return whole;
}

Scheduled WarmStart::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                              Calibrator calibrator) {
  WarmStartParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  p.warm = true;
  if (!p.fallback) return schedule_warm(kind, facts, budget, calibrator);
  const Scheduled warm = schedule_warm(kind, facts, budget, calibrator);
  Scheduled cold = second().schedule(kind, facts, budget, calibrator);
  if (!(cold.alpha > 0 && cold.alpha <= warm.alpha))  // B has the cold parameters: set them anew
    return schedule_warm(kind, facts, budget, calibrator);
  p.warm = false;
  cold.add_note(fmt::format("no warm start: it would promise {:.4g}, the second stage alone {:.4g}",
                            warm.alpha, cold.alpha));
  return cold;
}

Metric WarmStart::promised() const { return second().card().metric; }

Fields WarmStart::fields() {
  using namespace range;
  WarmStartParameters& p = parameters;
  Fields f{field("finder", p.finder,
                 "B: settings second.* belong to dp_spider, sosp.* to stochastic_spider"),
           field("share", p.share, unit_without_1,
                 "x: the first stage's part of the budget; 0 = the schedule's"),
           field("fallback", p.fallback, "the schedule runs B alone where it promises more"),
           field("warm", p.warm, "run the first stage; set by the schedule"),
           field("warm_excess", p.warm_excess, positive, "psi: suboptimality that B is told"),
           field("first_slice", p.first_slice, probability,
                 "A's share of the capacity; 0 = charged to the pure account alone"),
           field("second_slice", p.second_slice, unit_without_0, "B's share of the capacity")};
  add_stage_fields(f, "first", *first_);
  add_stage_fields(f, "second", *spider_);
  add_stage_fields(f, "sosp", *sosp_);
  return f;
}

void WarmStart::set_variant(Variant variant) {
  for (Algorithm* stage : {first_.get(), spider_.get(), sosp_.get()}) stage->set_variant(variant);
}

void WarmStart::check_settings(const PublicFacts& facts) const {
  const WarmStartParameters& p = parameters;
  const std::string& key = card().key;
  refuse_shared_dual(card(), facts);
  if (p.first_slice == 0 && !pure_) reject(key, "first_slice", p.first_slice, "in (0, 1]");
  check_stage(key, "first", *first_, facts);
  check_stage(key, "second", *spider_, facts);
  check_stage(key, "sosp", *sosp_, facts);
}

}  // namespace dpsosp::lowy_2024
