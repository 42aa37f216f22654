// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "dpsosp/trusted/detail/dense_sums.hpp"
#include "dpsosp/trusted/kind_loss.hpp"
#include "dpsosp/trusted/row_loss.hpp"

namespace dpsosp {

/// Private data with the loss of a record. Made by admit() alone, so that every sum over it is one
/// of trusted/, whatever the problem.
class Records final : public AnyRecords {
 public:
  Index size() const override { return sums_->table().size(); }
  bool separable() const override { return sums_->separable(); }
  bool has_second_order() const override { return sums_->has_second_order(); }
  Index hessian_rank() const override { return sums_->hessian_rank(); }
  bool adds_hessians() const override { return sums_->adds_hessians(); }
  bool sums_to_hessians() const override { return sums_->sums_to_hessians(); }
  ClipReport add(const Summand& summand, const BatchView& batch, double limit,
                 VectorRef out) const override {
    return sums_->add(summand, sums_->table().members_of(batch), limit, out);
  }
  ClipReport add_hessians(const Point& point, const BatchView& batch, double limit,
                          VectorRef out) const override {
    return sums_->add_hessians(point, sums_->table().members_of(batch), limit, out);
  }
  std::unique_ptr<const AnyRecords> projected(const Matrix& map, double cap) const override {
    return std::unique_ptr<const Records>(new Records(sums_->projected(map, cap)));
  }

 private:
  friend std::unique_ptr<const Records> admit(RowLoss loss, const RecordTable& table);
  friend std::unique_ptr<const Records> admit(std::unique_ptr<const KindLoss> loss,
                                              const RecordTable& table);
  template <class Loss>
  friend std::unique_ptr<const Records> admit(typename Loss::Facts facts, const RecordTable& table);

  explicit Records(std::unique_ptr<const ClippedSums> sums)
      : AnyRecords(true), sums_(std::move(sums)) {}
  static RecordTable owned(const RecordTable& table) { return table.copy(); }

  std::unique_ptr<const ClippedSums> sums_;
};

/// Records of φ(⟨a, x⟩; b) + g(x).
std::unique_ptr<const Records> admit(RowLoss loss, const RecordTable& table);

/// Records of a loss that asks for their kinds alone.
/// \throws InputError unless its axes are orthonormal
std::unique_ptr<const Records> admit(std::unique_ptr<const KindLoss> loss,
                                     const RecordTable& table);

/// Records of a dense loss.
template <class Loss>
std::unique_ptr<const Records> admit(typename Loss::Facts facts, const RecordTable& table) {
  return std::unique_ptr<const Records>(new Records(
      std::make_unique<const DenseSums<Loss>>(std::move(facts), Records::owned(table))));
}

}  // namespace dpsosp
