// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/record_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/trusted/clip.hpp"

namespace dpsosp {
namespace {

constexpr double least_length = 1e-150, most = 1e150;

bool in_range(const RecordColumns& data, Index i) {
  const double length = length_of(data.features.col(i));
  return (length == 0 || (length >= least_length && length <= most)) &&
         std::abs(data.labels[i]) <= most;
}

/// The data themselves where every record is in range, else a copy without the others.
std::shared_ptr<const RecordColumns> admitted(std::shared_ptr<const RecordColumns> data) {
  if (data->features.cols() != data->labels.size())
    throw InputError(fmt::format("records: {} columns, but {} labels", data->features.cols(),
                                 data->labels.size()));
  std::shared_ptr<RecordColumns> mended;
  for (Index i = 0; i < data->labels.size(); ++i) {
    if (in_range(*data, i)) continue;
    if (!mended) mended = std::make_shared<RecordColumns>(*data);
    mended->features.col(i).setZero();
    mended->labels[i] = 0.0;
  }
  return mended ? mended : data;
}

}  // namespace

Index Members::records() const {
  if (!counts) return columns.size();
  Index sum = 0;
  for (Index k = 0; k < columns.size(); ++k) sum += times(columns[k]);
  return sum;
}

RecordTable::RecordTable(std::shared_ptr<const RecordColumns> data)
    : data_(admitted(std::move(data))) {}

RecordTable::RecordTable(RecordColumns data)
    : RecordTable(std::make_shared<const RecordColumns>(std::move(data))) {}

RecordTable::RecordTable(RecordColumns data, std::vector<std::int32_t> values)
    : RecordTable(std::make_shared<const RecordColumns>(std::move(data)), std::move(values)) {}

RecordTable::RecordTable(std::shared_ptr<const RecordColumns> data,
                         std::vector<std::int32_t> values)
    : RecordTable(std::move(data)) {
  for (const std::int32_t value : values)
    if (value < 0 || value >= columns())
      throw InputError(fmt::format("records: a value of the list, expected in [0, {})", columns()));
  values_ = std::move(values);
  repeated_ = true;
}

RecordTable RecordTable::copy() const {
  auto data = std::make_shared<const RecordColumns>(*data_);  // judged anew: others hold data_
  return repeated_ ? RecordTable(std::move(data), values_) : RecordTable(std::move(data));
}

Members RecordTable::members_of(const BatchView& batch) const {
  if (!repeated_) return {batch};
  auto counts = std::make_shared<std::vector<Index>>(static_cast<std::size_t>(columns()), 0);
  for (Index k = 0; k < batch.size(); ++k)
    ++(*counts)[static_cast<std::size_t>(values_[static_cast<std::size_t>(batch[k])])];
  return {BatchView(0, columns()), std::move(counts)};
}

RecordTable RecordTable::projected(const Matrix& map, double cap) const {
  RecordColumns made{Matrix(map.rows(), columns()), data_->labels};
  made.features.noalias() = map * data_->features;
  for (Index i = 0; i < columns(); ++i) {
    const double norm = made.features.col(i).stableNorm();
    if (std::isnan(length_of(made.features.col(i))) || !can_clip(norm, cap))
      made.features.col(i).setZero();
    else if (norm > cap)
      made.features.col(i) *= cap / norm;
  }
  RecordTable table(std::move(made));
  table.values_ = values_;
  table.repeated_ = repeated_;
  return table;
}

}  // namespace dpsosp
