// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/known_data.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/experiments/sha256.hpp"
#include "dpsosp/problems/registry.hpp"
#include "run_setup.hpp"

namespace dpsosp {
namespace {

namespace fs = std::filesystem;

struct Known {
  std::mutex mutex;
  std::map<std::string, fs::path> files;  // by SHA-256
  std::function<std::vector<StoredData>()> ask;
  std::optional<std::vector<StoredData>> stored;
  std::vector<std::string> notices;
};

Known& known() {
  static Known all;
  return all;
}

const std::vector<StoredData>& all_stored() {
  Known& k = known();
  if (!k.stored) k.stored = k.ask ? k.ask() : std::vector<StoredData>{};
  return *k.stored;
}

}  // namespace

bool reads_own_data(const std::string& problem) {
  const auto family = find_problem(problem);
  const Fields fields = family->fields();
  return std::ranges::find(fields, own_data_setting, &Field::name) != fields.end() &&
         !own_data(*make_family(problem, {{own_data_setting, "a file"}})).empty();
}

std::string know_data(const fs::path& file) {
  hide_from_guests(file);
  std::string digest = sha256(read_file(file));
  const std::scoped_lock lock(known().mutex);
  known().files.insert_or_assign(digest, fs::absolute(file).lexically_normal());
  return digest;
}

fs::path known_data(const std::string& digest) {
  const std::scoped_lock lock(known().mutex);
  const auto found = known().files.find(digest);
  return found == known().files.end() ? fs::path() : found->second;
}

std::map<std::string, fs::path> all_known_data() {
  const std::scoped_lock lock(known().mutex);
  return known().files;
}

void set_stored_data(std::function<std::vector<StoredData>()> stored) {
  const std::scoped_lock lock(known().mutex);
  known().ask = std::move(stored);
  known().stored.reset();
}

const std::vector<std::string>& data_notices() { return known().notices; }

StoredData stored_data_for(const StoredData& wanted, const std::string& named,
                           const std::string& missing) {
  constexpr std::size_t fewest_digits = 8;
  const std::scoped_lock lock(known().mutex);
  const std::string_view prefix(sha256_prefix);
  const bool by_digest = named.starts_with(prefix);
  const std::string digits = by_digest ? named.substr(prefix.size()) : "";
  if (by_digest && digits.size() < fewest_digits)
    reject(wanted.problem, own_data_setting, named,
           fmt::format("at least {} digits of a SHA-256", fewest_digits));
  const std::string name = by_digest ? "" : fs::path(named).filename().string();
  const auto is_named = [&](const StoredData& s) {
    return by_digest || s.names.empty() || s.names.contains(name);
  };
  const auto candidates = [&](bool same_settings, bool same_name = true) {
    std::vector<StoredData> found;
    for (const StoredData& s : all_stored()) {
      if (s.problem != wanted.problem || !s.sha256.starts_with(digits)) continue;
      if (same_name && !is_named(s)) continue;
      if (same_settings && s.problem_settings != wanted.problem_settings) continue;
      const auto same = std::ranges::find(found, s.sha256, &StoredData::sha256);
      if (same == found.end())
        found.push_back(s);
      else
        same->records = std::max(same->records, s.records);
    }
    return found;
  };
  auto found = candidates(true);
  if (found.empty()) found = candidates(false);
  if (found.empty() && by_digest)
    throw InputError(fmt::format("{}: no run of {} is stored", wanted.problem, named));
  const bool is_of_that_name = !found.empty();
  if (found.empty()) found = candidates(false, false);
  if (found.empty()) throw InputError(fmt::format("{}: {}", wanted.problem, missing));
  if (found.size() > 1 || !is_of_that_name) {
    std::vector<std::string> files;
    for (const StoredData& s : found)
      files.push_back(fmt::format(
          "{}{} ({}{} records)", prefix, s.sha256.substr(0, 12),
          s.names.empty() ? "" : fmt::format("{}, ", fmt::join(s.names, ", ")), s.records));
    throw InputError(fmt::format(
        "{}: {}, and runs of {} are stored; put the one that is meant back, or name it in its "
        "place: {}",
        wanted.problem, missing, is_of_that_name ? "several files" : "files of other names",
        fmt::join(files, ", ")));
  }
  if (!by_digest) {
    std::string line =
        fmt::format("{}: {}; the runs are those of the file with SHA-256 {}, which are stored",
                    wanted.problem, missing, found.front().sha256);
    if (std::ranges::find(known().notices, line) == known().notices.end())
      known().notices.push_back(std::move(line));
  }
  return found.front();
}

}  // namespace dpsosp
