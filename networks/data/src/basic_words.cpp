// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/utf8.hpp"
#include "dpsosp/networks/wordpiece.hpp"

namespace dpsosp::networks {
namespace {

bool is_one_of(UChar32 c, std::uint32_t categories) {
  return (U_MASK(u_charType(c)) & categories) != 0;
}

bool is_space(UChar32 c) {
  return c == '\t' || c == '\n' || c == '\r' || is_one_of(c, U_GC_Z_MASK);
}

bool is_dropped(UChar32 c) { return c == 0xfffd || is_one_of(c, U_GC_CC_MASK | U_GC_CF_MASK); }

bool is_ideograph(UChar32 c) {
  constexpr std::array<std::array<UChar32, 2>, 8> blocks{{{0x3400, 0x4dbf},
                                                          {0x4e00, 0x9fff},
                                                          {0xf900, 0xfaff},
                                                          {0x20000, 0x2a6df},
                                                          {0x2a700, 0x2b73f},
                                                          {0x2b740, 0x2b81f},
                                                          {0x2b820, 0x2ceaf},
                                                          {0x2f800, 0x2fa1f}}};
  for (const auto& [first, last] : blocks)
    if (c >= first && c <= last) return true;
  return false;
}

bool is_punctuation(UChar32 c) {
  if (c > ' ' && c < 0x7f) return u_isalnum(c) == 0;
  return is_one_of(c, U_GC_P_MASK);
}

/// What lies between two spaces, in lower case and without accents, cut at punctuation.
void append_words(icu::UnicodeString stretch, std::vector<std::string>& words) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* decomposition = icu::Normalizer2::getNFDInstance(error);
  icu::UnicodeString letters;
  if (U_SUCCESS(error))
    decomposition->normalize(stretch.toLower(icu::Locale::getRoot()), letters, error);
  if (U_FAILURE(error)) throw std::runtime_error(fmt::format("ICU: {}", u_errorName(error)));
  bool begins = true;
  for (std::int32_t k = 0; k < letters.length(); k = letters.moveIndex32(k, 1)) {
    const UChar32 c = letters.char32At(k);
    if (is_one_of(c, U_GC_MN_MASK)) continue;
    if (begins || is_punctuation(c)) words.emplace_back();
    begins = is_punctuation(c);
    icu::UnicodeString(c).toUTF8String(words.back());
  }
}

}  // namespace

std::vector<std::string> basic_words(std::string_view text) {
  constexpr std::size_t longest = std::size_t{1} << 30;
  if (text.size() > longest)
    throw InputError(fmt::format("text: {} bytes, expected at most {}", text.size(), longest));
  if (!is_utf8(text)) throw InputError("text: is not UTF-8");
  const auto characters =
      icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
  std::vector<std::string> words;
  icu::UnicodeString stretch;
  const auto end_stretch = [&] {
    append_words(stretch, words);
    stretch.remove();
  };
  for (std::int32_t k = 0; k < characters.length(); k = characters.moveIndex32(k, 1)) {
    const UChar32 c = characters.char32At(k);
    if (is_space(c)) {
      end_stretch();
    } else if (is_ideograph(c)) {
      end_stretch();
      stretch = c;
      end_stretch();
    } else if (!is_dropped(c)) {
      stretch += c;
    }
  }
  end_stretch();
  return words;
}

}  // namespace dpsosp::networks
