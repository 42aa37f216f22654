// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/sha256.hpp"

#include <array>
#include <span>
#include <stdexcept>

#include <openssl/evp.h>

namespace dpsosp {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("sha256: the cryptographic library refused to hash");
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(std::size_t{2} * size);
  for (const unsigned char byte : std::span(digest).first(size)) {
    hex += digits[byte >> 4U];
    hex += digits[byte & 15U];
  }
  return hex;
}

}  // namespace dpsosp
