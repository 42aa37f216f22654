// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/alternate_sampler.hpp"
#include "dpsosp/privacy/audited_curator.hpp"
#include "subjects/neighbour.hpp"

namespace dpsosp::audit {

/// Words that can be drawn again.
class SeededWords final : public WordSource {
 public:
  explicit SeededWords(StreamKey key) : stream_(key) {}
  std::uint64_t bits() override { return stream_.bits(); }

 private:
  Stream stream_;
};

/// Stands between a curator and another auditor, and draws all that is random again from the key of
/// the run. What is released is the answer before noise and the next noise of its curator's stream,
/// bit for bit, so that nothing fits between the two. Exact noise is an integer multiple of the
/// spacing of its lattice, and so are the answers on either side of it. A choice is that of the
/// next two words a candidate, a Gibbs draw that of the next words of noise, and a batch of secret
/// membership that of the next words of sampling; what is read is a batch that its curator drew.
///
/// So every curator has one stream for each of noise, choices and batches, and no word serves
/// twice: a word that is shared, repeated or left out moves what comes after it.
class Redraw final : public Auditor {
 public:
  /// \param records  that the curator reads \param key  of the run
  /// \param exact  whether it is a release with SeededWords of that key
  Redraw(Auditor& inner, const Neighbour& records, StreamKey key, bool exact);

  void charged(const LedgerEntry& entry) override { inner_.charged(entry); }
  void answer(const AuditedAnswer& what, VectorRef value) override;
  void noisy(VectorRef value) override;
  void drawn(const DrawnBatch& batch) override;

  /// The first answer, choice or batch that is off; empty if there is none.
  const std::string& complaint() const { return complaint_; }
  /// How many answers, choices and batches were drawn again.
  std::int64_t redrawn() const { return redrawn_; }

 private:
  /// Noise of the nodes of a tree that the next prefix sum may hold, by level; empty: none.
  using Nodes = std::vector<Vector>;

  /// The streams of one curator.
  struct Streams {
    explicit Streams(StreamKey key);
    Stream noise, choice, sampling;
    std::set<std::uint64_t> batches;  // fingerprints of those that were drawn
  };

  Streams& streams(std::uint64_t path);
  Vector expected();
  Vector expected_exactly();
  /// Draws the node that leaf `what_.index` completes, and forgets those below it.
  Nodes& next_nodes(const Vector& node);
  void enter_race(double score);
  void check_choice(double chosen);
  void check_gibbs(ConstVectorRef drawn);
  void check_read();
  void complain(std::string_view what);

  Auditor& inner_;
  const Neighbour& records_;
  StreamKey key_;
  std::unique_ptr<WordSource> words_;  // of a release
  AuditedAnswer what_;
  Vector answer_;
  Streams root_;                              // of the first curator, which most runs leave it at
  std::map<std::uint64_t, Streams> streams_;  // of the others, by path
  std::map<const void*, Nodes> trees_;
  std::vector<std::pair<std::int64_t, double>> race_;  // candidates so far, with their keys
  std::vector<double> losses_;                         // that a Gibbs draw has looked at
  std::int64_t answers_ = 0, redrawn_ = 0;
  std::string complaint_;
};

}  // namespace dpsosp::audit
