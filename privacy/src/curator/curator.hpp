// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <variant>

#include "batch.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"

namespace dpsosp {
class AnyRecords;
class Auditor;
class BatchView;
class LatticeVector;
class RecordSums;
class SimulatedSums;
class WordSource;
struct ClipReport;
struct Summand;
}  // namespace dpsosp

/// What algorithms hold handles of. No header of theirs leads here.
namespace dpsosp::door {

class ExponentialMechanism;
class GibbsSampler;
class HessianStream;
class LineSearch;
class SparseVector;
class StationarityTest;
class TreeStream;

/// What queries are answered from. Its kind decides the label.
using Source = std::variant<const AnyRecords*, const SimulatedSums*>;

/// What `dpsosp::Curator` is a handle of.
class Curator {
 public:
  /// \param source  not null
  Curator(const PublicFacts& facts, Source source, const FilterRule& rule, StreamKey key,
          ClipLog* clip_log, const Departures& departures = {}, Auditor* auditor = nullptr,
          std::unique_ptr<WordSource> words = nullptr);
  ~Curator();
  Curator(const Curator&) = delete;
  Curator& operator=(const Curator&) = delete;

  const PublicFacts& facts() const;
  Remaining remaining() const;
  Index fresh_records() const;
  const Ledger& ledger() const;
  PrivacyLabel label() const;
  bool answers_second_order() const;

  std::shared_ptr<Batch> draw(const BatchPolicy& policy, BatchUse use = BatchUse::one_query);

  /// Gradients, or with `previous`, which may be null, gradient differences.
  void answer(const char* name, const Point& point, const Point* previous, const Batch& batch,
              const GradientQuery& query, VectorRef out);

  void gradient_combination(double gamma, const Point& point, const Point& previous,
                            const Batch& batch, const CombinationQuery& query, VectorRef out);

  void hessian(const Point& point, const Batch& batch, const HessianQuery& query, MatrixRef out);

  void hessian_product(const Point& point, ConstVectorRef v, const Batch& batch,
                       const HessianProductQuery& query, VectorRef out);

  std::unique_ptr<Curator> child(const ChildSpec& spec);

  /// \throws InputError in any thread but the one that the root was made in: two threads could
  /// both be granted what is left once
  void expect_own_thread() const;

 private:
  friend class ExponentialMechanism;
  friend class GibbsSampler;
  friend class HessianStream;
  friend class LineSearch;
  friend class SparseVector;
  friend class StationarityTest;
  friend class TreeStream;
  struct Shared;
  struct Own;
  struct Question;
  Curator(std::shared_ptr<Shared> shared, std::unique_ptr<Own> own);

  /// Pays for a Gaussian query and lists it, or refuses it.
  void pay(Question& question);
  /// work += N(0, s² I); an auditor sees it before and after.
  void add_noise(double standard_deviation);
  /// sum += Σ clip(summand); a record whose contribution is not finite would make every release so,
  /// and counts as zero. `sum` is zero.
  ClipReport read(const Summand& summand, const BatchView& view, double limit, Vector& sum) const;
  /// work = (1/divisor) Σ_{i∈batch} clipped contributions, with the departures applied.
  void read_mean(const Summand& gradient, const Batch& batch, double limit, double divisor);
  /// Where noise is exact: out = what `read` adds to a lattice, with noise.
  template <class Read>
  void answer_exactly(double standard_deviation, VectorRef out, const Read& read);
  /// sum += weight Σ_{i∈batch} clip(summand), record by record.
  void read_exactly(const Summand& summand, const Batch& batch, double limit, double weight,
                    LatticeVector& sum);
  void hessian_exactly(const Vector& point, const Batch& batch, double limit, Index rank,
                       double standard_deviation, MatrixRef out);
  /// Refuses points and batches that the problem's Hessians cannot answer.
  void check_hessian(std::string_view where, const Point& point, const Batch& batch) const;
  /// work += (1/divisor) Σ_{i∈batch} weighed Hessian products.
  void read_hessian(const Summand& product, const Batch& batch, double limit);
  /// What a sum over the members is divided by for a mean.
  double divisor_of(const Batch& batch, const BatchView& members) const;
  /// out = (1/divisor) Σ_{i∈batch} weighed Hessians, symmetric; d products with unit vectors.
  void read_hessian_matrix(const Vector& point, const Batch& batch, double limit, MatrixRef out);
  static BatchView members_of(const Batch& batch);
  /// Mean over the batch of f(point; z) − f(centre; z), each clamped to ±limit (may be infinite).
  double read_loss_difference(ConstVectorRef point, ConstVectorRef centre, const Batch& batch,
                              double limit);
  void note_clipping(const ClipReport& report, Index contributions, double limit);
  /// Counts the contributions to an unclipped sum that are longer than the nominal limit, for which
  /// its noise was computed. Nothing that is released depends on it.
  void note_violations(const ClipReport& report, const Summand& summand, const BatchView& view,
                       double nominal);
  /// Refuses a batch of another curator, and shapes that do not fit the public facts.
  void check_query(const Point& point, const Point* previous, const Batch& batch, Block block,
                   Index entries) const;
  RecordRange charged_range(const Batch& batch) const;

  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Own> own_;
};

}  // namespace dpsosp::door
