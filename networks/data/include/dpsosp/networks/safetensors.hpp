// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp::networks {

/// A tensor of a safetensors file.
struct TensorInfo {
  std::string name;
  std::string type;          ///< as the format names it: "F32", "BF16", "I64", ...
  std::vector<Index> shape;  ///< rows first; empty for a single number
  std::uint64_t begin = 0;   ///< of its bytes, after the header
  std::uint64_t bytes = 0;
};

/// Weights in the safetensors format: the length of the header (8 bytes, the least first), the
/// header (JSON: for each tensor its type, shape and first and last offset), then the numbers, the
/// last dimension fastest, without gaps. Opening reads the header, each `read` the numbers of a
/// tensor.
/// \source Hugging Face (2022), safetensors: description of the format
class SafetensorsFile {
 public:
  /// \throws InputError "FILE: ..." if it cannot be read, its header is longer than the file or
  ///   100 MB or no such JSON, or a tensor has an unknown type, a length that its shape does not
  ///   have, or bytes that lie outside of the file, overlap another's or leave a gap
  explicit SafetensorsFile(const std::filesystem::path& file);

  /// In the order of their bytes.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }

  /// \throws InputError "unknown tensor of FILE 'NAME'; did you mean ...?"
  const TensorInfo& tensor(std::string_view name) const;

  /// The numbers of a tensor of type F32, F16, BF16 or F64; the last is rounded to the nearest
  /// float. \throws InputError if there is no such tensor, or one of another type
  std::vector<float> read(std::string_view name) const;

 private:
  std::filesystem::path file_;
  std::uint64_t data_ = 0;  ///< where the numbers begin in the file
  std::vector<TensorInfo> tensors_;
};

/// A tensor to be written.
struct NamedTensor {
  std::string name;               ///< UTF-8, unique in the file, not "__metadata__"
  std::vector<Index> shape;       ///< each at least 0; empty for a single number
  std::span<const float> values;  ///< as many as the product of `shape`, the last dimension fastest
};

/// Writes a safetensors file of type F32, in one step and with the tensors in their order.
/// \throws InputError "FILE: ..." on a bad name or another number of values, and if the file cannot
///   be written
void write_safetensors(const std::filesystem::path& file, std::span<const NamedTensor> tensors);

}  // namespace dpsosp::networks
