// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace dpsosp {
namespace {

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<char*> argument_vector(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));  // NOLINT
  argv.push_back(nullptr);
  return argv;
}

/// Lets this process wait for its children, even where what started it ignores their end.
void await_children() { ::signal(SIGCHLD, SIG_DFL); }

sigset_t forwarded_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

}  // namespace

ProgramAnswer ask_program(const std::vector<std::string>& words) {
  await_children();
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& pipe : pipes)
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
      throw InputError(fmt::format("{}: cannot be run ({})", words[0], std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipes[0][1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDERR_FILENO);
  pid_t child = 0;
  std::vector<char*> argv = argument_vector(words);
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  for (const auto& pipe : pipes) ::close(pipe[1]);
  ProgramAnswer answer;
  std::array<std::string*, 2> texts{&answer.out, &answer.err};
  std::array<pollfd, 2> open{pollfd{pipes[0][0], POLLIN, 0}, pollfd{pipes[1][0], POLLIN, 0}};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (::poll(open.data(), open.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t k = 0; k < open.size(); ++k) {
      if (open[k].fd < 0 || open[k].revents == 0) continue;
      std::array<char, 4096> part{};
      const ssize_t got = ::read(open[k].fd, part.data(), part.size());
      if (got > 0) texts[k]->append(part.data(), static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno != EINTR)) open[k].fd = -1;
    }
  }
  for (const auto& pipe : pipes) ::close(pipe[0]);
  if (error != 0) {
    answer.code = 127;
    answer.err = std::strerror(error);
    return answer;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  answer.code = exit_code_of(status);
  return answer;
}

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
