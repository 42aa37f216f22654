// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/audited_curator.hpp"

namespace dpsosp::audit {

/// Words that can be drawn again.
class SeededWords final : public WordSource {
 public:
  explicit SeededWords(StreamKey key) : stream_(key) {}
  std::uint64_t bits() override { return stream_.bits(); }

 private:
  Stream stream_;
};

/// Stands between a curator and another auditor, and draws the noise of every answer again from the
/// key of the run: what is released is the answer before noise and the next noise of its curator's
/// stream, bit for bit, so that nothing fits between the two. Exact noise is an integer multiple of
/// the spacing of its lattice, and so are the answers on either side of it.
///
/// Choices are not drawn again, and no noise after a Gibbs draw, whose words are as many as it
/// needs.
class Redraw final : public Auditor {
 public:
  /// \param key  of the run \param exact  whether it is a release with SeededWords of that key
  Redraw(Auditor& inner, StreamKey key, bool exact);

  void charged(const LedgerEntry& entry) override { inner_.charged(entry); }
  void answer(const AuditedAnswer& what, VectorRef value) override;
  void noisy(VectorRef value) override;

  /// The first answer that is off; empty if there is none.
  const std::string& complaint() const { return complaint_; }
  std::int64_t redrawn() const { return redrawn_; }

 private:
  /// Noise of the nodes of a tree that the next prefix sum may hold, by level; empty: none.
  using Nodes = std::vector<Vector>;

  Stream& stream();
  Vector expected();
  Vector expected_exactly();
  /// Draws the node that leaf `what_.index` completes, and forgets those below it.
  Nodes& next_nodes(const Vector& node);

  Auditor& inner_;
  StreamKey key_;
  std::unique_ptr<WordSource> words_;  // of a release
  AuditedAnswer what_;
  Vector answer_;
  Stream root_;                              // of the first curator, which most runs leave it at
  std::map<std::uint64_t, Stream> streams_;  // of the others, by path
  std::set<std::uint64_t> lost_;             // paths whose position is unknown
  std::map<const void*, Nodes> trees_;
  std::int64_t answers_ = 0, redrawn_ = 0;
  std::string complaint_;
};

}  // namespace dpsosp::audit
