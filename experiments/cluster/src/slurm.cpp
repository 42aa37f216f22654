// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/slurm.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "child_process.hpp"
#include "dpsosp/core/ask_program.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/shell_words.hpp"
#include "dpsosp/experiments/json_members.hpp"
#include "dpsosp/experiments/progress.hpp"
#include "dpsosp/experiments/runner.hpp"

// Five minutes before a task's end Slurm sends SIGUSR1; the program starts no new run, the script
// requeues the task, and the next attempt goes on. A task in which no run ends fails, or it would
// be requeued for ever. The state of a plan is in its files; squeue is asked second, and sacct,
// which many clusters do not have, never.

namespace dpsosp {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double least_limit = 600;    // seconds
constexpr double least_after = 3600;   // of the job that merges, and computes what is left
constexpr double least_notice = 300;   // of the end, before which no further run starts
constexpr double most_notice = 65535;  // that Slurm takes
constexpr std::size_t few_tasks = 16;  // where the work is small
constexpr std::size_t most_tasks = 10000;

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string first_line(const ProgramAnswer& answer) {
  const auto lines = split_lines(answer.err.empty() ? answer.out : answer.err);
  return lines.empty() ? fmt::format("exit code {}", answer.code) : lines.front();
}

/// A path as sbatch reads it back in a line of a script, where % stands for parts of the job.
std::string in_sbatch_line(const fs::path& folder, const std::string& file) {
  std::string text = "\"";
  for (const char c : folder.string()) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '%' ? "%%" : std::string(1, c);
  }
  return text + "/" + file + "\"";
}

/// The value of an option of sbatch; empty where it is not given.
std::string sbatch_option(const std::vector<std::string>& words, std::string_view name,
                          char letter) {
  const std::string full = fmt::format("--{}", name), brief = fmt::format("-{}", letter);
  std::string value;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k].starts_with(full + "="))
      value = words[k].substr(full.size() + 1);
    else if ((words[k] == full || words[k] == brief) && k + 1 < words.size())
      value = words[k + 1];
    else if (words[k].starts_with(brief) && words[k].size() > 2)
      value = words[k].substr(2);
  }
  return value;
}

/// "30:00", "2-00:00:00", "infinite". None for no limit and for what is no time.
std::optional<double> seconds_of(const std::string& text) {
  double days = 0;
  std::string clock = text;
  if (const auto dash = text.find('-'); dash != std::string::npos) {
    days = std::atof(text.substr(0, dash).c_str());
    clock = text.substr(dash + 1);
  }
  if (clock.empty() || std::isdigit(static_cast<unsigned char>(clock[0])) == 0) return {};
  double seconds = 0;
  std::istringstream parts(clock);
  for (std::string part; std::getline(parts, part, ':');)
    seconds = 60 * seconds + std::atof(part.c_str());
  return 86400 * days + seconds;
}

/// Seconds of --time of sbatch: minutes, minutes:seconds, hours:minutes:seconds, and with days
/// before a dash hours, hours:minutes, hours:minutes:seconds. None where it is no time.
std::optional<double> asked_seconds(const std::string& text) {
  const bool days = text.find('-') != std::string::npos;
  const auto colons = std::ranges::count(text, ':');
  const std::string missing = days ? (colons == 0   ? ":00:00"
                                      : colons == 1 ? ":00"
                                                    : "")
                                   : (colons == 0 ? ":00" : "");
  return seconds_of(text + missing);
}

std::string clock_text(double seconds) {
  const auto minutes = static_cast<long>(std::ceil(seconds / 60));
  return fmt::format("{}:{:02}:00", minutes / 60, minutes % 60);
}

double wall_seconds(double cpu_seconds, double longest, int threads) {
  return std::max(longest, cpu_seconds / threads);
}

double allowed(double asked, const SlurmLimits& limits) {
  return limits.seconds ? std::min(asked, *limits.seconds) : asked;
}

/// Seconds before a task's end at which it starts no further run, so that those under way end. At
/// most half of its time: with more it would start none.
double notice(const Plan& plan, const SlurmRequest& request, double limit) {
  if (const auto asked = asked_seconds(sbatch_option(request.sbatch, "time", 't'))) limit = *asked;
  double longest = 0;
  for (const PlanShard& s : plan.shards) longest = std::max(longest, s.longest_seconds);
  return std::min({std::max(least_notice, 2 * longest), limit / 2, most_notice});
}

/// A name that the jobs of this plan have, and no others.
std::string job_name(const fs::path& folder) {
  constexpr std::size_t digits = 8;
  return fmt::format("dpsosp-{}-{}", folder.filename().string(),
                     plan_hash(folder).substr(0, digits));
}

std::string script_head(const fs::path& folder, const std::string& log, double seconds,
                        const Plan& plan, const SlurmRequest& request) {
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --ntasks=1 --cpus-per-task={}\n"
      "#SBATCH --time={}\n"
      "#SBATCH --requeue --open-mode=append\n"
      "#SBATCH --signal=B:USR1@{:.0f}\n"
      "#SBATCH --output={}\n"
      "cd {}\n"
      "dpsosp=({})\n",
      job_name(folder), plan.threads, clock_text(seconds), notice(plan, request, seconds),
      in_sbatch_line(request.where / folder / "log", log), shell_word(request.where.string()),
      shell_word(request.program.string()));
  if (!request.prologue.empty()) {
    text += request.prologue;
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

std::string task_script(const fs::path& folder, const Plan& plan, const SlurmRequest& request,
                        const std::string& head) {
  return head + fmt::format(
                    R"([ -n "${{DPSOSP_CHECKPOINTS:-}}" ] || DPSOSP_CHECKPOINTS={}
export DPSOSP_CHECKPOINTS
index=${{1:-${{SLURM_ARRAY_TASK_ID:-${{PBS_ARRAY_INDEX:-${{SGE_TASK_ID:-}}}}}}}}
# In the background, because bash hears no signal while it waits for a command in the foreground.
"${{dpsosp[@]}}" shard {} "$index" --threads {} --quiet &
process=$!
signal=
trap 'signal=TERM; kill -TERM "$process" 2>/dev/null' TERM INT
trap 'signal=USR1; kill -USR1 "$process" 2>/dev/null' USR1
wait "$process"
while kill -0 "$process" 2>/dev/null; do wait "$process"; done
wait "$process"
code=$?
# The time is nearly over: the rest is for the next attempt. 138: it had not begun yet.
if [ "$signal" = USR1 ] && [[ $code =~ ^1(43|38)$ ]] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt 100 ]; then
  # The number of the array's last task is that of the array, all of which it would requeue.
  scontrol requeue "${{SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}}${{SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}}" && sleep 60
fi
exit "$code"
)",
                    shell_word((request.out / "checkpoints").string()), shell_word(folder.string()),
                    plan.threads);
}

std::string after_script(const fs::path& folder, const Plan& plan, const SlurmRequest& request,
                         const std::string& head) {
  std::string text = head;
  if (!plan.pilots)
    text +=
        fmt::format("\"${{dpsosp[@]}}\" merge {} --into {} || exit\n", shell_word(folder.string()),
                    shell_word((request.out / "store.sqlite").string()));
  return text + fmt::format("exec \"${{dpsosp[@]}}\" {}\n", shell_line(request.after));
}

/// The number of a job, and its cluster where the answer says one.
struct JobNumber {
  std::string number;
  std::optional<std::string> cluster;
};

/// The last line of an answer of sbatch that is a number, "number;cluster", or says that it is one;
/// sites print lines of their own. The number is empty where no line is.
JobNumber number_in(const std::string& answer) {
  static const std::regex line_of_job(
      R"(\s*(?:Submitted batch job\s+)?(\d+)\s*(?:;\s*(\S+?)|\s+on cluster\s+(\S+?))?\s*)");
  JobNumber job;
  for (const std::string& line : split_lines(answer)) {
    std::smatch parts;
    if (!std::regex_match(line, parts, line_of_job)) continue;
    job = {.number = parts[1], .cluster = {}};
    for (const std::size_t k : {2U, 3U})
      if (parts[k].matched) job.cluster = parts[k];
  }
  return job;
}

/// Answer of sbatch to a script.
struct Submission {
  JobNumber job;
  std::string failure;  ///< what it says of its failure, or how it ended; empty: it did not fail
};
Submission sbatch(const std::vector<std::string>& options, const SlurmRequest& request,
                  const fs::path& script) {
  std::vector<std::string> words{"sbatch", "--parsable"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), request.sbatch.begin(), request.sbatch.end());
  words.push_back(script.string());
  const ProgramAnswer answer = ask_program(words);
  if (answer.code == 127)
    throw InputError(
        "slurm: there is no sbatch here; --script-only writes the scripts for another scheduler, "
        "and --local N computes on this machine");
  Submission submission{.job = number_in(answer.out), .failure = {}};
  constexpr int of_signals = 128;
  if (answer.code != 0 && !answer.err.empty())
    submission.failure = first_line(answer);
  else if (answer.code > of_signals)
    submission.failure = fmt::format("sbatch was ended by signal {}", answer.code - of_signals);
  else if (answer.code != 0)
    submission.failure = fmt::format("sbatch ended with exit code {}", answer.code);
  return submission;
}

bool are_numbered(const SubmittedJobs& jobs) { return !jobs.array.empty() && !jobs.after.empty(); }

/// How the jobs are asked for.
std::vector<std::string> question(const SubmittedJobs& jobs, const char* program) {
  std::vector<std::string> words{program};
  if (jobs.cluster) words.push_back("--clusters=" + *jobs.cluster);
  return words;
}

fs::path jobs_file(const fs::path& folder) { return folder / "jobs.json"; }

}  // namespace

SlurmLimits slurm_limits(const std::vector<std::string>& sbatch_options) {
  SlurmLimits limits;
  const ProgramAnswer config = ask_program({"scontrol", "show", "config"});
  for (const std::string& line : split_lines(config.out))
    if (const auto words = split_words(line);
        words.size() == 3 && words[0] == "MaxArraySize" && config.code == 0)
      limits.tasks = static_cast<std::size_t>(std::max(0L, std::atol(words[2].c_str()) - 1));
  const std::string wanted = sbatch_option(sbatch_options, "partition", 'p');
  const ProgramAnswer partitions = ask_program({"sinfo", "--noheader", "--format=%P|%l"});
  if (partitions.code != 0) return limits;
  for (const std::string& line : split_lines(partitions.out)) {
    const auto bar = line.find('|');
    if (bar == std::string::npos) continue;
    std::string name = line.substr(0, bar);
    const bool standard = name.ends_with('*');
    if (standard) name.pop_back();
    if (wanted.empty() ? !standard : name != wanted) continue;
    limits.partition = name;
    limits.seconds = seconds_of(line.substr(bar + 1));
  }
  return limits;
}

double time_limit(const Plan& plan) {
  double seconds = least_limit;
  for (const PlanShard& s : plan.shards)
    seconds = std::max(seconds, 2 * wall_seconds(s.cpu_seconds, s.longest_seconds, plan.threads) +
                                    3 * s.longest_seconds);
  return seconds;
}

std::size_t task_count(const std::vector<PlannedRun>& runs, int threads,
                       const SlurmRequest& request, const SlurmLimits& limits) {
  double work = 0, longest = 0;
  for (const PlannedRun& run : runs) {
    work += run.cpu_seconds;
    longest = std::max(longest, run.cpu_seconds);
  }
  double most = target_task_seconds;  // of a task
  if (limits.seconds && sbatch_option(request.sbatch, "time", 't').empty()) {
    const double room = *limits.seconds - 3 * longest;
    if (room <= 0)
      throw InputError(fmt::format(
          "slurm: a run takes about {}, and the partition {} ends jobs after {}: too short for "
          "three times that; choose another with --sbatch \"--partition=NAME\", or give a time "
          "with "
          "--sbatch \"--time=...\"",
          duration_text(longest), limits.partition, duration_text(*limits.seconds)));
    most = std::min(most, room / 2);
  }
  const auto needed = static_cast<std::size_t>(std::ceil(work / threads / most));
  const std::size_t parallel = request.at_a_time > 0 ? 2 * request.at_a_time : few_tasks;
  return std::clamp<std::size_t>(
      std::max(needed, parallel), 1,
      std::min(
          {runs.size(), most_tasks, std::max<std::size_t>(1, limits.tasks.value_or(most_tasks))}));
}

void require_array(std::size_t tasks, const SlurmLimits& limits) {
  if (limits.tasks == 0U)
    throw InputError(
        "slurm: no job arrays here (MaxArraySize); --script-only writes the scripts for other ways "
        "to start the tasks");
  if (limits.tasks && tasks > *limits.tasks)
    throw InputError(fmt::format(
        "slurm: {} tasks are more than an array may have here, {}; give at most so many with "
        "--tasks",
        tasks, *limits.tasks));
}

Scripts write_scripts(const fs::path& folder, const Plan& plan, const SlurmRequest& request,
                      const SlurmLimits& limits) {
  const double task = time_limit(plan);
  ensure_writable_folder(folder / "log");
  const Scripts scripts{folder / "task.sh", folder / "after.sh"};
  write_file(scripts.task,
             task_script(folder, plan, request,
                         script_head(folder, "%a.txt", allowed(task, limits), plan, request)));
  write_file(scripts.after, after_script(folder, plan, request,
                                         script_head(folder, "after.txt",
                                                     allowed(std::max(task, least_after), limits),
                                                     plan, request)));
  for (const fs::path& script : {scripts.task, scripts.after})
    fs::permissions(script, fs::perms::owner_exec, fs::perm_options::add);
  return scripts;
}

std::string to_text(const SubmittedJobs& jobs) {
  if (are_numbered(jobs)) return fmt::format("jobs {} and {}", jobs.array, jobs.after);
  if (jobs.name) return fmt::format("jobs named {}", *jobs.name);
  return jobs.array.empty() ? "jobs of unknown numbers"
                            : fmt::format("job {} and one of unknown number", jobs.array);
}

SubmittedJobs submit(const fs::path& folder, const Plan& plan, const SlurmRequest& request,
                     const Scripts& scripts) {
  SubmittedJobs jobs{.array = {}, .after = {}, .cluster = {}, .name = {}};
  // A name that the caller chose may be that of other jobs.
  if (sbatch_option(request.sbatch, "job-name", 'J').empty()) jobs.name = job_name(folder);
  const auto remember = [&] {
    try {
      write_file(jobs_file(folder), write_json(jobs).dump() + '\n');
    } catch (const std::exception&) {
      cancel(jobs);
      throw;
    }
  };
  const Submission array =
      sbatch({fmt::format("--array=1-{}{}", plan.shards.size(),
                          request.at_a_time > 0 ? fmt::format("%{}", request.at_a_time) : "")},
             request, scripts.task);
  // sbatch may have given up waiting for the answer to what it had submitted.
  const bool refused = !array.failure.empty() && array.job.number.empty();
  if (refused && (!jobs.name || queue_of(jobs).is_empty()))
    throw InputError(fmt::format("slurm: {}; nothing is in the queue", array.failure));
  jobs.array = array.job.number;
  jobs.cluster = array.job.cluster;
  remember();
  if (jobs.array.empty() || !array.failure.empty())
    throw InputError(fmt::format(
        "slurm: {}; {} may be in the queue all the same, and what merges is not: --status shows "
        "them, --cancel ends them, and once they have ended the same command goes on from there",
        array.failure.empty() ? "no line of what sbatch answered is the number of a job"
                              : array.failure,
        to_text(jobs)));
  const Submission after =
      sbatch({fmt::format("--dependency=afterok:{}", jobs.array), "--kill-on-invalid-dep=yes"},
             request, scripts.after);
  if (!after.failure.empty() && after.job.number.empty()) {
    cancel(jobs);  // where it cannot, the file is left
    fs::remove(jobs_file(folder));
    throw InputError(fmt::format("slurm: {}", after.failure));
  }
  jobs.after = after.job.number;
  remember();
  if (!after.failure.empty())
    throw InputError(fmt::format(
        "slurm: {}; {} may be in the queue all the same: --status shows them, --cancel ends them",
        after.failure, to_text(jobs)));
  return jobs;
}

std::optional<SubmittedJobs> submitted_jobs(const fs::path& folder) {
  const fs::path file = jobs_file(folder);
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  const json jobs = json::parse(read_file(file), nullptr, false);
  if (jobs.is_discarded())
    throw InputError(
        fmt::format("{} is damaged: it names the jobs of the plan; if none of them is "
                    "in the queue, remove it",
                    file.string()));
  return read_json<SubmittedJobs>(jobs, {file.string()});
}

Queue queue_of(const SubmittedJobs& jobs) {
  Queue queue;
  std::vector<std::string> words = question(jobs, "squeue");
  words.insert(words.end(), {"--noheader", "--array"});
  if (are_numbered(jobs)) {
    words.insert(words.end(),
                 {"--format=%F|%T", fmt::format("--jobs={},{}", jobs.array, jobs.after)});
  } else if (jobs.name) {
    words.insert(words.end(), {"--format=%j|%T", "--name=" + *jobs.name});
  } else {
    queue.silence = "sbatch's answer had no number of a job";
    return queue;
  }
  const ProgramAnswer answer = ask_program(words);
  if (answer.code == 127) {
    queue.silence = "there is no squeue here";
    return queue;
  }
  // Jobs that ended long ago are unknown to squeue, which is then an answer, too.
  if (answer.code != 0 && first_line(answer).find("Invalid job id") == std::string::npos) {
    queue.silence = first_line(answer);
    return queue;
  }
  if (answer.code != 0) return queue;
  for (const std::string& line : split_lines(answer.out)) {
    if (line.empty() || line.starts_with("CLUSTER: ")) continue;  // of squeue --clusters
    const auto bar = line.find('|');
    const auto parts = split_words(bar == std::string::npos ? "" : line.substr(bar + 1));
    const std::string of = line.substr(0, bar);
    const bool is_ours =
        are_numbered(jobs) ? of == jobs.array || of == jobs.after : of == jobs.name;
    if (parts.size() != 1 || !is_ours) {
      queue = {};
      queue.silence = fmt::format("squeue answered '{}', which is not understood", line);
      return queue;
    }
    std::string state = parts.front();
    std::ranges::transform(state, state.begin(), [](unsigned char c) { return std::tolower(c); });
    if (line.substr(0, bar) == jobs.after)
      queue.after = state;
    else
      ++queue.states[state];
  }
  return queue;
}

void cancel(const SubmittedJobs& jobs) {
  std::vector<std::string> words = question(jobs, "scancel");
  if (are_numbered(jobs))
    words.insert(words.end(), {jobs.after, jobs.array});
  else if (jobs.name)
    words.push_back("--name=" + *jobs.name);
  else if (!jobs.array.empty())
    words.push_back(jobs.array);
  else
    throw InputError(
        "slurm: sbatch's answer had no number of a job; cancel what squeue shows by hand, then "
        "remove jobs.json of the plan");
  const ProgramAnswer answer = ask_program(words);
  if (answer.code == 127) throw InputError("slurm: there is no scancel here");
  if (answer.code != 0) throw InputError(fmt::format("slurm: {}", first_line(answer)));
}

void compute_here(const fs::path& folder, const Plan& plan, const fs::path& program,
                  std::size_t at_a_time) {
  std::vector<std::vector<std::string>> commands;
  for (std::size_t shard = 1; shard <= plan.shards.size(); ++shard)
    commands.push_back({program.string(), "shard", folder.string(), std::to_string(shard),
                        "--threads", std::to_string(plan.threads), "--quiet"});
  std::vector<std::pair<std::size_t, int>> failed;
  const int signal = run_commands(commands, at_a_time, failed);
  if (signal != 0)
    throw Interrupted(signal,
                      fmt::format("interrupted: the runs that are done are in {}; the same command "
                                  "goes on from there",
                                  folder.string()));
  if (!failed.empty())
    throw InputError(fmt::format("plan: shard {} of {} ended with code {}, for the reason above",
                                 failed.front().first + 1, folder.string(), failed.front().second));
}

}  // namespace dpsosp
