// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"

// What a command says while it works, and how it ends when it is told to.
namespace dpsosp::progress_test {
namespace {

/// What the program writes where both outputs are a terminal, at most for so many seconds.
std::string on_terminal(const std::string& arguments, int most_seconds) {
  const auto given = words(arguments);
  int terminal = -1;
  winsize size{.ws_row = 24, .ws_col = 200, .ws_xpixel = 0, .ws_ypixel = 0};
  const pid_t process = forkpty(&terminal, nullptr, nullptr, &size);
  if (process < 0) throw std::system_error(errno, std::generic_category(), "forkpty");
  if (process == 0) {
    std::string program = built_program("dpsosp");
    std::vector<char*> all{program.data()};
    for (const std::string& word : given) all.push_back(const_cast<char*>(word.c_str()));
    all.push_back(nullptr);
    execv(program.c_str(), all.data());
    _exit(127);
  }
  std::string text;
  fcntl(terminal, F_SETFL, O_NONBLOCK);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(most_seconds);
  while (std::chrono::steady_clock::now() < end) {
    char buffer[4096];
    const ssize_t count = read(terminal, buffer, sizeof buffer);
    if (count > 0)
      text.append(buffer, static_cast<std::size_t>(count));
    else if (count == 0 || errno != EAGAIN)
      break;  // the program has ended
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  close(terminal);
  return text;
}

/// Whether there are pseudo-terminals: a bare root may have no /dev/pts.
bool has_terminals() {
  int terminal = -1, program = -1;
  if (openpty(&terminal, &program, nullptr, nullptr, nullptr) != 0) return false;
  close(terminal);
  close(program);
  return true;
}

/// Plain gradient descent, which no budget ends; each step reads all records.
std::string descent(const std::string& records, const std::string& steps) {
  return "run --algorithm reference/sgd --problem glm-logistic --epsilon 1 --delta 1e-9 "
         "--records " +
         records + " --set steps=" + steps;
}

TEST(Progress, ShowsShareTimeLeftAndBestOnATerminalAfterTwoSeconds) {
  if (!has_terminals()) GTEST_SKIP() << "there are no pseudo-terminals here";
  const std::string shown = on_terminal(descent("1e5", "1e6"), 8);
  EXPECT_TRUE(has(shown, " % of 1000000 steps, ", " elapsed, ", " left; best gradient norm ",
                  "(not private)"));
}

TEST(Progress, IsSilentWithQuietAndOffATerminal) {
  if (!has_terminals()) GTEST_SKIP() << "there are no pseudo-terminals here";
  EXPECT_EQ(on_terminal(descent("1e5", "1e6") + " --quiet", 5), "");
  Process process(built_program("dpsosp"), words(descent("1e5", "1e6")));
  std::this_thread::sleep_for(std::chrono::seconds(4));
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().err, "");
}

TEST(Progress, OfAuditAndCertifyIsShown) {
  if (!has_terminals()) GTEST_SKIP() << "there are no pseudo-terminals here";
  const std::string audit =
      on_terminal("audit --algorithm wang-ye-xu-2017/dp-gd --runs 1e6 --threads 1", 8);
  EXPECT_TRUE(has(audit, " % of the attacks, ", " left"));
}

TEST(Watch, PrintsEachTenthAndSaysThatItIsNotPrivate) {
  const Result r = dpsosp(descent("1000", "100") + " --watch");
  ASSERT_EQ(r.code, 0) << r.err;
  const auto said = lines(r.err);
  ASSERT_GE(said.size(), 11U) << r.err;
  EXPECT_TRUE(has(said[0], "not private"));
  for (const int step : {0, 10, 20, 30, 40, 50, 60, 70, 80, 90}) {
    const std::string start = "run: step " + std::to_string(step) + " of 100 (";
    EXPECT_TRUE(std::ranges::any_of(said, [&](const auto& l) { return l.starts_with(start); }))
        << start << '\n'
        << r.err;
  }
}

TEST(Watch, ChangesNoBit) {
  for (const char* rest : {"--algorithm wang-ye-xu-2017/dp-gd --problem double-well",
                           "--algorithm ganesh-2023/stochastic-spider --problem cosine-saddle",
                           "--algorithm xu-2026/dp-rgda --problem cosine-minimax"}) {
    const std::string command =
        "run --records 1000 --epsilon 1 --delta 1e-6 --observations 5 --json --trace " +
        std::string(rest);
    SCOPED_TRACE(command);
    const Result plain = dpsosp(command);
    ASSERT_EQ(plain.code, 0) << plain.err;
    EXPECT_EQ(plain.err, "");
    EXPECT_EQ(dpsosp(command + " --watch").out, plain.out);
    EXPECT_EQ(dpsosp(command + " --quiet").out, plain.out);
  }
}

TEST(Watch, RejectsReleases) {
  expect_one_error_line(
      dpsosp("run --release --watch --algorithm wang-ye-xu-2017/dp-gd --problem cosine-saddle "
             "--records 500 --epsilon 1 --delta 1e-6"),
      2, "not private");
}

TEST(Progress, AnnouncesARunOfHoursAlsoOffATerminal) {
  Process process(built_program("dpsosp"), words(descent("1e5", "1e10")));
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (process.err_so_far().empty() && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  process.send(SIGKILL);
  const std::string said = process.wait().err;
  EXPECT_TRUE(said.starts_with("run: 10000000000 steps will take about ")) << said;
  EXPECT_TRUE(has(said, "--set steps=N"));
}

TEST(Signals, EndASweepWithItsRunsKeptAndACodeOfTheirOwn) {
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}}) {
    SCOPED_TRACE(code);
    const ScratchFolder folder;
    Process process(built_program("dpsosp"),
                    {"sweep", "zhou-2020", "--out", folder / "out", "--threads", "1"});
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (process.err_so_far().find("runs") == std::string::npos &&
           std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    process.send(signal);
    const Result r = process.wait();
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_TRUE(has(lines(r.err).back(), "the same command goes on from there")) << r.err;
  }
}

}  // namespace
}  // namespace dpsosp::progress_test
