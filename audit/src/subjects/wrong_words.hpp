// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "subjects/plants.hpp"

namespace dpsosp::audit {

/// Stands next to the curator and draws noise, choices and batches from words that are not theirs,
/// as a curator with the bug would.
class WrongWords final : public Auditor {
 public:
  /// Members by those that the curator drew.
  using Batches = std::map<std::vector<Index>, std::vector<Index>>;

  /// \param key  of the run \param batches  gets the members that are to be read instead
  WrongWords(Plant bug, Auditor& inner, StreamKey key, Batches& batches);

  void charged(const LedgerEntry& entry) override { inner_.charged(entry); }
  void answer(const AuditedAnswer& what, VectorRef value) override;
  void noisy(VectorRef value) override;
  void drawn(const DrawnBatch& batch) override;

 private:
  /// The stream that this one of a curator's draws comes from.
  Stream& words(std::uint64_t path, Purpose purpose);
  double choice();

  Plant bug_;
  Auditor& inner_;
  StreamKey key_;
  Batches& batches_;
  AuditedAnswer what_;
  Vector answer_;
  std::vector<std::pair<std::int64_t, double>> scores_;  // by candidate
  std::map<std::pair<std::uint64_t, Purpose>, Stream> streams_;
  std::int64_t choices_ = 0;
  Stream before_choice_;
  std::vector<Index> last_batch_;  // where the next is it again
};

}  // namespace dpsosp::audit
