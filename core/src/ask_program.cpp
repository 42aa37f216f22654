// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/ask_program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace dpsosp {

std::vector<char*> argument_vector(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));  // NOLINT
  argv.push_back(nullptr);
  return argv;
}

int exit_code_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

void await_children() { ::signal(SIGCHLD, SIG_DFL); }

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

}  // namespace dpsosp
