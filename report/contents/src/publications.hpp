// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/report/model.hpp"

/// What docs/papers says of publications and their algorithms.
namespace dpsosp::report {

/// The publication that a key such as "lowy-2024" stands for, as an entry of BibTeX, by
/// docs/papers/publications.bib; empty where that has none.
std::string bibtex_of(std::string_view key);

/// A report of this program as an entry of BibTeX, by CITATION.cff. The commit is that of the
/// archive that the sources came in, or DPSOSP_COMMIT of the environment, which `./run` sets.
std::string bibtex_of_report(std::string_view scale);

/// The numbered blocks of docs/papers that pseudocode.toml names for an algorithm.
/// \throws InputError where a section or a block is not there
std::vector<PseudoCode> pseudocode_of(std::string_view algorithm);

/// The algorithms that pseudocode.toml names.
std::vector<std::string> algorithms_with_pseudocode();

}  // namespace dpsosp::report
