// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <csignal>
#include <map>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dpsosp/core/ask_program.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace dpsosp {
namespace {

sigset_t forwarded_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

}  // namespace

int run_commands(const std::vector<std::vector<std::string>>& commands, std::size_t at_a_time,
                 std::vector<std::pair<std::size_t, int>>& failed) {
  await_children();
  const sigset_t awaited = forwarded_signals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &awaited, &before);
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0;
  int stopped = 0;
  const auto start = [&] {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &before);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> argv = argument_vector(commands[next]);
    pid_t child = 0;
    if (posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ) == 0)
      running.emplace(child, next);
    else
      failed.emplace_back(next, 127);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    ++next;
  };
  for (;;) {
    while (stopped == 0 && next < commands.size() && running.size() < at_a_time) start();
    if (running.empty()) break;
    int signal = 0;
    sigwait(&awaited, &signal);
    if (signal != SIGCHLD) {
      if (stopped == 0) stopped = signal;
      // Ctrl-C in a terminal has reached them already, and a second one would end them at once.
      for (const auto& [child, place] : running) ::kill(child, signal == SIGINT ? SIGTERM : signal);
    }
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = running.find(ended);
      if (found == running.end()) continue;
      if (status != 0) failed.emplace_back(found->second, exit_code_of(status));
      running.erase(found);
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return stopped;
}

}  // namespace dpsosp
