// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/wordpiece.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "support.hpp"

namespace dpsosp::networks::wordpiece_test {
namespace {

using Words = std::vector<std::string>;

const Words special{"[PAD]", "[UNK]", "[CLS]", "[SEP]"};

WordPiece with_pieces(const Words& pieces) {
  Words all = special;
  all.insert(all.end(), pieces.begin(), pieces.end());
  return WordPiece(all);
}

Words pieces(const WordPiece& tokenizer, std::string_view text) {
  Words found;
  for (const std::int64_t id : tokenizer.ids(text)) found.push_back(tokenizer.piece(id));
  return found;
}

TEST(BasicWords, EndAtSpacesOfAnyKind) {
  EXPECT_EQ(basic_words(" the  book\tof\r\nlife "), (Words{"the", "book", "of", "life"}));
  // U+00A0, U+2003 and U+3000; U+2028 and U+2029, which end lines and paragraphs
  EXPECT_EQ(basic_words("a\u00a0b\u2003c\u3000d\u2028e\u2029f"),
            (Words{"a", "b", "c", "d", "e", "f"}));
  EXPECT_EQ(basic_words(""), Words{});
  EXPECT_EQ(basic_words(" \n\u3000"), Words{});
}

TEST(BasicWords, LoseControlAndFormatCharacters) {
  // bell, delete, next line; soft hyphen, zero-width space and joiner, mark of direction, byte
  // order
  EXPECT_EQ(basic_words("a\ab\x7f\u0085"
                        "c"),
            Words{"abc"});
  EXPECT_EQ(basic_words("a\u00adb\u200bc\u200dd\u200ee\ufeff"
                        "f"),
            Words{"abcdef"});
  EXPECT_EQ(basic_words(std::string_view("a\0b", 3)), Words{"ab"});
  EXPECT_EQ(basic_words("a\ufffd b"), (Words{"a", "b"}));
  EXPECT_EQ(basic_words("a\ue000\u0378"), Words{"a\ue000\u0378"})
      << "private and unassigned ones stay";
}

TEST(BasicWords, AreLowerCaseWithoutAccents) {
  EXPECT_EQ(basic_words("H\u00e9llo \u00c5ngstr\u00f6m Na\u00efve"),
            (Words{"hello", "angstrom", "naive"}));
  EXPECT_EQ(basic_words("e\u0301 \u1ec6"), (Words{"e", "e"}))
      << "marks of their own, and two in one";
  EXPECT_EQ(basic_words("\u0301 \u0301\u0302"), Words{}) << "nothing is left of marks alone";
  EXPECT_EQ(basic_words("\u0130"), Words{"i"}) << "capital i with a dot is i and a mark";
  EXPECT_EQ(basic_words("Stra\u00dfe \u00d8re"), (Words{"stra\u00dfe", "\u00f8re"}))
      << "letters without decomposition stay";
  EXPECT_EQ(basic_words("\u039f\u0394\u039f\u03a3"), Words{"\u03bf\u03b4\u03bf\u03c2"})
      << "sigma at the end of a word";
  EXPECT_EQ(basic_words("\U00010400"), Words{"\U00010428"}) << "beyond U+FFFF";
  EXPECT_EQ(basic_words("\ud55c"), Words{"\u1112\u1161\u11ab"}) << "a syllable is its letters";
}

TEST(BasicWords, PunctuationStandsAlone) {
  EXPECT_EQ(basic_words("don't stop!"), (Words{"don", "'", "t", "stop", "!"}));
  EXPECT_EQ(basic_words("a...b"), (Words{"a", ".", ".", ".", "b"}));
  EXPECT_EQ(basic_words("$5+`x^2|~"), (Words{"$", "5", "+", "`", "x", "^", "2", "|", "~"}))
      << "symbols of ASCII count";
  EXPECT_EQ(basic_words("\u20ac"
                        "5\u00d7"
                        "3"),
            Words{"\u20ac"
                  "5\u00d7"
                  "3"})
      << "other symbols do not";
  EXPECT_EQ(basic_words("\u201cyes\u201d\u2014no\u3002"),
            (Words{"\u201c", "yes", "\u201d", "\u2014", "no", "\u3002"}));
  EXPECT_EQ(basic_words("[CLS]"), (Words{"[", "cls", "]"})) << "names of special tokens are text";
}

TEST(BasicWords, EveryIdeographStandsAlone) {
  EXPECT_EQ(basic_words("ab\u6f22\u5b57"
                        "cd"),
            (Words{"ab", "\u6f22", "\u5b57", "cd"}));
  EXPECT_EQ(basic_words("x\U00020000y"), (Words{"x", "\U00020000", "y"}));
  EXPECT_EQ(basic_words("\uf900"), Words{"\u8c48"}) << "a compatibility form is its ideograph";
  EXPECT_EQ(basic_words("\u3072\u3089\u30ab\u30ca"), Words{"\u3072\u3089\u30ab\u30ca"})
      << "kana make words";
}

TEST(BasicWords, RefuseOtherEncodings) {
  EXPECT_EQ(refusal([] { basic_words("caf\xe9"); }), "text: is not UTF-8");
  EXPECT_EQ(refusal([] { basic_words("\xed\xa0\x80"); }), "text: is not UTF-8") << "a surrogate";
}

TEST(WordPieces, AreLongestFromTheLeft) {
  const WordPiece tokenizer =
      with_pieces({"un", "##aff", "##able", "una", "##f", "##fable", "a", "##a", "unaf"});
  EXPECT_EQ(pieces(tokenizer, "unaffable"), (Words{"unaf", "##fable"}));
  const WordPiece fewer = with_pieces({"un", "##aff", "##able"});
  EXPECT_EQ(pieces(fewer, "unaffable"), (Words{"un", "##aff", "##able"}));
  EXPECT_EQ(pieces(fewer, "UNaffable un"), (Words{"un", "##aff", "##able", "un"}));
}

TEST(WordPieces, OfWordWithoutThemAreUnknownAsAWhole) {
  const WordPiece tokenizer = with_pieces({"un", "##aff", "able"});
  EXPECT_EQ(pieces(tokenizer, "unaffable"), Words{"[UNK]"}) << "'able' begins words only";
  EXPECT_EQ(pieces(tokenizer, "aff able"), (Words{"[UNK]", "able"})) << "'##aff' begins none";
  // greedy and not the best: "unable" would be "un" and "##able"
  EXPECT_EQ(pieces(with_pieces({"un", "una", "##able"}), "unable"), Words{"[UNK]"});
}

TEST(WordPieces, OfMoreThanAHundredCharactersAreUnknown) {
  const WordPiece tokenizer = with_pieces({"a", "##a", "\u00f8", "##\u00f8"});
  EXPECT_EQ(tokenizer.ids(std::string(100, 'a')).size(), 100U);
  EXPECT_EQ(pieces(tokenizer, std::string(101, 'a')), Words{"[UNK]"});
  std::string wide;
  for (int k = 0; k < 100; ++k) wide += "\u00f8";
  EXPECT_EQ(tokenizer.ids(wide).size(), 100U) << "characters, not bytes";
  EXPECT_EQ(pieces(tokenizer, wide + "\u00f8"), Words{"[UNK]"});
}

TEST(WordPieces, CannotBeMadeFromNamesOfSpecialTokens) {
  const WordPiece tokenizer = with_pieces({"[", "]", "cls", "#", "##x"});
  EXPECT_EQ(pieces(tokenizer, "[CLS] ##x"), (Words{"[", "cls", "]", "#", "#", "[UNK]"}));
}

TEST(Encoding, FramesCutsAndPads) {
  const WordPiece tokenizer = with_pieces({"a", "b", "c"});  // ids 4, 5 and 6
  const auto ids = [&](Index length) { return tokenizer.encode("a b c", length).ids; };
  const auto mask = [&](Index length) { return tokenizer.encode("a b c", length).mask; };
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(ids(7), (Ids{2, 4, 5, 6, 3, 0, 0}));
  EXPECT_EQ(mask(7), (Ids{1, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(ids(5), (Ids{2, 4, 5, 6, 3}));
  EXPECT_EQ(ids(4), (Ids{2, 4, 5, 3}));
  EXPECT_EQ(mask(4), (Ids{1, 1, 1, 1}));
  EXPECT_EQ(ids(2), (Ids{2, 3}));
  EXPECT_EQ(refusal([&] { ids(1); }), "text: length = 1, expected >= 2, for [CLS] and [SEP]");
  EXPECT_EQ(tokenizer.encode("", 3).ids, (Ids{2, 3, 0}));
}

TEST(Encoding, FindsSpecialTokensByName) {
  const WordPiece tokenizer({"x", "[SEP]", "[PAD]", "[UNK]", "[CLS]"});
  EXPECT_EQ(tokenizer.encode("x y", 5).ids, (std::vector<std::int64_t>{4, 0, 3, 1, 2}));
  EXPECT_EQ(tokenizer.size(), 5);
}

TEST(Vocabulary, IsFileOfAPieceALine) {
  const ScratchFolder folder;
  for (const std::string end : {"\n", "\r\n"}) {
    std::string text;
    for (const char* piece : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff"})
      text += piece + end;
    const WordPiece tokenizer = WordPiece::read(folder.write("vocab.txt", text));
    EXPECT_EQ(tokenizer.size(), 6);
    EXPECT_EQ(pieces(tokenizer, "unaff"), (Words{"un", "##aff"}));
  }
}

TEST(Vocabulary, IsRefusedWithoutItsSpecialTokensOrWithBadLines) {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& text) {
    const auto file = folder.write("vocab.txt", text);
    const std::string line = refusal([&] { WordPiece::read(file); });
    EXPECT_TRUE(line.starts_with(file.string())) << line;
    return line.substr(file.string().size());
  };
  for (const std::string& missing : special) {
    std::string text;
    for (const std::string& piece : special)
      if (piece != missing) text += piece + '\n';
    EXPECT_EQ(refused(text), ": no " + missing + ", expected a vocabulary of BERT, a piece a line");
  }
  const std::string good = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";
  EXPECT_EQ(refused(good + "a\nb\na\n"), ", line 7: 'a' is listed before");
  EXPECT_EQ(refused(good + "##a\n##a\n"), ", line 6: '##a' is listed before");
  EXPECT_EQ(refused(good + "\na\n"), ", line 5: is empty, expected a piece");
  EXPECT_EQ(refused(good + "\xff\n"), ", line 5: is not UTF-8");
  EXPECT_EQ(refused(""), ": no [PAD], expected a vocabulary of BERT, a piece a line");
}

TEST(PythonVectors, HaveSameWordsPiecesAndCodes) {
  const auto made =
      nlohmann::json::parse(read_file(in_checkout("tests/networks/wordpiece_vectors.json")));
  const WordPiece tokenizer(made.at("vocabulary").get<Words>());
  ASSERT_GE(made.at("cases").size(), 300U);
  for (const auto& expected : made.at("cases")) {
    const auto text = expected.at("text").get<std::string>();
    EXPECT_EQ(basic_words(text), expected.at("words").get<Words>()) << text;
    EXPECT_EQ(tokenizer.ids(text), expected.at("ids").get<std::vector<std::int64_t>>()) << text;
    const EncodedText encoded = tokenizer.encode(text, made.at("length"));
    EXPECT_EQ(encoded.ids, expected.at("encoded").get<std::vector<std::int64_t>>()) << text;
    EXPECT_EQ(encoded.mask, expected.at("mask").get<std::vector<std::int64_t>>()) << text;
  }
}

/// The pieces of a word, each the longest of the list that its rest begins with; empty if there is
/// none.
Words greedy(const Words& vocabulary, const std::string& word) {
  Words found;
  for (std::string rest = word; !rest.empty();) {
    std::string best;
    for (const std::string& piece : vocabulary) {
      const bool later = piece.starts_with("##");
      const std::string letters = later ? piece.substr(2) : piece;
      if (later != found.empty() && rest.starts_with(letters) && letters.size() > best.size())
        best = letters;
    }
    if (best.empty()) return {};
    found.push_back((found.empty() ? "" : "##") + best);
    rest.erase(0, best.size());
  }
  return found;
}

RC_GTEST_PROP(WordPieces, AreThoseOfASearchThroughTheList, ()) {
  const auto letters = [](int most) {
    return rc::gen::suchThat(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab"))),
        [most](const std::string& s) { return !s.empty() && std::ssize(s) <= most; });
  };
  Words vocabulary;
  for (const std::string& piece : *rc::gen::container<Words>(rc::gen::resize(4, letters(4))))
    for (const std::string& form : {piece, "##" + piece})
      if (*rc::gen::element(true, true, false) && std::ranges::count(vocabulary, form) == 0)
        vocabulary.push_back(form);
  const auto word = *rc::gen::resize(12, letters(12));
  const Words expected = greedy(vocabulary, word);
  RC_ASSERT(pieces(with_pieces(vocabulary), word) ==
            (expected.empty() ? Words{"[UNK]"} : expected));
}

}  // namespace
}  // namespace dpsosp::networks::wordpiece_test
