// SPDX-License-Identifier: Apache-2.0
// Sums of a release. Records are read one by one, so that the length of each can be checked.
#include "curator_exact.hpp"

#include <cmath>
#include <numbers>

#include "dpsosp/trusted/records.hpp"

namespace dpsosp::door {
namespace {

/// Adds weight · v_i of each record to `sum`, a vector of length at most `reach`, where
/// `contribution(record, v)` adds v_i, clipped, to v. `v` is scratch.
template <class Contribution>
ClipReport sum_exactly(const BatchView& view,
                       double weight,
                       double reach,
                       Vector& v,
                       LatticeVector& sum,
                       const Contribution& contribution) {
  v.resize(sum.size());
  ClipReport report;
  for (Index k = 0; k < view.size(); ++k) {
    v.setZero();
    report.merge(contribution(BatchView(view[k], view[k] + 1), v));
    v *= weight;
    sum.add(v, reach);
  }
  return report;
}

}  // namespace

void Curator::read_gradients_exactly(const Point& point,
                                     const Point* previous,
                                     const Batch& batch,
                                     const GradientQuery& query,
                                     double weight,
                                     LatticeVector& sum) {
  const auto finite = [](const Point& p) { return p.x.allFinite() && p.y.allFinite(); };
  if (query.limit == 0 || !finite(point) || (previous != nullptr && !finite(*previous))) return;
  const RecordSums& records = own_->sums();
  const BatchView view = members_of(batch);
  const ClipReport report = sum_exactly(
      view, weight, weight * query.limit, own_->work, sum, [&](const BatchView& record, Vector& v) {
        return previous == nullptr
                   ? records.add_gradients(point, query.block, record, query.limit, v)
                   : records.add_gradient_differences(
                         point, *previous, query.block, record, query.limit, v);
      });
  note_clipping(report, view.size(), query.limit);
}

void Curator::read_products_exactly(const Vector& point,
                                    const Vector& previous,
                                    const Batch& batch,
                                    ConstVectorRef v,
                                    double limit,
                                    LatticeVector& sum) {
  if (limit == 0 || !point.allFinite() || !previous.allFinite() || !v.allFinite()) return;
  const RecordSums& records = own_->sums();
  const BatchView view = members_of(batch);
  const double weight = 1.0 / batch.policy.divisor(own_->facts.records);
  const double reach = weight * limit * v.stableNorm();
  const Point here(point), there(previous);
  const ClipReport report = sum_exactly(
      view, weight, reach, own_->work, sum, [&](const BatchView& record, Vector& product) {
        return previous.size() == 0 ? records.add_hessian_products(here, v, record, limit, product)
                                    : records.add_hessian_difference_products(
                                          here, there, v, record, limit, product);
      });
  note_clipping(report, view.size(), limit);
}

/// The upper triangle is a vector whose length is the Frobenius norm over √2, with the diagonal
/// over √2: there GOE(s) is N(0, s² I).
void Curator::hessian_exactly(const Vector& point,
                              const Batch& batch,
                              double limit,
                              Index rank,
                              double standard_deviation,
                              MatrixRef out) {
  const Index d = point.size();
  const double weight = 1.0 / batch.policy.divisor(own_->facts.records);
  const double reach = weight * limit * std::sqrt(static_cast<double>(rank)) / std::numbers::sqrt2;
  const RecordSums& records = own_->sums();
  const BatchView view = members_of(batch);
  Matrix hessian(d, d);
  Vector triangle(d * (d + 1) / 2);
  answer_exactly(standard_deviation, triangle, [&](LatticeVector& sum) {
    if (limit == 0 || !point.allFinite()) return;
    ClipReport report;
    Vector column(d);
    for (Index k = 0; k < view.size(); ++k) {
      const BatchView record(view[k], view[k] + 1);
      for (Index j = 0; j < d; ++j) {
        column.setZero();
        report.merge(
            records.add_hessian_products(Point(point), Vector::Unit(d, j), record, limit, column));
        hessian.col(j) = weight * column;
      }
      Index at = 0;
      for (Index j = 0; j < d; ++j) {
        for (Index i = 0; i < j; ++i) triangle[at++] = (hessian(i, j) + hessian(j, i)) / 2;
        triangle[at++] = hessian(j, j) / std::numbers::sqrt2;
      }
      sum.add(triangle, reach);
    }
    note_clipping(report, view.size(), limit);
  });
  Index at = 0;
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < j; ++i) out(i, j) = out(j, i) = triangle[at++];
    out(j, j) = std::numbers::sqrt2 * triangle[at++];
  }
}

}  // namespace dpsosp::door
