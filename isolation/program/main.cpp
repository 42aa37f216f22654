// SPDX-License-Identifier: Apache-2.0
// The guest of an isolated run: one of the suite's algorithms, or the caller's program in its
// place.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <span>
#include <string>
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
    dpsosp::wire::Channel host(dpsosp::wire::socket_of_guest);
    host.post("failed", "input", text);
    host.flush();
  } catch (const std::exception&) {  // nobody is left to hear it
  }
  return 1;
}

constexpr int program = dpsosp::wire::file_of_program;

/// The interpreter of a script must read it; nothing else inherits the descriptor.
void close_at_start_unless_script(int file) {
  constexpr std::string_view script = "#!";
  std::array<char, script.size()> start{};
  const ssize_t read = pread(file, start.data(), start.size(), 0);
  if (read != std::ssize(start) || std::string_view(start.data(), start.size()) != script)
    fcntl(file, F_SETFD, FD_CLOEXEC);
}

/// Becomes the program. \return only where that fails
int execute(std::span<const char* const> words) {
  const std::string file = fmt::format("/proc/self/fd/{}", program);
  if (words.size() < 3 || *words[2] == '\0') {
    std::array<char*, 2> arguments{const_cast<char*>(words[1]), nullptr};
    execv(file.c_str(), arguments.data());
    const int error = errno;
    return fail(error == EACCES
                    ? "isolated run: the program cannot be executed: its interpreter lies "
                      "outside /usr; name it in the program's card"
                    : "isolated run: the program cannot be executed");
  }
  std::array<char*, 3> arguments{const_cast<char*>(words[2]), const_cast<char*>(file.c_str()),
                                 nullptr};
  execv(words[2], arguments.data());
  const int error = errno;
  return fail(
      fmt::format("isolated run: interpreter {}: {}", words[2], std::strerror(error)).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1) {
      if (argc < 3 || *argv[2] == '\0') close_at_start_unless_script(program);
      // PROGRAM, or PROGRAM INTERPRETER READABLE...; an empty interpreter: the program's own.
      const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
      dpsosp::enter_program_sandbox(words.subspan(std::min<std::size_t>(words.size(), 3)));
      return execute(words);
    }
    dpsosp::enter_sandbox();
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  // No destructors of a process that may touch nothing.
  _exit(dpsosp::serve_guest(dpsosp::find_algorithm));
}
