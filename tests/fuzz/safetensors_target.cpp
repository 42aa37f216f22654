// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/safetensors.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {

void read(std::string_view input) {
  read_file_with(input, [](const char* path) {
    const networks::SafetensorsFile file(path);
    for (const networks::TensorInfo& tensor : file.tensors()) file.read(tensor.name);
  });
}

std::vector<std::string> seeds() {
  const auto file = [](const std::string& header, const std::string& numbers) {
    return std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header +
           numbers;
  };
  return {
      file("{}", ""),
      file(R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})", "01234567"),
      file(R"({"b":{"dtype":"F16","shape":[],"data_offsets":[8,10]},)"
           R"("a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})",
           "0123456789"),
      file(R"({"__metadata__":{"k":"v"},"a":{"dtype":"BF16","shape":[0,3],"data_offsets":[0,0]}} )",
           "")};
}

}  // namespace dpsosp::fuzz
