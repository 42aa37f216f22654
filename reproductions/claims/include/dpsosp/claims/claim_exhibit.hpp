// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/experiments/exhibit.hpp"

namespace dpsosp {

/// An exhibit of the claim of that id alone, with its runs; none if there is no such claim.
std::optional<ExhibitEntry> claim_exhibit(const ClaimSet& set, std::string_view id);

}  // namespace dpsosp
