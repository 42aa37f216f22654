// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/data_files.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {

void read(std::string_view input) {
  read_file_with(input, [](const char* path) { read_csv(path, {"b", "a"}); });
}

std::vector<std::string> seeds() {
  return {"a,b\n1,2\n3,4\n",
          "b,c,a\r\n1e3,-2.5,7\r\n",
          "a,b\n",
          "\"a\",\"b\"\"\",b\r\n1,\"x\ny\",\"2\"\r\n",
          "a,b\n1,\"2\n"};
}

}  // namespace dpsosp::fuzz
