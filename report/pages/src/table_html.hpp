// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/plots/table.hpp"
#include "html.hpp"
#include "prose.hpp"

namespace dpsosp::report {

/// A table that fits its page: headline words stand in the second column, long texts below their
/// row, and columns that are too many side by side are set in several tables below each other.
Html table_html(const plots::Table& table, const Place& place);

/// One column of texts beside names.
Html facts_html(const std::vector<Fact>& facts, const Place& place);

}  // namespace dpsosp::report
