// SPDX-License-Identifier: Apache-2.0
// Queries of Hessians, and the combination of a gradient with a gradient difference.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "curator_exact.hpp"
#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/finite.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp::door {
namespace {

// Where squares underflow a norm reads 0 and clips nothing; plan_gaussian says so of every limit.
void check_limit(std::string_view name, double limit) {
  if (!(limit == 0 || (limit >= 1e-150 && limit <= 1e150)))
    reject("query", name, limit, "0 or in [1e-150, 1e150]");
}

}  // namespace

void Curator::gradient_combination(double gamma, const Point& point, const Point& previous,
                                   const Batch& batch, const CombinationQuery& query,
                                   VectorRef out) {
  Own& own = *own_;
  const Departures& departures = shared_->departures;
  check_query(point, &previous, batch, query.block, out.size());
  if (!(gamma >= 0 && gamma <= 1)) reject("query", "gamma", gamma, "in [0, 1]");
  check_limit("limit", query.limit);
  check_limit("difference_limit", query.difference_limit);
  const double limit = gamma * query.limit + (1.0 - gamma) * query.difference_limit;
  const bool same_point = point.distance(previous) == 0.0;
  const bool reads_gradient = gamma > 0;
  const bool reads_difference = gamma < 1 && !same_point;
  Question question{
      .name = "gradient_combination",
      .batch = batch,
      .plan = plan_gaussian(batch.policy, batch.use, own.facts.records, limit, query.noise),
      .lone_sensitivity = 2.0 * limit,
      .clipped_mean = departures.clip_batch_mean,
      .still = !reads_gradient && !reads_difference,
      .reads = (reads_gradient && (query.limit > 0 || departures.no_clipping)) ||
               (reads_difference && (query.difference_limit > 0 || departures.no_clipping))};
  pay(question);

  const Summand gradient = Summand::gradient(point, query.block);
  const Summand difference = Summand::gradient(point, query.block, &previous);
  const double divisor = question.plan.divisor;
  if (shared_->words) {
    answer_exactly(question.plan.standard_deviation, out, [&](LatticeVector& sum) {
      if (reads_gradient) read_exactly(gradient, batch, query.limit, gamma / divisor, sum);
      if (reads_difference)
        read_exactly(difference, batch, query.difference_limit, (1.0 - gamma) / divisor, sum);
    });
    return;
  }
  own.work.setZero(out.size());
  if (reads_difference) read_mean(difference, batch, query.difference_limit, divisor);
  if (reads_gradient) {
    own.rest = own.work;
    own.work.setZero(out.size());
    read_mean(gradient, batch, query.limit, divisor);
    own.work = gamma * own.work + (1.0 - gamma) * own.rest;
  }
  add_noise(question.plan.standard_deviation);
  out = own.work;
}

void Curator::check_hessian(std::string_view where, const Point& point, const Batch& batch) const {
  check_query(point, nullptr, batch, Block::x, own_->facts.dimension);
  if (!own_->sums().has_second_order())
    throw InputError(fmt::format("{}: {} answers no Hessian products", where, own_->facts.name));
}

void Curator::hessian(const Point& point, const Batch& batch, const HessianQuery& query,
                      MatrixRef out) {
  Own& own = *own_;
  const Departures& departures = shared_->departures;
  const Index d = own.facts.dimension;
  check_hessian("hessian", point, batch);
  for (const Index size : {out.rows(), out.cols()})
    if (size != d)
      reject("query", "out", static_cast<double>(size), fmt::format("{0} x {0} entries", d));
  const Index rank = query.rank == 0 ? d : query.rank;
  const Index proved = own_->sums().hessian_rank();
  if (!(rank >= 1 && rank <= d))
    reject("query", "rank", static_cast<double>(rank), fmt::format("0 or in [1, {}]", d));
  if (rank < d && !(proved >= 1 && proved <= rank))
    reject("query", "rank", static_cast<double>(rank),
           fmt::format("at least {}, which is what the records prove",
                       proved >= 1 && proved < d ? proved : d));
  check_limit("limit", query.limit);
  Question question{
      .name = "hessian",
      .batch = batch,
      .plan = plan_goe(batch.policy, own.facts.records, query.limit, rank, query.noise),
      .lone_sensitivity = 2.0 * query.limit * std::sqrt(static_cast<double>(rank)),
      .isotropic = std::numbers::sqrt2,
      .reads = query.limit > 0 || departures.no_clipping};
  pay(question);

  if (shared_->words) {
    hessian_exactly(point.x, batch, query.limit, rank, question.plan.standard_deviation, out);
    return;
  }
  Matrix mean(d, d);
  read_hessian_matrix(point.x, batch, query.limit, mean);
  const double s = question.plan.standard_deviation;
  shared_->audit({.kind = AuditedAnswer::Kind::matrix, .deviation = s, .path = own.key.path},
                 Eigen::Map<Vector>(mean.data(), mean.size()));
  if (!departures.no_noise) {
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < j; ++i) {
        mean(i, j) += s * own.noise.normal();
        mean(j, i) = mean(i, j);
      }
      mean(j, j) += std::numbers::sqrt2 * s * own.noise.normal();
    }
  }
  shared_->audit_noisy(Eigen::Map<Vector>(mean.data(), mean.size()));
  out = mean;
}

void Curator::read_hessian_matrix(const Vector& point, const Batch& batch, double limit,
                                  MatrixRef out) {
  const Index d = own_->facts.dimension;
  const Departures& departures = shared_->departures;
  if (own_->sums().adds_hessians() && !departures.no_clipping) {
    out.setZero();
    if (departures.no_data || limit == 0 || !point.allFinite()) return;
    const BatchView view = members_of(batch);
    Vector sum = Vector::Zero(d * d);
    const ClipReport report = own_->sums().add_hessians(Point(point), view, limit, sum);
    if (all_finite(sum)) out = sum.reshaped(d, d) / divisor_of(batch, view);
    return note_clipping(report, view.size(), limit);
  }
  Vector unit = Vector::Zero(d);
  for (Index j = 0; j < d; ++j) {
    own_->work.setZero(d);
    unit[j] = 1.0;
    read_hessian(Summand::hessian_product(Point(point), unit), batch, limit);
    unit[j] = 0.0;
    out.col(j) = own_->work;
  }
  for (Index j = 0; j < d; ++j)
    for (Index i = 0; i < j; ++i) out(i, j) = out(j, i) = (out(i, j) + out(j, i)) / 2;
}

void Curator::hessian_product(const Point& point, ConstVectorRef v, const Batch& batch,
                              const HessianProductQuery& query, VectorRef out) {
  Own& own = *own_;
  const Departures& departures = shared_->departures;
  check_hessian("hessian_product", point, batch);
  for (const Index size : {v.size(), out.size()})
    if (size != own.facts.dimension)
      reject("query", "vector", static_cast<double>(size),
             fmt::format("{} entries", own.facts.dimension));
  check_limit("limit", query.limit);
  const double length = v.stableNorm();  // squares of small entries would be charged as zero
  if (!(length == 0 || (length >= 1e-150 && length <= 1e150)))
    reject("query", "vector norm", length, "0 or in [1e-150, 1e150]");
  const double limit = query.limit * length;
  Question question{.name = "hessian_product",
                    .batch = batch,
                    .plan = plan_gaussian(batch.policy, BatchUse::several_queries,
                                          own.facts.records, limit, query.noise),
                    .lone_sensitivity = 2.0 * limit,
                    .still = length == 0,
                    .reads = length > 0 && (query.limit > 0 || departures.no_clipping)};
  pay(question);

  if (shared_->words) {
    answer_exactly(question.plan.standard_deviation, out, [&](LatticeVector& sum) {
      if (length > 0)
        read_exactly(Summand::hessian_product(point, v), batch, query.limit,
                     1.0 / question.plan.divisor, sum);
    });
    return;
  }
  own.work.setZero(out.size());
  if (length > 0) read_hessian(Summand::hessian_product(point, v), batch, query.limit);
  add_noise(question.plan.standard_deviation);
  out = own.work;
}

}  // namespace dpsosp::door
