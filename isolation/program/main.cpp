// SPDX-License-Identifier: Apache-2.0
// The guest of an isolated run: one of the suite's algorithms, or a stranger's program in its
// place.
#include <exception>

#include <unistd.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/guest/sandbox.hpp"
#include "dpsosp/guest/serve.hpp"
#include "dpsosp/wire/channel.hpp"

namespace {

int fail(const char* text) {
  try {
    dpsosp::wire::Channel host(STDIN_FILENO);
    host.post("failed", "input", text);
    host.flush();
  } catch (const std::exception&) {  // nobody is left to hear it
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1) {
      dpsosp::enter_sandbox_of(argv[1]);
      execv(argv[1], argv + 1);
      return fail("isolated run: the program cannot be executed");
    }
    dpsosp::enter_sandbox();
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  // No destructors of a process that may touch nothing.
  _exit(dpsosp::serve_guest(STDIN_FILENO, dpsosp::find_algorithm));
}
