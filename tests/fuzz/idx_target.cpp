// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/data_files.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {

void read(std::string_view input) {
  read_file_with(input, [](const char* path) { read_idx(path, 3); });
  read_file_with(input, [](const char* path) { read_idx(path, 1); });
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  const std::string pixels = "0123456789ab";
  return {"\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x02"s + pixels,
          "\0\0\x08\x01\0\0\0\x0c"s + pixels, "\0\0\x08\x01\0\0\0\0"s};
}

}  // namespace dpsosp::fuzz
