// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "dpsosp/trusted/detail/dense_sums.hpp"
#include "dpsosp/trusted/kind_loss.hpp"
#include "dpsosp/trusted/records.hpp"
#include "dpsosp/trusted/row_loss.hpp"

namespace dpsosp {

/// How often each column of a table occurs in a batch of simulated records: all that a sum over
/// them depends on, so that a batch costs as much as the columns, and n records as much as the
/// draws of a multinomial.
class Multiplicity {
 public:
  virtual ~Multiplicity() = default;
  /// n.
  virtual Index size() const = 0;
  /// Number of records of the batch at each column. \throws InputError for a batch that has no law
  virtual std::shared_ptr<const std::vector<Index>> of(const BatchView& batch) const = 0;
};

/// Sums over records that are columns of a table, of the losses that admit() takes.
std::unique_ptr<const SimulatedSums> simulate(RowLoss loss, RecordTable columns,
                                              std::shared_ptr<const Multiplicity> multiplicity);
std::unique_ptr<const SimulatedSums> simulate(std::unique_ptr<const KindLoss> loss,
                                              RecordTable columns,
                                              std::shared_ptr<const Multiplicity> multiplicity);
std::unique_ptr<const SimulatedSums> simulate(std::unique_ptr<const ClippedSums> of_columns,
                                              std::shared_ptr<const Multiplicity> multiplicity);
template <class Loss>
std::unique_ptr<const SimulatedSums> simulate(typename Loss::Facts facts, RecordTable columns,
                                              std::shared_ptr<const Multiplicity> multiplicity) {
  return simulate(std::make_unique<const DenseSums<Loss>>(std::move(facts), std::move(columns)),
                  std::move(multiplicity));
}

}  // namespace dpsosp
