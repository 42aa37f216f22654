// SPDX-License-Identifier: Apache-2.0
#include "gibbs_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp::door {
namespace {

GibbsLaw law_of(const GibbsSpec& spec, double diameter) {
  return {spec.inverse_temperature,
          spec.regularizer,
          spec.domain,
          0.5 * spec.lipschitz * diameter,
          spec.method,
          spec.step,
          spec.rounds};
}

}  // namespace

/// f(x; z_i) − f(0; z_i), clamped; what is not finite counts as zero.
class GibbsSampler::ClampedLoss final : public SampledLoss {
 public:
  ClampedLoss(const GibbsSampler& sampler, double limit)
      : sampler_(sampler), limit_(limit), centre_(Vector::Zero(dimension())) {}

  Index count() const override { return range().end - range().begin; }
  double one(Index i, ConstVectorRef x) override {
    if (sampler_.curator_->shared_->departures.no_data) return 0.0;
    double sum = 0;
    const Index record = range().begin + i;
    sampler_.curator_->own_->sums().add_loss_differences(
        Point(x), Point(centre_), BatchView(record, record + 1), limit_, sum);
    return audited(std::isfinite(sum) ? sum : 0.0);
  }
  double mean(ConstVectorRef x) override {
    const double mean =
        sampler_.curator_->read_loss_difference(x, centre_, sampler_.batch_, limit_);
    // the clamp of every record, rounding aside; without clipping acceptance stays a probability
    return audited(std::isfinite(limit_) ? std::clamp(mean, -limit_, limit_) : mean);
  }

 private:
  double audited(double loss) const {
    sampler_.curator_->shared_->audit({.kind = AuditedAnswer::Kind::loss,
                                       .deviation = 1.0 / sampler_.spec_.inverse_temperature,
                                       .path = sampler_.curator_->own_->key.path,
                                       .count = count(),
                                       .law = &sampler_.sampler_.law()},
                                      loss);
    return loss;
  }
  RecordRange range() const { return sampler_.batch_.range; }
  Index dimension() const { return sampler_.curator_->own_->facts.dimension; }

  const GibbsSampler& sampler_;
  double limit_;
  Vector centre_;
};

GibbsSampler::GibbsSampler(Curator& curator, const Batch& batch, const GibbsSpec& spec)
    : curator_(&curator),
      batch_(batch),
      spec_(spec),
      sampler_(law_of(spec, spec.domain.diameter(curator.facts().dimension))) {
  constexpr std::string_view where = "gibbs sampler";
  curator.shared_->refuse_if_exact(where);
  const PublicFacts& facts = curator.own_->facts;
  const Vector start = facts.initial_point;
  curator.check_query(Point(start), nullptr, batch, Block::x, facts.dimension);
  if (batch.secret()) throw InputError("gibbs sampler: a batch with secret membership");
  if (curator.shared_->departures.clip_batch_mean)
    throw InputError("gibbs sampler: it has no form that clips the mean");
  if (spec.method == GibbsMethod::stochastic && curator.own_->simulated())
    throw InputError(
        "gibbs sampler: simulated records have no single losses; method exact or rejection");
  if (!(spec.sampling_error >= 0 && spec.sampling_error < 1))
    reject(where, "sampling_error", spec.sampling_error, "in [0, 1)");
  if (spec.method != GibbsMethod::rejection && spec.sampling_error == 0)
    reject(where, "sampling_error", 0.0, "> 0: alternating methods are not exact");
  const double diameter = spec.domain.diameter(facts.dimension);
  if (spec.method == GibbsMethod::exact) {
    const double needed =
        alternating_rounds(spec.inverse_temperature, spec.regularizer, spec.lipschitz * diameter,
                           spec.step, spec.sampling_error);
    if (!(static_cast<double>(spec.rounds) >= needed))
      reject(
          where, "rounds", static_cast<double>(spec.rounds),
          fmt::format(">= {}, after which the chain is within sampling_error of its law", needed));
  }
  epsilon_ = 2.0 * spec.inverse_temperature * spec.lipschitz * diameter /
             batch.policy.divisor(facts.records);
}

void GibbsSampler::sample(VectorRef out) {
  Curator::Own& own = *curator_->own_;
  Curator::Shared& shared = *curator_->shared_;
  if (out.size() != own.facts.dimension)
    reject("gibbs sampler", "out", static_cast<double>(out.size()),
           fmt::format("{} entries", own.facts.dimension));
  const double failure = spec_.method == GibbsMethod::rejection ? 0.0 : spec_.sampling_error;
  const Event event = ExponentialEvent{epsilon_};
  const auto account = shared.departures.no_filter ? RangeFilter::Account::zcdp
                                                   : own.charge_pure(batch_.range, event, failure);
  if (!account)
    throw BudgetExhausted("gibbs_sample refused: its charge exceeds the privacy budget");
  const double bound = 0.5 * spec_.lipschitz * spec_.domain.diameter(own.facts.dimension);
  const double range = 4.0 * bound / batch_.policy.divisor(own.facts.records);
  shared.list({own.scope, "gibbs_sample", batch_.policy,
               shared.departures.no_noise ? std::optional<Event>{} : event, batch_.range, range,
               range, 1.0 / spec_.inverse_temperature, 1.0 / spec_.inverse_temperature, 1,
               account == RangeFilter::Account::pure, failure});
  if (spec_.method == GibbsMethod::stochastic) shared.rests_on_assumption = true;

  const double limit =
      shared.departures.no_clipping ? std::numeric_limits<double>::infinity() : bound;
  ClampedLoss loss(*this, limit);
  const EstimateCounts before = sampler_.counts();
  Vector x(out.size());
  sampler_.sample(loss, own.noise, x);
  if (shared.clip_log != nullptr) {
    shared.clip_log->estimates += sampler_.counts().estimates - before.estimates;
    shared.clip_log->out_of_range += sampler_.counts().out_of_range - before.out_of_range;
  }
  shared.audit_noisy(x);
  out = x;
}

}  // namespace dpsosp::door
