// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../core/forked.hpp"
#include "dpsosp/core/stream.hpp"
#include "paths.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::kill_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int jobs = 200;

/// A running store_worker.
class Worker {
 public:
  Worker(const fs::path& store, const fs::path& log, int threads, int pause_milliseconds = 1)
      : log_(log), started_(computations()) {
    const std::vector<std::string> words{built_program("store_worker"),
                                         store.string(),
                                         std::to_string(jobs),
                                         std::to_string(threads),
                                         std::to_string(pause_milliseconds),
                                         log.string()};
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    process_ = forked();
    if (process_ == 0) {
      const int nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, STDERR_FILENO);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
  }

  /// Computations that were started on this log, by all workers.
  std::uintmax_t computations() const { return fs::exists(log_) ? fs::file_size(log_) : 0; }

  /// Waits until this worker has started so many computations; false if it ended before.
  bool reaches(std::uintmax_t count) {
    while (computations() < started_ + count) {
      if (ended()) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

  void send(int signal) const { kill(process_, signal); }

  /// The status that waitpid gives, when the process has ended.
  int wait() {
    if (process_ != 0) waitpid(process_, &status_, 0);
    process_ = 0;
    return status_;
  }

 private:
  bool ended() {
    if (process_ != 0 && waitpid(process_, &status_, WNOHANG) == process_) process_ = 0;
    return process_ == 0;
  }

  fs::path log_;
  std::uintmax_t started_;
  pid_t process_ = 0;
  int status_ = 0;
};

bool finished_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

/// Kills workers at random moments and starts them again until the work is done; calls
/// `after_kill` after each kill. Returns the number of kills.
std::uintmax_t work_and_kill(
    const fs::path& store, const fs::path& log, int threads, int most_kills,
    const std::function<void()>& after_kill = [] {}) {
  Stream moments({.seed = static_cast<std::uint64_t>(threads), .purpose = Purpose::test});
  std::uintmax_t kills = 0;
  for (int attempt = 0; attempt < most_kills; ++attempt) {
    Worker worker(store, log, threads);
    if (worker.reaches(static_cast<std::uintmax_t>(5 + moments.below(20))))
      std::this_thread::sleep_for(std::chrono::microseconds(moments.below(3000)));
    worker.send(SIGKILL);
    if (const int status = worker.wait(); finished_well(status)) return kills;
    ++kills;
    after_kill();
  }
  Worker last(store, log, threads);
  EXPECT_TRUE(finished_well(last.wait()));
  return kills;
}

std::string uninterrupted_export() {
  const TemporaryFolder folder;
  Worker worker(folder / "s.sqlite", folder / "log", 1, 0);
  EXPECT_TRUE(finished_well(worker.wait()));
  EXPECT_EQ(worker.computations(), static_cast<std::uintmax_t>(jobs));
  return exported_json(Store(folder / "s.sqlite", Store::Access::read_only));
}

TEST(CrashSafety, KeepsEveryRunOnceAfterRandomKills) {
  const std::string expected = uninterrupted_export();
  for (const int threads : {1, 2}) {
    const TemporaryFolder folder;
    const fs::path store = folder / "s.sqlite";
    const fs::path log = folder / "log";
    const std::uintmax_t kills = work_and_kill(store, log, threads, 8);
    EXPECT_GE(kills, 6U);
    EXPECT_EQ(exported_json(Store(store, Store::Access::read_only)), expected);
    EXPECT_GE(fs::file_size(log), static_cast<std::uintmax_t>(jobs));
    EXPECT_LE(fs::file_size(log), jobs + kills * static_cast<std::uintmax_t>(threads));

    SQLite::Database db(store, SQLite::OPEN_READONLY);
    EXPECT_EQ(db.execAndGet("PRAGMA integrity_check").getString(), "ok");
    for (const char* table : {"runs", "provenance"}) {
      const std::string count =
          fmt::format("SELECT count(DISTINCT key) || '/' || count(*) FROM {}", table);
      EXPECT_EQ(db.execAndGet(count).getString(), "200/200");
    }
  }
}

TEST(CrashSafety, ComputationCountRevealsLostStore) {  // negative control of the above
  const TemporaryFolder folder;
  const fs::path store = folder / "s.sqlite";
  const std::uintmax_t kills = work_and_kill(store, folder / "log", 1, 4, [&] {
    for (const char* side : {"", "-wal", "-shm"}) fs::remove(store.string() + side);
  });
  EXPECT_GT(fs::file_size(folder / "log"), jobs + kills);
}

TEST(CrashSafety, SeveralProcessesFillOneNewStore) {
  const TemporaryFolder folder;
  const fs::path store = folder / "s.sqlite";
  std::vector<Worker> workers;
  for (int k = 0; k < 3; ++k) workers.emplace_back(store, folder / "log", 1);
  for (Worker& worker : workers) EXPECT_TRUE(finished_well(worker.wait()));
  EXPECT_EQ(exported_json(Store(store, Store::Access::read_only)), uninterrupted_export());
}

TEST(CrashSafety, CtrlCKeepsRunsInProgress) {
  const TemporaryFolder folder;
  const fs::path store = folder / "s.sqlite";
  Worker worker(store, folder / "log", 2);
  ASSERT_TRUE(worker.reaches(20));
  worker.send(SIGINT);
  const int status = worker.wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const RunCounts counts = Store(store, Store::Access::read_only).counts();
  EXPECT_EQ(counts.finished + counts.failed, worker.computations());
  EXPECT_LT(worker.computations(), static_cast<std::uintmax_t>(jobs));

  Worker again(store, folder / "log", 2);
  EXPECT_TRUE(finished_well(again.wait()));
  EXPECT_EQ(again.computations(), static_cast<std::uintmax_t>(jobs));
}

TEST(CrashSafety, SecondCtrlCEndsLongRunAtOnce) {
  const TemporaryFolder folder;
  Worker worker(folder / "s.sqlite", folder / "log", 1, 60000);
  ASSERT_TRUE(worker.reaches(1));
  worker.send(SIGINT);
  std::this_thread::sleep_for(milliseconds(100));  // two signals that wait together count as one
  worker.send(SIGINT);
  const int status = worker.wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

}  // namespace
}  // namespace dpsosp::kill_test
