// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <set>
#include <vector>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/trusted/detail/no_traces.hpp"
#include "dpsosp/trusted/record_table.hpp"

namespace dpsosp {

/// How a row of a file becomes a record: a static function of the row's own cells and label and of
/// public facts, which writes a column into space that is zero and returns a label.
template <class Encoder>
concept RowEncoder = requires(const typename Encoder::Facts& facts) {
  { Encoder::width(facts) } -> std::same_as<Index>;
  {
    &Encoder::encode
    } -> std::convertible_to<double (*)(const typename Encoder::Facts&, ConstVectorRef, double,
                                        VectorRef)>;
};

/// The records of these rows, in this order. An encoder sees a copy of one row at a time, so that
/// no record decides about another; where it throws, the record is zero.
/// \param cells  a column a row of the file, stored: an expression could mix rows
/// \param labels  a number a row \param rows  public, each once
/// \throws InputError if the file has no such row, or if one is named twice
template <RowEncoder Encoder, class Cells, class Labels>
RecordColumns encoded(const typename Encoder::Facts& facts, const Cells& cells,
                      const Labels& labels, const std::vector<Index>& rows) {
  static_assert((int{Cells::Flags} & int{Labels::Flags} & Eigen::DirectAccessBit) != 0);
  if (std::set<Index>(rows.begin(), rows.end()).size() != rows.size())
    throw InputError("records: a row that is named twice");
  const Index width = Encoder::width(facts);
  RecordColumns made{Matrix::Zero(width, std::ssize(rows)), Vector::Zero(std::ssize(rows))};
  for (Index k = 0; k < std::ssize(rows); ++k) {
    const Index row = rows[static_cast<std::size_t>(k)];
    if (row < 0 || row >= cells.cols() || row >= labels.size())
      reject("records", "row", static_cast<double>(row), "one of the file");
    const Vector own = cells.col(row).template cast<double>();
    Vector column = Vector::Zero(width);
    const NoTraces before_and_after;
    try {
      made.labels[k] =
          Encoder::encode(facts, own, static_cast<double>(labels[row]), VectorRef(column));
    } catch (...) {
      continue;
    }
    made.features.col(k) = column;
  }
  return made;
}

}  // namespace dpsosp
