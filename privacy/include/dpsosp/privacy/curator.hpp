// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "dpsosp/core/point.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/batch.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/ledger.hpp"
#include "dpsosp/privacy/projection.hpp"
#include "dpsosp/privacy/query.hpp"

namespace dpsosp {

struct Departures;
class AnyRecords;
namespace door {
class Curator;
}

/// A query that was not answered. Nothing was drawn, charged or written.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// The next charge would exceed the privacy budget.
class BudgetExhausted : public Refused {
 public:
  using Refused::Refused;
};
/// Fewer fresh records are left than asked for.
class DataExhausted : public Refused {
 public:
  using Refused::Refused;
};

/// How much privacy a run has, in words that go with every result.
enum class PrivacyLabel {
  enforced,     ///< clipping, noise and filter hold whatever the records are
  simulated,    ///< noise and filter as of `enforced`, on sums without records: nobody is at risk
  conditional,  ///< rests on an assumption that nothing enforces (no clipping, unchecked records)
  violated,     ///< the published noise does not give the published guarantee
  none,         ///< no privacy: no noise, or reference line
};

constexpr auto words_of(PrivacyLabel) {
  using enum PrivacyLabel;
  return word_list<PrivacyLabel>("privacy label", {{enforced, "enforced"},
                                                   {simulated, "simulated"},
                                                   {conditional, "conditional"},
                                                   {violated, "violated"},
                                                   {none, "none"}});
}
inline std::string_view to_string(PrivacyLabel label) { return word_of(label); }
/// The label that the same run has on records: simulated sums have the noise and the accounting of
/// an enforced run.
constexpr PrivacyLabel on_records(PrivacyLabel label) {
  return label == PrivacyLabel::simulated ? PrivacyLabel::enforced : label;
}

/// Public counts that an algorithm may plan with.
struct Remaining {
  double share;         ///< of this curator's budget, in [0, 1], of the most charged record
  Index fresh_records;  ///< never used by a fresh batch of this curator
  double pure_share;    ///< the same as `share`, of the pure account; 0 without one
};

/// A part of a curator's budget and data.
struct ChildSpec {
  std::string name;                     ///< unique among siblings; part of the ledger's scope
  double share = 1.0;                   ///< of the parent's capacity, in (0, 1]
  std::optional<RecordRange> range;     ///< of the parent's records, relative to it; all without it
  std::optional<Vector> initial_point;  ///< replaces the public fact (warm starts); of R^k if
                                        ///< projected
  std::optional<double> suboptimality;  ///< replaces the public constant
  std::optional<double> pure_share;  ///< of the pure account, in [0, 1]; `share` without it. With
                                     ///< a pure_share > 0, `share` may be 0
  std::optional<double> delta_extra_share;  ///< of the rule's delta_extra; `share` without it
  /// Exchanges the whole budget of the range's records for ε of pure mechanisms: (ε, 0)-DP is
  /// (ε, δ)-DP for a record that answers nothing else. Needs share = 1.
  bool pure = false;
  std::optional<Projection> projection;  ///< the child's records have features in R^k
};

/// Counts of what clipping did; depends on the records, so it is written for the evaluation log
/// and no algorithm can reach it.
struct ClipLog {
  std::int64_t queries = 0;
  double contributions = 0;  ///< expected number of per-record vectors summed
  std::int64_t clipped = 0;
  double largest_norm = 0.0;      ///< over limit
  std::int64_t estimates = 0;     ///< of stochastic samplers
  std::int64_t out_of_range = 0;  ///< those of them that were cut off, which biases the sample

  // Gradients where nothing is clipped but noise was added for a nominal limit:
  std::int64_t violations = 0;        ///< contributions longer than the nominal limit
  double largest_over_nominal = 0.0;  ///< norm of the longest contribution met, over that limit
  std::int64_t first_violation = -1;  ///< number of the query with the first of them; -1: none
  double unseen = 0;  ///< contributions that might be longer and cannot be inspected
};

/// The trusted party that holds the records. Every access to data goes through one of its queries:
/// the filter grants the charge or refuses, the ledger lists it, per-record clipping enforces the
/// sensitivity, noise is drawn and the value is released. Adjacency: replace-one. It answers in the
/// thread that it was made in; \throws InputError in any other.
/// \source privacy-accounting notes, 2 and 15
class Curator {
 public:
  /// \param facts, records  outlive the curator; facts.records = number of records
  /// \param rule            from filter_rule or calibrate_common_noise; its budget is the guarantee
  /// \param key             seed and run; purposes are set here
  /// \param clip_log        written, never read; may be null; outlives the curator
  Curator(const PublicFacts& facts, const AnyRecords& records, const FilterRule& rule,
          StreamKey key, ClipLog* clip_log = nullptr);
  ~Curator();
  Curator(Curator&&) noexcept;
  Curator& operator=(Curator&&) = delete;

  const PublicFacts& facts() const { return facts_; }
  Remaining remaining() const;
  /// The fresh records of remaining(), at no cost.
  Index fresh_records() const;
  /// A copy of the ledger as it stands.
  Ledger ledger() const;
  PrivacyLabel label() const;
  /// True if the problem's records answer Hessian products; a public fact of its loss.
  bool answers_second_order() const;

  /// A batch of this curator's records, for one query or for several (see BatchUse).
  /// \throws DataExhausted (fresh), InputError (size, rate)
  Batch draw(const BatchPolicy& policy, BatchUse use = BatchUse::one_query);

  /// out = (1/b) Σ_{i∈batch} clip(∇f(point; z_i), C) + N(0, s² I) in the block; b = realised size,
  /// q·n for Poisson. Sensitivity 2C/b. A record whose contribution is not finite counts as zero.
  /// \param out  d, d₂ or d + d₂ entries, overwritten; untouched if the query is refused
  /// \throws BudgetExhausted, InputError (a batch of another curator, a shape that does not fit)
  void gradient(const Point& point, const Batch& batch, const GradientQuery& query, VectorRef out);

  /// out = (1/b) Σ clip(∇f(point; z_i) − ∇f(previous; z_i), C) + N(0, s² I). Sensitivity 2C/b;
  /// where point equals previous nothing is charged, and out is the noise alone.
  void gradient_difference(const Point& point, const Point& previous, const Batch& batch,
                           const GradientQuery& query, VectorRef out);

  /// out = (1/b) Σ [γ clip(∇f(point), C₁) + (1 − γ) clip(∇f(point) − ∇f(previous), C₂)]
  ///       + N(0, s² I),
  /// both gradients of the same records. Sensitivity 2(γC₁ + (1 − γ)C₂)/b. γ = 1 is `gradient` and
  /// γ = 0 is `gradient_difference`, bit for bit.
  /// \param gamma  in [0, 1]
  /// \source baselines notes, 7 (gradStorm)
  void gradient_combination(double gamma, const Point& point, const Point& previous,
                            const Batch& batch, const CombinationQuery& query, VectorRef out);

  /// out = (1/b) Σ min(1, M/u_i) ∇²f(point; z_i) + GOE(s), u_i a bound of the record's operator
  /// norm: entries off the diagonal have variance s², on it 2s²; out is symmetric. Sensitivity
  /// 2M√r/b in Frobenius norm, charge (2M√r/b)²/(4s²) of zCDP; secret batches are charged to
  /// everyone, without amplification. Costs d products with unit vectors.
  /// \param out  d × d, overwritten; untouched if the query is refused
  /// \throws BudgetExhausted, InputError (also where the records do not prove the claimed rank)
  /// \source privacy-accounting notes, 3
  void hessian(const Point& point, const Batch& batch, const HessianQuery& query, MatrixRef out);

  /// out = (1/b) Σ min(1, M/u_i) ∇²f(point; z_i) v + N(0, s² I). Sensitivity 2M‖v‖/b; secret
  /// batches as above. Where v = 0 nothing is charged, and out is the noise alone.
  void hessian_product(const Point& point, ConstVectorRef v, const Batch& batch,
                       const HessianProductQuery& query, VectorRef out);

  /// A curator for a part of the budget and the data. It writes to the same ledger in a scope of
  /// its own and draws from streams of its own. The parent reserves the whole slice at once.
  /// \throws BudgetExhausted, InputError
  Curator child(const ChildSpec& spec);

 protected:
  /// For the other curators, which are made on the curator's side.
  explicit Curator(std::unique_ptr<door::Curator> curator);

 private:
  friend struct Handles;  // defined on the curator's side alone
  std::unique_ptr<door::Curator> curator_;
  PublicFacts facts_;  // a copy: nothing is charged by it
};

}  // namespace dpsosp
