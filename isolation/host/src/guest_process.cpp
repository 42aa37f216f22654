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
#include <deque>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/wire/channel.hpp"
#include "dpsosp/wire/questions.hpp"
#include "output_reader.hpp"
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

/// How a program's interpreter calls the program.
std::string sealed_path() { return fmt::format("/proc/self/fd/{}", wire::file_of_program); }

/// What an author cannot know who has not read docs/isolation.md; empty: nothing.
std::string advice_on(std::string_view said) {
  if (said.find("No module named") != std::string_view::npos)
    return "; a program finds modules below /usr, in its virtual environment, and in the folders "
           "that its card's `reads` names";
  return {};
}

/// \throws InputError for a batch that `draw` would refuse
void check_plan(const std::vector<PlannedQuery>& plan, Index records) {
  using enum BatchPolicy::Kind;
  for (const PlannedQuery& row : plan) {
    const BatchPolicy& policy = row.policy;
    if (policy.kind == poisson && !(policy.rate > 0 && policy.rate <= 1))
      reject("plan", "rate", policy.rate, "in (0, 1]");
    if ((policy.kind == fresh || policy.kind == sample) &&
        !(policy.size >= 1 && policy.size <= records))
      reject("plan", "size", static_cast<double>(policy.size),
             fmt::format("in [1, records] with records = {}", records));
  }
}

/// The noise that the plan of a guest may have, or why it has none.
void answer_noise(wire::Channel& guest, const std::vector<PlannedQuery>& plan,
                  const GuestProcess::Told& told, const PublicFacts& facts) {
  try {
    check_plan(plan, facts.records);
    const CalibratedNoise noise =
        calibrate_common_noise(plan, facts.records, told.how.budget, told.how.calibrator);
    wire::PlanNoise answer{.sensitivity_ratio = told.common_noise.value_or(noise.sensitivity_ratio),
                           .calibrator = noise.rule.calibrator,
                           .order = noise.rule.order,
                           .deviations = Vector(std::ssize(plan))};
    for (std::size_t k = 0; k < plan.size(); ++k) {
      answer.queries += plan[k].count;
      answer.deviations[static_cast<Index>(k)] =
          plan_gaussian(plan[k].policy, plan[k].use, facts.records, 1.0,
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
                                 where, spoken, wire::version));
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
  Process(const SealedProgram* program, const std::string& starter,
          const Surroundings& surroundings)
      : Process(pair(), program, starter, surroundings) {}

  ~Process() { end(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  wire::Channel& channel() { return channel_; }

  /// The next message.
  wire::Message& receive() {
    wire::Message& message = channel_.receive();
    has_spoken_ = true;
    return message;
  }

  /// Why the guest broke off; ends it.
  GuestFailed failure(const wire::Broken& e) {
    const bool gone = dynamic_cast<const wire::Gone*>(&e) != nullptr;
    std::string how = epitaph(gone);
    tell_failure();
    const std::string said = output_.last_lines().empty() ? "" : output_.last_lines().back();
    if (!has_spoken_ && gone && is_program()) {
      const bool ended_well = status_ && WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0;
      how = "before it said anything on the socket that DPSOSP_SOCKET names: " + how;
      if (ended_well) how += "; one in Python ends with dpsosp.serve(CLASS)";
    }
    return GuestFailed(fmt::format("{}: {}{}: {}", where, place(), one_line(e.what()), how),
                       said.empty() ? "" : "; it wrote: " + one_line(said) + advice_on(said));
  }

  /// What a guest says of its failure, or of its input.
  std::string reason(const std::string& text) const {
    return one_line(with_replaced(text, sealed_path(), file_name())) + advice_on(text);
  }

  /// Lets a guest that has said its last word end by itself, and the follower read what it wrote.
  void let_end() {
    for (int k = 0; k < 1000 && !ended(); ++k) wait_a_millisecond();
    end();
    output_.last_lines();
  }

  /// Shows the follower what a guest wrote before its failure; ends it.
  void tell_failure() {
    let_end();
    const auto& told = output_follower().failed;
    const std::deque<std::string>& last = output_.last_lines();
    if (told && !last.empty()) told(file_name(), {last.begin(), last.end()});
  }

  bool is_program() const { return !program_.empty(); }

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

  static void wait_a_millisecond() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

  std::string file_name() const {
    return is_program() ? std::filesystem::path(program_).filename().string() : "dpsosp-guest";
  }

  /// "mine.py:12: ", the last line of the program in the traceback of a Python that ended.
  std::string place() {
    const std::string file = fmt::format("File \"{}\", line ", program_);
    const std::deque<std::string>& lines = output_.last_lines();
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      const auto at = line->find(file);
      if (!is_program() || at == std::string::npos) continue;
      const std::string rest = line->substr(at + file.size());
      return fmt::format("{}:{}: ", file_name(),
                         rest.substr(0, rest.find_first_not_of("0123456789")));
    }
    return {};
  }

  /// How the guest ended. \param gone  it has ended or is about to; else it is ended here
  std::string epitaph(bool gone) {
    for (int k = 0; gone && k < 200 && !ended(); ++k) wait_a_millisecond();
    std::string text;
    if (status_ && WIFSIGNALED(*status_)) {
      const int signal = WTERMSIG(*status_);
      text = signal == SIGSYS ? "killed for a system call that guests may not make"
                              : fmt::format("ended by signal {} ({}{})", signal, strsignal(signal),
                                            signal == SIGSEGV ? ", or abort" : "");
    } else if (status_) {
      text = fmt::format("ended with status {}", WEXITSTATUS(*status_));
    } else {
      text = "killed";
    }
    end();
    return text;
  }

  Process(std::array<int, 2> sockets, const SealedProgram* program, const std::string& starter,
          const Surroundings& surroundings)
      : program_(program == nullptr ? "" : program->path()),
        socket_(sockets[0]),
        output_(is_program() ? sealed_path() : "", program_),
        channel_(sockets[0]) {
    const Descriptor other(sockets[1]);
    for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
      setsockopt(sockets[0], SOL_SOCKET, option, &longest_silence, sizeof longest_silence);
    start(other.number(), program, starter, surroundings);
    output_.close_writer();
  }

  static std::array<int, 2> pair() {
    std::array<int, 2> sockets{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
      throw std::runtime_error(fmt::format("{}: {}", where, std::strerror(errno)));
    return sockets;
  }

  void start(int socket, const SealedProgram* program, const std::string& starter,
             const Surroundings& surroundings) {
    const std::string path = starter.empty() ? guest_program().string() : starter;
    // Copies above all targets, so that none is written over before it has its own.
    const auto above = [](int number) { return fcntl(number, F_DUPFD_CLOEXEC, 10); };
    const Descriptor to_host(above(socket)), written(above(output_.writer()));
    std::optional<Descriptor> file;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, written.number(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, written.number(), STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, to_host.number(), wire::socket_of_guest);
    if (program != nullptr) {
      file.emplace(above(program->descriptor()));
      posix_spawn_file_actions_adddup2(&actions, file->number(), wire::file_of_program);
    }
    posix_spawn_file_actions_addclosefrom_np(
        &actions, program != nullptr ? wire::file_of_program + 1 : wire::socket_of_guest + 1);
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
    const int error = posix_spawn(&id_, path.c_str(), &actions, &attributes, arguments.data(),
                                  environment.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
      id_ = -1;
      if (error == ENOENT && starter.empty())
        throw InputError(fmt::format(
            "{}: dpsosp-guest lies neither beside this program, as {}, nor in a folder of PATH; "
            "an installation has it in its bin",
            where, path));
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
    std::vector<std::string> all{"PATH=/usr/bin:/bin", "LANG=C.UTF-8",
                                 fmt::format("DPSOSP_SOCKET={}", wire::socket_of_guest)};
    if (const char* set = std::getenv("DPSOSP_SIMD"))
      all.push_back(std::string("DPSOSP_SIMD=") + set);
    if (program == nullptr) return all;
    for (const char* one : {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1",
                            "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1"})
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
    socket_.reset();  // a message in it may hold the guest's end of output_
  }

  std::string program_;  // path; empty: an algorithm of the suite
  std::optional<Descriptor> socket_;
  OutputReader output_;
  wire::Channel channel_;
  bool has_spoken_ = false;
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
        where, hidden));
  return surroundings;
}

}  // namespace

GuestProcess::GuestProcess(const SealedProgram* program, const std::string& starter,
                           const Surroundings& surroundings)
    : process_(std::make_unique<Process>(program, starter, without_hidden(surroundings))),
      speaker_(program == nullptr ? "" : fmt::format("{}: the program says: ", where)) {}
GuestProcess::~GuestProcess() = default;

PreparedGuest GuestProcess::prepare(const Told& told, const PublicFacts& facts) {
  const Preparation& how = told.how;
  std::string name;  // of the message that is read
  const auto next = [&]() -> wire::Message& {
    name.clear();
    wire::Message& message = process_->receive();
    name = wire::get<std::string>(message);
    return message;
  };
  try {
    wire::Channel& guest = process_->channel();
    guest.post("start", wire::version, told.algorithm, how, told.common_noise, told.defaults,
               facts);
    wire::Message* message = &next();
    while (name == wire::question::noise.name) {
      const auto plan = wire::get<std::vector<PlannedQuery>>(*message);
      message->end();
      answer_noise(guest, plan, told, facts);
      message = &next();
    }
    wire::Message& m = *message;
    if (name == "failed") {
      const auto kind = wire::get<std::string>(m);
      const std::string reason = process_->reason(wire::get<std::string>(m));
      process_->tell_failure();
      if (kind == "input") throw InputError(speaker_ + reason);
      throw GuestFailed(fmt::format("{}: {}", where, reason));
    }
    if (name != "ready") throw wire::Broken("it is not ready when it should be");
    check_version(m);
    auto ready = wire::get<wire::Ready>(m);
    m.end();
    if (process_->is_program()) check_plan(ready.plan, facts.records);
    if (ready.whole)
      ready.rule =
          filter_rule(how.budget, ready.rule.calibrator, ready.rule.order, ready.rule.pure_capacity,
                      ready.rule.delta_extra == 0
                          ? 0.0
                          : ready.rule.delta_extra * (1.0 + std::exp(how.budget.epsilon)));
    ready.scheduled.rule = ready.rule;
    return {std::move(ready.scheduled), std::move(ready.parameters), std::move(ready.plan)};
  } catch (const wire::Gone& e) {
    throw process_->failure(e);
  } catch (const wire::Broken& e) {
    if (name.empty()) throw process_->failure(e);
    throw process_->failure(wire::Broken(fmt::format("{}: {}", name, e.what())));
  }
}

Outcome GuestProcess::run(Curator& curator, const Stream& coins, Observer& observer) {
  try {
    process_->channel().post("run");
    Outcome outcome = Server(process_->channel(), curator, coins, observer).serve();
    if (outcome.status == Status::not_finite)
      process_->tell_failure();
    else if (output_follower().line)
      process_->let_end();
    return outcome;
  } catch (const GuestFailed& e) {
    process_->tell_failure();
    throw GuestFailed(fmt::format("{}: {}", where, process_->reason(e.what())));
  } catch (const InputError& e) {
    process_->tell_failure();
    throw InputError(speaker_ + process_->reason(e.what()));
  } catch (const wire::Broken& e) {
    throw process_->failure(e);
  }
}

}  // namespace dpsosp
