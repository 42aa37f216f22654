// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace dpsosp::networks {

/// The lines of a text in UTF-8, without \n or \r\n; the last may lack its end.
/// \throws InputError "WHERE, line N: ..." on a line in another encoding
std::vector<std::string_view> text_lines(std::string_view where, std::string_view text);

}  // namespace dpsosp::networks
