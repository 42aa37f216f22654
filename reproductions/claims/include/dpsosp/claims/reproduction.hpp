// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/claims/printed_table.hpp"
#include "dpsosp/claims/texts.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {

/// All that belongs to the reproduction of one paper. Whatever a paper lacks stays empty.
struct Reproduction {
  Texts texts;
  std::vector<ProbeEntry> probes{};
  std::vector<Predicate> predicates{};
  std::vector<ExhibitEntry> exhibits{};
};

/// Reproductions put together: what the program lists and computes.
struct Collection {
  Catalogue catalogue;
  ClaimSet claims;
  std::vector<PrintedTable> tables;
};

/// Joins reproductions in their order, and puts the exhibit `claims` of all of them before theirs.
/// \throws InputError if a text is wrong
Collection collect(const std::vector<Reproduction>& reproductions);

}  // namespace dpsosp
