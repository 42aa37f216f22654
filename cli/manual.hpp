// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dpsosp {

/// dpsosp(1) in the language of man pages, of the descriptions of all commands.
std::string manual_page();

}  // namespace dpsosp
