// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "paths.hpp"
#include "program.hpp"

// A sweep as a user runs it, and all that it leaves behind but the wall times.
namespace dpsosp {

inline const std::string crash_sweep = R"(
title = "A sweep to be killed"
metric = "output.gradient_norm"
seeds = { smoke = 3, quick = 12 }
records = 2000
observations = 20

[[arm]]
name = "spider"
algorithm = "arora-2023/dp-spider"
problem = "ripple-location"
settings = { steps = 100 }

[[arm]]
name = "gradient descent"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "ripple-location"
settings = { steps = 100 }

[[part]]
name = "n"
axes = [{ records = { from = 1000, to = 16000, points = 5 } }, { dimension = [2, 8] }]
fit = [{ axis = "records", claimed = -0.5 }, { axis = "records", arm = "spider", metric = "estimate.median" }]

[[part]]
name = "epsilon"
axes = [{ epsilon = [1, 2, 4] }]
fit = [{ axis = "epsilon", metric = "output.value", claimed = -1 }]
)";

/// `dpsosp COMMAND folder/sweep.toml --out out OPTIONS`.
class SweepRun {
 public:
  SweepRun(std::string toml, std::filesystem::path out, std::string scale)
      : toml_(std::move(toml)), out_(std::move(out)), scale_(std::move(scale)) {}

  const std::filesystem::path& out() const { return out_; }

  std::vector<std::string> arguments(const std::string& command,
                                     const std::string& options = "") const {
    std::vector<std::string> all{command, toml_, "--out", out_.string(), "--scale", scale_};
    for (const std::string& word : words(options)) all.push_back(word);
    return all;
  }
  Result run(const std::string& command, const std::string& options = "") const {
    return run_program(built_program("dpsosp"), arguments(command, options));
  }

  /// Runs in the store; 0 while there is none.
  int stored() const {
    try {
      SQLite::Database db(out_ / "store.sqlite", SQLite::OPEN_READONLY);
      return db.execAndGet("SELECT count(*) FROM runs").getInt();
    } catch (const SQLite::Exception&) {
      return 0;
    }
  }

  /// Tables by name, and what `fit` prints as text and as JSON.
  std::map<std::string, std::string> tables() const {
    std::map<std::string, std::string> all;
    for (const auto& file : std::filesystem::directory_iterator(out_ / "sweep"))
      if (file.path().filename() != "timings.csv")
        all[file.path().filename().string()] = contents(file.path());
    for (const char* options : {"", "--json"}) {
      const Result fit = run("fit", options);
      EXPECT_EQ(fit.code, 0) << fit.err;
      all[std::string("fit ") + options] = fit.out;
    }
    return all;
  }

 private:
  std::string toml_;
  std::filesystem::path out_;
  std::string scale_;
};

/// One EXPECT a table, so that a failure does not print them whole.
inline void expect_same_tables(const std::map<std::string, std::string>& a,
                               const std::map<std::string, std::string>& b) {
  EXPECT_EQ(a.size(), b.size());
  for (const auto& [name, text] : a) {
    EXPECT_FALSE(text.empty()) << name;
    EXPECT_TRUE(b.contains(name) && b.at(name) == text) << name << " differs";
  }
}

/// Kills the sweep `kills` times, each at a random moment after some of its runs, then lets it end.
inline void kill_and_resume(const SweepRun& sweep, int kills, int threads) {
  Stream moments({.seed = static_cast<std::uint64_t>(threads), .purpose = Purpose::test});
  const std::string options = fmt::format("--threads {} --quiet", threads);
  for (int k = 0; k < kills; ++k) {
    const int wanted = sweep.stored() + static_cast<int>(moments.below(6));
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    Process process(built_program("dpsosp"), sweep.arguments("sweep", options));
    while (sweep.stored() < wanted && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    std::this_thread::sleep_for(std::chrono::microseconds(moments.below(20000)));
    process.send(SIGKILL);
    EXPECT_EQ(process.wait().code, 128 + SIGKILL) << "kill " << k << " came after the end";
  }
  EXPECT_FALSE(std::filesystem::exists(sweep.out() / "sweep/slopes.csv"));
  EXPECT_GT(sweep.stored(), 0);
  EXPECT_EQ(sweep.run("sweep", options).code, 0);
}

class SweepCrash : public testing::Test {
 protected:
  explicit SweepCrash(std::string scale = "smoke", std::string toml = crash_sweep)
      : scale_(std::move(scale)), toml_(std::move(toml)) {}

  /// The sweep of a scale in a folder of its own.
  SweepRun sweep(const std::string& name) const {
    folder_.write("sweep.toml", toml_);
    return {folder_ / "sweep.toml", folder_ / name, scale_};
  }
  SweepRun finished(const std::string& name, int threads) const {
    const SweepRun s = sweep(name);
    const Result r = s.run("sweep", fmt::format("--threads {} --quiet", threads));
    EXPECT_EQ(r.code, 0) << r.err;
    return s;
  }
  /// Shards, merged; `fit` finds every run before the sweep writes the tables.
  SweepRun sharded(int count) const {
    const SweepRun s = sweep(fmt::format("{} shards", count));
    std::vector<std::string> merge{"merge", "--into", s.out() / "store.sqlite"};
    for (int k = 1; k <= count; ++k) {
      const Result r = s.run("sweep", fmt::format("--shard {}/{} --quiet", k, count));
      EXPECT_EQ(r.code, 0) << r.err;
      const std::string start = "journals: ";
      EXPECT_TRUE(r.out.starts_with(start)) << r.out;
      if (k == count) merge.push_back(r.out.substr(start.size(), r.out.size() - start.size() - 1));
    }
    EXPECT_EQ(run_program(built_program("dpsosp"), merge).code, 0);
    EXPECT_EQ(s.run("fit").code, 0);
    EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
    return s;
  }

 private:
  ScratchFolder folder_;
  std::string scale_;
  std::string toml_;
};

}  // namespace dpsosp
