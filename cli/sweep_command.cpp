// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "choices.hpp"
#include "cluster_work.hpp"
#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/experiments/counting_metric.hpp"
#include "dpsosp/experiments/journal.hpp"
#include "dpsosp/experiments/known_data.hpp"
#include "dpsosp/experiments/plan.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/progress.hpp"
#include "dpsosp/experiments/run_costs.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "dpsosp/privacy/accounting/event.hpp"
#include "dpsosp/report/contents.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "names.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;
using nlohmann::json;

OptionText out_option(const char* meaning) {
  return {.name = "out",
          .value = "FOLDER",
          .meaning = meaning,
          .standard = "out",
          .offers = {.files = true}};
}

Sweep sweep_of(const po::variables_map& map, std::string_view command) {
  if (map.count("file") == 0 || map["file"].as<std::vector<std::string>>().size() != 1)
    throw InputError(
        fmt::format("{}: expected one sweep, a TOML file or a built-in name", command));
  const std::string name = map["file"].as<std::vector<std::string>>().front();
  const Scale scale = from_word<Scale>(map["scale"].as<std::string>());
  const Study study{reproductions().catalogue, scale};
  // A name that is neither a file nor looks like one is refused with the nearest built-in one.
  const std::filesystem::path file(name);
  Sweep sweep =
      study.catalogue.has_sweep(name) || (!std::filesystem::exists(file) && !file.has_extension())
          ? study.sweep(the_sweep(name))
          : read_sweep(file, scale, study.catalogue.exponents);
  if (sweep.parts.empty())
    throw InputError(fmt::format("{}: {} has no part at scale {}, expected another --scale",
                                 command, name, to_string(scale)));
  return sweep;
}

/// "i/k": every k-th run from the i-th.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
};

Shard shard_of(const std::string& text) {
  const auto slash = text.find('/');
  constexpr std::string_view expected = "i/k with 1 <= i <= k";
  if (slash == std::string::npos) reject("sweep", "--shard", "'" + text + "'", expected);
  const auto number = [&](const std::string& part) {
    return parse_number<std::size_t>("sweep", "--shard", part, expected);
  };
  const Shard s{number(text.substr(0, slash)), number(text.substr(slash + 1))};
  if (s.index < 1 || s.index > s.count) reject("sweep", "--shard", "'" + text + "'", expected);
  return s;
}

/// What is computed next: the runs that tune, until all are stored; then those that count.
struct Phase {
  Sweep sweep;
  bool tunes = false;
};

Phase next_phase(Sweep sweep, const Store* store) {
  Sweep search = search_of(sweep);
  const std::vector<Job> jobs = jobs_of(search);
  const auto runs = store == nullptr ? std::vector<StoredRun>{} : runs_in(*store, jobs);
  if (runs.size() < jobs.size()) return {std::move(search), true};
  choose(Runs(runs), sweep);
  return {std::move(sweep), false};
}

/// Null where there is no store yet.
std::unique_ptr<const Store> stored_in(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return nullptr;
  return std::make_unique<const Store>(file, Store::Access::read_only);
}

/// Lets runs on a caller's file that is not here be described by what the store has of them.
void take_stored_data(const std::filesystem::path& file) {
  set_stored_data([file] {
    std::vector<StoredData> all;
    const auto store = stored_in(file);
    if (!store) return all;
    DataFiles files = store->data_files();
    store->each([&](const StoredRun& run, const Provenance&) {
      const json d = run.key.description();
      if (!d.contains("data") || !d.contains("problem_settings")) return;
      StoredData one{d.at("data"), d.at("problem"), d.at("problem_settings"), d.at("records")};
      one.problem_settings.erase(own_data_setting);
      one.names = files[one.sha256];
      if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
    });
    return all;
  });
}

void say_stored_data(std::string_view command) {
  for (const std::string& line : data_notices())
    std::cerr << fmt::format("{}: {}\n", command, line);
}

/// \throws InputError for runs that are neither stored nor can be computed, as their table is
/// missing
void refuse_without_data(const Sweep& sweep, const std::filesystem::path& file) {
  const auto lacks_data = [](const Job& job) {
    const RunDescription* run = job.run();
    return run != nullptr && !run->data.empty() && known_data(run->data).empty();
  };
  if (std::ranges::none_of(jobs_of(as_written(sweep)), lacks_data)) return;
  const auto store = stored_in(file);
  const std::vector<Job> jobs = jobs_of(next_phase(sweep, store.get()).sweep);
  std::string missing;
  std::size_t count = 0;
  for (const Job& job : jobs) {
    if (!lacks_data(job) || (store && store->status(job.key()))) continue;
    missing = job.run()->data;
    ++count;
  }
  if (count > 0)
    throw InputError(
        fmt::format("sweep: {} of {} runs are not stored, and the file with SHA-256 {}, which they "
                    "need, is not here; put it back",
                    count, jobs.size(), missing));
}

/// Says which slopes no run can give.
void warn_of_few_values(const Sweep& sweep) {
  constexpr std::size_t fewest = 3;
  for (const Part& part : sweep.parts) {
    std::set<std::string> fitted;
    for (const FitRequest& f : part.fits) fitted.insert(f.axis);
    for (const std::string& name : fitted)
      for (const Axis& axis : part.axes)
        if (!axis.empty() && coordinate(axis.front(), name) && axis.size() < fewest)
          std::cerr << fmt::format("sweep: part {}: {} has {} value{}, and a slope needs {}\n",
                                   part.name, name, axis.size(), axis.size() == 1 ? "" : "s",
                                   fewest);
  }
}

/// Says where a space may be too small.
void warn_of_ends(const Sweep& sweep) {
  std::size_t tuned = 0, at_end = 0;
  std::string first;
  for (const Part& part : sweep.parts)
    for (const Cell& cell : cells_of(sweep, part)) {
      const Arm& arm = sweep.arms[cell.arm];
      if (arm.trials.size() == 1) continue;
      ++tuned;
      const auto ends = at_ends(arm, arm.trials[part.chosen.at({cell.arm, cell.at})]);
      if (!ends.empty() && at_end++ == 0)
        first = fmt::format("{}: {}", place_of(sweep, part, cell), ends.front());
    }
  if (at_end > 0)
    std::cerr << fmt::format(
        "sweep: {} of {} settings chosen lie at an end of the space, as {}; a wider space may have "
        "better ones\n",
        at_end, tuned, first);
}

/// Says which arms failed, and how.
void warn_of_failed(const Runs& runs, const Sweep& sweep) {
  for (const Part& part : sweep.parts)
    for (const std::size_t arm : part.arms) {
      std::size_t all = 0, failed = 0;
      std::string first;
      for (const Cell& cell : cells_of(sweep, part)) {
        if (cell.arm != arm) continue;
        const CellMetric m = measure(runs, cell, "steps");
        all += cell.runs.size();
        if (failed == 0) first = m.failure;
        failed += static_cast<std::size_t>(m.failed);
      }
      if (failed > 0)
        std::cerr << fmt::format("sweep: part {}: {}: {} of {} runs failed, the first by {}\n",
                                 part.name, sweep.arms[arm].name, failed, all, first);
    }
}

/// Runs of the sweep if every part gets all the seeds that it may.
std::size_t most_runs(Sweep sweep) {
  for (Part& part : sweep.parts) part.seeds = std::max(part.seeds, part.most_seeds);
  return jobs_of(sweep).size();
}

/// Says where a delta is large, once for the sweep.
void warn_of_large_delta(const std::vector<Job>& jobs) {
  std::set<std::pair<double, double>> cells;
  for (const Job& job : jobs) {
    const RunDescription& d = *job.run();
    const auto n = static_cast<double>(d.records);
    if (d.door != Door::not_private && d.door != Door::no_noise && d.delta * n > 1)
      cells.emplace(n, d.delta);
  }
  if (cells.empty()) return;
  const auto& [n, delta] = *cells.begin();
  std::cerr << fmt::format(
      "sweep: delta = {:g} is above 1/n at n = {:g}{}, which allows publishing one record whole; "
      "choose it well below\n",
      delta, n, cells.size() > 1 ? fmt::format(" (and {} more)", cells.size() - 1) : "");
}

/// \param tuning  how many of the jobs tune
void print_plan(const Sweep& sweep, const std::vector<Job>& jobs, std::size_t tuning,
                const std::filesystem::path& file) {
  std::size_t cells = 0;
  for (const Part& part : sweep.parts) {
    const auto of_part = cells_of(sweep, part);
    cells += of_part.size();
    for (const Cell& c : of_part) {
      const auto steps = planned_steps(c.first_run());
      std::cout << fmt::format("{}: {}, {}: {} runs{}\n", part.name, sweep.arms[c.arm].name,
                               to_text(c.at), c.runs.size(),
                               steps ? fmt::format(" of {} steps", *steps) : "");
    }
  }
  const TimeEstimate time = estimate_time(jobs, file);
  std::cout << fmt::format("{} cells, {} runs, ", cells, jobs.size());
  if (tuning > 0) std::cout << fmt::format("{} of them to tune, ", tuning);
  std::cout << fmt::format("{} of them stored", time.stored);
  if (const std::size_t most = most_runs(sweep); most > jobs_of(sweep).size())
    std::cout << fmt::format("; up to {} runs in all, where slopes turn out to need more seeds",
                             most);
  const std::size_t known = jobs.size() - time.stored - time.unknown;
  if (known > 0)
    std::cout << fmt::format("; about {} on one core for {} others", duration_text(time.seconds),
                             known);
  if (time.unknown > 0)
    std::cout << fmt::format(
        "; the time of {} others is unknown, because no run of the same algorithm and problem is "
        "stored",
        time.unknown);
  std::cout << '\n';
}

/// compute_run, with the place of the run in what it refuses.
Compute with_place(const Sweep& sweep) {
  return [&sweep](const Job& job) -> json {
    try {
      return compute_run(*job.run());
    } catch (const UnsupportedError&) {
      throw;
    } catch (const InputError& e) {
      for (const Part& part : sweep.parts)
        for (const Cell& cell : cells_of(sweep, part))
          if (std::ranges::find(cell.runs, job) != cell.runs.end())
            throw InputError(
                fmt::format("sweep {}: {}: {}", sweep.name, place_of(sweep, part, cell), e.what()));
      throw;
    }
  };
}

/// Computes a shard into a journal of its own.
void compute_shard(const Sweep& sweep, const std::vector<Job>& jobs, const Shard& shard,
                   const std::filesystem::path& folder, const RunOptions& options) {
  Journal::Known known;
  for (const std::filesystem::path& file : journals_in(folder))
    read_journal(
        file, {},
        [&](const JournalRow& row) {
          known.insert_or_assign(std::string(row.key),
                                 from_word<RunStatus>(std::string(row.status)));
        },
        [](const std::string& what) { std::cerr << "sweep: " << what << '\n'; });
  Journal journal(
      folder,
      {.shard = shard.index, .shards = shard.count, .runs = jobs.size(), .found = known.size()},
      fmt::format("process-{}", ::getpid()), known);
  compute_missing(journal, jobs, with_place(sweep), options);
}

/// The runs of a phase, with the seeds that its slopes need as far as runs are stored.
std::vector<Job> jobs_with_seeds(Sweep sweep, const Store* store) {
  for (;;) {
    std::vector<Job> jobs = jobs_of(sweep);
    if (store == nullptr) return jobs;
    const std::vector<StoredRun> runs = runs_in(*store, jobs);
    if (runs.size() < jobs.size() || !add_seeds(Runs(runs), sweep)) return jobs;
  }
}

}  // namespace

const Description& sweep_description() {
  static const Description description{
      .name = "sweep",
      .summary = "a grid of runs, declared in TOML: tables, and slopes with intervals",
      .usage = {"FILE.toml [OPTIONS]", "NAME [OPTIONS]"},
      .examples = {{"dpsosp sweep examples/my-sweep.toml --dry-run",
                    "cells, runs and an estimate of the time; computes nothing"},
                   {"dpsosp sweep examples/my-sweep.toml",
                    "tables in out/my-sweep/; the same command continues after a kill"}},
      .groups = {{"the runs",
                  {scale_option(),
                   {.name = "dry-run",
                    .meaning = "print cells, runs and an estimate of the time; compute nothing"},
                   {.name = "retry-failed", .meaning = "compute failed runs again"},
                   {.name = "shard",
                    .value = "I/K",
                    .meaning = "every K-th run, into a journal; dpsosp merge joins them",
                    .standard = "1/1"},
                   threads_option()}},
                 {"output",
                  {out_option("folder of the store and the tables"), quiet_option(),
                   help_option()}},
                 cluster_options()},
      .words = "file",
      .word_offers = {.names = sweep_names, .files = true},
      .notes = {"docs/sweeps.md describes the file; dpsosp list sweeps lists the built-in ones."}};
  return description;
}

const Description& fit_description() {
  static const Description description{
      .name = "fit",
      .summary = "slopes of a sweep with intervals and verdicts, from stored runs",
      .usage = {"FILE.toml|NAME [OPTIONS]"},
      .examples = {{"dpsosp fit examples/my-sweep.toml",
                    "a line for each slope of the runs that `dpsosp sweep` left"},
                   {"dpsosp fit examples/my-sweep.toml --json", "the same for a program"}},
      .groups = {{"the runs", {scale_option(), out_option("folder of the store")}},
                 {"output", {json_option(), help_option()}}},
      .words = "file",
      .word_offers = {.names = sweep_names, .files = true}};
  return description;
}

int sweep_command(const Arguments& arguments) {
  const auto map = parse_options(sweep_description(), arguments);
  const std::filesystem::path out = out_folder(map, "sweep");
  hide_runs_of(out);  // before a program of the sweep is asked for its plan
  take_stored_data(out / "store.sqlite");
  Sweep sweep = sweep_of(map, "sweep");
  const Shard shard = shard_of(map["shard"].as<std::string>());
  use_program_secret_of(out, map.count("dry-run") == 0);
  const std::filesystem::path file = out / "store.sqlite";
  refuse_without_data(sweep, file);
  say_stored_data("sweep");
  if (map.count("dry-run") != 0) {
    const auto store = stored_in(file);
    const Phase phase = next_phase(sweep, store.get());
    const Sweep counting = phase.tunes ? as_written(sweep) : phase.sweep;
    std::vector<Job> jobs = jobs_of(search_of(sweep));
    const std::size_t tuning = jobs.size();
    std::ranges::copy(jobs_of(counting), std::back_inserter(jobs));
    warn_of_few_values(sweep);
    print_plan(counting, of_shard(jobs, shard.index, shard.count), tuning, file);
    return 0;
  }
  const std::filesystem::path tables = out / sweep.name;
  warn_of_large_delta(jobs_of(as_written(sweep)));
  if (asks_for_cluster(map)) {
    if (shard.count > 1) throw InputError("sweep: --shard makes no plan for other processes");
    const std::vector<std::string> plain{
        "sweep",   map["file"].as<std::vector<std::string>>().front(),
        "--scale", map["scale"].as<std::string>(),
        "--out",   out.string()};
    bool tunes = false;
    const ClusterWork work{.command = "sweep",
                           .arguments = arguments,
                           .plain = plain,
                           .out = out,
                           .jobs =
                               [&](const Store* store) {
                                 Phase phase = next_phase(sweep, store);
                                 tunes = phase.tunes;
                                 return jobs_with_seeds(std::move(phase.sweep), store);
                               },
                           .more = [&] { return tunes; }};
    do {
      if (!on_cluster(map, work)) return 0;
    } while (tunes);  // --local, which has computed what it was asked for
  }
  const int at_a_time = threads_here(map, "sweep");
  Progress progress(progress_style(map.count("quiet") != 0));
  if (shard.count > 1) {
    const std::filesystem::path folder = out / fmt::format("shards-of-{}", shard.count);
    hide_from_guests(folder);
    const auto store = stored_in(file);
    const Phase phase = next_phase(sweep, store.get());
    compute_shard(phase.sweep, of_shard(jobs_of(phase.sweep), shard.index, shard.count), shard,
                  folder, {.threads = at_a_time, .progress = &progress});
    std::cout << "journals: " << folder.string() << '\n';
    if (phase.tunes)
      std::cout << "these runs tune; after `dpsosp merge`, the same shards compute those that "
                   "count\n";
    return 0;
  }
  ensure_writable_folder(tables);  // before any work
  Store store(file);
  const auto computed = [&](const Sweep& of, bool retry_failed) {
    return run_jobs(store, jobs_of(of), with_place(of),
                    {.threads = at_a_time, .retry_failed = retry_failed, .progress = &progress});
  };
  DataFiles files;
  for (const auto& [sha256, place] : all_known_data())
    files[sha256].insert(place.filename().string());
  store.note_data_files(files);
  const bool retry_failed = map.count("retry-failed") != 0;
  const Sweep search = search_of(sweep);
  std::vector<StoredRun> tuning;
  if (!search.parts.empty()) tuning = computed(search, retry_failed);
  choose(Runs(tuning), sweep);
  std::vector<StoredRun> runs = computed(sweep, retry_failed);
  while (add_seeds(Runs(runs), sweep)) runs = computed(sweep, false);
  warn_of_failed(Runs(runs), sweep);
  require_metric(Runs(runs), sweep);
  for (const Part& part : sweep.parts)
    for (const std::string& warning : used_table(Runs(runs), sweep, part, "used").footnotes)
      std::cerr << fmt::format("sweep: part {}: {}\n", part.name, warning);
  std::ranges::move(tuning, std::back_inserter(runs));
  warn_of_ends(sweep);
  const report::SweepSource source{map["file"].as<std::vector<std::string>>().front(),
                                   from_word<Scale>(map["scale"].as<std::string>())};
  const report::WriteOptions pages{
      .formats = {"svg", "pdf"},
      .notice = [](const std::string& line) { std::cerr << "sweep: " << line << '\n'; }};
  for (const auto& written : report::write_sweep(store, Runs(runs), sweep, source, tables, pages))
    std::cout << written.string() << '\n';
  const auto failed = [](const StoredRun& run) { return run.status == RunStatus::failed; };
  if (std::ranges::all_of(runs, failed))
    throw RunFailed(fmt::format("all {} runs of the sweep, the first with: {}", runs.size(),
                                runs.front().reason));
  return 0;
}

int fit_command(const Arguments& arguments) {
  const auto map = parse_options(fit_description(), arguments);
  const std::filesystem::path out = out_folder(map, "fit"), file = out / "store.sqlite";
  hide_runs_of(out);
  take_stored_data(file);
  Sweep sweep = sweep_of(map, "fit");
  say_stored_data("fit");
  if (!std::filesystem::exists(file))
    throw InputError(
        fmt::format("fit: there is no {}; `dpsosp sweep` computes the runs first", file.string()));
  use_program_secret_of(out, false);
  const Store store(file, Store::Access::read_only);
  const auto runs = settled_runs(store, sweep, "dpsosp sweep");
  const auto slopes = slopes_of(Runs(runs), sweep);
  if (map.count("json") != 0) {
    json all = json::array();
    for (const Slope& s : slopes) all.push_back(to_json(s));
    std::cout << all.dump(2) << '\n';
    return 0;
  }
  for (const Slope& s : slopes) {
    std::cout << to_text(s) << '\n';
    if (const std::string moving = moving_constants_text(sweep, s); !moving.empty())
      std::cout << "  " << moving << '\n';
    if (s.cells.size() >= 3) continue;
    if (const auto other = metric_that_counts(Runs(runs), sweep, s))
      std::cout << fmt::format(
          "  with metric = \"{}\" {} of {} cells would count, in the same runs\n", other->name,
          other->counting, other->cells);
  }
  return 0;
}

}  // namespace dpsosp
