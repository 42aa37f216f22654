// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace dpsosp::progress_test {
namespace {

/// A progress whose output and time the test holds in hand.
struct Watched {
  explicit Watched(ProgressStyle style, std::size_t columns = 80)
      : progress(
            style, [this](std::string_view text) { written.emplace_back(text); },
            [this] { return now; }, columns) {}

  std::vector<std::string> written;
  double now = 100;
  Progress progress;
};

TEST(Progress, WritesOneLinePerTenthOnPipe) {
  Watched w(ProgressStyle::lines);
  w.progress.start(200, 0, 0);
  for (int k = 0; k < 200; ++k) {
    w.now += 0.01;
    w.progress.advance(false);
  }
  w.progress.stop();
  ASSERT_EQ(w.written.size(), 11U);  // the start and ten tenths; the end is the tenth tenth
  EXPECT_EQ(w.written.front(), "0/200 runs, 0s elapsed\n");
  EXPECT_EQ(w.written[5], "100/200 runs, 100/s, 1s elapsed, 1s left\n");
  EXPECT_EQ(w.written.back(), "200/200 runs, 100/s, 2s elapsed\n");
  for (const std::string& line : w.written) {
    EXPECT_EQ(std::ranges::count_if(line, [](unsigned char c) { return c < ' '; }), 1) << line;
    EXPECT_EQ(line.back(), '\n');
  }
}

TEST(Progress, WritesLinesAtLengtheningIntervalsOnPipe) {
  Watched w(ProgressStyle::lines);
  w.progress.start(2, 0, 0);
  for (int second = 0; second < 24 * 3600; ++second) {
    w.now += 1;
    w.progress.tick();
  }
  EXPECT_GT(w.written.size(), 50U);
  EXPECT_LT(w.written.size(), 100U);  // a line every 10 s would be 8640
}

TEST(Progress, OverwritesOneLineOnTerminal) {
  Watched w(ProgressStyle::live);
  w.progress.start(200, 20, 1);
  w.now += 10;
  w.progress.advance(true);
  w.now += 0.01;
  w.progress.advance(false);  // too soon to be seen
  w.now += 8.99;
  w.progress.tick();
  w.progress.stop();
  const std::vector<std::string> expected{
      "\r\x1b[K20/200 runs, 20 stored before, 1 failed, 0s elapsed",
      "\r\x1b[K21/200 runs, 20 stored before, 2 failed, 0.1/s, 10s elapsed, 29m50s left",
      "\r\x1b[K22/200 runs, 20 stored before, 2 failed, 0.105/s, 19s elapsed, 28m11s left",
      "\r\x1b[K22/200 runs, 20 stored before, 2 failed, 0.105/s, 19s elapsed, 28m11s left", "\n"};
  EXPECT_EQ(w.written, expected);
}

TEST(Progress, TellsTimeLeftByWorkNotByRuns) {
  Watched w(ProgressStyle::lines);
  w.progress.start(100, 0, 0);
  w.now += 60;
  for (int k = 0; k < 90; ++k) w.progress.advance(false, {.done = 30, .left = 300});
  EXPECT_EQ(w.written.back(), "90/100 runs, 1.5/s, 1m00s elapsed, 10m00s left\n");
  w.now = 220;  // dear cells that run for the first time are guessed at, and that is said
  w.progress.advance(false, {.done = 30, .left = 30, .untimed = 2});
  EXPECT_NE(w.written.back().find("2m00s left (2 cells untimed)"), std::string::npos)
      << w.written.back();
}

TEST(Progress, TruncatesLiveLineToTerminalWidth) {
  Watched w(ProgressStyle::live, 24);
  w.progress.start(1000000, 900000, 800000);
  EXPECT_EQ(w.written.front(), "\r\x1b[K900000/1000000 runs, 90");
}

TEST(Progress, WritesNothingWhenQuiet) {
  Watched w(ProgressStyle::quiet);
  w.progress.start(2, 0, 0);
  w.now += 100;
  w.progress.advance(true);
  w.progress.tick();
  w.progress.stop();
  EXPECT_TRUE(w.written.empty());
  EXPECT_EQ(progress_style(true), ProgressStyle::quiet);
}

TEST(Progress, WritesOneLineIfNothingIsToDo) {
  Watched none(ProgressStyle::lines);
  none.progress.start(0, 0, 0);
  none.progress.stop();
  EXPECT_EQ(none.written, std::vector<std::string>{"0/0 runs, 0s elapsed\n"});
  Watched all(ProgressStyle::lines);
  all.progress.start(5, 5, 0);
  all.progress.stop();
  EXPECT_EQ(all.written, std::vector<std::string>{"5/5 runs, 5 stored before, 0s elapsed\n"});
}

TEST(Progress, CountsConcurrentAdvances) {
  Watched w(ProgressStyle::lines);
  w.progress.start(4000, 0, 0);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&w] {
      for (int k = 0; k < 1000; ++k) w.progress.advance(k % 10 == 0);
    });
  threads.clear();
  w.progress.stop();
  EXPECT_EQ(w.written.back(), "4000/4000 runs, 400 failed, 0s elapsed\n");
}

/// While it lives, standard error is `descriptor`.
class RedirectedStderr {
 public:
  explicit RedirectedStderr(int descriptor) : before_(dup(STDERR_FILENO)) {
    dup2(descriptor, STDERR_FILENO);
  }
  ~RedirectedStderr() {
    dup2(before_, STDERR_FILENO);
    close(before_);
  }
  RedirectedStderr(const RedirectedStderr&) = delete;
  RedirectedStderr& operator=(const RedirectedStderr&) = delete;

 private:
  int before_;
};

TEST(Progress, ChoosesStyleByStderr) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  {
    const RedirectedStderr to_pipe(ends[1]);
    EXPECT_EQ(progress_style(false), ProgressStyle::lines);
  }
  const int controller = posix_openpt(O_RDWR | O_NOCTTY);
  if (controller < 0 || unlockpt(controller) != 0) GTEST_SKIP() << "no terminal can be made here";
  const int terminal = open(ptsname(controller), O_RDWR | O_NOCTTY);
  const RedirectedStderr to_terminal(terminal);
  EXPECT_EQ(progress_style(false), ProgressStyle::live);
  EXPECT_EQ(progress_style(true), ProgressStyle::quiet);
}

TEST(Progress, WritesToStderrOnly) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Progress progress(ProgressStyle::lines);
  progress.start(1, 0, 0);
  progress.advance(false);
  progress.stop();
  std::fflush(stdout);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("1/1 runs"), std::string::npos);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Progress, FormatsDurationsInAtMostTwoUnits) {
  EXPECT_EQ(duration_text(0.9), "0s");
  EXPECT_EQ(duration_text(59.9), "59s");
  EXPECT_EQ(duration_text(185), "3m05s");
  EXPECT_EQ(duration_text(2 * 3600 + 7 * 60 + 59), "2h07m");
  EXPECT_EQ(duration_text(4 * 86400 + 3 * 3600), "4d03h");
}

}  // namespace
}  // namespace dpsosp::progress_test
