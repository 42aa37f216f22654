// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/members.hpp"
#include "dpsosp/experiments/plan.hpp"

/// Plans as job arrays of Slurm. Of its programs sbatch is needed; squeue, scontrol and sinfo are
/// asked where they answer.
namespace dpsosp {

struct SlurmRequest {
  std::size_t at_a_time = 0;        ///< tasks that may run at once; 0: as many as Slurm lets
  std::vector<std::string> sbatch;  ///< further options of sbatch, which take precedence
  std::string prologue;             ///< lines of bash before the command, as for modules
  std::filesystem::path program;    ///< what runs the tasks
  std::filesystem::path where;      ///< the folder that relative paths start from
  std::filesystem::path out;        ///< of the store
  std::vector<std::string> after;   ///< arguments of the program once all tasks have ended
};

/// Limits of Slurm; nothing where it does not say.
struct SlurmLimits {
  std::optional<std::size_t> tasks;  ///< of an array
  std::optional<double> seconds;     ///< of a job in the partition
  std::string partition;
};
SlurmLimits slurm_limits(const std::vector<std::string>& sbatch);

/// Seconds that Slurm is asked to allow each task: twice what its runs are expected to take and
/// three times the longest run, at least ten minutes.
double time_limit(const Plan& plan);

/// Typical time of a task: it is worth its start, and little is lost with it.
inline constexpr double target_task_seconds = 3600;

/// Into how many tasks runs are shared out.
/// \throws InputError where one run alone exceeds the partition's limit
std::size_t task_count(const std::vector<PlannedRun>& runs, int threads,
                       const SlurmRequest& request, const SlurmLimits& limits);
/// \throws InputError where an array of so many tasks is too large
void require_array(std::size_t tasks, const SlurmLimits& limits);

/// The scripts of a plan: of its tasks, and of what follows them.
struct Scripts {
  std::filesystem::path task, after;
};
Scripts write_scripts(const std::filesystem::path& folder, const Plan& plan,
                      const SlurmRequest& request, const SlurmLimits& limits);

/// The jobs of a plan. A number is empty where nothing of the kind was submitted, or where it was
/// not found in what sbatch answered; such a job is asked for by its name.
struct SubmittedJobs {
  std::string array;                   ///< number of the job of the tasks
  std::string after;                   ///< of what runs once all tasks have ended well
  std::optional<std::string> cluster;  ///< where sbatch says one
  std::optional<std::string> name;     ///< of both; jobs of no other plan have it
};
DPSOSP_MEMBERS(SubmittedJobs, array, after, cluster, name);
/// "jobs 4711 and 4712", or as far as they are known.
std::string to_text(const SubmittedJobs& jobs);

/// Submits both scripts, and writes jobs.json beside them.
/// \throws InputError with what sbatch says. Then neither is left in the queue, or jobs.json says
/// what may be
SubmittedJobs submit(const std::filesystem::path& folder, const Plan& plan,
                     const SlurmRequest& request, const Scripts& scripts);
/// None where the plan was not submitted.
std::optional<SubmittedJobs> submitted_jobs(const std::filesystem::path& folder);

/// Answer of squeue.
struct Queue {
  std::string silence;                        ///< why it says nothing; empty: it answered
  std::map<std::string, std::size_t> states;  ///< tasks by state, in small letters
  std::string after;                          ///< state of the job that follows; empty: none
  bool is_empty() const { return states.empty() && after.empty(); }
};
Queue queue_of(const SubmittedJobs& jobs);

/// \throws InputError with what scancel says
void cancel(const SubmittedJobs& jobs);

/// Runs the shards of a plan as processes of this host, so many at a time.
/// \throws Interrupted, InputError where one does not end well
void compute_here(const std::filesystem::path& folder, const Plan& plan,
                  const std::filesystem::path& program, std::size_t at_a_time);

}  // namespace dpsosp
