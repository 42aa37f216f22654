// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// Where the records of a family come from.
///
/// The last two hold no records: a batch sum is drawn from its exact law, at a cost that depends on
/// neither the batch nor n. Disjoint batches are independent, as for records drawn one by one, and
/// the same range gives the same sum whenever it is asked for. Batches that overlap without being
/// equal would contradict each other, so `whole` answers for all n records and nothing else, and
/// the curator lets a `stream` be read by fresh batches or as a whole, never both. Neither can clip
/// a single record, so a limit that could clip one is refused.
enum class RecordSampling {
  independent,  ///< n records in memory, drawn independently
  balanced,     ///< n records in memory, in pairs that cancel: F is the family's own landscape
  whole,        ///< simulated: one data set of n records, asked as a whole
  stream,       ///< simulated: fresh batches, each seen once; no empirical objective
};

constexpr auto words_of(RecordSampling) {
  using enum RecordSampling;
  return word_list<RecordSampling>(
      "record sampling",
      {{independent, "independent"}, {balanced, "balanced"}, {whole, "whole"}, {stream, "stream"}});
}
inline std::string_view to_string(RecordSampling sampling) { return word_of(sampling); }

inline bool simulated(RecordSampling s) {
  return s == RecordSampling::whole || s == RecordSampling::stream;
}

/// True if the mean over the records is the law's: by pairs that cancel, or of endless records.
inline bool centred(RecordSampling s) {
  return s == RecordSampling::balanced || s == RecordSampling::stream;
}
/// Bound of F(x₀) − min F where `gap` is the population's. Records that are not centred move a
/// difference of two values of F by `shift` at most; if that is not finite, the gap is an estimate.
Constant suboptimality_by_mean(double gap, double shift, RecordSampling sampling,
                               std::string centred_proof, std::string shifted_proof);

Field sampling_field(RecordSampling& value, std::vector<RecordSampling> offered);

/// The stream from which the sums over records [begin, begin + size) are drawn.
Stream range_stream(std::uint64_t data_seed, Index begin, Index size);

/// Refuses, for simulated records, what they cannot answer: a list of records, and under `whole`
/// every batch but all n. \throws InputError
void check_simulated_batch(std::string_view problem, RecordSampling sampling,
                           const BatchView& batch, Index records);

/// Refuses a clip limit below `bound`, the largest norm that any record's contribution can have at
/// the point of the query. \param cancelled  size of the numbers whose difference the contribution
/// is: its rounding, at moves of rounding size larger than any limit proportional to them, is let
/// pass. \return what to multiply the sum with, below 1 there. \throws InputError
double check_simulated_limit(std::string_view problem, double bound, double limit,
                             double cancelled = 0.0);

}  // namespace dpsosp
