// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/wordpiece.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/utf8.hpp"
#include "text_lines.hpp"

namespace dpsosp::networks {

WordPiece::WordPiece(std::vector<std::string> vocabulary, std::string_view where)
    : pieces_(std::move(vocabulary)) {
  for (std::size_t k = 0; k < pieces_.size(); ++k) {
    const std::string& piece = pieces_[k];
    const auto refuse = [&](std::string_view what) {
      throw InputError(fmt::format("{}, line {}: {}", where, k + 1, what));
    };
    if (piece.empty()) refuse("is empty, expected a piece");
    if (!is_utf8(piece)) refuse("is not UTF-8");
    const bool later = piece.starts_with("##");
    const bool added = (later ? later_ : first_)
                           .emplace(later ? piece.substr(2) : piece, static_cast<std::int64_t>(k))
                           .second;
    if (!added) refuse(fmt::format("'{}' is listed before", piece));
  }
  for (const auto& [name, id] : {std::pair{"[PAD]", &padding_},
                                 {"[UNK]", &unknown_},
                                 {"[CLS]", &begin_},
                                 {"[SEP]", &end_}}) {
    const auto found = first_.find(std::string_view(name));
    if (found == first_.end())
      throw InputError(
          fmt::format("{}: no {}, expected a vocabulary of BERT, a piece a line", where, name));
    *id = found->second;
  }
}

WordPiece WordPiece::read(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const std::vector<std::string_view> lines = text_lines(file.string(), text);
  return WordPiece({lines.begin(), lines.end()}, file.string());
}

void WordPiece::append_pieces(std::string_view word, std::vector<std::int64_t>& ids) const {
  constexpr std::size_t most_characters = 100;
  std::vector<std::size_t> edges{0};  // bytes before each character
  while (edges.back() < word.size())
    edges.push_back(edges.back() + utf8_character(word.substr(edges.back())));
  const std::size_t characters = edges.size() - 1;
  const std::size_t before = ids.size();
  bool known = characters <= most_characters;
  for (std::size_t from = 0; known && from < characters;) {
    const Ids& pieces = from == 0 ? first_ : later_;
    auto found = pieces.end();
    std::size_t to = characters + 1;
    while (found == pieces.end() && --to > from)
      found = pieces.find(word.substr(edges[from], edges[to] - edges[from]));
    known = found != pieces.end();
    if (known) ids.push_back(found->second);
    from = to;
  }
  if (known) return;
  ids.resize(before);
  ids.push_back(unknown_);
}

std::vector<std::int64_t> WordPiece::ids(std::string_view text) const {
  std::vector<std::int64_t> ids;
  for (const std::string& word : basic_words(text)) append_pieces(word, ids);
  return ids;
}

EncodedText WordPiece::encode(std::string_view text, Index length) const {
  if (length < 2)
    reject("text", "length", static_cast<double>(length), ">= 2, for [CLS] and [SEP]");
  std::vector<std::int64_t> pieces = ids(text);
  pieces.resize(std::min(pieces.size(), static_cast<std::size_t>(length - 2)));
  EncodedText encoded;
  encoded.ids.reserve(static_cast<std::size_t>(length));
  encoded.ids.push_back(begin_);
  encoded.ids.insert(encoded.ids.end(), pieces.begin(), pieces.end());
  encoded.ids.push_back(end_);
  encoded.mask.assign(encoded.ids.size(), 1);
  encoded.ids.resize(static_cast<std::size_t>(length), padding_);
  encoded.mask.resize(static_cast<std::size_t>(length), 0);
  return encoded;
}

}  // namespace dpsosp::networks
