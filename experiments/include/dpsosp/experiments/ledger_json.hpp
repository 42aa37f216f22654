// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace dpsosp {

class Ledger;

/// The ledger for results: queries of one kind (scope, query, batch, records, event) in one row, in
/// the order of their first; with more than `limit` kinds the first ones and how many follow.
nlohmann::json ledger_json(const Ledger& ledger, std::size_t limit = 32);

}  // namespace dpsosp
