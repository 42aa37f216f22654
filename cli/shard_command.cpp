// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "choices.hpp"
#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/core/shell_words.hpp"
#include "dpsosp/experiments/known_data.hpp"
#include "dpsosp/experiments/plan.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/progress.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// What the names of an attempt's files say of it.
std::string attempt_name() {
  const std::string job = variable("SLURM_JOB_ID"), restart = variable("SLURM_RESTART_COUNT");
  if (job.empty()) return fmt::format("process-{}", ::getpid());
  return fmt::format("job-{}-restart-{}", job, restart.empty() ? "0" : restart);
}

/// A caller's table that changed since would be computed under the hash of the old one.
void require_same_data(const std::filesystem::path& folder, const Plan& plan,
                       const std::vector<Job>& jobs) {
  for (const Job& job : jobs)
    if (const RunDescription* run = job.run();
        run != nullptr && !run->data.empty() && known_data(run->data).empty())
      throw InputError(
          fmt::format("shard: {} was planned with other data of {} than are there now; plan again: "
                      "dpsosp {}",
                      folder.string(), run->problem, shell_line(plan.words)));
}

}  // namespace

const Description& shard_description() {
  static const Description description{
      .name = "shard",
      .summary = "one task of a plan that --slurm, --script-only or --local made",
      .usage = {"PLAN INDEX [OPTIONS]"},
      .examples = {{"dpsosp shard out/plans/0001 7",
                    "computes what the seventh shard still lacks, into a journal of its own"},
                   {"dpsosp shard out/plans/0001 7 --threads 4", "the same by four threads"}},
      .groups = {{"the runs", {threads_option()}}, {"output", {quiet_option(), help_option()}}},
      .words = "shard",
      .word_offers = {.files = true},
      .notes = {"A task may be started as often as one likes, also twice at a time: it\n"
                "computes what no earlier attempt has stored. docs/cluster.md says more."}};
  return description;
}

int shard_command(const Arguments& arguments) {
  const auto map = parse_options(shard_description(), arguments);
  const auto words = map.count("shard") == 0 ? std::vector<std::string>{}
                                             : map["shard"].as<std::vector<std::string>>();
  if (words.size() != 2)
    throw InputError("shard: expected a plan and an index, as in dpsosp shard out/plans/0001 7");
  const std::filesystem::path folder = words[0];
  const Plan plan = read_plan(folder);
  const auto index = parse_number<std::size_t>("shard", "index", words[1],
                                               fmt::format("1 to {}", plan.shards.size()));
  require_same_program(folder, plan);
  for (const std::string& card : plan.cards) register_program(card);
  if (!plan.cards.empty()) {
    const std::filesystem::path real = std::filesystem::canonical(folder);
    hide_from_guests(real);  // wherever it was copied to
    hide_outputs(real.parent_path().parent_path());
    keep_to_owner();
  }
  if (plan.data)
    for (const std::string& file : *plan.data) know_data(file);
  const std::vector<PlannedRun> runs = read_shard(folder, plan, index);
  std::vector<Job> jobs;
  for (const PlannedRun& run : runs) jobs.push_back(run.job);
  require_same_data(folder, plan, jobs);
  const auto notice = [](const std::string& what) { std::cerr << "shard: " << what << '\n'; };
  const auto journal = start_attempt(folder, plan, index, runs, attempt_name(), notice);
  Progress progress(progress_style(map.count("quiet") != 0));
  try {
    compute_missing(*journal, jobs,
                    [](const Job& job) { return reproductions().catalogue.compute(job); },
                    {.threads = threads_here(map, "shard"), .progress = &progress});
  } catch (const Interrupted& e) {
    if (e.signal() != SIGUSR1 || journal->done() > 0) throw;
    throw RunFailed(
        fmt::format("shard {} of {}: no run ended within the time of the task; plan again with a "
                    "longer one, as "
                    "--sbatch \"--time=24:00:00\"",
                    index, folder.string()));
  }
  std::cout << fmt::format("shard {}: {} runs computed of {}: {}\n", index, journal->done(),
                           runs.size(), journal->file().string());
  return 0;
}

}  // namespace dpsosp
