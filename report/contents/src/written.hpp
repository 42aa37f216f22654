// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stored.hpp"

/// Sentences that were written beforehand, of findings.toml, and stand where the runs bear them
/// out.
namespace dpsosp::report {

/// The sentence with "{lowy-2024/c4 n}", or "{CLAIM AXIS ARM}", become "−0.967 [−0.976, −0.960]".
/// Empty where a number is missing.
std::string filled(const std::string& sentence, const Stored& stored);

/// Whether a claim was judged, and has the word.
bool has_word(const Stored& stored, std::string_view claim, std::string_view word);

/// What an exhibit shows in short.
std::vector<std::string> summaries_of(const Stored& stored, std::string_view exhibit);

}  // namespace dpsosp::report
