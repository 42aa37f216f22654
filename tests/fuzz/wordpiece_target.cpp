// SPDX-License-Identifier: Apache-2.0
// The input as a vocabulary, then as a text.
#include <stdexcept>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/networks/wordpiece.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {

void read(std::string_view input) {
  read_file_with(input,
                 [](const char* path) { networks::WordPiece::read(path).encode("a \u00c9b.", 8); });
  static const networks::WordPiece tokenizer(
      {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##a", "un", "##aff", "\u6f22", "."});
  try {
    const networks::EncodedText text = tokenizer.encode(input, 12);
    for (const std::int64_t id : text.ids) tokenizer.piece(id);
    if (text.ids.size() != 12 || text.mask.size() != 12) throw std::logic_error("length is not 12");
  } catch (const InputError& e) {
    check_refusal(e.what());
  }
}

std::vector<std::string> seeds() {
  return {"[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\nun\n##aff\n##able\n",
          "[SEP]\r\n[CLS]\r\n[UNK]\r\n[PAD]\r\n\u00e9\r\n##",
          "Unaffable, \u00c9t\u00e9\u0301 \u6f22\u5b57 \u200b\u2028\U00010400\u03a3 \uf900 don't",
          std::string(100, 'a') + " " + std::string(101, 'a')};
}

}  // namespace dpsosp::fuzz
