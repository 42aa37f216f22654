// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// A reader of files that anybody may have written. A program links one target with one of two
/// mains: mutate_main.cpp, which runs everywhere and always the same inputs, or libfuzzer_main.cpp.
namespace dpsosp::fuzz {

/// Reads one input. A refusal, InputError with one line of text, is fine; any other exception, a
/// crash or a hang is a bug.
void read(std::string_view input);

/// Valid inputs, which mutations start from, and inputs that were bugs once.
std::vector<std::string> seeds();

/// `input` is read from a file.
void read_file_with(std::string_view input, void (*read_file)(const char* path));

/// Throws std::logic_error unless a refusal is one printable line.
void check_refusal(std::string_view text);

}  // namespace dpsosp::fuzz
