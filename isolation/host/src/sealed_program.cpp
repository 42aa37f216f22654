// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/isolation/sealed_program.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

std::string read_program(const std::string& path, SealedProgram::Needs needs) {
  const auto refuse = [&](const char* reason) {
    throw InputError(fmt::format("isolated run: program {}: {}", path, reason));
  };
  const int right = needs == SealedProgram::Needs::execute ? X_OK : R_OK;
  if (access(path.c_str(), right) != 0) {
    if (errno == EACCES && right == X_OK)
      refuse("not executable; a program in Python is named by its card, the TOML file beside it");
    refuse(std::strerror(errno));
  }
  if (!std::filesystem::is_regular_file(path)) refuse("no regular file");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) refuse("it cannot be read");
  return bytes.str();
}

void expect(bool success) {
  if (!success)
    throw std::runtime_error(
        fmt::format("isolated run: a copy of the program: {}", std::strerror(errno)));
}

/// Newer kernels may be set to refuse the execution of files in memory that do not ask for it;
/// older ones do not know the flag.
int executable_memory() {
  constexpr unsigned executable = 0x10;  // MFD_EXEC, newer than the system's header
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int file = memfd_create("program", flags | executable);
  return file < 0 && errno == EINVAL ? memfd_create("program", flags) : file;
}

void write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t step = write(file, bytes.data(), bytes.size());
    if (step < 0 && errno == EINTR) continue;
    expect(step > 0);
    bytes.remove_prefix(static_cast<std::size_t>(step));
  }
}

}  // namespace

SealedProgram::SealedProgram(const std::string& path, Needs needs)
    : path_(std::filesystem::absolute(path).string()),
      bytes_(read_program(path, needs)),
      descriptor_(executable_memory()) {
  expect(descriptor_ >= 0);
  try {
    write_all(descriptor_, bytes_);
    expect(fchmod(descriptor_, S_IRUSR | S_IXUSR) == 0);
    constexpr int all = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    expect(fcntl(descriptor_, F_ADD_SEALS, all) == 0);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

SealedProgram::~SealedProgram() { close(descriptor_); }

}  // namespace dpsosp
