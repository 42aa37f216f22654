// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/trusted/records.hpp"
#include "dpsosp/trusted/weigh_repeated.hpp"

namespace dpsosp {

/// A law of records that take finitely many values. Record i belongs to the stratum i mod `strata`,
/// whatever the data, and value v of stratum g has the number g·S + v, S = probabilities.size().
struct FiniteLaw {
  Index strata = 1;
  Vector probabilities;  ///< of the S values of a stratum, the same in each; positive, sum 1
  Index values() const { return strata * probabilities.size(); }
};

/// How often each value occurs in a batch: all that a sum over records depends on, so that a batch
/// costs as much as the values, and n records as much as the draws of a multinomial.
/// \tparam Sums  Records, or SimulatedSums where no record's value is known
template <class Sums>
class Multiplicity {
 public:
  virtual ~Multiplicity() = default;
  /// n.
  virtual Index size() const = 0;
  /// Number of records of the batch at each value. \throws InputError as check_simulated_batch
  virtual std::vector<Index> of(const BatchView& batch) const = 0;
};

/// Records i with value `values[i]`, below `count`.
std::unique_ptr<const Multiplicity<Records>> listed_values(Index count,
                                                           std::vector<std::int32_t> values);

/// n records of a law; one of the two is null.
struct DrawnValues {
  std::unique_ptr<const Multiplicity<Records>> listed;
  std::unique_ptr<const Multiplicity<SimulatedSums>> simulated;
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

/// out += Σ_v counts_v clip(contribution_v), where `contribution(v, out)` overwrites a vector of
/// out's size. Exact clipping for simulated records too, as records of one value are alike.
template <class Contribution>
ClipReport clipped_sum_over_values(const std::vector<Index>& counts,
                                   double limit,
                                   VectorRef out,
                                   const Contribution& contribution) {
  ClipReport report;
  Vector v(out.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    contribution(static_cast<Index>(k), v);
    out += weigh_repeated(report, v.norm(), limit, counts[k]) * v;
  }
  return report;
}

/// Records of finitely many values in a minimax problem whose dual all of them share.
template <class Sums>
class SharedDualValues : public Sums {
 public:
  SharedDualValues(std::string problem, std::unique_ptr<const Multiplicity<Sums>> multiplicity);

  Index size() const final { return multiplicity_->size(); }
  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const final;
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const final;

 private:
  /// out += sign · the block of ∇f(point; value v).
  virtual void add(const Point& point, Block block, Index v, double sign, Vector& out) const = 0;
  void check_dual(const Point& point) const;

  std::string problem_;
  std::unique_ptr<const Multiplicity<Sums>> multiplicity_;
};

}  // namespace dpsosp
