// SPDX-License-Identifier: Apache-2.0
#include "cifar_files.hpp"

#include <fstream>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "json_text.hpp"
#include "png_rows.hpp"

namespace dpsosp::networks {
namespace {

std::size_t plane_size(const ImageSet& set) {
  return static_cast<std::size_t>(set.height * set.width);
}

/// Room for `rows` more images; the first of their bytes.
std::uint8_t* grow(ImageSet& set, Index rows) {
  const std::size_t old = set.pixels.size();
  set.count += rows;
  set.pixels.resize(static_cast<std::size_t>(set.count * set.channels) * plane_size(set));
  return set.pixels.data() + old;
}

}  // namespace

void append_png(const std::filesystem::path& file, Index images, Index rows, ImageSet& set) {
  const std::size_t plane = plane_size(set), channels = static_cast<std::size_t>(set.channels);
  PngRows png(file, static_cast<Index>(plane), images);
  std::vector<std::uint8_t> row(channels * plane);
  std::uint8_t* image = grow(set, rows);
  for (Index r = 0; r < rows; ++r, image += row.size()) {
    png.next(row);
    for (std::size_t pixel = 0; pixel < plane; ++pixel)
      for (std::size_t channel = 0; channel < channels; ++channel)
        image[channel * plane + pixel] = row[pixel * channels + channel];
  }
  if (rows == images) png.finish();
}

void append_records(const std::filesystem::path& file, std::span<const int> classes, Index images,
                    Index rows, ImageSet& set) {
  std::ifstream in = open_file(file);
  const std::size_t image_bytes = static_cast<std::size_t>(set.channels) * plane_size(set);
  const std::size_t record = classes.size() + image_bytes;
  const std::uintmax_t size = std::filesystem::file_size(file);
  const std::uintmax_t expected = static_cast<std::uintmax_t>(images) * record;
  if (size != expected)
    throw InputError(
        fmt::format("{}: {} bytes, expected {}: {} records of {} + {} bytes, labels and pixels",
                    file.string(), size, expected, images, classes.size(), image_bytes));
  std::uint8_t* image = grow(set, rows);
  std::string labels(classes.size(), '\0');
  for (Index r = 0; r < rows; ++r, image += image_bytes) {
    in.read(labels.data(), std::ssize(labels));
    in.read(reinterpret_cast<char*>(image), static_cast<std::streamsize>(image_bytes));
    if (!in) throw InputError(fmt::format("{}: cannot be read to its end", file.string()));
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const int label = static_cast<std::uint8_t>(labels[k]);
      if (label >= classes[k])
        reject(fmt::format("{}, record {}", file.string(), r + 1),
               k + 1 == classes.size() ? "label" : "coarse label", label,
               fmt::format("0 to {}", classes[k] - 1));
    }
    set.labels.push_back(static_cast<std::uint8_t>(labels.back()));
  }
}

std::vector<int> read_labels(const std::filesystem::path& file, Index count, int classes) {
  const nlohmann::json list = parse_json(file.string(), read_file(file));
  if (!list.is_array() || std::ssize(list) != count)
    throw InputError(
        fmt::format("{}: {}, expected a list of {} labels", file.string(),
                    list.is_array() ? fmt::format("{} labels", list.size()) : "no list", count));
  std::vector<int> labels;
  labels.reserve(list.size());
  for (const nlohmann::json& label : list) {
    if (!label.is_number_unsigned() ||
        label.get<std::uint64_t>() >= static_cast<std::uint64_t>(classes))
      reject(file.string(), fmt::format("label {}", labels.size() + 1),
             label.is_number() ? label.dump() : fmt::format("a {}", label.type_name()),
             fmt::format("a whole number from 0 to {}", classes - 1));
    labels.push_back(label.get<int>());
  }
  return labels;
}

}  // namespace dpsosp::networks
