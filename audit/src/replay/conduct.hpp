// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/ledger.hpp"
#include "replay/transcript.hpp"

/// What a run must not do, whatever is released. Each is empty if all is well.
namespace dpsosp::audit {

/// An answer that reads records outside of those that pay for it.
std::string stray_read(const Transcript& transcript);

/// A charge that is amplified by another sampling than the batch was drawn by: another rate, or
/// from other records.
std::string other_sampling(const Transcript& transcript);

/// Noisy sums that nobody pays for, unless they are as many as differences of equal points. Coins
/// that drew nobody, and points that are nearly equal, are no reason.
/// \param free  questions that no record can move
std::string unpaid(const Transcript& transcript, std::int64_t free);

/// A question of AboveThreshold after the first yes of its session.
std::string late_question(const Transcript& transcript);

/// A record that is charged more than the filter's rule keeps for it, by the sum of the charges
/// that the ledger lists.
std::string overdrawn(const Ledger& ledger, const FilterRule& rule);

/// A rule of the filter that keeps more than the claimed budget.
std::string wide_rule(const FilterRule& rule, const PrivacyBudget& claimed);

}  // namespace dpsosp::audit
