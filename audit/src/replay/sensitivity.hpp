// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>

#include "replay/transcript.hpp"

namespace dpsosp::audit {

/// How far the answers of a run move when one record is exchanged, against what was charged to
/// that record: by the event and the noise, not by the sensitivity that the ledger states.
class Sensitivity {
 public:
  /// \param report  gets every move with what is allowed, in the norm of the mechanism
  using Report = std::function<void(double moved, double allowed, std::size_t exchange)>;
  Sensitivity(const Transcript& transcript, Index place, Report report)
      : transcript_(transcript), place_(place), report_(std::move(report)) {}

  /// \param other  what the neighbour would have answered; may be shorter than the transcript
  void compare(const std::vector<Vector>& other);

 private:
  const LedgerEntry* charged(std::size_t which) const;
  double gaussian_allowance(const AuditedAnswer& what) const;
  double pure_epsilon_charged() const;
  void compare_prefix(std::size_t k, const Vector& moved);
  void compare_question(std::size_t k, double moved);
  void compare_choice(std::size_t k, double moved, bool last);

  const Transcript& transcript_;
  Index place_;
  Report report_;
  std::vector<LedgerEntry> charges_;  // the last ones
  std::map<const void*, std::vector<Vector>> trees_;
  struct Session {
    std::map<std::int64_t, double> threshold_scale, moved, question_scale;
    double epsilon = 0;
  };
  std::map<const void*, Session> sessions_;
  double low_ = 0, high_ = 0, earlier_races_ = 0;  // of scores and losses
  bool first_of_race_ = true;
};

/// The node that leaf t of a tree completes covers (t − lowbit(t), t].
constexpr std::int64_t lowbit(std::int64_t t) { return t & -t; }

}  // namespace dpsosp::audit
