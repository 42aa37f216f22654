// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/job.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/scale.hpp"
#include "dpsosp/experiments/verdict.hpp"

/// Grids of runs, declared in TOML; docs/sweeps.md describes the file.
namespace dpsosp {

/// Names and values of what moves: records, dimension, epsilon, delta, set.NAME, problem.NAME.
using Coordinates = std::vector<std::pair<std::string, nlohmann::json>>;
/// "n = 10000, d = 16": for labels and messages.
std::string to_text(const Coordinates& point);
/// The number under a name; none where there is none.
std::optional<double> coordinate(const Coordinates& point, std::string_view name);

/// The points of one axis; several coordinates where they move together.
using Axis = std::vector<Coordinates>;

/// An algorithm on a problem, with everything that an axis does not move.
struct Arm {
  std::string name;
  RunSpec spec;
  std::vector<Axis> space{};  ///< settings that are tuned, one an axis; empty: none is
  /// Trials of tuning: no setting, which is the arm as the file has it, and points of the space. A
  /// smaller budget tries the first of them.
  std::vector<Coordinates> trials{{}};
};

/// How settings are tried before the runs that count.
struct Tuning {
  std::uint64_t seeds = 0;               ///< of a trial; 0: nothing is tuned
  std::uint64_t first_seed = 1'000'000;  ///< none is one of a part
  std::uint64_t order = 0;               ///< seed of the order of the settings
  std::string unequal{};                 ///< why budgets differ; empty: they do not
};

/// An exponent that a claim states for a slope. A fit that names the claim is judged by it.
struct StatedExponent {
  std::string claim;  ///< its id
  std::string axis;
  ClaimedExponent exponent{0};
  std::string part;  ///< where a sweep measures it
  std::string arm;
  /// The claim's own: a fit of another metric is shown and not judged. Empty: any.
  std::string metric{};
  std::vector<double> rivals{};  ///< other exponents that the paper names on this axis
  /// The schedule's solved α is the claimed bound with its logarithms and lower-order terms.
  bool solved = false;
};

/// A slope that is asked for.
struct FitRequest {
  std::string axis;                        ///< a coordinate with numbers
  std::string metric;                      ///< see metric.hpp
  std::string arm;                         ///< asked of this arm alone; empty: of every arm
  std::string claim;                       ///< that states `claimed`; empty: the sweep does
  std::optional<ClaimedExponent> claimed;  ///< none: the slope is shown and not judged
  bool solved = false;                     ///< as of StatedExponent
  /// Other exponents that papers name on this axis: those of all claims, and of the file.
  std::vector<double> rivals{};
  std::optional<double> reference;  ///< slope measured by an independent program
  /// For the axis epsilon alone: x is what noise goes by, √ρ of the zCDP that (ε, δ) converts to.
  /// Rates are claimed in sqrt(ln(1/δ))/ε, which 1/√ρ follows; at fixed δ it goes as ε^−0.93 about
  /// ε = 1.
  bool in_noise = false;
  /// Runs end where they certify their own α, so that the level follows the plan whatever the
  /// method is capable of: no verdict.
  bool ends_at_alpha = false;
};

/// A full grid: every arm at every combination of the axes' points, with every seed.
struct Part {
  std::string name;
  std::vector<std::size_t> arms;  ///< positions in Sweep::arms
  std::vector<Axis> axes;
  std::uint64_t seeds = 1;  ///< 0, 1, …, seeds − 1
  /// Where a judged slope needs more seeds the part goes on with twice as many, up to this; 0:
  /// never.
  std::uint64_t most_seeds = 0;
  std::uint64_t first_seed = 0;
  /// Coordinates that differ between the seeds of a cell: seed k has value k modulo their number,
  /// of each axis. An instance that no threshold favours is one of many.
  std::vector<Axis> by_seed{};
  /// Of each cell of an arm that is tuned: its place among the trials. Written by tuning.
  std::map<std::pair<std::size_t, Coordinates>, std::size_t> chosen{};
  std::vector<FitRequest> fits;
  std::string note;  ///< why a range ends where it ends
};

/// Cells and fits that were made of a sweep. A report asks for each many times.
class SweepMemory;

struct Sweep {
  std::string name;
  std::string title;
  std::string metric;  ///< where a fit names none, and of parts without fits; may be empty
  std::vector<Arm> arms;
  std::vector<Part> parts;  ///< those of the scale it was read for
  Tuning tuning{};
  /// Shared by copies, whatever they have changed: it is asked by content.
  std::shared_ptr<SweepMemory> memory = new_memory();

  static std::shared_ptr<SweepMemory> new_memory();
};

/// Reads a sweep.
/// \param source  for messages: the file's name
/// \param stated  the exponents of the claims that fits may name
/// \throws InputError "SOURCE:LINE: …" in one line for anything unknown, missing or out of range
Sweep parse_sweep(std::string_view toml, const std::string& source, Scale scale,
                  std::span<const StatedExponent> stated = {});
/// Reads a file; the sweep's name is the file's without its ending. Refuses also settings that only
/// a run would refuse, where the data are small.
Sweep read_sweep(const std::filesystem::path& file, Scale scale,
                 std::span<const StatedExponent> stated = {});

/// One point of a part for one arm.
struct Cell {
  std::size_t arm;
  Coordinates at;
  std::vector<Job> runs;  ///< one a seed; none is a probe

  const RunDescription& first_run() const { return *runs.front().run(); }
};
/// Cells in the order arms, then axes with the last moving fastest. \throws InputError, also where
/// an arm is tuned and nothing is chosen yet (tuning.hpp)
std::vector<Cell> cells_of(const Sweep& sweep, const Part& part);
/// "part n, arm A at records = 100": for messages.
std::string place_of(const Sweep& sweep, const Part& part, const Cell& cell);
/// The runs of all parts, each once.
std::vector<Job> jobs_of(const Sweep& sweep);
/// Every count-th job from the index-th, 1 ≤ index ≤ count: the shards share out the jobs.
std::vector<Job> of_shard(const std::vector<Job>& jobs, std::size_t index, std::size_t count);

/// Values of one metric in a cell.
struct CellMetric {
  std::vector<std::uint64_t> seeds;  ///< of the values
  std::vector<double> values;        ///< of the finished runs that have the metric
  int missing = 0;                   ///< finished runs without the metric
  int failed = 0;
  std::string failure;  ///< of the first that failed
};
CellMetric measure(const Runs& runs, const Cell& cell, std::string_view metric);
/// Median of the metric at the start, as start_metric has it; none where there is none.
std::optional<double> measure_start(const Runs& runs, const Cell& cell, std::string_view metric);

/// A slope, and what it was fitted to.
struct Slope {
  std::string part;
  std::string arm;
  Coordinates slice;  ///< the coordinates that are fixed
  FitRequest request;
  std::vector<FitCell> cells;         ///< that count
  std::vector<std::string> left_out;  ///< cells that do not count, each with why
  std::set<std::string> privacy;      ///< labels of the runs that count, as "enforced"
  std::optional<SlopeFit> fit;        ///< none: fewer than three cells count, or no values
  /// Least-squares slope of the cells' median solved α; none where a cell has none. A measured
  /// slope like it is what the plan makes it, and not evidence of its own.
  std::optional<double> of_plan;
  /// Largest ratio, over the cells, of the median level to the median solved α; none where a cell
  /// has none, or where α bounds another quantity.
  std::optional<double> over_promise;
  /// Fit of the levels over the cells' median solved α; none where over_promise is none.
  std::optional<SlopeFit> over_plan;
  SlopeVerdict verdict;
};

/// The verdict on what was measured. `inconclusive` where there is no slope, with why; and where
/// the exponent is larger than claimed although every level is below its promise: an upper bound
/// may be approached from far below, unless the promise is itself worse than claimed.
/// \param solved  as of StatedExponent: the levels are compared with the solved α, too
SlopeVerdict judge(const Slope& slope, ClaimedExponent claimed, bool solved);

/// Cells of one arm that differ on the axis of a fit alone.
struct SweepSlice {
  Coordinates fixed;
  std::vector<const Cell*> cells;
};
std::vector<SweepSlice> slices_of(const std::vector<Cell>& cells, std::size_t arm, const Part& part,
                                  const FitRequest& request);

/// The position of a cell on the axis of a fit.
double abscissa(const Cell& cell, const FitRequest& request);

/// A claimed exponent of something measured, not of the schedule's own promise.
bool is_rate(const FitRequest& request);

/// A cell counts where the schedule promises less than the start has, and where the median start is
/// at least this many times the median result.
inline constexpr double start_over_result = 3.0;

/// Every slope that the sweep asks for, in the file's order.
std::vector<Slope> slopes_of(const Runs& runs, const Sweep& sweep);

/// Gives parts whose slopes need more seeds twice as many, at most their most_seeds.
/// \return whether a part has more seeds than before
bool add_seeds(const Runs& runs, Sweep& sweep);

/// Adds seeds as far as the stored runs decide, which are those that a finished `dpsosp sweep`
/// left. \return the runs of the sweep. \throws InputError as stored_runs
std::vector<StoredRun> settled_runs(const Store& store, Sweep& sweep, std::string_view command);

/// The slope's metric over that of the same run without noise, for every seed of every cell of the
/// slope's arm that a control of the sweep repeats without noise. Near 1, the slope is not one of
/// noise. Empty without such a control.
std::vector<double> over_noiseless(const Runs& runs, const Sweep& sweep, const Slope& slope);

}  // namespace dpsosp
