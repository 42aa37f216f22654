// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "dpsosp/privacy/ledger.hpp"

namespace dpsosp {

/// The ledger for results: every entry, or with more than `limit` the first ones and how many
/// follow.
nlohmann::json ledger_json(const Ledger& ledger, std::size_t limit = 32);

}  // namespace dpsosp
