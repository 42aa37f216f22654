// SPDX-License-Identifier: Apache-2.0
#include "cluster_work.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/shell_words.hpp"
#include "dpsosp/core/text_file.hpp"
#include "dpsosp/experiments/known_data.hpp"
#include "dpsosp/experiments/plan.hpp"
#include "dpsosp/experiments/plan_status.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/progress.hpp"
#include "dpsosp/experiments/run_costs.hpp"
#include "dpsosp/experiments/slurm.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

constexpr std::array kPlaces{"slurm", "script-only", "local", "status", "cancel"};
constexpr std::array kOfSlurm{"at-a-time", "sbatch", "prologue", "tasks", "expect"};
/// What a run is taken to cost of which nothing is known, for the time limit of the first of each
/// kind.
constexpr double kUnknownSeconds = 300;

fs::path this_program() { return fs::read_symlink("/proc/self/exe"); }

/// Missing runs, and what they are expected to cost.
struct Missing {
  std::vector<PlannedRun> known;
  std::vector<Job> unknown;
  std::size_t stored = 0;
};

Missing missing_of(const ClusterWork& work, bool retry_failed) {
  const fs::path file = work.out / "store.sqlite";
  std::optional<Store> store;
  if (fs::exists(file)) store.emplace(file, Store::Access::read_only);
  const RunCosts costs = store ? RunCosts(*store) : RunCosts();
  Missing missing;
  for (Job& job : work.jobs(store ? &*store : nullptr)) {
    const auto status = store ? store->status(job.key()) : std::nullopt;
    if (status && !(retry_failed && status == RunStatus::failed)) {
      ++missing.stored;
    } else if (const auto seconds = costs.seconds(job)) {
      missing.known.push_back({std::move(job), *seconds});
    } else {
      missing.unknown.push_back(std::move(job));
    }
  }
  return missing;
}

/// One run of each kind, which is all of a description but its seeds.
std::vector<PlannedRun> pilots_of(const std::vector<Job>& jobs) {
  std::vector<PlannedRun> pilots;
  std::set<std::string> kinds;
  for (const Job& job : jobs) {
    nlohmann::json kind = job.description();
    kind.erase("seed");
    kind.erase("data_seed");
    if (kinds.insert(kind.dump()).second) pilots.push_back({job, kUnknownSeconds});
  }
  return pilots;
}

/// What a plan of these runs says of the programs among their algorithms.
std::vector<std::string> cards_of_runs(const std::vector<PlannedRun>& runs) {
  std::set<std::string> algorithms;
  for (const PlannedRun& run : runs)
    if (const auto description = run.job.run()) algorithms.insert(description->algorithm);
  std::vector<std::string> cards;
  for (const fs::path& card : cards_of(algorithms)) cards.push_back(card.string());
  return cards;
}

/// Callers' files of records that these runs are on.
std::optional<std::vector<std::string>> data_of_runs(const std::vector<PlannedRun>& runs) {
  std::set<std::string> files;
  for (const PlannedRun& run : runs)
    if (const auto* description = run.job.run())
      if (const fs::path file = known_data(description->data); !file.empty())
        files.insert(file.string());
  if (files.empty()) return {};
  return std::vector<std::string>(files.begin(), files.end());
}

std::string hours_text(double seconds) {
  return seconds < 3600 ? duration_text(seconds) + " of CPU"
                        : fmt::format("{:.1f} CPU hours", seconds / 3600);
}

/// The last plan of this command, scale and names. \throws InputError where there is none
fs::path last_plan(const ClusterWork& work) {
  const auto plans = plans_in(work.out);
  for (auto plan = plans.rbegin(); plan != plans.rend(); ++plan)
    if (read_plan(*plan).words == work.plain) return *plan;
  throw InputError(fmt::format("{}: there is no plan of `dpsosp {}` in {}", work.command,
                               shell_line(work.plain), (work.out / "plans").string()));
}

void print_queue(const SubmittedJobs& jobs) {
  const Queue queue = queue_of(jobs);
  if (!queue.silence.empty()) {
    std::cout << "queue: not known, " << queue.silence << '\n';
    return;
  }
  std::vector<std::string> parts;
  for (const auto& [state, count] : queue.states)
    parts.push_back(fmt::format("{} {}", count, state));
  const std::string tasks = parts.empty() ? "ended" : fmt::format("{}", fmt::join(parts, ", "));
  if (jobs.array.empty() || jobs.after.empty())
    std::cout << fmt::format("queue: {}: {}\n", to_text(jobs), tasks);
  else
    std::cout << fmt::format("queue: job {}: {}; then job {}: {}\n", jobs.array, tasks, jobs.after,
                             queue.after.empty() ? "ended" : queue.after);
}

void print_status(const ClusterWork& work) {
  const fs::path folder = last_plan(work);
  const Plan plan = read_plan(folder);
  const PlanStatus status = plan_status(folder, plan);
  const auto jobs = submitted_jobs(folder);
  const ShardStatus& all = status.all;
  std::cout << fmt::format(
      "plan: {}, {} runs in {} shards{}\n", folder.string(), plan.runs, plan.shards.size(),
      plan.pilots ? ", one of each kind of run that was never computed; a plan "
                    "of the others follows"
                  : "");
  std::cout << fmt::format("runs: {} done, {} of them failed; {} missing, about {}\n", all.done,
                           all.failed, all.runs - all.done, hours_text(all.left_seconds));
  std::cout << fmt::format("computed: {} in {} attempts", hours_text(all.cpu_seconds),
                           all.attempts);
  if (all.repeated > 0)
    std::cout << fmt::format(", {} runs more than once by copies of a task", all.repeated);
  std::cout << '\n';
  if (jobs) print_queue(*jobs);
  std::vector<std::string> open;
  for (std::size_t k = 0; k < status.shards.size(); ++k)
    if (const ShardStatus& s = status.shards[k]; s.done < s.runs)
      open.push_back(fmt::format("{} ({}/{})", k + 1, s.done, s.runs));
  constexpr std::size_t most = 8;
  if (open.empty()) return;
  const std::size_t rest = open.size() > most ? open.size() - most : 0;
  open.resize(open.size() - rest);
  std::cout << fmt::format("open shards: {}{}\n", fmt::join(open, ", "),
                           rest > 0 ? fmt::format(" and {} more", rest) : "");
}

void cancel_plan(const ClusterWork& work) {
  const fs::path folder = last_plan(work);
  const auto jobs = submitted_jobs(folder);
  if (!jobs)
    throw InputError(fmt::format("{}: {} was not submitted", work.command, folder.string()));
  cancel(*jobs);
  std::cout << fmt::format(
      "cancelled: {}; what they computed is kept, and the same command with --slurm goes on from "
      "there\n",
      to_text(*jobs));
}

/// Refuses a second plan of runs that are in the queue, and takes in what earlier ones computed.
void take_in_earlier(const ClusterWork& work, bool submits) {
  const auto plans = plans_in(work.out);
  for (const fs::path& plan : plans) {
    const auto jobs = submitted_jobs(plan);
    if (!jobs) continue;
    // What runs after the first plan is this very command.
    const char* self = std::getenv("SLURM_JOB_ID");
    const char* own_name = std::getenv("SLURM_JOB_NAME");
    if (self != nullptr && jobs->after == self) continue;
    if (own_name != nullptr && jobs->after.empty() && jobs->name == own_name) continue;
    const Queue queue = queue_of(*jobs);
    if (submits && !queue.silence.empty())
      throw InputError(fmt::format(
          "{}: whether {} still waits in the queue is not known ({}); try again, or --cancel it",
          work.command, plan.string(), queue.silence));
    if (!queue.is_empty())
      throw InputError(
          fmt::format("{}: {} is still in the queue ({}); --status shows it, --cancel ends it",
                      work.command, plan.string(), to_text(*jobs)));
  }
  if (!plans.empty()) merge_plans(work.out, plans, work.command);
}

std::size_t count_of(const po::variables_map& map, const ClusterWork& work, const char* name,
                     std::size_t standard) {
  constexpr std::int64_t most = 1'000'000'000;
  if (map.count(name) == 0) return standard;
  const std::int64_t count = integer(map, work.command, name, 1);
  if (count > most)
    reject(work.command, fmt::format("--{}", name), map[name].as<std::string>(),
           fmt::format("<= {}", most));
  return static_cast<std::size_t>(count);
}

/// The options in the text of --sbatch, quoted as in a shell.
std::vector<std::string> sbatch_options(const po::variables_map& map) {
  if (map.count("sbatch") == 0) return {};
  std::vector<std::string> words = po::split_unix(map["sbatch"].as<std::string>());
  for (const std::string& word : words)
    for (const std::string own : {"--array", "--dependency", "--parsable", "-a", "-d"})
      if (word == own || word.starts_with(own.starts_with("--") ? own + "=" : own))
        throw InputError(fmt::format(
            "--sbatch {}: the plan says this itself, with --tasks and --at-a-time", word));
  return words;
}

/// Leaves no plan behind that can be in no queue.
SubmittedJobs submitted_or_removed(const fs::path& folder, const Plan& plan,
                                   const SlurmRequest& request, const Scripts& scripts) {
  try {
    return submit(folder, plan, request, scripts);
  } catch (const InputError&) {
    if (!submitted_jobs(folder)) fs::remove_all(folder);
    throw;
  }
}

void submit_plan(const po::variables_map& map, const ClusterWork& work) {
  const int processors = map.count("threads") == 0 ? 1 : threads(map, work.command);
  SlurmRequest request{
      .at_a_time = count_of(map, work, "at-a-time", 0),
      .sbatch = sbatch_options(map),
      .prologue = map.count("prologue") != 0 ? read_text(map["prologue"].as<std::string>()) : "",
      .program = this_program(),
      .where = fs::current_path(),
      .out = work.out,
      .after = work.plain};
  const bool submits = map.count("script-only") == 0;
  take_in_earlier(work, submits);
  Missing missing = missing_of(work, map.count("retry-failed") != 0);
  if (missing.known.empty() && missing.unknown.empty()) {
    std::cout << fmt::format("all {} runs are stored; dpsosp {} writes the tables\n",
                             missing.stored, shell_line(work.plain));
    return;
  }
  Plan plan{.words = work.plain, .threads = processors};
  std::vector<PlannedRun> runs = std::move(missing.known);
  if (map.count("expect") != 0 || !submits) {
    const auto seconds = static_cast<double>(count_of(map, work, "expect", 60));
    for (Job& job : missing.unknown) runs.push_back({std::move(job), seconds});
  } else if (!missing.unknown.empty()) {
    plan.pilots = true;
    runs = pilots_of(missing.unknown);
  }
  const SlurmLimits limits = submits ? slurm_limits(request.sbatch) : SlurmLimits{};
  const std::size_t tasks = std::min(
      runs.size(), count_of(map, work, "tasks",
                            plan.pilots ? std::min(runs.size(), limits.tasks.value_or(runs.size()))
                                        : task_count(runs, processors, request, limits)));
  require_array(tasks, limits);
  plan.cards = cards_of_runs(runs);
  plan.data = data_of_runs(runs);
  request.after.insert(request.after.end(), {"--threads", std::to_string(processors), "--quiet"});
  const bool plans_again = plan.pilots || work.more();
  if (plans_again) {
    request.after = work.arguments;
    request.after.insert(request.after.begin(), work.command);
  }
  const fs::path folder = write_plan(work.out, plan, share_out(std::move(runs), tasks));
  plan = read_plan(folder);
  const Scripts scripts = write_scripts(folder, plan, request, limits);
  const auto print_what = [&] {
    double seconds = 0;
    for (const PlanShard& s : plan.shards) seconds += s.cpu_seconds;
    std::cout << fmt::format("plan: {}, {} runs in {} tasks", folder.string(), plan.runs, tasks);
    if (plan.pilots)
      std::cout << fmt::format(
          ", one of each kind that was never computed; then a plan of the others");
    else if (plans_again)
      std::cout << ", which tune; then a plan of those that count";
    else
      std::cout << fmt::format(", about {}", hours_text(seconds));
    std::cout << fmt::format("; {} runs are stored\n", missing.stored);
  };
  if (!submits) {
    print_what();
    std::cout << fmt::format("tasks: bash {} INDEX, INDEX = 1, …, {}\nthen: bash {}\n",
                             shell_word(scripts.task.string()), tasks,
                             shell_word(scripts.after.string()));
    return;
  }
  const SubmittedJobs jobs = submitted_or_removed(folder, plan, request, scripts);
  print_what();
  std::cout << fmt::format("submitted: job {} computes, then job {} merges and {}\n", jobs.array,
                           jobs.after.empty() ? "of unknown number" : jobs.after,
                           plans_again ? "plans the others" : "writes the tables");
}

void compute_locally(const po::variables_map& map, const ClusterWork& work) {
  const std::size_t processes = count_of(map, work, "local", 1);
  take_in_earlier(work, false);
  Missing missing = missing_of(work, map.count("retry-failed") != 0);
  std::vector<PlannedRun> runs = std::move(missing.known);
  for (Job& job : missing.unknown) runs.push_back({std::move(job), 1});
  if (runs.empty()) return;
  const Plan plan{.words = work.plain, .cards = cards_of_runs(runs), .data = data_of_runs(runs)};
  const fs::path folder = write_plan(work.out, plan, share_out(std::move(runs), processes));
  compute_here(folder, read_plan(folder), this_program(), processes);
  merge_plans(work.out, {folder}, work.command);
}

}  // namespace

OptionGroup cluster_options() {
  return {
      "many processes and machines (docs/cluster.md)",
      {{.name = "slurm", .meaning = "submit the runs to Slurm; tables follow when all have ended"},
       {.name = "at-a-time", .value = "N", .meaning = "tasks that may run at once"},
       {.name = "tasks", .value = "N", .meaning = "into which the runs are shared out"},
       {.name = "sbatch",
        .value = "OPTIONS",
        .meaning = "further options of sbatch, as \"--partition=long --account=me\""},
       {.name = "prologue",
        .value = "FILE",
        .meaning = "lines of bash before each command, as for modules",
        .offers = {.files = true}},
       {.name = "expect",
        .value = "SECONDS",
        .meaning = "what a run costs of a kind that was never computed; without it one of each is "
                   "computed first"},
       {.name = "script-only", .meaning = "write the scripts, and submit nothing"},
       {.name = "local", .value = "N", .meaning = "compute by N processes of this machine"},
       {.name = "status", .meaning = "how far the last plan is"},
       {.name = "cancel", .meaning = "take the last plan out of the queue"}}};
}

bool asks_for_cluster(const po::variables_map& map) {
  return std::ranges::any_of(kPlaces, [&](const char* name) { return map.count(name) != 0; }) ||
         std::ranges::any_of(kOfSlurm, [&](const char* name) { return map.count(name) != 0; });
}

bool on_cluster(const po::variables_map& map, const ClusterWork& work) {
  std::vector<std::string> asked;
  for (const char* name : kPlaces)
    if (map.count(name) != 0) asked.push_back(fmt::format("--{}", name));
  // --slurm may be left standing where one asks about what it has submitted.
  if (asked.size() == 2 && asked[0] == "--slurm" && asked[1] != "--local")
    asked.erase(asked.begin());
  if (asked.size() > 1)
    throw InputError(
        fmt::format("{}: {} and {} exclude each other", work.command, asked[0], asked[1]));
  const bool submits = map.count("slurm") != 0 || map.count("script-only") != 0;
  for (const char* name : kOfSlurm)
    if (map.count(name) != 0 && !submits)
      throw InputError(
          fmt::format("{}: --{} goes with --slurm or --script-only", work.command, name));
  if (map.count("status") != 0) {
    print_status(work);
    return false;
  }
  if (map.count("cancel") != 0) {
    cancel_plan(work);
    return false;
  }
  if (map.count("local") != 0) {
    compute_locally(map, work);
    return true;
  }
  submit_plan(map, work);
  return false;
}

void merge_plans(const fs::path& out, const std::vector<fs::path>& plans,
                 const std::string& command) {
  std::vector<fs::path> journals;
  for (const fs::path& plan : plans)
    for (fs::path& journal : journals_in(journal_folder(plan)))
      journals.push_back(std::move(journal));
  if (journals.empty()) return;
  const auto notice = [&](const std::string& what) {
    std::cerr << command << ": " << what << '\n';
  };
  Store into(out / "store.sqlite");
  into.merge(journals, notice);
}

}  // namespace dpsosp
