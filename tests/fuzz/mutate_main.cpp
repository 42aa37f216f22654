// SPDX-License-Identifier: Apache-2.0
// Reads every seed, then `rounds` mutations of them; the same ones each time.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <fmt/format.h>

#include "dpsosp/core/stream.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {
namespace {

std::size_t place_in(const std::string& text, Stream& stream) {
  return text.empty() ? 0 : static_cast<std::size_t>(stream.below(std::ssize(text)));
}

/// One to four changes: a bit, a byte, a digit made huge, a piece cut out, doubled or taken from
/// another seed, or the end cut off.
std::string mutated(std::string text, const std::string& other, Stream& stream) {
  for (Index change = 1 + stream.below(4); change > 0; --change) {
    const std::size_t at = place_in(text, stream);
    const auto length = static_cast<std::size_t>(1 + stream.below(16));
    switch (stream.below(7)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << stream.below(8)));
        break;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(stream.below(256));
        break;
      case 2:
        text.insert(at, stream.bernoulli(0.5) ? "999999999999999999999" : "-1e999");
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(at, text.substr(at, length));
        break;
      case 5:
        text.insert(at, other.substr(place_in(other, stream), length));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c >= ' ' && c <= '~' ? std::string(1, c)
                                : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

int run(int rounds) {
  const std::vector<std::string> valid = seeds();
  Stream stream(StreamKey{.seed = 7, .purpose = Purpose::test});
  std::string input;
  try {
    for (const std::string& seed : valid) read(input = seed);
    for (int k = 0; k < rounds; ++k) {
      const auto pick = [&] {
        return valid[static_cast<std::size_t>(stream.below(std::ssize(valid)))];
      };
      const std::string seed = pick(), other = pick();
      read(input = mutated(seed, other, stream));
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\non the input\n%s\n", e.what(), printable(input).c_str());
    return 1;
  }
  std::printf("%zu seeds and %d mutations read or refused\n", valid.size(), rounds);
  return 0;
}

}  // namespace
}  // namespace dpsosp::fuzz

int main(int count, char** arguments) {
  return dpsosp::fuzz::run(count > 1 ? std::atoi(arguments[1]) : 2000);
}
