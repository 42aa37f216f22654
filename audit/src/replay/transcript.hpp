// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/privacy/audited_curator.hpp"
#include "subjects/neighbour.hpp"

namespace dpsosp::audit {

/// One answer of a run, with what was charged since the last one.
struct Exchange {
  AuditedAnswer what;
  std::vector<LedgerEntry> charges;
  Asked asked;
  std::vector<DrawnBatch> drawn;  ///< since the last answer, by any curator of the run
  Vector answer;                  ///< before noise
  Vector noisy;  ///< with it; of many scores or losses the choice, with the last of them
};
using Transcript = std::vector<Exchange>;

/// Writes down the answers of a run.
class Recorder final : public Auditor {
 public:
  explicit Recorder(const Neighbour& records) : records_(records) {}

  void charged(const LedgerEntry& entry) override;
  void answer(const AuditedAnswer& what, VectorRef value) override;
  void noisy(VectorRef value) override;
  void drawn(const DrawnBatch& batch) override;

  Transcript transcript;

 private:
  const Neighbour& records_;
  std::vector<LedgerEntry> pending_;
  std::vector<DrawnBatch> drawn_;
};

/// Has another run, on other records, release what a recorded one released.
class Replayer final : public Auditor {
 public:
  Replayer(const Transcript& recorded, const Neighbour& records)
      : recorded_(recorded), records_(records) {}

  void charged(const LedgerEntry& entry) override;
  void answer(const AuditedAnswer& what, VectorRef value) override;
  void noisy(VectorRef value) override;

  /// What these records would have answered, as long as the questions are those of the record.
  std::vector<Vector> answers;
  /// The first question, charge or release that is not that of the record; empty if there is none.
  const std::string& difference() const { return difference_; }
  const std::string& charge_difference() const { return charge_difference_; }
  bool complete() const { return answers.size() == recorded_.size(); }

 private:
  const Transcript& recorded_;
  const Neighbour& records_;
  std::vector<LedgerEntry> pending_;
  std::string difference_, charge_difference_;
};

/// The rate of sampling that an event is amplified by; none of an event that is not.
std::optional<double> amplifying_rate(const Event& event);

/// "vector", "prefix sum": for messages.
std::string_view name_of(AuditedAnswer::Kind kind);

bool same_bits(ConstVectorRef a, ConstVectorRef b);

/// The query that each answer belongs to: the last that was charged, of a question its session's.
std::vector<std::string> queries_of(const Transcript& transcript);

/// "gradient of /, answer 7": for messages.
std::string place_of(const Transcript& transcript, std::size_t index);

}  // namespace dpsosp::audit
