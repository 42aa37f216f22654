// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/files.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

// A new, empty file beside `file`, open for writing.
struct Draft {
  std::string name{};
  int descriptor = -1;
};

constexpr mode_t for_all = 0666, for_owner = 0600;

Draft draft_beside(const fs::path& file, mode_t mode) {
  Draft draft;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    draft.name = (file.parent_path() /
                  fmt::format(".{}.{}-{}", file.filename().string(), ::getpid(), attempt))
                     .string();
    draft.descriptor = ::open(draft.name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    if (draft.descriptor >= 0 || errno != EEXIST) break;
  }
  return draft;
}

[[noreturn]] void reject_file(const fs::path& file, std::string_view wanted, int error) {
  throw InputError(fmt::format("{}: cannot {} ({})", file.string(), wanted, std::strerror(error)));
}

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void ensure_writable_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) reject_file(folder, "make this folder", error.value());
  const Draft draft = draft_beside(folder / "probe", for_all);
  if (draft.descriptor < 0) reject_file(folder, "write into this folder", errno);
  ::close(draft.descriptor);
  fs::remove(draft.name);
}

namespace {

void replace(const fs::path& file, std::string_view content, mode_t mode) {
  const Draft draft = draft_beside(file, mode);
  if (draft.descriptor < 0) reject_file(file, "write this file", errno);
  int error = write_all(draft.descriptor, content);
  if (::close(draft.descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(draft.name.c_str(), file.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(draft.name.c_str());
  reject_file(file, "write this file", error);
}

}  // namespace

void write_file(const fs::path& file, std::string_view content) { replace(file, content, for_all); }

void write_private_file(const fs::path& file, std::string_view content) {
  replace(file, content, for_owner);
}

std::ifstream open_file(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw InputError(fmt::format("{}: cannot be read (it is no regular file)", file.string()));
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw InputError(fmt::format("{}: cannot be read ({})", file.string(), std::strerror(errno)));
  return in;
}

std::string read_file(const fs::path& file) {
  std::ifstream in = open_file(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_id(std::string_view where, const std::string& id) {
  const auto alphanumeric = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  bool good = !id.empty() && id.size() <= 100 && alphanumeric(id[0]);
  for (const char c : id) good = good && (alphanumeric(c) || c == '-' || c == '_' || c == '.');
  if (!good)
    reject(where, "id", "'" + id + "'", "letters, digits, '-', '_', '.', a letter or digit first");
}

}  // namespace dpsosp
