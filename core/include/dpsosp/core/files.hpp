// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace dpsosp {

/// Creates the folder if need be. \throws InputError if no file can be made in it.
void ensure_writable_folder(const std::filesystem::path& folder);

/// Replaces the file in one step: a reader sees the old content or the new, never a part.
/// \throws InputError if it cannot be written.
void write_file(const std::filesystem::path& file, std::string_view content);
/// The same; nobody but the file's owner can read it at any time.
void write_private_file(const std::filesystem::path& file, std::string_view content);

/// A regular file, open for reading bytes. \throws InputError "FILE: cannot be read (REASON)".
std::ifstream open_file(const std::filesystem::path& file);

/// The contents of a regular file. \throws InputError "FILE: cannot be read (REASON)".
std::string read_file(const std::filesystem::path& file);

/// Refuses what is no portable file stem and anchor: letters, digits, '-', '_' and '.', at most
/// 100, a letter or digit first. \throws InputError that begins with `where`.
void check_id(std::string_view where, const std::string& id);

}  // namespace dpsosp
