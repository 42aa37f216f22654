// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/admit.hpp"

#include <utility>

#include "dpsosp/trusted/detail/kind_sums.hpp"
#include "dpsosp/trusted/detail/row_sums.hpp"

namespace dpsosp {

std::unique_ptr<const Records> admit(RowLoss loss, const RecordTable& table) {
  return std::unique_ptr<const Records>(
      new Records(std::make_unique<const RowSums>(std::move(loss), Records::owned(table))));
}

std::unique_ptr<const Records> admit(std::unique_ptr<const KindLoss> loss,
                                     const RecordTable& table) {
  return std::unique_ptr<const Records>(
      new Records(std::make_unique<const KindSums>(std::move(loss), Records::owned(table))));
}

}  // namespace dpsosp
