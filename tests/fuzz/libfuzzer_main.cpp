// SPDX-License-Identifier: Apache-2.0
// Hands the inputs that libFuzzer invents to a reader. Where the first argument is an empty folder,
// the seeds are written there as the corpus to begin with.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "fuzz_target.hpp"

namespace fs = std::filesystem;

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  const fs::path folder = *count > 1 ? (*arguments)[1] : "";
  if (!fs::is_directory(folder) || !fs::is_empty(folder)) return 0;
  int number = 0;
  for (const std::string& seed : dpsosp::fuzz::seeds())
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dpsosp::fuzz::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
