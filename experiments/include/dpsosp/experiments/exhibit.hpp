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

struct Catalogue;
struct Study;

/// One table or figure: the runs it needs, and how it is shown.
struct ExhibitEntry {
  std::string id;  ///< "xu-2026/table-2"
  std::string title;
  std::string paper;
  std::function<std::vector<nlohmann::json>(const Study& study)> jobs;
  std::function<plots::Exhibit(const Runs& runs, const Study& study)> render;
};

struct ReproduceOptions {
  std::vector<std::string> exhibits;  ///< ids; empty: all
  Scale scale = Scale::quick;
  std::filesystem::path out = "out";  ///< store and report go below it
  int threads = 1;
  bool quiet = false;
  bool retry_failed = false;
  bool from_store = false;  ///< compute nothing; refuse if a run is missing
};

/// The exhibits of these ids, all if there are none. \throws InputError with the nearest id
std::vector<const ExhibitEntry*> chosen_exhibits(const Catalogue& catalogue,
                                                 const std::vector<std::string>& ids);

/// Computes what the store lacks, then writes the report; for a report of all exhibits also
/// out/costs.csv, what each cost.
/// \return the report's first page
std::filesystem::path reproduce(const Catalogue& catalogue, const ReproduceOptions& options);

}  // namespace dpsosp
