// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/hidden_files.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <system_error>

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

struct HiddenFiles {
  std::mutex mutex;
  std::set<fs::path> paths;  // as they are without links
};

HiddenFiles& hidden_files() {
  static HiddenFiles hidden;
  return hidden;
}

fs::path without_links(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path).lexically_normal() : real;
}

bool is_within(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

/// True if a file has another name, of a hard link, that is or lies in this path.
bool is_linked_in(const fs::path& file, const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::hard_link_count(file, error) < 2) return false;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_regular_file(error) && fs::equivalent(entry->path(), file, error)) return true;
  return fs::equivalent(path, file, error);
}

}  // namespace

void hide_from_guests(const fs::path& path) {
  HiddenFiles& hidden = hidden_files();
  fs::path real = without_links(path);
  const std::scoped_lock lock(hidden.mutex);
  hidden.paths.insert(std::move(real));
}

std::string hidden_among(const std::vector<std::string>& readable) {
  HiddenFiles& hidden = hidden_files();
  const std::scoped_lock lock(hidden.mutex);
  for (const std::string& path : readable) {
    const fs::path real = without_links(path);
    for (const fs::path& own : hidden.paths)
      if (is_within(own, real) || is_within(real, own) || is_linked_in(own, real))
        return own.string();
  }
  return {};
}

}  // namespace dpsosp
