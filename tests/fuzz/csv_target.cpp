// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/number_table.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {

void read(std::string_view input) {
  read_file_with(input, [](const char* path) { read_table(path); });
}

std::vector<std::string> seeds() {
  return {"a,b\n1,2\n3,4\n",
          "b;c;a\r\n1e3; -2.5;+7\r\n\r\n",
          "\xEF\xBB\xBF"
          "a\tb\n1\t2\n",
          "a,b\n",
          "\"a\",\"b\"\"\",b\r\n1,\"x\ny\",\"2\"\r\n",
          "a,b\n1,\"2\n",
          std::string("\x93NUMPY\x01\x00\x37\x00", 10) +
              "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)}\n" + std::string(16, '\0'),
          "\x1f\x8b\x08 packed"};
}

}  // namespace dpsosp::fuzz
