// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
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

/// A finding of the first page and of docs/findings.md.
struct WrittenFinding {
  std::string sentence;
  std::string text;                                          ///< Markdown, for docs/findings.md
  std::vector<std::pair<std::string, std::string>> words{};  ///< claim, and the word it rests on
  bool rates = false;                                        ///< shown with the rates that are kept
  std::string exhibit{}, figure{};                           ///< or with a panel of a figure
  std::size_t panel = 0;
  std::vector<std::string> commands{};
};
/// In the order of findings.toml.
std::vector<WrittenFinding> written_findings();

/// What an exhibit shows in short.
std::vector<std::string> summaries_of(const Stored& stored, std::string_view exhibit);

}  // namespace dpsosp::report
