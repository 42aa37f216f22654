// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/store.hpp"
#include "dpsosp/plots/report.hpp"

namespace dpsosp {

/// How much is computed.
enum class Scale {
  smoke,  ///< seconds: every path of the exhibit once, numbers without meaning
  quick,  ///< minutes on two cores: the numbers of the report
  full,   ///< every seed of every control
};
Scale scale_of(const std::string& text);
std::string_view to_string(Scale scale);

/// The stored runs of an exhibit, by description.
class Runs {
 public:
  explicit Runs(const std::vector<StoredRun>& runs);
  /// \throws InputError if the run is not among them.
  const StoredRun& at(const nlohmann::json& description) const;

 private:
  std::map<std::string, const StoredRun*> by_hash_;
};

/// One table or figure of a paper: the runs it needs, and how it is shown.
struct ExhibitEntry {
  std::string id;  ///< "xu-2026/table-2"
  std::string title;
  std::string paper;
  std::vector<nlohmann::json> (*jobs)(Scale scale);
  plots::Exhibit (*render)(const Runs& runs, Scale scale);
};

/// Every exhibit, one line each.
const std::vector<ExhibitEntry>& exhibit_registry();

struct ReproduceOptions {
  std::vector<std::string> exhibits;  ///< ids; empty: all
  Scale scale = Scale::quick;
  std::filesystem::path out = "out";  ///< store and report go below it
  int threads = 1;
  bool quiet = false;
  bool retry_failed = false;
  bool from_store = false;  ///< compute nothing; refuse if a run is missing
};

/// Computes what the store lacks, then writes the report.
/// \return the report's first page
std::filesystem::path reproduce(const ReproduceOptions& options);

}  // namespace dpsosp
