// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::fuzz {
namespace {

/// One file a process, in a folder that goes with it.
class ScratchFile {
 public:
  ScratchFile()
      : folder_(std::filesystem::temp_directory_path() /
                ("dpsosp-fuzz-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path path() const { return folder_ / "input"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace

void read_file_with(std::string_view input, void (*read_file)(const char* path)) {
  static const ScratchFile scratch;
  for (const char* rest : {"-wal", "-shm"}) std::filesystem::remove(scratch.path().string() + rest);
  std::ofstream(scratch.path(), std::ios::binary | std::ios::trunc)
      .write(input.data(), static_cast<std::streamsize>(input.size()));
  try {
    read_file(scratch.path().c_str());
  } catch (const InputError& e) {
    check_refusal(e.what());
  }
}

void check_refusal(std::string_view text) {
  const auto breaks = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (text.empty() || std::ranges::any_of(text, breaks))
    throw std::logic_error("a refusal is not one line: '" + std::string(text) + "'");
}

}  // namespace dpsosp::fuzz
