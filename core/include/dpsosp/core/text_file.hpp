// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace dpsosp {

/// Why a file cannot be read, as often as one likes, in words that follow its name: "does not
/// exist", "is a folder", "is a pipe, which can be read only once", "cannot be read (Permission
/// denied)"; empty if it can.
std::string why_unreadable(const std::filesystem::path& file);

/// A text in UTF-8 without the byte order mark that some editors begin it with.
std::string_view without_byte_order_mark(std::string_view text);

/// A text that somebody wrote, without a byte order mark; also from a pipe.
/// \throws InputError "FILE does not exist" and the like; "FILE is text in UTF-16, ..."
std::string read_text(const std::filesystem::path& file);

}  // namespace dpsosp
