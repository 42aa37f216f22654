// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dpsosp/problems/number_table.hpp"

// The format of NumPy, versions 1 to 3: magic, length of the header, the header (a dictionary as
// Python writes it), the entries.
namespace dpsosp {

bool is_npy(std::string_view bytes);

/// Sets all of a table but its file, which is named in messages.
/// \throws InputError "FILE: ..., expected ..."; CellRefused for an entry that is not finite
void read_npy(std::string_view bytes, NumberTable& table);

}  // namespace dpsosp
