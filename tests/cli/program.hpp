// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../core/forked.hpp"
#include "../core/scratch_folder.hpp"

// Runs programs as a user does: what they print, where, and their exit code.
namespace dpsosp {

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Result {
  int code = -1;  ///< exit code; 128 + signal if a signal ended the program
  std::string out, err;
};

/// A program that runs; its standard output and error go to files.
class Process {
 public:
  Process(const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (const std::string& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
    words.push_back(nullptr);
    const std::string out = out_file(), err = err_file();
    process_ = forked();
    if (process_ != 0) return;
    const int mode = O_CREAT | O_TRUNC | O_WRONLY;
    dup2(open(out.c_str(), mode, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), mode, 0600), STDERR_FILENO);
    // Tests may run in the background, where shells have these ignored.
    for (const int ignored : {SIGINT, SIGHUP, SIGTERM}) signal(ignored, SIG_DFL);
    execv(words[0], words.data());
    _exit(127);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (process_ > 0) wait();
  }

  void send(int signal) const { kill(process_, signal); }
  std::string err_so_far() const { return contents(err_file()); }

  Result wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(out_file()),
            contents(err_file())};
  }

 private:
  std::string out_file() const { return folder_ / "out"; }
  std::string err_file() const { return folder_ / "err"; }

  ScratchFolder folder_;
  pid_t process_ = 0;
};

inline Result run_program(const std::string& program, const std::vector<std::string>& arguments) {
  return Process(program, arguments).wait();
}

/// "a b c" -> {"a", "b", "c"}.
inline std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

/// Nothing on stdout; on stderr one line, with a line end, that holds `part`.
inline void expect_one_error_line(const Result& result, int code, const std::string& part) {
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines(result.err).size(), 1U) << result.err;
  EXPECT_TRUE(result.err.ends_with('\n')) << result.err;
  EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
}

}  // namespace dpsosp
