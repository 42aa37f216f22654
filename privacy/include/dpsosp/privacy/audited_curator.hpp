// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

struct GibbsLaw;

/// One answer on its way out of a curator.
struct AuditedAnswer {
  enum class Kind {
    vector,     ///< N(0, deviation² I) is added
    matrix,     ///< d × d by columns; N(0, deviation²) off the diagonal, twice the variance on it
    prefix,     ///< a prefix sum of a tree, N(0, deviation²) per node
    scalar,     ///< Laplace noise of scale `deviation`
    threshold,  ///< of AboveThreshold, when its session opens; Laplace noise of scale `deviation`
    question,   ///< a scalar of AboveThreshold, likewise; only whether all are at most their
                ///< thresholds is released
    score,      ///< of one candidate of an exponential mechanism of temperature `deviation`
    loss,       ///< a mean loss that a Gibbs sampler of temperature `deviation` looks at
  };
  Kind kind = Kind::vector;
  double deviation = 0;           ///< of the noise to come
  const void* session = nullptr;  ///< which tree or session; an address
  std::int64_t index = 0;         ///< leaf of a tree from 1, number of a scalar or candidate from 0
  /// True if noise is exact, as in a release: the answer before noise is an integer vector that
  /// nothing can replace, and a Hessian is the vector of its upper triangle with the diagonal over
  /// √2.
  bool exact = false;
  std::uint64_t path = 0;  ///< of the key of the curator that answers
  /// Of the candidates of a choice, each of which has two words; of a Gibbs draw, of its records.
  std::int64_t count = 0;
  const GibbsLaw* law = nullptr;  ///< of a Gibbs draw
};

/// A batch of secret membership, as it was drawn.
struct DrawnBatch {
  BatchPolicy policy;
  RecordRange range;           ///< of the curator that draws
  std::vector<Index> members;  ///< ascending
  std::uint64_t path = 0;      ///< of the key of the curator that draws
};

/// Sees what a curator is about to release, before and after noise, and may put another value in
/// its place: a recorded one, so that two runs can be compared query by query, or a wrong one, to
/// show that an attack finds it.
class Auditor {
 public:
  virtual ~Auditor() = default;
  /// Hears of the charge granted and listed for the answers that follow.
  virtual void charged(const LedgerEntry& entry) = 0;
  /// The answer before noise.
  virtual void answer(const AuditedAnswer& what, VectorRef value) = 0;
  /// The last answer with its noise; of scores and losses the choice, once for all of them. May be
  /// replaced too.
  virtual void noisy(VectorRef value) = 0;
  /// A batch, before anything is asked on it.
  virtual void drawn(const DrawnBatch&) {}
};

/// The sound curator with an auditor. It needs the records, so no algorithm can build one; built by
/// audits and tests alone. Its answers are no results: its label is `none`. With words it answers
/// as ReleaseCurator does.
class AuditedCurator final : public Curator {
 public:
  /// \param auditor, log  outlive the curator and its children; the log is that of a run, so that
  ///   an effect of the log on the run would be seen
  AuditedCurator(const PublicFacts& facts, const AnyRecords& records, const FilterRule& rule,
                 StreamKey key, Auditor& auditor, ClipLog& log,
                 std::unique_ptr<WordSource> words = nullptr);
};

}  // namespace dpsosp
