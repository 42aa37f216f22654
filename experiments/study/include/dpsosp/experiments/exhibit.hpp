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
#include "dpsosp/plots/exhibit.hpp"

namespace dpsosp {

struct Catalogue;
struct Study;

/// One table or figure: the runs it needs, and how it is shown.
struct ExhibitEntry {
  std::string id;  ///< "xu-2026/table-2"
  std::string title;
  std::string paper;
  std::function<std::vector<Job>(const Study& study)> jobs;
  std::function<plots::Exhibit(const Runs& runs, const Study& study)> render;
  /// Its runs take long, or code that not every program has. They are computed where the exhibit is
  /// named; a report of all exhibits has them if the store holds every one, and else renders what
  /// can be shown without.
  bool on_request = false;
  /// Where to make all jobs takes long: the first of them. If the store lacks it, the others are
  /// not made for a report of all exhibits.
  std::function<Job(const Study& study)> first_job{};
};

/// The runs that a report takes for an exhibit; none of an exhibit on request that is not
/// `requested` and whose runs `study.store` does not hold.
std::vector<Job> jobs_to_take(const ExhibitEntry& exhibit, const Study& study, bool requested);

struct ReproduceOptions {
  std::vector<std::string> exhibits;  ///< ids, or their parts before '/'; empty: all
  Scale scale = Scale::quick;
  std::filesystem::path out = "out";  ///< store and report go below it
  int threads = 1;
  bool quiet = false;
  bool retry_failed = false;
  bool from_store = false;        ///< compute nothing; show what is stored
  std::filesystem::path store{};  ///< where runs are kept; default: store.sqlite below `out`
  /// How long the report of a running reproduction is left as it is, at least. It is also left for
  /// forty times what it took to write.
  double refresh_seconds = 120;
};

/// The exhibits of these ids, each once; "xu-2026" stands for all whose ids begin with "xu-2026/".
/// All if there are none. \throws InputError with the nearest id
std::vector<const ExhibitEntry*> chosen_exhibits(const Catalogue& catalogue,
                                                 const std::vector<std::string>& ids);

/// An exhibit of which the store lacks runs.
struct Unfinished {
  const ExhibitEntry* entry;
  std::size_t stored = 0;
  std::size_t runs = 0;
};

/// Results that a report is written from. Refers to its inputs.
struct Reproduced {
  const Study& study;
  const Store& store;
  const Runs& runs;                            ///< what is stored of the exhibits
  std::vector<const ExhibitEntry*> entries{};  ///< that have all their runs
  std::vector<std::vector<Job>> jobs{};        ///< one an entry, as jobs_to_take() has them
  std::vector<plots::Exhibit> exhibits{};      ///< one an entry
  std::vector<Unfinished> unfinished{};
  bool whole = false;    ///< whether these are all exhibits
  bool running = false;  ///< whether runs are being computed
  std::filesystem::path out{};
};

/// Writes the report below OUT/report. \return its first page
using WriteReport = std::function<std::filesystem::path(const Reproduced& reproduced)>;

/// Computes what the store lacks and has the report written, from time to time while runs are
/// computed and when all are; for a report of all exhibits also out/costs.csv, what each cost.
/// \return the report's first page
/// \throws InputError before any work if a run is to be computed for which the program has no
///         code, or, where nothing is to be computed, if no run is stored
std::filesystem::path reproduce(const Catalogue& catalogue, const ReproduceOptions& options,
                                const WriteReport& write);

}  // namespace dpsosp
