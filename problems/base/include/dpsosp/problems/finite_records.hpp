// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/trusted/private_records.hpp"

namespace dpsosp {

/// A law of records that take finitely many values. Record i belongs to the stratum i mod `strata`,
/// whatever the data, and value v of stratum g has the number g·S + v, S = probabilities.size().
struct FiniteLaw {
  Index strata = 1;
  Vector probabilities;  ///< of the S values of a stratum, the same in each; positive, sum 1
  Index values() const { return strata * probabilities.size(); }
};

/// How often each value occurs in a batch of simulated records: all that a sum over them depends
/// on, so that a batch costs as much as the values, and n records as much as the draws of a
/// multinomial.
class Multiplicity {
 public:
  virtual ~Multiplicity() = default;
  /// n.
  virtual Index size() const = 0;
  /// Number of records of the batch at each value. \throws InputError as check_simulated_batch
  virtual std::vector<Index> of(const BatchView& batch) const = 0;
};

/// n records of a law: a list, or sums alone.
struct DrawnValues {
  std::vector<std::int32_t> list;
  std::unique_ptr<const Multiplicity> simulated;
  std::vector<Index> counts;  ///< of all n; empty under `stream`
};

/// n records drawn from the law; `balanced` makes every S consecutive records of a one-stratum law
/// a random order of its S values.
DrawnValues draw_values(std::string problem,
                        const FiniteLaw& law,
                        Index records,
                        RecordSampling sampling,
                        std::uint64_t data_seed);

/// Number of records i with i mod strata = stratum among the first n.
Index stratum_size(Index n, Index strata, Index stratum);

/// counts / n.
Vector shares(const std::vector<Index>& counts, Index n);

/// The sums of records of which only counts are drawn, by those over the values' columns.
std::unique_ptr<const SimulatedSums> sums_of_values(
    std::unique_ptr<const ClippedSums> of_columns,
    std::unique_ptr<const Multiplicity> multiplicity);

/// Records of a loss of kinds that are columns of `values`.
void set_records(std::unique_ptr<const KindLoss> loss,
                 std::shared_ptr<const RecordColumns> values,
                 DrawnValues drawn,
                 Problem& problem);

/// Records of a dense loss that are columns of `values`.
template <class Loss>
void set_records(typename Loss::Facts facts,
                 std::shared_ptr<const RecordColumns> values,
                 DrawnValues drawn,
                 Problem& problem) {
  if (!drawn.simulated) {
    problem.records =
        admit<Loss>(std::move(facts), RecordTable(std::move(values), std::move(drawn.list)));
    return;
  }
  auto of_columns =
      std::make_unique<const DenseSums<Loss>>(std::move(facts), RecordTable(std::move(values)));
  problem.simulated = sums_of_values(std::move(of_columns), std::move(drawn.simulated));
}

}  // namespace dpsosp
