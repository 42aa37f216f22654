// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/plan.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/shell_words.hpp"
#include "dpsosp/experiments/json_members.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/sha256.hpp"

// A plan holds descriptions and not hashes alone: to derive them from the sweep would cost each
// task what planning costs once. To resume is to plan what is missing. A binary computes its own
// plans only, since two builds may differ in last bits. There is no MPI: runs are independent, one
// lost node would end all ranks, and splitting a run would change the order of its sums.

namespace dpsosp {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t shards_a_folder = 100;

fs::path index_file(const fs::path& folder) { return folder / "plan.json"; }
fs::path runs_file(const fs::path& folder) { return folder / "runs.jsonl"; }

fs::path journal_folder_of(const fs::path& plan, std::size_t shard) {
  return journal_folder(plan) / fmt::format("{:04}", shard / shards_a_folder);
}

/// OUT/plans/NNNN with the first number that is free, made now.
fs::path new_folder(const fs::path& out) {
  const fs::path plans = out / "plans";
  ensure_writable_folder(plans);
  for (int number = 1; number < 10000; ++number) {
    fs::path folder = plans / fmt::format("{:04}", number);
    std::error_code error;
    if (fs::create_directory(folder, error)) return folder;
    if (error && error != std::errc::file_exists)
      throw InputError(fmt::format("plan: cannot make {} ({})", folder.string(), error.message()));
  }
  throw InputError(
      fmt::format("plan: {} holds 9999 plans; move those away that are done", plans.string()));
}

[[noreturn]] void damaged_plan(const fs::path& file, std::string_view why) {
  throw InputError(fmt::format(
      "plan: {} is damaged ({}); the command that made it makes a new one of what is missing",
      file.string(), why));
}

}  // namespace

std::vector<std::vector<PlannedRun>> share_out(std::vector<PlannedRun> runs, std::size_t shards) {
  std::ranges::stable_sort(runs, std::greater{}, &PlannedRun::cpu_seconds);
  std::vector<std::vector<PlannedRun>> shared(std::min(shards, runs.size()));
  using Load = std::tuple<double, std::size_t, std::size_t>;  // seconds, runs, shard
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (std::size_t k = 0; k < shared.size(); ++k) least.emplace(0.0, 0, k);
  for (PlannedRun& run : runs) {
    const auto [load, count, shard] = least.top();
    least.pop();
    least.emplace(load + run.cpu_seconds, count + 1, shard);
    shared[shard].push_back(std::move(run));
  }
  return shared;
}

fs::path write_plan(const fs::path& out, Plan plan,
                    const std::vector<std::vector<PlannedRun>>& shards) {
  const Build build = provenance().build;
  plan.program_version = build.program_version;
  plan.binary = build.binary;
  std::string text;
  for (const auto& runs : shards) {
    PlanShard shard{.runs = runs.size(), .offset = text.size()};
    for (const PlannedRun& run : runs) {
      shard.cpu_seconds += run.cpu_seconds;
      shard.longest_seconds = std::max(shard.longest_seconds, run.cpu_seconds);
      text += fmt::format(R"({{"cpu_seconds":{:.6g},"description":{}}})", run.cpu_seconds,
                          run.job.key().text());
      text += '\n';
    }
    shard.length = text.size() - shard.offset;
    shard.sha256 = sha256(std::string_view(text).substr(shard.offset));
    plan.runs += shard.runs;
    plan.shards.push_back(std::move(shard));
  }
  fs::path folder = new_folder(out);
  write_file(runs_file(folder), text);
  write_file(index_file(folder), write_json(plan).dump(1) + '\n');
  return folder;
}

bool is_plan(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(index_file(folder), error);
}

Plan read_plan(const fs::path& folder) {
  const fs::path file = index_file(folder);
  const json index = json::parse(read_file(file), nullptr, false);
  if (index.is_discarded()) damaged_plan(file, "no JSON");
  Plan plan = read_json<Plan>(index, {file.string()});
  if (plan.plan != Plan{}.plan)
    throw InputError(fmt::format("plan: {} has version {}, this program reads version {}",
                                 file.string(), plan.plan, Plan{}.plan));
  std::size_t runs = 0;
  for (const PlanShard& shard : plan.shards) runs += shard.runs;
  if (runs != plan.runs)
    damaged_plan(file, fmt::format("{} runs in its shards, {} in all", runs, plan.runs));
  return plan;
}

std::vector<fs::path> plans_in(const fs::path& out) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(out / "plans", error), end; !error && entry != end;
       entry.increment(error))
    if (is_plan(entry->path())) folders.push_back(entry->path());
  std::ranges::sort(folders);
  return folders;
}

std::vector<PlannedRun> read_shard(const fs::path& folder, const Plan& plan, std::size_t index) {
  if (index < 1 || index > plan.shards.size())
    throw InputError(fmt::format("plan: {} has no shard {}, expected 1 to {}", folder.string(),
                                 index, plan.shards.size()));
  const PlanShard& shard = plan.shards[index - 1];
  const fs::path file = runs_file(folder);
  std::ifstream in = open_file(file);
  std::string text(shard.length, '\0');
  in.seekg(static_cast<std::streamoff>(shard.offset));
  in.read(text.data(), static_cast<std::streamsize>(shard.length));
  if (!in || sha256(text) != shard.sha256)
    damaged_plan(file, fmt::format("the lines of shard {}", index));
  std::vector<PlannedRun> runs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const json run = json::parse(line);
    runs.push_back({Job(run.at("description")), run.at("cpu_seconds").get<double>()});
  }
  return runs;
}

std::string plan_hash(const fs::path& folder) { return sha256(read_file(index_file(folder))); }

fs::path journal_folder(const fs::path& plan) { return plan / "journals"; }

std::vector<fs::path> journals_of(const fs::path& plan, std::size_t shard) {
  std::vector<fs::path> files = journals_in(journal_folder_of(plan, shard));
  std::erase_if(files, [&](const fs::path& file) { return shard_of_journal(file) != shard; });
  return files;
}

std::unique_ptr<Journal> start_attempt(const fs::path& folder, const Plan& plan, std::size_t shard,
                                       const std::vector<PlannedRun>& runs,
                                       const std::string& attempt, const JournalNotice& notice) {
  Journal::Known known;
  for (const fs::path& file : journals_of(folder, shard))
    read_journal(
        file, {},
        [&](const JournalRow& row) {
          known.insert_or_assign(std::string(row.key),
                                 from_word<RunStatus>(std::string(row.status)));
        },
        notice);
  Journal::Seconds seconds;
  std::size_t found = 0;
  for (const PlannedRun& run : runs) {
    seconds.emplace(run.job.hash(), run.cpu_seconds);
    if (known.contains(run.job.hash())) ++found;
  }
  return std::make_unique<Journal>(journal_folder_of(folder, shard),
                                   JournalHeader{.plan = plan_hash(folder),
                                                 .shard = shard,
                                                 .shards = plan.shards.size(),
                                                 .runs = runs.size(),
                                                 .found = found},
                                   attempt, std::move(known), std::move(seconds));
}

void require_same_program(const fs::path& folder, const Plan& plan) {
  const Build build = provenance().build;
  if (plan.binary == build.binary) return;
  throw InputError(
      fmt::format("shard: {} was planned by another binary ({}, {}; this is {}, {}), whose bits "
                  "may differ; plan what is missing with this one: dpsosp {}",
                  folder.string(), plan.program_version, plan.binary.substr(0, 12),
                  build.program_version, build.binary.substr(0, 12), shell_line(plan.words)));
}

}  // namespace dpsosp
