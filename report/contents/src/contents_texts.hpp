// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

/// Files of the repository, as they are built in.
namespace dpsosp::report {

std::string_view findings_toml();
std::string_view citation_cff();      ///< CITATION.cff
std::string_view publications_bib();  ///< docs/papers/publications.bib
std::string_view pseudocode_toml();
/// docs/errata.md under "", docs/errata/KEY.md under KEY.
std::vector<std::pair<std::string_view, std::string_view>> errata_texts();
/// docs/papers/KEY.md under KEY.
std::vector<std::pair<std::string_view, std::string_view>> notes_texts();

}  // namespace dpsosp::report
