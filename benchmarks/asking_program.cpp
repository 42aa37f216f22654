// SPDX-License-Identifier: Apache-2.0
// The program in C++ of bench_isolation.
#include <memory>
#include <string>

#include <unistd.h>

#include "asking.hpp"
#include "dpsosp/guest/serve.hpp"

int main() {
  return dpsosp::serve_guest(STDIN_FILENO,
                             [](const std::string&) { return std::make_unique<dpsosp::Asking>(); });
}
