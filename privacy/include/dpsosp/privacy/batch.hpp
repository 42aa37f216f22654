// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// How a batch is drawn from n records.
struct BatchPolicy {
  enum class Kind {
    all,    ///< every record; membership public
    fresh,  ///< the next `size` records never used before, in an order fixed before the run; public
    sample,   ///< uniform, exactly `size`, without replacement; secret coins, charged to everyone
    poisson,  ///< each record joins with probability `rate`; secret coins, charged to everyone
  };
  Kind kind = Kind::all;
  Index size = 0;     ///< of fresh and sample; in [1, n]
  double rate = 0.0;  ///< of poisson; in (0, 1]

  static BatchPolicy all() { return {}; }
  static BatchPolicy fresh(Index size) { return {Kind::fresh, size, 0.0}; }
  static BatchPolicy sample(Index size) { return {Kind::sample, size, 0.0}; }
  static BatchPolicy poisson(double rate) { return {Kind::poisson, 0, rate}; }

  /// Divisor of a batch sum: the public size, q·n for Poisson.
  double divisor(Index records) const;
  bool operator==(const BatchPolicy&) const = default;
};

constexpr auto words_of(BatchPolicy::Kind) {
  using enum BatchPolicy::Kind;
  return word_list<BatchPolicy::Kind>(
      "batch", {{all, "all"}, {fresh, "fresh"}, {sample, "sample"}, {poisson, "poisson"}});
}
inline std::string_view to_string(BatchPolicy::Kind kind) { return word_of(kind); }

/// Records [begin, end).
struct RecordRange {
  Index begin = 0;
  Index end = 0;
  bool operator==(const RecordRange&) const = default;
};

/// How many queries a batch will answer.
///
/// Amplification by sampling is proved for fresh coins at every query. Queries that share secret
/// coins are one query of the joint vector, and the sum of their amplified charges is too small; so
/// a secret batch that answers several queries is charged in full, without amplification.
/// \source privacy-accounting notes, 8
enum class BatchUse { one_query, several_queries };

namespace door {
struct Batch;
}

/// An opaque handle: what it was drawn for and who is in it stay with the curator, so that nothing
/// that a charge rests on can be changed. Only the curator that drew it answers with it: sampling
/// rate, divisor and charge refer to that curator's records.
class Batch {
 public:
  BatchPolicy policy() const;

 private:
  friend struct Handles;  // defined on the curator's side alone
  std::shared_ptr<const door::Batch> drawn_;
};

}  // namespace dpsosp
