// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/utf8.hpp"
#include "json_text.hpp"

namespace dpsosp::networks {
namespace {

using nlohmann::json;

constexpr std::string_view metadata = "__metadata__";
constexpr std::uint64_t length_bytes = 8;

/// The unsigned number in these bytes, the least first.
std::uint64_t number_from(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t k = bytes.size(); k-- > 0;)
    number = number << 8 | static_cast<std::uint8_t>(bytes[k]);
  return number;
}

void append_number(std::string& bytes, std::uint64_t number, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) bytes += static_cast<char>(number >> (8 * k) & 0xffU);
}

/// The product, or nothing beyond 2^64.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
  return a * b;
}

float from_half(std::uint64_t bits) {  // IEEE 754 binary16
  const auto word = static_cast<std::uint32_t>(bits);
  const std::uint32_t sign = word >> 15, exponent = word >> 10 & 31U, fraction = word & 1023U;
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::bit_cast<float>(wide << 23 | fraction << 13);
  return sign != 0 ? -magnitude : magnitude;
}

float from_single(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

float from_brain(std::uint64_t bits) { return from_single(bits << 16); }

float from_double(std::uint64_t bits) { return static_cast<float>(std::bit_cast<double>(bits)); }

/// A type of the format.
struct NumberType {
  std::string_view name;
  std::uint64_t bytes;            ///< of a number
  float (*value)(std::uint64_t);  ///< of a number's bits; null where it is not read
};

constexpr std::array<NumberType, 15> types{{{"BOOL", 1, nullptr},
                                            {"U8", 1, nullptr},
                                            {"I8", 1, nullptr},
                                            {"F8_E5M2", 1, nullptr},
                                            {"F8_E4M3", 1, nullptr},
                                            {"I16", 2, nullptr},
                                            {"U16", 2, nullptr},
                                            {"F16", 2, from_half},
                                            {"BF16", 2, from_brain},
                                            {"I32", 4, nullptr},
                                            {"U32", 4, nullptr},
                                            {"F32", 4, from_single},
                                            {"I64", 8, nullptr},
                                            {"U64", 8, nullptr},
                                            {"F64", 8, from_double}}};

/// Null if the format has no such type.
const NumberType* find_type(std::string_view name) {
  const auto found = std::ranges::find(types, name, &NumberType::name);
  return found == types.end() ? nullptr : &*found;
}

/// The header's entry of a tensor. \throws InputError that begins with `where`
TensorInfo tensor_from(const std::string& where, const std::string& name, const json& entry) {
  const auto refuse = [&](std::string_view what) {
    throw InputError(fmt::format("{}: {}", where, what));
  };
  const auto is_whole = [](const json& value) { return value.is_number_unsigned(); };
  const auto whole = [](const json& value) { return value.get<std::uint64_t>(); };
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") ||
      !entry.contains("shape") || !entry.contains("data_offsets"))
    refuse("expected dtype, shape and data_offsets");
  const json &type = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  if (!type.is_string()) refuse("dtype is no text");
  const NumberType* number = find_type(type.get_ref<const std::string&>());
  if (number == nullptr)
    refuse(fmt::format("unknown dtype '{}'", type.get_ref<const std::string&>()));
  TensorInfo tensor{.name = name, .type = std::string(number->name)};
  std::optional<std::uint64_t> bytes = number->bytes;
  if (!shape.is_array() || !std::ranges::all_of(shape, is_whole))
    refuse("shape is no list of whole numbers");
  for (const json& size : shape) {
    if (bytes) bytes = product(*bytes, whole(size));
    tensor.shape.push_back(static_cast<Index>(whole(size)));
  }
  if (!bytes || std::ranges::any_of(tensor.shape, [](Index n) { return n < 0; }))
    refuse("shape is beyond 2^63");
  if (!offsets.is_array() || offsets.size() != 2 || !std::ranges::all_of(offsets, is_whole) ||
      whole(offsets[0]) > whole(offsets[1]))
    refuse("data_offsets are not two whole numbers, the lesser first");
  tensor.begin = whole(offsets[0]);
  tensor.bytes = whole(offsets[1]) - tensor.begin;
  if (tensor.bytes != *bytes)
    refuse(fmt::format("{} bytes, expected {} as dtype and shape say", tensor.bytes, *bytes));
  return tensor;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& file) : file_(file) {
  constexpr std::uint64_t longest_header = 100'000'000;
  const std::string name = file.string();
  std::ifstream in = open_file(file);
  const std::uint64_t size = std::filesystem::file_size(file);
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}: {}", name, what));
  };
  const auto take = [&](std::uint64_t count) {
    std::string bytes(count, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(count));
    if (static_cast<std::uint64_t>(in.gcount()) != count) refuse("cannot be read to its end");
    return bytes;
  };

  if (size < length_bytes)
    refuse("is no safetensors file: it ends within the length of its header");
  const std::uint64_t header = number_from(take(length_bytes));
  if (header > longest_header || header > size - length_bytes)
    refuse(fmt::format(
        "is no safetensors file: its header has {} bytes, expected at most 100 MB in a file of {}",
        header, size));
  data_ = length_bytes + header;
  const std::string text = take(header);
  if (!text.starts_with('{')) refuse("is no safetensors file: its header does not begin with '{'");
  const json entries = parse_json(name, text);
  for (const auto& [key, entry] : entries.items()) {
    if (key != metadata)
      tensors_.push_back(tensor_from(fmt::format("{}: tensor '{}'", name, key), key, entry));
    else if (!entry.is_object() ||
             !std::ranges::all_of(entry, [](const json& value) { return value.is_string(); }))
      refuse(fmt::format("{} is no object of texts", metadata));
  }

  std::ranges::sort(tensors_, {}, [](const TensorInfo& t) { return std::pair(t.begin, t.bytes); });
  std::uint64_t end = 0;
  for (const TensorInfo& t : tensors_) {
    if (t.begin != end)
      refuse(fmt::format("tensor '{}' begins at {}, expected {}, where the one before ends", t.name,
                         t.begin, end));
    end += t.bytes;
  }
  if (end != size - data_)
    refuse(fmt::format("{} bytes of numbers, expected {} as its header says", size - data_, end));
}

const TensorInfo& SafetensorsFile::tensor(std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &TensorInfo::name);
  if (found != tensors_.end()) return *found;
  std::vector<std::string> names;
  for (const TensorInfo& t : tensors_) names.push_back(t.name);
  reject_unknown(fmt::format("tensor of {}", file_.string()), name, names);
}

std::vector<float> SafetensorsFile::read(std::string_view name) const {
  const TensorInfo& info = tensor(name);
  const NumberType& type = *find_type(info.type);
  if (type.value == nullptr)
    reject(fmt::format("{}: tensor '{}'", file_.string(), name), "dtype", info.type,
           "F16, BF16, F32 or F64");
  std::ifstream in = open_file(file_);
  std::string bytes(info.bytes, '\0');
  in.seekg(static_cast<std::streamoff>(data_ + info.begin));
  in.read(bytes.data(), static_cast<std::streamsize>(info.bytes));
  if (static_cast<std::uint64_t>(in.gcount()) != info.bytes)
    throw InputError(fmt::format("{}: cannot be read to its end", file_.string()));
  std::vector<float> values;
  values.reserve(bytes.size() / type.bytes);
  for (std::size_t k = 0; k < bytes.size(); k += type.bytes)
    values.push_back(type.value(number_from(std::string_view(bytes).substr(k, type.bytes))));
  return values;
}

void write_safetensors(const std::filesystem::path& file, std::span<const NamedTensor> tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::set<std::string> names{std::string(metadata)};
  std::uint64_t end = 0;
  for (const NamedTensor& t : tensors) {
    const std::string where = fmt::format("{}: tensor '{}'", file.string(), t.name);
    if (!is_utf8(t.name) || !names.insert(t.name).second)
      throw InputError(fmt::format("{}: expected a name of its own, in UTF-8", where));
    std::optional<std::uint64_t> count = 1;
    for (const Index size : t.shape) {
      if (size < 0) reject(where, "shape", static_cast<double>(size), ">= 0");
      if (count) count = product(*count, static_cast<std::uint64_t>(size));
    }
    if (count != t.values.size())
      throw InputError(
          fmt::format("{}: {} values, expected the product of its shape", where, t.values.size()));
    const std::uint64_t begin = std::exchange(end, end + sizeof(float) * t.values.size());
    header[t.name] = {{"dtype", "F32"}, {"shape", t.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the numbers are aligned
  std::string content;
  content.reserve(length_bytes + text.size() + end);
  append_number(content, text.size(), length_bytes);
  content += text;
  for (const NamedTensor& t : tensors)
    for (const float value : t.values)
      append_number(content, std::bit_cast<std::uint32_t>(value), sizeof(float));
  write_file(file, content);
}

}  // namespace dpsosp::networks
