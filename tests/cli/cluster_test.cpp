// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sweep_crash.hpp"

// Sweeps that other processes compute: with programs that stand for those of Slurm, of which sbatch
// runs what it is given.
namespace dpsosp::cluster_test {
namespace {

namespace fs = std::filesystem;

class Cluster : public SweepCrash {
 protected:
  Cluster() {
    const char* path = std::getenv("PATH");
    old_path_ = path != nullptr ? path : "";
    setenv("PATH", (slurm_.path().string() + ":" + old_path_).c_str(), 1);
    setenv("FAKE", slurm_.path().c_str(), 1);
    program("sbatch", R"(echo "sbatch $*" >>"$FAKE/log"
[ ! -e "$FAKE/refusal" ] || { cat "$FAKE/refusal" >&2; exit 1; }
case $*-$(cat "$FAKE/refuses" 2>/dev/null) in *--dependency*-after) echo no >&2; exit 1 ;; esac
number=$(($(cat "$FAKE/number" 2>/dev/null || echo 4710) + 1)); echo $number >"$FAKE/number"
[ -e "$FAKE/idle" ] || for word; do
  case $word in
    --array=*) last=${word#--array=1-}; last=${last%%%*}
      for index in $(seq "$last"); do bash "${@: -1}" "$index" >>"$FAKE/tasks" 2>&1 || exit; done ;;
    --dependency=*) bash "${@: -1}" >>"$FAKE/tasks" 2>&1 || exit ;;
  esac
done
sed "s/NUMBER/$number/" "$FAKE/answer" 2>/dev/null || echo $number
[ ! -e "$FAKE/code" ] || exit $(cat "$FAKE/code"))");
    program("squeue", R"(echo "$*" >>"$FAKE/asked"; for word; do
  case $word in --name=*) name=${word#--name=} ;; esac
done
[ ! -e "$FAKE/queue" ] || sed "s/NAME/$name/" "$FAKE/queue")");
    program("scancel", R"(echo "scancel $*" >>"$FAKE/log"; rm -f "$FAKE/queue")");
    program("scontrol", R"(echo "MaxArraySize            = 21")");
    program("sinfo", R"(printf 'main*|1:00:00\nlong|infinite\n')");
  }
  ~Cluster() override { setenv("PATH", old_path_.c_str(), 1); }

  void program(const char* name, const std::string& lines) {
    const fs::path file = slurm_.write(name, "#!/bin/bash\n" + lines + '\n');
    fs::permissions(file, fs::perms::owner_all);
  }
  /// As a sweep in one process.
  void expect_whole_tables(const SweepRun& s) const {
    expect_same_tables(s.tables(), finished("whole", 1).tables());
  }
  void tell(const char* name, const std::string& text) { slurm_.write(name, text); }
  std::string log() const { return contents(slurm_ / "log"); }
  std::string tasks() const { return contents(slurm_ / "tasks"); }

  ScratchFolder slurm_;
  std::string old_path_;
};

Result shard(const fs::path& plan, const std::string& index) {
  return dpsosp("shard --threads 2 --quiet", {plan, index});
}

/// Changes one byte in the middle of a file.
void flip(const fs::path& file) {
  std::string bytes = contents(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<fs::path> journals(const fs::path& plan) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(plan / "journals"))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

TEST_F(Cluster, ArrayAndMergeWriteTheTablesOfOneProcess) {
  const SweepRun s = sweep("cluster");
  const Result r = s.run("sweep", "--slurm --at-a-time 3 --expect 1 --sbatch --partition=long");
  EXPECT_EQ(r.code, 0) << r.err << tasks();
  ASSERT_EQ(lines(log()).size(), 2U) << log();
  EXPECT_TRUE(has(log(), "sbatch --parsable --array=1-6%3 --partition=long ",
                  "\nsbatch --parsable --dependency=afterok:4711 --kill-on-invalid-dep=yes "
                  "--partition=long "));
  EXPECT_EQ(lines(r.out).back(),
            "submitted: job 4711 computes, then job 4712 merges and writes the tables");
  expect_whole_tables(s);
  EXPECT_EQ(s.stored(), 78);
}

TEST_F(Cluster, OneOfEachUnknownKindComesFirst) {
  const SweepRun s = sweep("cluster");
  const Result r = s.run("sweep", "--slurm");
  EXPECT_EQ(r.code, 0) << r.err << tasks();
  EXPECT_TRUE(has(lines(r.out)[0], "26 runs in 20 tasks, one of each kind")) << r.out;
  EXPECT_TRUE(has(tasks(), "52 runs in 16 tasks, about "));
  expect_whole_tables(s);
}

/// The secret and the seed of a run are its noise.
TEST_F(Cluster, ProgramsOfAPlanReadNeitherSecretNorPlan) {
  const fs::path out = slurm_ / "own/out";
  slurm_.write("own/out/plans/0001/plan.json", "{}\n");
  slurm_.write("own/out/programs.secret", "918273645918273\n");
  for (const char* reads : {"out/programs.secret", "out/plans"}) {
    slurm_.write("own/spy.toml", fmt::format(R"(key = "test/spy"
title = "A spy"
program = "/usr/bin/true"
reads = ["{}"]
[settings.steps]
default = 2
least = 1
)",
                                             reads));
    const fs::path file = slurm_.write("own/sweep.toml", R"(title = "Spies"
metric = "output.gradient_norm"
seeds = 2
records = 50
dimension = 2
[[arm]]
name = "spy"
problem = "double-well"
program = "spy.toml"
[[part]]
name = "n"
axes = [{ records = [50, 100] }]
)");
    const Result r = dpsosp("sweep --local 2 --expect 1 --quiet", {file, "--out", out});
    EXPECT_EQ(r.code, 2) << r.out;
    EXPECT_TRUE(has(r.err, "the card's `reads` would show " + out.string()));
  }
}

TEST_F(Cluster, RefusesDataThatChangedSinceThePlan) {
  const fs::path out = slurm_ / "own/out";
  const auto table = [&](const std::string& last) {
    return slurm_.write("own/data.csv", "a,b,y\n1,0,0\n0,1,1\n1,1,0\n" + last + "\n").string();
  };
  const fs::path file = slurm_.write("own/sweep.toml", fmt::format(R"(title = "Own"
metric = "output.gradient_norm"
seeds = 2
epsilon = 1
delta = 1e-3
[[arm]]
name = "gd"
problem = "own-glm"
algorithm = "wang-ye-xu-2017/dp-gd"
problem_settings = {{ data = "{}", label = "y" }}
settings = {{ steps = 2 }}
[[part]]
name = "e"
axes = [{{ epsilon = [1, 2] }}]
)",
                                                                   table("0.5,0,1")));
  answer("sweep --script-only --tasks 1 --expect 1 --quiet", {file, "--out", out});
  table("0.5,0,0");
  const Result r = shard(out / "plans/0001", "1");
  EXPECT_EQ(r.code, 2) << r.out;
  EXPECT_TRUE(has(r.err, "was planned with other data of own-glm"));
  table("0.5,0,1");
  EXPECT_EQ(shard(out / "plans/0001", "1").code, 0);
}

TEST_F(Cluster, ProcessesOfThisMachineWriteTheTablesOfOne) {
  const SweepRun s = sweep("local");
  const Result r = s.run("sweep", "--local 3 --threads 1 --quiet");
  EXPECT_EQ(r.code, 0) << r.err;
  expect_whole_tables(s);
  EXPECT_EQ(s.run("sweep", "--local 3 --quiet").code, 0);
  EXPECT_FALSE(fs::exists(s.out() / "plans/0002"));  // nothing was missing
}

TEST_F(Cluster, ScriptsRunUnderAnotherScheduler) {
  const SweepRun s = sweep("scripts");
  tell("prologue", "echo a module is loaded");
  const Result r =
      s.run("sweep", "--script-only --tasks 2 --prologue " + (slurm_ / "prologue").string());
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(log(), "");
  const fs::path plan = s.out() / "plans/0001";
  for (const char* index : {"1", "2"}) {
    const Result task = run_program("/bin/bash", {plan / "task.sh", index});
    EXPECT_EQ(task.code, 0) << task.err;
    EXPECT_TRUE(task.out.starts_with("a module is loaded\nshard ")) << task.out;
  }
  EXPECT_EQ(run_program("/bin/bash", {plan / "after.sh"}).code, 0);
  expect_whole_tables(s);
}

TEST_F(Cluster, TasksKeepWhereTrainingsAreBesideTheStore) {
  const SweepRun s = sweep("trainings");
  tell("prologue", "dpsosp=(bash -c 'echo \"$DPSOSP_CHECKPOINTS\"')");
  const Result r =
      s.run("sweep", "--script-only --tasks 2 --prologue " + (slurm_ / "prologue").string());
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string script = s.out() / "plans/0001/task.sh";
  EXPECT_EQ(run_program("/bin/bash", {script, "1"}).out, (s.out() / "checkpoints").string() + '\n');
  EXPECT_EQ(run_program("/usr/bin/env", {"DPSOSP_CHECKPOINTS=mine", "/bin/bash", script, "1"}).out,
            "mine\n");
}

TEST_F(Cluster, StatusAndCancelGoByFilesAndQueue) {
  const SweepRun s = sweep("status");
  expect_one_error_line(s.run("sweep", "--status"), 2, "there is no plan of `dpsosp sweep ");
  tell("idle", "");
  EXPECT_EQ(s.run("sweep", "--slurm --tasks 3 --expect 2").code, 0);
  tell("queue", "4711|RUNNING\n4711|PENDING\n4711|PENDING\n4712|PENDING\n");
  EXPECT_EQ(shard(s.out() / "plans/0001", "2").code, 0);
  const Result status = s.run("sweep", "--status");
  const auto said = lines(status.out);
  ASSERT_EQ(said.size(), 5U) << status.out << status.err;
  EXPECT_EQ(said[1], "runs: 26 done, 0 of them failed; 52 missing, about 1m44s of CPU");
  EXPECT_EQ(said[3], "queue: job 4711: 2 pending, 1 running; then job 4712: pending");
  EXPECT_EQ(said[4], "open shards: 1 (0/26), 3 (0/26)");
  expect_one_error_line(s.run("sweep", "--slurm"), 2, "is still in the queue (jobs 4711 and 4712)");
  for (const char* answer : {"hello world", "JOBID|STATE", "4711", "4711|", "4719|RUNNING"}) {
    tell("queue", std::string("CLUSTER: one\n") + answer + "\n");
    expect_one_error_line(s.run("sweep", "--slurm"), 2,
                          fmt::format("squeue answered '{}', which is not understood", answer));
  }
  tell("queue", "CLUSTER: one\n4712|PENDING\n");
  expect_one_error_line(s.run("sweep", "--slurm"), 2, "is still in the queue");
  EXPECT_EQ(s.run("sweep", "--cancel").code, 0);
  EXPECT_TRUE(log().ends_with("scancel 4712 4711\n")) << log();
  // What is missing is planned anew, and no more.
  fs::remove(slurm_ / "idle");
  EXPECT_EQ(s.run("sweep", "--slurm --expect 1").code, 0) << tasks();
  EXPECT_EQ(nlohmann::json::parse(contents(s.out() / "plans/0002/plan.json"))["runs"], 52);
  expect_whole_tables(s);
}

TEST_F(Cluster, FindsTheNumberInWhateverSbatchAnswers) {
  tell("idle", "");
  int place = 0;
  for (const std::string answer :
       {"This job is charged to 'lab' (balance 12 h)\nNUMBER\n", "\n NUMBER \n", "NUMBER\r\n",
        "Submitted batch job NUMBER\n", "NUMBER;other\n"}) {
    SCOPED_TRACE(answer);
    tell("answer", answer);
    const SweepRun s = sweep(fmt::format("answer-{}", place));
    EXPECT_EQ(s.run("sweep", "--slurm --tasks 2 --expect 1").code, 0);
    const auto jobs = nlohmann::json::parse(contents(s.out() / "plans/0001/jobs.json"));
    EXPECT_EQ(jobs["array"], std::to_string(4711 + 2 * place));
    EXPECT_EQ(jobs["after"], std::to_string(4712 + 2 * place));
    EXPECT_EQ(s.run("sweep", "--status").code, 0);
    EXPECT_EQ(s.run("sweep", "--cancel").code, 0);
    ++place;
  }
  EXPECT_TRUE(lines(contents(slurm_ / "asked")).back().starts_with("--clusters=other "));
  EXPECT_TRUE(log().ends_with("scancel --clusters=other 4720 4719\n")) << log();
}

TEST_F(Cluster, ForgetsNothingThatMayBeInTheQueue) {
  tell("idle", "");
  const auto name_of = [](const SweepRun& s) -> std::string {
    return nlohmann::json::parse(contents(s.out() / "plans/0001/jobs.json"))["name"];
  };
  // sbatch answers without a number, or gives up waiting for its own answer.
  for (const char* how : {"answer", "refusal"}) {
    SCOPED_TRACE(how);
    tell(how, "it may be so\n");
    tell("queue", "NAME|PENDING\nNAME|RUNNING\nNAME|PENDING\n");
    const SweepRun s = sweep(fmt::format("unclear-{}", how));
    expect_one_error_line(s.run("sweep", "--slurm --tasks 2 --expect 1"), 2,
                          "may be in the queue all the same");
    const std::string name = name_of(s);
    EXPECT_TRUE(has(contents(s.out() / "plans/0001/task.sh"), "--job-name=" + name + "\n"));
    EXPECT_TRUE(has(s.run("sweep", "--status").out,
                    fmt::format("queue: jobs named {}: 2 pending, 1 running", name)));
    expect_one_error_line(s.run("sweep", "--slurm"), 2,
                          "is still in the queue (jobs named " + name);
    EXPECT_EQ(s.run("sweep", "--cancel").code, 0);
    EXPECT_TRUE(log().ends_with("scancel --name=" + name + "\n")) << log();
    fs::remove(slurm_ / how);
    EXPECT_EQ(s.run("sweep", "--slurm --tasks 2 --expect 1").code, 0);
    EXPECT_TRUE(fs::exists(s.out() / "plans/0002/jobs.json"));
  }
  // sbatch names a job, and fails all the same.
  tell("code", "3");
  const SweepRun failed = sweep("failed");
  expect_one_error_line(failed.run("sweep", "--slurm --tasks 2 --expect 1"), 2,
                        "slurm: sbatch ended with exit code 3; ");
  EXPECT_TRUE(fs::exists(failed.out() / "plans/0001/jobs.json"));
  EXPECT_TRUE(lines(log()).back().starts_with("sbatch --parsable --array=1-2 "))
      << "what merges is not submitted: " << log();
  fs::remove(slurm_ / "code");
  // What is refused leaves neither a job nor a plan.
  tell("refuses", "after");
  const SweepRun s = sweep("half");
  expect_one_error_line(s.run("sweep", "--slurm --tasks 2 --expect 1"), 2, "slurm: no");
  EXPECT_TRUE(has(lines(log()).back(), "scancel --name=dpsosp-0001-")) << log();
  EXPECT_FALSE(fs::exists(s.out() / "plans/0001"));
}

TEST_F(Cluster, PrintsCommandsThatAShellReadsBack) {
  for (const char* folder : {"it's two words", "two words", "one;word", "$HOME"}) {
    const SweepRun s = sweep(folder);
    const Result r = s.run("sweep", "--script-only --tasks 1");
    ASSERT_EQ(r.code, 0) << r.err;
    const std::string line = lines(r.out)[1], start = "tasks: ", end = " INDEX, ";
    const std::string task = line.substr(start.size(), line.find(end) - start.size());
    const Result computed = run_program("/bin/bash", {"-c", task + " 1"});
    EXPECT_EQ(computed.code, 0) << task << computed.err;
  }
}

TEST_F(Cluster, RefusesInOneLineBeforeAnythingIsSubmitted) {
  const SweepRun s = sweep("refused");
  expect_refusals("$ " + fmt::format("{}", fmt::join(s.arguments("sweep"), " ")) + R"(
--slurm --tasks 21 --expect 1 | slurm: 21 tasks are more than an array may have here, 20
--slurm --expect 1300 | slurm: a run takes about 21m40s, and the partition main ends jobs after 1h00m: too short
--tasks 3 | sweep: --tasks goes with --slurm or --script-only
--status --cancel | sweep: --status and --cancel exclude each other
--slurm --shard 1/2 | sweep: --shard makes no plan
--slurm --at-a-time 0 | --at-a-time
--slurm --tasks 9999999999 | --tasks = 9999999999, expected <= 1000000000
--slurm --sbatch --array=1-3 | --sbatch --array=1-3: the plan says this itself
--slurm --sbatch -d | --sbatch -d: the plan says this itself
--slurm --threads 4097 | --threads = 4097, expected an integer >= 1 and <= 4096
--slurm --prologue none.sh | none.sh does not exist
--cancel | there is no plan
)");
  EXPECT_FALSE(fs::exists(s.out() / "plans"));
  program("scontrol", R"(echo "MaxArraySize            = 1")");
  expect_one_error_line(s.run("sweep", "--slurm --expect 1"), 2, "slurm: no job arrays here");
  program("scontrol", R"(echo "MaxArraySize            = 21")");
  tell("idle", "");
  EXPECT_EQ(s.run("sweep", "--slurm --expect 1300 --sbatch --partition=long").code, 0);
  EXPECT_TRUE(has(contents(s.out() / "plans/0001/task.sh"), "--signal=B:USR1@2600\n"));
  for (const auto& [time, notice] :
       {std::pair{"40", 1200}, {"40:00", 1200}, {"0-01", 1800}, {"2:00:00", 2600}}) {
    const SweepRun other = sweep(fmt::format("time-{}", notice) + time);
    EXPECT_EQ(
        other.run("sweep", fmt::format("--slurm --expect 1300 --sbatch --time={}", time)).code, 0);
    EXPECT_TRUE(has(contents(other.out() / "plans/0001/task.sh"), fmt::format("USR1@{}\n", notice)))
        << time;
  }
  std::ofstream(s.out() / "plans/0001/jobs.json") << "{\"array\"";
  expect_one_error_line(s.run("sweep", "--status"), 2, "jobs.json is damaged: it names the jobs");
  fs::remove(s.out() / "plans/0001/jobs.json");
  tell("refusal", "sbatch: error: invalid account\nmore\n");
  expect_one_error_line(s.run("sweep", "--slurm --expect 1"), 2,
                        "slurm: sbatch: error: invalid account");
  EXPECT_FALSE(fs::exists(s.out() / "plans/0002"));
  setenv("PATH", "/nonexistent", 1);
  expect_one_error_line(s.run("sweep", "--slurm --expect 1"), 2, "slurm: there is no sbatch here");
}

TEST_F(Cluster, ShardsRefuseAnotherBinarysPlanAndAFullDisk) {
  const SweepRun s = sweep("shards");
  EXPECT_EQ(s.run("sweep", "--script-only --tasks 2").code, 0);
  const fs::path plan = s.out() / "plans/0001";
  expect_one_error_line(shard(plan, "3"), 2, "has no shard 3, expected 1 to 2");
  const Result full = run_program(
      "/bin/bash",
      {"-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" shard \"$1\" 1 --threads 1 --quiet",
       built_program("dpsosp"), plan});
  expect_one_error_line(full, 2, "cannot be written (File too large)");
  EXPECT_EQ(shard(plan, "1").code, 0);  // goes on from the whole lines
  const fs::path index = plan / "plan.json";
  auto other = nlohmann::json::parse(contents(index));
  other["binary"] = std::string(64, 'f');
  std::ofstream(index) << other.dump();
  expect_one_error_line(shard(plan, "2"), 2, "was planned by another binary");
  EXPECT_EQ(journals(plan).size(), 2U);
}

TEST_F(Cluster, MergeRefusesAMissingShardAndAFlippedByte) {
  const SweepRun s = sweep("merge");
  EXPECT_EQ(s.run("sweep", "--script-only --tasks 2").code, 0);
  const fs::path plan = s.out() / "plans/0001", into = s.out() / "store.sqlite";
  EXPECT_EQ(shard(plan, "1").code, 0);
  const std::vector<std::string> merge{"merge", plan, "--into", into};
  expect_one_error_line(run_program(built_program("dpsosp"), merge), 2,
                        "shard 2 of 2 lacks 39 of its 39 runs");
  EXPECT_FALSE(fs::exists(into));
  auto partial = merge;
  partial.emplace_back("--partial");
  EXPECT_EQ(run_program(built_program("dpsosp"), partial).code, 0);
  EXPECT_EQ(s.stored(), 39);
  EXPECT_EQ(shard(plan, "2").code, 0);
  const fs::path journal = journals(plan).back();
  const std::string whole = contents(journal);
  flip(journal);
  expect_one_error_line(run_program(built_program("dpsosp"), merge), 2, "is damaged: line ");
  EXPECT_EQ(s.stored(), 39);
  // A file that is named and gives nothing is a mistake.
  const fs::path empty = s.out() / "empty.jsonl";
  std::ofstream(empty) << whole.substr(0, whole.find('\n') + 1);
  expect_one_error_line(dpsosp("merge", {empty, "--into", into}), 2,
                        "empty.jsonl holds no whole run");
  // A torn end is a missing run, which the next attempt computes.
  std::ofstream(journal, std::ios::trunc) << whole.substr(0, whole.size() - 7);
  expect_one_error_line(run_program(built_program("dpsosp"), merge), 2, "lacks 1 of its 39 runs");
  EXPECT_TRUE(has(shard(plan, "2").err, "its torn end, from line "));
  EXPECT_EQ(run_program(built_program("dpsosp"), merge).code, 0);
  EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
  expect_whole_tables(s);
}

TEST_F(Cluster, SignalsEndAShardWith143AndItGoesOn) {
  const SweepRun s = sweep("signals");
  EXPECT_EQ(s.run("sweep", "--script-only --tasks 1").code, 0);
  const fs::path plan = s.out() / "plans/0001";
  for (const int signal : {SIGTERM, SIGUSR1}) {
    Process process(built_program("dpsosp"), {"shard", plan, "1", "--threads", "1", "--quiet"});
    const auto bytes = [&] {
      std::uintmax_t sum = 0;
      if (fs::exists(plan / "journals"))
        for (const fs::path& file : journals(plan)) sum += fs::file_size(file);
      return sum;
    };
    const auto before = bytes();
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (bytes() < before + 10000 && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    process.send(signal);
    process.send(signal);  // as a scheduler to the script, and the script
    const Result r = process.wait();
    EXPECT_EQ(r.code, 143) << r.err;
    EXPECT_EQ(lines(r.err).back().find("interrupted: "), 0U) << r.err;
  }
  const Result rest = shard(plan, "1");
  EXPECT_EQ(rest.code, 0);
  EXPECT_TRUE(lacks(rest.out, "shard 1: 78 runs computed"));
  EXPECT_EQ(dpsosp("merge", {plan, "--into", s.out() / "store.sqlite"}).code, 0);
  EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
  expect_whole_tables(s);
}

}  // namespace
}  // namespace dpsosp::cluster_test
