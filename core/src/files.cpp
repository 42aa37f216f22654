// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/files.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/text_file.hpp"

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

namespace {

/// Name of another kind of entry than a file at a path; empty for a file.
std::string kind_but_file(mode_t mode) {
  if (S_ISREG(mode)) return {};
  if (S_ISDIR(mode)) return "is a folder";
  if (S_ISFIFO(mode)) return "is a pipe, which can be read only once";
  return S_ISSOCK(mode) ? "is a socket" : "is a device";
}

std::string rest_of(std::ifstream& in, const fs::path& file) {
  try {
    return {std::istreambuf_iterator<char>(in), {}};
  } catch (const std::ios_base::failure&) {  // of the disk
    throw InputError(fmt::format("{}: cannot be read ({})", file.string(), std::strerror(errno)));
  }
}

}  // namespace

std::string why_unreadable(const fs::path& file) {
  struct stat found {};
  const auto refused = [] { return fmt::format("cannot be read ({})", std::strerror(errno)); };
  if (::stat(file.c_str(), &found) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return refused();
    const bool is_link = ::lstat(file.c_str(), &found) == 0;
    return is_link ? "is a link to what does not exist" : "does not exist";
  }
  if (std::string kind = kind_but_file(found.st_mode); !kind.empty()) return kind;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return refused();
  ::close(descriptor);
  return {};
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

std::string read_text(const fs::path& file) {
  struct stat found {};
  const bool is_stream =
      ::stat(file.c_str(), &found) == 0 && (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode));
  if (const std::string why = why_unreadable(file); !is_stream && !why.empty())
    throw InputError(fmt::format("{} {}", file.string(), why));
  std::ifstream in(file, std::ios::binary);
  const std::string text = rest_of(in, file);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw InputError(fmt::format("{} is text in UTF-16, expected UTF-8", file.string()));
  return std::string(without_byte_order_mark(text));
}

std::ifstream open_file(const fs::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) == 0)
    if (const std::string kind = kind_but_file(found.st_mode); !kind.empty())
      throw InputError(fmt::format("{}: cannot be read (it {})", file.string(), kind));
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw InputError(fmt::format("{}: cannot be read ({})", file.string(), std::strerror(errno)));
  return in;
}

std::string read_file(const fs::path& file) {
  std::ifstream in = open_file(file);
  return rest_of(in, file);
}

void check_id(std::string_view where, const std::string& id) {
  const auto alphanumeric = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  bool good = !id.empty() && id.size() <= 100 && alphanumeric(id[0]);
  for (const char c : id) good = good && (alphanumeric(c) || c == '-' || c == '_' || c == '.');
  if (!good)
    reject(where, "id", "'" + id + "'", "letters, digits, '-', '_', '.', a letter or digit first");
}

}  // namespace dpsosp
