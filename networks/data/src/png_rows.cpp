// SPDX-License-Identifier: Apache-2.0
#include "png_rows.hpp"

#include <csetjmp>
#include <cstdio>
#include <new>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"

namespace dpsosp::networks {
namespace {

void note_failure(png_structp png, png_const_charp text) {
  auto& failure = *static_cast<std::array<char, 160>*>(png_get_error_ptr(png));
  std::snprintf(failure.data(), failure.size(), "%s", text);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep bytes, std::size_t count) {
  auto& in = *static_cast<std::ifstream*>(png_get_io_ptr(png));
  in.read(reinterpret_cast<char*>(bytes), static_cast<std::streamsize>(count));
  if (static_cast<std::size_t>(in.gcount()) != count) png_error(png, "it ends too early");
}

// libpng leaves a call that fails by longjmp, so these frames own nothing.

bool decode_header(png_structp png, png_infop info) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_info(png, info);
  return true;
}

bool decode_row(png_structp png, png_bytep row) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_row(png, row, nullptr);
  return true;
}

bool decode_end(png_structp png) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_end(png, nullptr);
  return true;
}

}  // namespace

PngRows::Decoder::Decoder()
    : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure, note_failure, ignore_warning)) {
  if (png != nullptr) info = png_create_info_struct(png);
  if (info == nullptr) {
    png_destroy_read_struct(&png, nullptr, nullptr);
    throw std::bad_alloc();
  }
}

PngRows::Decoder::~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }

PngRows::PngRows(const std::filesystem::path& file, Index width, Index height)
    : name_(file.string()), in_(open_file(file)) {
  png_structp png = decoder_.png;
  png_set_read_fn(png, &in_, read_bytes);
  if (!decode_header(png, decoder_.info)) refuse();
  const Index columns = png_get_image_width(png, decoder_.info);
  const Index rows = png_get_image_height(png, decoder_.info);
  if (columns != width || rows != height)
    throw InputError(fmt::format("{}: {} x {} pixels, expected {} x {}: an image a row", name_,
                                 columns, rows, width, height));
  if (png_get_color_type(png, decoder_.info) != PNG_COLOR_TYPE_RGB ||
      png_get_bit_depth(png, decoder_.info) != 8 ||
      png_get_interlace_type(png, decoder_.info) != PNG_INTERLACE_NONE)
    throw InputError(fmt::format("{}: expected a PNG file of 8-bit RGB, not interlaced", name_));
}

void PngRows::next(std::span<std::uint8_t> row) {
  if (!decode_row(decoder_.png, row.data())) refuse();
}

void PngRows::finish() {
  if (!decode_end(decoder_.png)) refuse();
}

void PngRows::refuse() const {
  throw InputError(
      fmt::format("{}: cannot be decoded as PNG ({})", name_, decoder_.failure.data()));
}

}  // namespace dpsosp::networks
