// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "dpsosp/core/rows.hpp"
#include "dpsosp/trusted/chunked_sum.hpp"

namespace dpsosp {

/// out += what add(first, rows, partial) adds for all columns, a record each: `rows` are those from
/// column `first` on, as many as stay in a near cache. In chunks, as chunked_sum has them.
template <class Add>
void over_columns(const Matrix& columns, VectorRef out, const Add& add) {
  const Index at_a_time = rows_in_cache(columns.rows());
  chunked_sum(columns.cols(), out, [&](Index first, Index last, VectorRef partial) {
    std::array<const double*, most_rows> rows;
    for (Index k = first; k < last; k += at_a_time) {
      const auto here = static_cast<std::size_t>(std::min(at_a_time, last - k));
      for (std::size_t j = 0; j < here; ++j)
        rows[j] = columns.col(k + static_cast<Index>(j)).data();
      add(k, Rows(rows.data(), here), partial);
    }
    return ClipReport{};
  });
}

}  // namespace dpsosp
