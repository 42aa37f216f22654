// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp::networks {

/// The words of a text as BERT's uncased models take them apart: control and format characters,
/// U+0000 and U+FFFD are dropped; white space ends a word; a CJK ideograph is a word of its own;
/// letters become lower case and lose their accents (canonical decomposition without non-spacing
/// marks); each punctuation character, and each ASCII character that is no letter, digit or space,
/// is a word of its own. Names of special tokens in the text ("[SEP]") are text.
/// \throws InputError "text: ..." if it is not UTF-8 or longer than 2^30 bytes
/// \source Devlin, Chang, Lee and Toutanova, BERT (2019), the published tokenization.py
std::vector<std::string> basic_words(std::string_view text);

/// A sentence as a model reads it.
struct EncodedText {
  std::vector<std::int64_t>
      ids;  ///< [CLS], the pieces, [SEP], then [PAD] up to the length asked for
  std::vector<std::int64_t> mask;  ///< 1, and 0 where there is padding; as long as `ids`
};

/// BERT's WordPiece tokenizer. A word is cut into pieces from its beginning, each the longest that
/// the vocabulary has; a piece that does not begin its word is listed with "##" before it. A word
/// of more than 100 characters, or of which some rest has no piece, is [UNK] as a whole.
/// (tokenization.py of 2018 allows 200 characters; the models' common configuration allows 100.)
/// \source Devlin, Chang, Lee and Toutanova, BERT (2019)
class WordPiece {
 public:
  /// \param vocabulary  the pieces; a piece's id is its place, from 0.
  /// \throws InputError "WHERE: ..." if [PAD], [UNK], [CLS] or [SEP] is missing, and "WHERE, line
  ///   N: ..." on a piece that is empty, listed before or not UTF-8
  explicit WordPiece(std::vector<std::string> vocabulary, std::string_view where = "vocabulary");

  /// A vocabulary file has a piece a line. \throws InputError also if it cannot be read
  static WordPiece read(const std::filesystem::path& file);

  /// How many ids there are.
  Index size() const { return std::ssize(pieces_); }

  /// The piece of an id in [0, size()).
  const std::string& piece(std::int64_t id) const {
    return pieces_.at(static_cast<std::size_t>(id));
  }

  /// Ids of the pieces of a text, without [CLS] and [SEP]. \throws InputError as basic_words
  std::vector<std::int64_t> ids(std::string_view text) const;

  /// Exactly `length` ids, at least 2: of more than length - 2 pieces the last are left out.
  /// \throws InputError if the length is less, and as basic_words
  EncodedText encode(std::string_view text, Index length) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Ids = std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>>;

  void append_pieces(std::string_view word, std::vector<std::int64_t>& ids) const;

  std::vector<std::string> pieces_;
  Ids first_;  ///< of pieces that begin a word
  Ids later_;  ///< of the others, without "##"
  std::int64_t padding_ = 0, unknown_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace dpsosp::networks
