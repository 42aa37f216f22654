// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "dpsosp/trusted/simulate.hpp"

namespace dpsosp {

/// A law of records that take finitely many values. Record i belongs to the stratum i mod `strata`,
/// whatever the data, and value v of stratum g has the number g·S + v, S = probabilities.size().
struct FiniteLaw {
  Index strata = 1;
  Vector probabilities;  ///< of the S values of a stratum, the same in each; positive, sum 1
  Index values() const { return strata * probabilities.size(); }
};

/// n records of a law: a list, or sums alone.
struct DrawnValues {
  std::vector<std::int32_t> list;
  std::shared_ptr<const Multiplicity> simulated;
  std::vector<Index> counts;  ///< of all n; empty under `stream`
};

/// n records drawn from the law; `balanced` makes every S consecutive records of a one-stratum law
/// a random order of its S values.
DrawnValues draw_values(std::string problem, const FiniteLaw& law, Index records,
                        RecordSampling sampling, std::uint64_t data_seed);

/// Number of records i with i mod strata = stratum among the first n.
Index stratum_size(Index n, Index strata, Index stratum);

/// counts / n.
Vector shares(const std::vector<Index>& counts, Index n);

/// Records of a loss of kinds that are columns of `values`.
void set_records(std::unique_ptr<const KindLoss> loss, std::shared_ptr<const RecordColumns> values,
                 DrawnValues drawn, Problem& problem);

/// Records of a dense loss that are columns of `values`.
template <class Loss>
void set_records(typename Loss::Facts facts, std::shared_ptr<const RecordColumns> values,
                 DrawnValues drawn, Problem& problem) {
  if (drawn.simulated)
    problem.simulated = simulate<Loss>(std::move(facts), RecordTable(std::move(values)),
                                       std::move(drawn.simulated));
  else
    problem.records =
        admit<Loss>(std::move(facts), RecordTable(std::move(values), std::move(drawn.list)));
}

}  // namespace dpsosp
