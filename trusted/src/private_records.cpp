// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/private_records.hpp"

#include <utility>

#include "dpsosp/trusted/kind_sums.hpp"
#include "dpsosp/trusted/row_sums.hpp"

namespace dpsosp {

std::unique_ptr<const Records> PrivateRecords::projected(const Matrix& map, double cap) const {
  return std::unique_ptr<const Records>(new PrivateRecords(sums().projected(map, cap)));
}

std::unique_ptr<const PrivateRecords> admit(RowLoss loss, RecordTable table) {
  return std::unique_ptr<const PrivateRecords>(
      new PrivateRecords(std::make_unique<const RowSums>(std::move(loss), std::move(table))));
}

std::unique_ptr<const PrivateRecords> admit(std::unique_ptr<const KindLoss> loss,
                                            RecordTable table) {
  return std::unique_ptr<const PrivateRecords>(
      new PrivateRecords(std::make_unique<const KindSums>(std::move(loss), std::move(table))));
}

}  // namespace dpsosp
