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

#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/scale.hpp"
#include "dpsosp/plots/report.hpp"

namespace dpsosp {

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
