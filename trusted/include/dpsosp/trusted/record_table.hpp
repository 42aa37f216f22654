// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// Records as their source gives them: a column of numbers and a label each.
struct RecordColumns {
  Matrix features;  ///< w × n
  Vector labels;    ///< n
};

/// Columns of a table, each as often as `counts` says, or once without counts.
struct Members {
  BatchView columns;
  std::shared_ptr<const std::vector<Index>> counts = nullptr;

  Index times(Index column) const {
    return counts ? (*counts)[static_cast<std::size_t>(column)] : 1;
  }
  /// How many records these are.
  Index records() const;
};

/// The private data, which sums over them alone read.
///
/// A record becomes zero if a number of it is not finite, if its length is out of [1e−150, 1e150]
/// and not 0, or if its label is beyond 1e150: products with it would be rounding. Each record is
/// judged alone.
class RecordTable {
 public:
  /// \param data  shared; admit() copies them, so that nobody can change records
  /// \throws InputError unless there are as many labels as columns
  explicit RecordTable(std::shared_ptr<const RecordColumns> data);
  explicit RecordTable(RecordColumns data);
  /// n records of K values, record i being column values[i]: a sum costs K columns.
  /// \throws InputError also if a value is not in [0, K)
  RecordTable(std::shared_ptr<const RecordColumns> data, std::vector<std::int32_t> values);
  RecordTable(RecordColumns data, std::vector<std::int32_t> values);

  /// n.
  Index size() const { return repeated_ ? std::ssize(values_) : columns(); }
  /// w.
  Index width() const { return data_->features.rows(); }
  /// K, or n where records are not values of a list.
  Index columns() const { return data_->labels.size(); }

 private:
  template <class Loss>
  friend class DenseSums;
  friend class KindSums;
  friend class RowSums;
  friend class Records;

  /// A table of the same data that nobody else has a pointer to.
  RecordTable copy() const;
  const double* column(Index i) const { return data_->features.data() + i * width(); }
  double label(Index i) const { return data_->labels[i]; }
  /// The columns that the records of a batch are.
  Members members_of(const BatchView& batch) const;
  /// The table with columns Φa, each scaled down to length `cap` where it is longer.
  RecordTable projected(const Matrix& map, double cap) const;

  std::shared_ptr<const RecordColumns> data_;
  std::vector<std::int32_t> values_;
  bool repeated_ = false;
};

}  // namespace dpsosp
