// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

Constant suboptimality_by_mean(double gap, double shift, RecordSampling sampling,
                               std::string centred_proof, std::string shifted_proof) {
  const std::string region = "initial point";
  if (centred(sampling)) return {gap, Origin::proved, region, std::move(centred_proof), 1.0};
  if (!std::isfinite(shift)) return {gap, Origin::estimated, region + ", of the population"};
  return {gap + shift, Origin::proved, region, std::move(shifted_proof),
          gap > 0 ? gap / (gap + shift) : 0.0};
}

Field sampling_field(RecordSampling& value, std::vector<RecordSampling> offered) {
  return field("sampling", value, std::move(offered),
               "where the records come from; whole and stream are simulated, for any n");
}

Stream range_stream(std::uint64_t data_seed, Index begin, Index size) {
  const StreamKey key{.seed = data_seed, .purpose = Purpose::data};
  return Stream(
      key.child(static_cast<std::uint64_t>(begin)).child(static_cast<std::uint64_t>(size)));
}

void check_simulated_batch(std::string_view problem, RecordSampling sampling,
                           const BatchView& batch, Index records) {
  if (batch.is_list())
    throw InputError(fmt::format(
        "{}: simulated records answer batches `all` and `fresh`, not sampled lists of records",
        problem));
  if (sampling == RecordSampling::whole && batch.size() != records)
    throw InputError(
        fmt::format("{}: sampling = whole answers for all {} records, not for {}; set "
                    "problem.sampling=stream for fresh batches",
                    problem, records, batch.size()));
}

double check_simulated_limit(std::string_view problem, double bound, double limit,
                             double cancelled) {
  constexpr double rounding = 1 - 1e-9;
  if (limit < bound * rounding - 64 * std::numeric_limits<double>::epsilon() * cancelled)
    reject(
        problem, "clip limit", limit,
        fmt::format(">= {:.6g}, the proved bound: simulated records cannot be clipped one by one",
                    bound));
  return bound > limit ? limit / bound : 1.0;
}

}  // namespace dpsosp
