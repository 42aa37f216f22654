// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include <png.h>

#include "dpsosp/core/vector.hpp"

namespace dpsosp::networks {

/// The rows of a PNG file of 8-bit RGB that is not interlaced, one by one.
class PngRows {
 public:
  /// \throws InputError "FILE: ..." unless it is such a file with width x height pixels
  PngRows(const std::filesystem::path& file, Index width, Index height);

  /// The next row into 3 * width bytes, a pixel's red, green and blue together; at most `height`
  /// calls. \throws InputError "FILE: ..." if it cannot be decoded
  void next(std::span<std::uint8_t> row);

  /// After the last row. \throws InputError "FILE: ..." if the file does not end as it should
  void finish();

 private:
  /// libpng's two structures.
  struct Decoder {
    Decoder();
    ~Decoder();
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    std::array<char, 160> failure{};  ///< why libpng gave up
    png_structp png = nullptr;
    png_infop info = nullptr;
  };

  [[noreturn]] void refuse() const;

  std::string name_;
  std::ifstream in_;
  Decoder decoder_;
};

}  // namespace dpsosp::networks
