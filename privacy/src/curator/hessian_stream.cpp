// SPDX-License-Identifier: Apache-2.0
#include "hessian_stream.hpp"

#include <cmath>

#include <fmt/format.h>

#include "curator_exact.hpp"
#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/trusted/records.hpp"
#include "sensitivity_steps.hpp"

namespace dpsosp::door {
namespace {

/// A product with the Hessian at a point, less that at `previous` unless it is empty.
Summand product_at(const Vector& point, const Vector& previous, ConstVectorRef v) {
  const Point before(previous);
  return Summand::hessian_product(Point(point), v, previous.size() > 0 ? &before : nullptr);
}

}  // namespace

void HessianStream::check_group(const Point& point, const Batch& batch, double limit) const {
  curator_->check_query(point, nullptr, batch, Block::x, point.x.size());
  if (!curator_->own_->sums().has_second_order())
    throw InputError(
        fmt::format("hessian stream: {} answers no Hessian products", curator_->own_->facts.name));
  if (batch.secret())
    throw InputError("hessian stream: a batch with secret membership answers many products");
  if (!(limit == 0 || (limit >= 1e-150 && limit <= 1e150)))
    reject("hessian stream", "limit", limit, "0 or in [1e-150, 1e150]");
}

void HessianStream::refresh(const Point& point, const Batch& batch, double limit) {
  check_group(point, batch, limit);
  groups_.clear();
  sum_.resize(0, 0);
  keep(point, {}, batch, limit);
}

void HessianStream::add(const Point& point, const Point& previous, const Batch& batch,
                        double limit) {
  check_group(point, batch, limit);
  check_group(previous, batch, limit);
  if (groups_.empty()) throw InputError("hessian stream: add before the first refresh");
  if (point.distance(previous) == 0) return;  // the difference is zero whatever the records are
  keep(point, previous.x, batch, limit);
}

void HessianStream::keep(const Point& point, const Vector& previous, const Batch& batch,
                         double limit) {
  if (mode_ == HessianMode::lazy || curator_->shared_->words) {
    groups_.push_back({point.x, previous, batch, limit});
    return;
  }
  groups_.push_back({{}, {}, batch, limit});
  const Index d = point.x.size();
  if (sum_.size() == 0) sum_.setZero(d, d);
  const Vector at = point.x;
  Vector& column = curator_->own_->work;
  for (Index j = 0; j < d; ++j) {
    column.setZero(d);
    const Vector unit = Vector::Unit(d, j);
    curator_->read_hessian(product_at(at, previous, unit), batch, limit);
    sum_.col(j) += column;
  }
}

void HessianStream::product(ConstVectorRef v, double standard_deviation, VectorRef out) {
  Curator::Own& own = *curator_->own_;
  const Curator::Shared& shared = *curator_->shared_;
  const Departures& departures = shared.departures;
  if (groups_.empty()) throw InputError("hessian stream: a product before the first refresh");
  for (const Index size : {v.size(), out.size()})
    if (size != own.facts.dimension)
      reject("hessian stream", "vector", static_cast<double>(size),
             fmt::format("{} entries", own.facts.dimension));
  if (!(standard_deviation >= 1e-150 && standard_deviation <= 1e150))
    reject("hessian stream", "standard_deviation", standard_deviation, "in [1e-150, 1e150]");

  // Squares of small entries would be charged as zero; a vector that is not finite reads nothing.
  const double length = v.allFinite() ? v.stableNorm() : 0.0;
  if (!(length <= 1e150))  // the product with a limit stays finite
    reject("hessian stream", "length of the vector", length, "<= 1e150");
  SensitivitySteps sensitivities;
  std::vector<RangeFilter::Charge> charges;
  std::vector<LedgerEntry> entries;
  for (const Group& g : groups_) {
    const double divisor = g.batch.policy.divisor(own.facts.records);
    const double sensitivity = 2.0 * g.limit * length / divisor;
    if (sensitivity > 0)
      sensitivities.add(g.batch.range, sensitivity);
    else if (departures.no_clipping && !departures.no_data && length > 0)  // read all the same
      entries.push_back({own.scope, "hessian_product", g.batch.policy, {}, g.batch.range});
  }
  for (const auto& [range, total] : sensitivities.steps()) {
    const Event event = shared.as_drawn(GaussianEvent{standard_deviation / total});
    charges.push_back({range, own.rule.charge(event)});
    entries.push_back({own.scope, "hessian_product", groups_.back().batch.policy, event, range,
                       total, total, standard_deviation, standard_deviation, 1});
  }
  if (!departures.no_filter && !own.filter.try_charge(charges))
    throw BudgetExhausted("hessian_product refused: its charge exceeds the privacy budget");
  for (LedgerEntry& entry : entries) {
    if (departures.no_noise) entry.event.reset();
    curator_->shared_->list(std::move(entry));
  }

  if (shared.words) {
    curator_->answer_exactly(standard_deviation, out, [&](LatticeVector& sum) {
      if (length == 0) return;
      for (const Group& g : groups_)
        curator_->read_exactly(product_at(g.point, g.previous, v), g.batch, g.limit,
                               1.0 / g.batch.policy.divisor(own.facts.records), sum);
    });
    return;
  }
  own.work.setZero(out.size());
  if (mode_ == HessianMode::dense) {
    if (v.allFinite()) own.work.noalias() += sum_ * v;
  } else if (length > 0) {
    for (const Group& g : groups_)
      curator_->read_hessian(product_at(g.point, g.previous, v), g.batch, g.limit);
  }
  curator_->add_noise(standard_deviation);
  out = own.work;
}

}  // namespace dpsosp::door
