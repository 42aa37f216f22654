// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "dpsosp/trusted/dense_sums.hpp"
#include "dpsosp/trusted/kind_loss.hpp"
#include "dpsosp/trusted/row_loss.hpp"

namespace dpsosp {

/// Private data with the loss of a record. Made by admit() alone, so that every sum over it is one
/// of trusted/, whatever the problem.
class PrivateRecords final : public AnsweredBy<Records> {
 public:
  Index size() const override { return sums().table().size(); }
  std::unique_ptr<const Records> projected(const Matrix& map, double cap) const override;

 private:
  friend std::unique_ptr<const PrivateRecords> admit(RowLoss loss, RecordTable table);
  friend std::unique_ptr<const PrivateRecords> admit(std::unique_ptr<const KindLoss> loss,
                                                     RecordTable table);
  template <class Loss>
  friend std::unique_ptr<const PrivateRecords> admit(typename Loss::Facts facts, RecordTable table);

  explicit PrivateRecords(std::unique_ptr<const ClippedSums> sums) : AnsweredBy(std::move(sums)) {}
  Members members_of(const BatchView& batch) const override {
    return sums().table().members_of(batch);
  }
};

/// Records of φ(⟨a, x⟩; b) + g(x).
std::unique_ptr<const PrivateRecords> admit(RowLoss loss, RecordTable table);

/// Records of a loss that asks for their kinds alone.
/// \throws InputError unless its axes are orthonormal
std::unique_ptr<const PrivateRecords> admit(std::unique_ptr<const KindLoss> loss,
                                            RecordTable table);

/// Records of a dense loss.
template <class Loss>
std::unique_ptr<const PrivateRecords> admit(typename Loss::Facts facts, RecordTable table) {
  return std::unique_ptr<const PrivateRecords>(new PrivateRecords(
      std::make_unique<const DenseSums<Loss>>(std::move(facts), std::move(table))));
}

}  // namespace dpsosp
