// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/simulate.hpp"

#include "dpsosp/trusted/detail/kind_sums.hpp"
#include "dpsosp/trusted/detail/row_sums.hpp"

namespace dpsosp {
namespace {

class SimulatedColumns final : public SimulatedSums {
 public:
  SimulatedColumns(std::unique_ptr<const ClippedSums> of_columns,
                   std::shared_ptr<const Multiplicity> multiplicity)
      : of_columns_(std::move(of_columns)), multiplicity_(std::move(multiplicity)) {}

  Index size() const override { return multiplicity_->size(); }
  bool separable() const override { return of_columns_->separable(); }
  bool has_second_order() const override { return of_columns_->has_second_order(); }
  Index hessian_rank() const override { return of_columns_->hessian_rank(); }
  ClipReport add(const Summand& summand, const BatchView& batch, double limit,
                 VectorRef out) const override {
    return of_columns_->add(summand, members_of(batch), limit, out);
  }
  bool adds_hessians() const override { return of_columns_->adds_hessians(); }
  ClipReport add_hessians(const Point& point, const BatchView& batch, double limit,
                          VectorRef out) const override {
    return of_columns_->add_hessians(point, members_of(batch), limit, out);
  }
  std::unique_ptr<const SimulatedSums> projected(const Matrix& map, double cap) const override {
    return simulate(of_columns_->projected(map, cap), multiplicity_);
  }

 private:
  Members members_of(const BatchView& batch) const {
    return {BatchView(0, of_columns_->table().columns()), multiplicity_->of(batch)};
  }

  std::unique_ptr<const ClippedSums> of_columns_;
  std::shared_ptr<const Multiplicity> multiplicity_;
};

}  // namespace

std::unique_ptr<const SimulatedSums> simulate(RowLoss loss, RecordTable columns,
                                              std::shared_ptr<const Multiplicity> multiplicity) {
  return simulate(std::make_unique<const RowSums>(std::move(loss), std::move(columns)),
                  std::move(multiplicity));
}

std::unique_ptr<const SimulatedSums> simulate(std::unique_ptr<const KindLoss> loss,
                                              RecordTable columns,
                                              std::shared_ptr<const Multiplicity> multiplicity) {
  return simulate(std::make_unique<const KindSums>(std::move(loss), std::move(columns)),
                  std::move(multiplicity));
}

std::unique_ptr<const SimulatedSums> simulate(std::unique_ptr<const ClippedSums> of_columns,
                                              std::shared_ptr<const Multiplicity> multiplicity) {
  return std::make_unique<SimulatedColumns>(std::move(of_columns), std::move(multiplicity));
}

}  // namespace dpsosp
