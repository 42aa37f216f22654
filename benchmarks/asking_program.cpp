// SPDX-License-Identifier: Apache-2.0
// The program in C++ of bench_isolation.
#include <memory>
#include <string>

#include "asking.hpp"
#include "dpsosp/guest/serve.hpp"

int main() {
  return dpsosp::serve_guest([](const std::string&) { return std::make_unique<dpsosp::Asking>(); });
}
