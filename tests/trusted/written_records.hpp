// SPDX-License-Identifier: Apache-2.0
// Records of which a test writes what each contributes; clipped one by one and added up here.
#pragma once

#include <cmath>

#include "dpsosp/trusted/records.hpp"

namespace dpsosp::test {

class WrittenRecords : public UncheckedRecords {
 public:
  explicit WrittenRecords(Index size) : size_(size) {}

  Index size() const override { return size_; }
  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    ClipReport report;
    for (Index k = 0; k < batch.size(); ++k) {
      const Vector v = of(batch[k], s);
      if (s.kind == Summand::Kind::coordinate_loss)
        for (Index j = 0; j < v.size(); ++j)
          out[j] += report.weigh(std::abs(v[j]), limit * std::abs(s.v[j] - s.centre)) * v[j];
      else
        out += report.weigh(length(batch[k], s, v), limit) * v;
    }
    return report;
  }

 private:
  virtual Vector of(Index i, const Summand& s) const = 0;
  /// Of the norm of record i's Hessian.
  virtual double bound(Index /*i*/, const Summand&) const { return 0; }
  double length(Index i, const Summand& s, const Vector& v) const {
    if (s.kind == Summand::Kind::hessian_product) return bound(i, s);
    return v.size() == 1 ? std::abs(v[0]) : v.norm();
  }

  Index size_;
};

}  // namespace dpsosp::test
