// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dpsosp::networks {

/// A sentence of CoLA, with whether speakers of English accept it.
struct Sentence {
  std::string source;  ///< of the literature, a code
  int label = 0;       ///< 1: acceptable, 0: not
  std::string mark;    ///< the author's own, "*" for most that are not acceptable, or empty
  std::string text;    ///< UTF-8, not empty
};

/// One file of CoLA: a sentence a line, with source, label, mark and text between tabs, UTF-8.
/// \throws InputError "FILE, line N: ..." on another number of columns, a label that is not 0 or 1,
///   an empty sentence or another encoding, and "FILE: ..." if it cannot be read or has no line
std::vector<Sentence> read_sentences(const std::filesystem::path& file);

/// The Corpus of Linguistic Acceptability, of which the first two files come from the same sources.
struct Cola {
  std::vector<Sentence> train, in_domain, out_of_domain;
};

/// \param folder  holds cola_public/raw/in_domain_train.tsv, in_domain_dev.tsv and
///   out_of_domain_dev.tsv, as the public release has them (8551, 527 and 516 sentences).
/// \throws InputError "needs data: FILE is missing; ..." with what to put where, and what
///   read_sentences throws
/// \source Warstadt, Singh and Bowman, Neural network acceptability judgments (2019)
Cola read_cola(const std::filesystem::path& folder);

}  // namespace dpsosp::networks
