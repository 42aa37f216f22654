// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/core/vector.hpp"

/// Callers' own files of records. A description knows them by their SHA-256 alone, so that stored
/// runs can be read where the file is not, and a file may be moved.
namespace dpsosp {

/// The setting of a problem that names such a file.
inline constexpr const char* own_data_setting = "data";
/// In place of a path: the beginning of a SHA-256, of a file whose runs are stored.
inline constexpr const char* sha256_prefix = "sha256:";

/// True if the problem reads a file of the caller's.
bool reads_own_data(const std::string& problem);

/// Remembers where a file lies, and hides it from guests. \return its SHA-256
/// \throws InputError if it cannot be read
std::string know_data(const std::filesystem::path& file);
/// Where the file of this SHA-256 lies; empty: nobody has told.
std::filesystem::path known_data(const std::string& digest);
/// Where all of them lie, by SHA-256.
std::map<std::string, std::filesystem::path> all_known_data();

/// File of a stored run.
struct StoredData {
  std::string sha256;
  std::string problem;
  nlohmann::json problem_settings;  ///< as descriptions have them
  Index records = 0;
  std::set<std::string> names{};  ///< that the file had, without folders; empty: not known

  bool operator==(const StoredData&) const = default;
};
/// Asked once, by the first run that is described while its file is missing: the run is then one of
/// the only stored file of that name with runs of such settings, else of such a problem. A file
/// whose names are not known may have any.
void set_stored_data(std::function<std::vector<StoredData>()> stored);
/// A line for each file that a stored one stands for.
const std::vector<std::string>& data_notices();

/// The stored file for a run whose own one is missing; its `records` are the most of its runs.
/// \param wanted   problem and settings of the run
/// \param named    the path, or the beginning of a SHA-256
/// \param missing  why there is no file
/// \throws InputError with `missing`, and with the stored files where there are several
StoredData stored_data_for(const StoredData& wanted, const std::string& named,
                           const std::string& missing);

}  // namespace dpsosp
