// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/isolation/guest_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/wire/questions.hpp"
#include "server.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view where = "isolated run";
constexpr timeval longest_silence{.tv_sec = 600, .tv_usec = 0};

/// What a program may write, fit for a line of text.
std::string one_line(std::string text) {
  constexpr std::size_t longest = 400;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return InputError(text).what();
}

/// The noise that the plan of a guest may have, or why it has none.
void answer_noise(wire::Channel& guest,
                  const std::vector<PlannedQuery>& plan,
                  const GuestProcess::Told& told,
                  const PublicFacts& facts) {
  try {
    const CalibratedNoise noise =
        calibrate_common_noise(plan, facts.records, told.how.budget, told.how.calibrator);
    wire::PlanNoise answer{.sensitivity_ratio = told.common_noise.value_or(noise.sensitivity_ratio),
                           .calibrator = noise.rule.calibrator,
                           .order = noise.rule.order,
                           .deviations = Vector(std::ssize(plan))};
    for (std::size_t k = 0; k < plan.size(); ++k) {
      answer.queries += plan[k].count;
      answer.deviations[static_cast<Index>(k)] =
          plan_gaussian(plan[k].policy,
                        plan[k].use,
                        facts.records,
                        1.0,
                        Noise::sensitivity_ratio(answer.sensitivity_ratio))
              .standard_deviation;
    }
    guest.post("ok", answer);
  } catch (const UnsupportedError& e) {
    guest.post("unsupported", e.what());
  } catch (const InputError& e) {
    guest.post("input", e.what());
  }
}

/// Programs of the first version say none.
void check_version(wire::Message& ready) {
  std::int64_t spoken = 1;
  try {
    spoken = ready.integer();
  } catch (const wire::Broken&) {
  }
  if (spoken != wire::version)
    throw InputError(fmt::format("{}: the program speaks version {} of the protocol, expected {}",
                                 where,
                                 spoken,
                                 wire::version));
}

}  // namespace

std::filesystem::path guest_program() {
  namespace fs = std::filesystem;
  constexpr const char* name = "dpsosp-guest";
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / name;
  if (fs::exists(beside)) return beside;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::path(folder).is_absolute() && fs::exists(fs::path(folder) / name))
      return fs::path(folder) / name;
  return beside;
}

class GuestProcess::Process {
 public:
  Process(const SealedProgram* program,
          const std::string& starter,
          const Surroundings& surroundings)
      : Process(pair(), program, starter, surroundings) {}

  ~Process() { end(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  wire::Channel& channel() { return channel_; }

  GuestFailed failure(const wire::Broken& e) {
    const bool gone = dynamic_cast<const wire::Gone*>(&e) != nullptr;
    return GuestFailed(fmt::format("{}: {}: {}", where, one_line(e.what()), epitaph(gone)));
  }

 private:
  class Descriptor {
   public:
    explicit Descriptor(int number) : number_(number) {
      if (number < 0) throw std::runtime_error(fmt::format("{}: {}", where, std::strerror(errno)));
    }
    ~Descriptor() { close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

   private:
    int number_;
  };

  /// How the guest ended. \param gone  it has ended or is about to; else it is ended here
  std::string epitaph(bool gone) {
    using std::chrono::milliseconds;
    for (int k = 0; gone && k < 200 && !ended(); ++k) std::this_thread::sleep_for(milliseconds(1));
    std::string text;
    if (status_ && WIFSIGNALED(*status_)) {
      const int signal = WTERMSIG(*status_);
      text = signal == SIGSYS ? "killed for a system call that guests may not make"
                              : fmt::format("ended by signal {} ({})", signal, strsignal(signal));
    } else if (status_) {
      text = fmt::format("ended with status {}", WEXITSTATUS(*status_));
    } else {
      text = "killed";
    }
    end();
    const std::string said = last_line();
    return said.empty() ? text : text + "; it wrote: " + said;
  }

  Process(std::array<int, 2> sockets,
          const SealedProgram* program,
          const std::string& starter,
          const Surroundings& surroundings)
      : socket_(sockets[0]),
        written_(memfd_create("guest's standard error", MFD_CLOEXEC)),
        channel_(sockets[0]) {
    const Descriptor other(sockets[1]);
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
      setsockopt(sockets[0], SOL_SOCKET, option, &longest_silence, sizeof longest_silence);
    start(other.number(), program, starter, surroundings);
  }

  static std::array<int, 2> pair() {
    std::array<int, 2> sockets{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
      throw std::runtime_error(fmt::format("{}: {}", where, std::strerror(errno)));
    return sockets;
  }

  void start(int socket,
             const SealedProgram* program,
             const std::string& starter,
             const Surroundings& surroundings) {
    const std::string path = starter.empty() ? guest_program().string() : starter;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, written_.number(), STDERR_FILENO);
    int first_closed = STDERR_FILENO + 1;
    if (program != nullptr)
      posix_spawn_file_actions_adddup2(&actions, program->descriptor(), first_closed++);
    posix_spawn_file_actions_addclosefrom_np(&actions, first_closed);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::vector<std::string> words = words_of(program, surroundings),
                             settings = environment_of(program, surroundings);
    std::vector<char*> arguments, environment;
    for (std::string& word : words) arguments.push_back(word.data());
    for (std::string& setting : settings) environment.push_back(setting.data());
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    const int error = posix_spawn(
        &id_, path.c_str(), &actions, &attributes, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
      id_ = -1;
      throw InputError(fmt::format("{}: {}: {}", where, path, std::strerror(error)));
    }
  }

  static std::vector<std::string> words_of(const SealedProgram* program,
                                           const Surroundings& surroundings) {
    std::vector<std::string> words{"dpsosp-guest"};
    if (program == nullptr) return words;
    words.insert(words.end(), {program->path(), surroundings.interpreter});
    words.insert(words.end(), surroundings.readable.begin(), surroundings.readable.end());
    return words;
  }

  /// Nothing of this process's environment but what has no secrets. A program's numbers must not
  /// depend on how many processors there are, nor on the order in which Python hashes.
  static std::vector<std::string> environment_of(const SealedProgram* program,
                                                 const Surroundings& surroundings) {
    std::vector<std::string> all{"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
    if (const char* set = std::getenv("DPSOSP_SIMD"))
      all.push_back(std::string("DPSOSP_SIMD=") + set);
    if (program == nullptr) return all;
    for (const char* one : {"OMP_NUM_THREADS=1",
                            "OPENBLAS_NUM_THREADS=1",
                            "MKL_NUM_THREADS=1",
                            "PYTHONHASHSEED=0",
                            "PYTHONDONTWRITEBYTECODE=1"})
      all.emplace_back(one);
    if (!surroundings.modules.empty())
      all.push_back(fmt::format("PYTHONPATH={}", fmt::join(surroundings.modules, ":")));
    return all;
  }

  bool ended() {
    if (status_ || id_ < 0) return true;
    int status = 0;
    if (waitpid(id_, &status, WNOHANG) == id_) status_ = status;
    return status_.has_value();
  }

  void end() {
    if (id_ < 0) return;
    kill(-id_, SIGKILL);  // with what it started; it leads a session that nobody can leave
    if (!status_) {
      int status = 0;
      while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
      }
      status_ = status;
    }
    id_ = -1;
  }

  std::string last_line() const {
    std::array<char, 2000> tail{};
    const off_t size = lseek(written_.number(), 0, SEEK_END);
    const off_t from = std::max<off_t>(0, size - static_cast<off_t>(tail.size()));
    const ssize_t got = pread(written_.number(), tail.data(), tail.size(), from);
    std::string text(tail.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return one_line(text.substr(text.rfind('\n') + 1));
  }

  Descriptor socket_, written_;
  wire::Channel channel_;
  pid_t id_ = -1;
  std::optional<int> status_;
};

namespace {

/// \throws InputError if the program could read what holds records or secrets
const Surroundings& without_hidden(const Surroundings& surroundings) {
  const std::string hidden = hidden_among(surroundings.readable);
  if (!hidden.empty())
    throw InputError(fmt::format(
        "{}: the card's `reads` would show {} to the program; keep data and stores out of its "
        "folders",
        where,
        hidden));
  return surroundings;
}

}  // namespace

GuestProcess::GuestProcess(const SealedProgram* program,
                           const std::string& starter,
                           const Surroundings& surroundings)
    : process_(std::make_unique<Process>(program, starter, without_hidden(surroundings))),
      speaker_(program == nullptr ? "" : fmt::format("{}: the program says: ", where)) {}
GuestProcess::~GuestProcess() = default;

PreparedGuest GuestProcess::prepare(const Told& told, const PublicFacts& facts) {
  const Preparation& how = told.how;
  try {
    wire::Channel& guest = process_->channel();
    guest.post(
        "start", wire::version, told.algorithm, how, told.common_noise, told.defaults, facts);
    wire::Message* message = &guest.receive();
    auto name = wire::get<std::string>(*message);
    for (; name == wire::question::noise.name; name = wire::get<std::string>(*message)) {
      const auto plan = wire::get<std::vector<PlannedQuery>>(*message);
      message->end();
      answer_noise(guest, plan, told, facts);
      message = &guest.receive();
    }
    wire::Message& m = *message;
    if (name == "failed") {
      const auto kind = wire::get<std::string>(m), text = wire::get<std::string>(m);
      if (kind == "input") throw InputError(speaker_ + one_line(text));
      throw GuestFailed(fmt::format("{}: {}", where, one_line(text)));
    }
    if (name != "ready") throw wire::Broken("it is not ready when it should be");
    check_version(m);
    auto ready = wire::get<wire::Ready>(m);
    m.end();
    if (ready.whole)
      ready.rule = filter_rule(how.budget,
                               ready.rule.calibrator,
                               ready.rule.order,
                               ready.rule.pure_capacity,
                               ready.rule.delta_extra == 0
                                   ? 0.0
                                   : ready.rule.delta_extra * (1.0 + std::exp(how.budget.epsilon)));
    ready.scheduled.rule = ready.rule;
    return {std::move(ready.scheduled), std::move(ready.parameters), std::move(ready.plan)};
  } catch (const wire::Broken& e) {
    throw process_->failure(e);
  }
}

Outcome GuestProcess::run(Curator& curator, const Stream& coins, Observer& observer) {
  try {
    process_->channel().post("run");
    return Server(process_->channel(), curator, coins, observer).serve();
  } catch (const GuestFailed& e) {
    throw GuestFailed(fmt::format("{}: {}", where, one_line(e.what())));
  } catch (const InputError& e) {
    throw InputError(speaker_ + one_line(e.what()));
  } catch (const wire::Broken& e) {
    throw process_->failure(e);
  }
}

}  // namespace dpsosp
