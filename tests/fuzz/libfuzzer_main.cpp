// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dpsosp::fuzz::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
