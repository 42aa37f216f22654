// SPDX-License-Identifier: Apache-2.0
// Sums of a release. Records are read one by one, so that the length of each can be checked.
#include "curator_exact.hpp"

#include <cmath>
#include <numbers>

#include "dpsosp/trusted/records.hpp"

namespace dpsosp::door {
void Curator::read_exactly(const Summand& summand, const Batch& batch, double limit, double weight,
                           LatticeVector& sum) {
  if (limit == 0 || !summand.finite()) return;
  const double length = summand.kind == Summand::Kind::hessian_product ? summand.v.stableNorm() : 1;
  const double reach = weight * limit * length;
  const BatchView view = members_of(batch);
  Vector& one = own_->work;
  one.resize(sum.size());
  ClipReport report;
  for (Index k = 0; k < view.size(); ++k) {
    one.setZero();
    report.merge(own_->sums().add(summand, BatchView(view[k], view[k] + 1), limit, one));
    one *= weight;
    sum.add(one, reach);
  }
  note_clipping(report, view.size(), limit);
}

/// The upper triangle is a vector whose length is the Frobenius norm over √2, with the diagonal
/// over √2: there GOE(s) is N(0, s² I).
void Curator::hessian_exactly(const Vector& point, const Batch& batch, double limit, Index rank,
                              double standard_deviation, MatrixRef out) {
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
    for (Index k = 0; k < view.size(); ++k) {
      const BatchView record(view[k], view[k] + 1);
      hessian.setZero();
      if (records.adds_hessians())
        report.merge(records.add_hessians(Point(point), record, limit, hessian.reshaped()));
      else
        for (Index j = 0; j < d; ++j)
          report.merge(records.add_hessian_products(Point(point), Vector::Unit(d, j), record, limit,
                                                    hessian.col(j)));
      hessian *= weight;
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
