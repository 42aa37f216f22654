// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// Records whose sums a function makes of another data set's, for audits and tests. They answer
/// what the others answer.
class AlteredRecords final : public UncheckedRecords {
 public:
  using Add = std::function<ClipReport(const AnyRecords& others, const Summand& summand,
                                       const BatchView& batch, double limit, VectorRef out)>;
  AlteredRecords(std::shared_ptr<const AnyRecords> others, Index size, Add add)
      : others_(std::move(others)), size_(size), add_(std::move(add)) {}
  /// As many as the others, which outlive it.
  AlteredRecords(const AnyRecords& others, Add add)
      : AlteredRecords({std::shared_ptr<void>(), &others}, others.size(), std::move(add)) {}

  Index size() const override { return size_; }
  bool separable() const override { return others_->separable(); }
  bool has_second_order() const override { return others_->has_second_order(); }
  Index hessian_rank() const override { return others_->hessian_rank(); }
  bool sums_to_hessians() const override { return others_->sums_to_hessians(); }
  ClipReport add(const Summand& summand, const BatchView& batch, double limit,
                 VectorRef out) const override {
    return add_(*others_, summand, batch, limit, out);
  }
  std::unique_ptr<const AnyRecords> projected(const Matrix& map, double cap) const override {
    return std::make_unique<AlteredRecords>(others_->projected(map, cap), size_, add_);
  }

 private:
  std::shared_ptr<const AnyRecords> others_;
  Index size_;
  Add add_;
};

}  // namespace dpsosp
