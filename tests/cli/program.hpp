// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../core/forked.hpp"
#include "../core/scratch_folder.hpp"
#include "paths.hpp"
#include "text.hpp"

// Runs programs as a user does: what they print, where, and their exit code.
namespace dpsosp {

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

/// `dpsosp` with the words of a line, and then those of a list.
inline Result dpsosp(const std::string& line, const std::vector<std::string>& rest = {}) {
  std::vector<std::string> all = words(line);
  all.insert(all.end(), rest.begin(), rest.end());
  return run_program(built_program("dpsosp"), all);
}

/// The same, of a command that says nothing on stderr and succeeds.
inline std::string answer(const std::string& line, const std::vector<std::string>& rest = {}) {
  const Result r = dpsosp(line, rest);
  EXPECT_TRUE(r.code == 0 && r.err.empty()) << line << '\n' << r.code << ' ' << r.err;
  return r.out;
}

/// Nothing on stdout; on stderr one line, with a line end, that holds `part`.
inline void expect_one_error_line(const Result& result, int code, const std::string& part) {
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines(result.err).size(), 1U) << result.err;
  EXPECT_TRUE(result.err.ends_with('\n')) << result.err;
  EXPECT_TRUE(has(result.err, part));
}

/// Every case of a table is refused in one line: `CODE arguments | part of the line`, 2 where there
/// is no code. A line `$ words` has those with which the commands below begin; `{a b}` stands for a
/// and for b, each in a case of its own.
inline void expect_refusals(const std::string& table) {
  std::string start;
  for (const std::string& line : lines(table)) {
    if (line.empty()) continue;
    if (line[0] == '$') {
      start = line.substr(1);
      continue;
    }
    const auto bar = line.find(" | ");
    ASSERT_NE(bar, std::string::npos) << line;
    std::string arguments = line.substr(0, bar);
    const int code = std::isdigit(line[0]) != 0 ? line[0] - '0' : 2;
    if (code != 2) arguments.erase(0, 1);
    const auto open = arguments.find('{'), close = arguments.find('}', open);
    const bool several = close != std::string::npos;
    for (const std::string& one : several ? words(arguments.substr(open + 1, close - open - 1))
                                          : std::vector<std::string>{""}) {
      std::string command = start + ' ' + arguments;
      if (several) command.replace(command.find('{'), close - open + 1, one);
      SCOPED_TRACE(command);
      expect_one_error_line(dpsosp(command), code, line.substr(bar + 3));
    }
  }
}

}  // namespace dpsosp
