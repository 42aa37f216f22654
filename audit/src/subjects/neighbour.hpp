// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dpsosp/privacy/batch.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp::audit {

/// What an attacker lets happen to one record in batches of secret membership.
enum class Membership {
  as_drawn,
  in,  ///< always a member; of a batch of fixed size in the place of another one
  out  ///< never a member, likewise
};

/// A question to the records, as far as it can be seen from outside.
struct Asked {
  std::uint64_t fingerprint = 0;             ///< of kind, points, vectors and members
  std::optional<std::vector<Index>> secret;  ///< members, where membership is secret
  /// From the first to the last record of which gradients or losses were read since the last
  /// answer, or Hessians since what was charged then: dense estimates are read ahead of that.
  std::optional<RecordRange> read;
};

/// Records of which one is exchanged for another.
class Neighbour final : public UncheckedRecords {
 public:
  /// \param rest  outlives it; its record at `place` is not used
  Neighbour(const AnyRecords& rest, Index place, std::shared_ptr<const AnyRecords> stand_in,
            Membership membership = Membership::as_drawn);

  /// The first question since the last call; a record that is not finite makes the curator ask
  /// again, one by one, which is not visible in its answer.
  Asked take_asked() const;
  /// The members of the first question's batch, where they are secret; null otherwise.
  const std::vector<Index>* secret_asked() const {
    return log_->first && log_->first->secret ? &*log_->first->secret : nullptr;
  }
  /// First records of all public batches that were read, other than the whole.
  std::vector<Index> batches_read() const { return {log_->batches.begin(), log_->batches.end()}; }
  /// How the batch of the coming question was drawn, and from which records; needed to choose its
  /// members.
  void expect(const BatchPolicy& policy, RecordRange drawn_from) const;

  Index size() const override { return rest_->size(); }
  bool separable() const override { return rest_->separable(); }
  bool has_second_order() const override { return rest_->has_second_order(); }
  Index hessian_rank() const override { return rest_->hessian_rank(); }
  ClipReport add(const Summand& summand, const BatchView& batch, double limit,
                 VectorRef out) const override;
  std::unique_ptr<const AnyRecords> projected(const Matrix& map, double cap) const override;

 private:
  struct Log {  // shared with projected views
    std::optional<Asked> first;
    std::optional<RecordRange> read;
    bool charged = false;  // since the last answer
    std::set<Index> batches;
    BatchPolicy policy;
    RecordRange drawn_from;
  };
  void note_read(const BatchView& batch) const;
  /// The other members of a secret batch, and whether the record at `place_` is one, after the
  /// attacker's choice.
  bool choose(const BatchView& batch, std::vector<Index>& others) const;

  const AnyRecords* rest_;
  std::unique_ptr<const AnyRecords> owned_;  // of projected views
  Index place_;
  std::shared_ptr<const AnyRecords> stand_in_;
  Membership membership_;
  std::shared_ptr<Log> log_ = std::make_shared<Log>();
};

}  // namespace dpsosp::audit
