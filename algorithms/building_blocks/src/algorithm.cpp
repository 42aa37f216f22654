// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/algorithm.hpp"

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void Scheduled::add_note(std::string_view text) {
  if (!note.empty() && !text.empty()) note += "; ";
  note += text;
}

void Algorithm::set_budget(const PrivacyBudget&, Calibrator) {}

std::vector<PlannedQuery> Algorithm::plan(const PublicFacts&) const { return {}; }

double Algorithm::planned_share(const FilterRule&) const { return 1.0; }

void Algorithm::set_common_noise(double) {
  throw InputError(
      fmt::format("{}: its queries have no common noise; use one of its schedules", card().key));
}

void Algorithm::check(const PublicFacts& facts) const {
  check_ranges_of(card().key, *this);
  check_settings(facts);
}

Status status_of(const Refused& refusal) {
  return dynamic_cast<const DataExhausted*>(&refusal) != nullptr ? Status::data : Status::budget;
}

void require_dual(const AlgorithmCard& card, const PublicFacts& facts) {
  if (facts.dual_kind == DualKind::none)
    throw InputError(
        fmt::format("{}: problem {} has no dual; choose a minimax problem such as "
                    "matrix-sensing or cosine-minimax",
                    card.key, facts.name));
}

void refuse_shared_dual(const AlgorithmCard& card, const PublicFacts& facts) {
  if (facts.dual_kind == DualKind::shared)
    throw InputError(
        fmt::format("{}: the dual of {} is shared, so no record has a gradient of the "
                    "value function; choose a minimisation problem or matrix-sensing",
                    card.key, facts.name));
}

}  // namespace dpsosp
