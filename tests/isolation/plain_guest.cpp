// SPDX-License-Identifier: Apache-2.0
// A program in C++, as its author would write it.
#include <memory>
#include <string>

#include <unistd.h>

#include "dpsosp/guest/serve.hpp"
#include "plain_descent.hpp"

int main() {
  _exit(dpsosp::serve_guest([](const std::string&) {
    return std::unique_ptr<dpsosp::Algorithm>(std::make_unique<dpsosp::test::PlainDescent>());
  }));
}
