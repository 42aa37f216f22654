// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/sentences.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {

void read(std::string_view input) {
  read_file_with(input, [](const char* path) { networks::read_sentences(path); });
}

std::vector<std::string> seeds() {
  return {"gj04\t1\t\tThe book was written.\nc_13\t0\t*\tThe the book.\n",
          "a\t0\t??\tIt\xc3\xa9 \"x\".\r\n", "a\t1\t\tA."};
}

}  // namespace dpsosp::fuzz
