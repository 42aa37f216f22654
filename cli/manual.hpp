// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dpsosp {

/// dpsosp(1) in the language of man pages, of the descriptions of all commands.
std::string manual_page();

/// The same as a page of the documents.
std::string markdown_page();

}  // namespace dpsosp
