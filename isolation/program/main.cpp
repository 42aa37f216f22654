// SPDX-License-Identifier: Apache-2.0
// The guest of an isolated run: one of the suite's algorithms, or the caller's program in its
// place.
#include <array>
#include <exception>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

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

/// The descriptor on which the host leaves a program.
constexpr int program = STDERR_FILENO + 1;

/// The interpreter of a script must read it; nothing else inherits the descriptor.
void close_at_start_unless_script(int file) {
  constexpr std::string_view script = "#!";
  std::array<char, script.size()> start{};
  const ssize_t read = pread(file, start.data(), start.size(), 0);
  if (read != std::ssize(start) || std::string_view(start.data(), start.size()) != script)
    fcntl(file, F_SETFD, FD_CLOEXEC);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1) {
      close_at_start_unless_script(program);
      dpsosp::enter_program_sandbox();
      execv(fmt::format("/proc/self/fd/{}", program).c_str(), argv + 1);
      return fail("isolated run: the program cannot be executed");
    }
    dpsosp::enter_sandbox();
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  // No destructors of a process that may touch nothing.
  _exit(dpsosp::serve_guest(STDIN_FILENO, dpsosp::find_algorithm));
}
