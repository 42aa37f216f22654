// SPDX-License-Identifier: Apache-2.0
// A guest that tries to break out. Started by dpsosp-guest as the caller's program it is in the
// sandbox of programs; started in place of dpsosp-guest it enters the sandbox of algorithms itself.
// What it tries is the setting `attack`; it reports what came of it as the reason of its failure.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dpsosp/guest/sandbox.hpp"
#include "dpsosp/wire/parts.hpp"

namespace {

using dpsosp::Index;
using dpsosp::Vector;
using dpsosp::wire::Channel;
using dpsosp::wire::Message;

struct Start {
  std::string attack, argument;
  dpsosp::PublicFacts facts;
};

constexpr int to_host = dpsosp::wire::socket_of_guest;
Channel host(to_host);

[[noreturn]] void report(const std::string& text) {
  host.post("failed", "exception", text);
  host.flush();
  _exit(0);
}

/// Sends bytes as they are.
void send_raw(std::string_view bytes) {
  host.flush();
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t step = ::send(to_host, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (step <= 0) _exit(3);
    sent += static_cast<std::size_t>(step);
  }
}
std::string framed(std::string_view body) {
  std::string bytes;
  for (int k = 0; k < 4; ++k) bytes += static_cast<char>(body.size() >> (8 * k) & 0xFF);
  return bytes.append(body);
}

template <class... Parts>
Message& ask(std::string_view name, const Parts&... parts) {
  host.post(name, parts...);
  return host.receive();
}
template <class... Parts>
std::int64_t opened(std::string_view name, const Parts&... parts) {
  Message& answer = ask(name, parts...);
  if (answer.text() != "ok") report("refused: " + std::string(answer.text()));
  return answer.integer();
}
/// The first word of the answer, and of a refusal its reason.
template <class... Parts>
std::string heard(std::string_view name, const Parts&... parts) {
  Message& answer = ask(name, parts...);
  const std::string word(answer.text());
  return word == "ok" ? word : word + ": " + std::string(answer.text());
}

std::string result(long value) {
  return value >= 0 ? "succeeded" : std::string(strerrorname_np(errno));
}
std::string opening(const std::string& path, int flags = O_RDONLY) {
  return result(open(path.c_str(), flags, 0600));
}
std::string of_parent(const char* file) {
  return "/proc/" + std::to_string(getppid()) + "/" + file;
}

std::string inherited_descriptors() {
  int count = 0;
  for (int fd = to_host + 1; fd < 4096; ++fd) count += fcntl(fd, F_GETFD) != -1 ? 1 : 0;
  return std::to_string(count);
}
std::string environment() {
  std::string all;
  for (char** entry = environ; *entry != nullptr; ++entry) all += std::string(*entry) + " ";
  return all;
}

/// Far more than a pipe holds, on descriptors that are no part of the protocol.
void print_much() {
  const std::string line = std::string(100, 'x') + '\n';
  for (int k = 0; k < 20'000; ++k)
    for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO})
      if (write(descriptor, line.data(), line.size()) < 0) _exit(8);
}

void print(std::string_view text) {
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(8);
}

/// Sends the host the descriptor of what is printed, with a message that it does not wait for.
void send_descriptor() {
  std::array<char, 1> byte{};
  iovec there{byte.data(), byte.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &there;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int descriptor = STDOUT_FILENO;
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (sendmsg(to_host, &message, MSG_NOSIGNAL) < 0) _exit(9);
}

/// System calls that would lead out, and what each said.
std::string escape(const std::string& way, const std::string& argument) {
  std::array<char, 64> bytes{};
  const iovec here{bytes.data(), bytes.size()};
  const iovec there{reinterpret_cast<void*>(&environ), bytes.size()};
  const std::map<std::string, std::function<std::string()>> ways{
      {"read_file", [&] { return opening(argument); }},
      {"write_file", [&] { return opening("/tmp/written-by-a-guest", O_WRONLY | O_CREAT); }},
      {"list_folder", [] { return opening("/tmp", O_RDONLY | O_DIRECTORY); }},
      {"memory_of_host", [] { return opening(of_parent("mem")); }},
      {"environment_of_host", [] { return opening(of_parent("environ")); }},
      {"maps_of_host", [] { return opening(of_parent("maps")); }},
      {"descriptors_of_host", [] { return opening(of_parent("fd"), O_RDONLY | O_DIRECTORY); }},
      {"ptrace", [] { return result(ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr)); }},
      {"process_vm_readv",
       [&] { return result(process_vm_readv(getppid(), &here, 1, &there, 1, 0)); }},
      {"pidfd_open", [] { return result(syscall(SYS_pidfd_open, getppid(), 0)); }},
      {"kill_host", [] { return result(kill(getppid(), SIGKILL)); }},
      {"own_signals", [] { return result(fcntl(to_host, F_SETOWN, getppid())); }},
      {"choose_signal", [] { return result(fcntl(to_host, F_SETSIG, SIGKILL)); }},
      {"ask_for_signals", [] { return result(fcntl(to_host, F_SETFL, O_ASYNC)); }},
      {"internet", [] { return result(socket(AF_INET, SOCK_STREAM, 0)); }},
      {"local_socket", [] { return result(socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"shared_memory", [] { return result(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)); }},
      {"new_session", [] { return result(setsid()); }},
      {"new_namespace", [] { return result(syscall(SYS_unshare, 0x10000000)); }},
      {"mount", [] { return result(mount("none", "/tmp", "tmpfs", 0, nullptr)); }},
      {"bpf", [] { return result(syscall(SYS_bpf, BPF_PROG_LOAD, nullptr, 0)); }},
      {"perf", [] { return result(syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0)); }},
      {"io_uring", [] { return result(syscall(SYS_io_uring_setup, 1, nullptr)); }},
      {"userfaultfd", [] { return result(syscall(SYS_userfaultfd, 0)); }},
      {"keyring", [] { return result(syscall(SYS_keyctl, 0, -3, 0)); }},
      {"file_handle", [] { return result(syscall(SYS_open_by_handle_at, AT_FDCWD, nullptr, 0)); }},
      {"memfd", [] { return result(syscall(SYS_memfd_create, "x", 0)); }},
      {"set_user", [] { return result(setuid(0)); }},
      {"fork", [] { return result(fork()); }},
      {"out_of_band", [] { return result(send(to_host, "x", 1, MSG_OOB)); }},
      {"out_of_band_message",
       [&] {
         msghdr message{};
         message.msg_iov = const_cast<iovec*>(&here);
         message.msg_iovlen = 1;
         return result(sendmsg(to_host, &message, MSG_OOB));
       }},
      {"peer_of_socket",
       [&] {
         socklen_t size = bytes.size();
         return result(getsockopt(to_host, SOL_SOCKET, SO_PEERCRED, bytes.data(), &size));
       }},
      {"type_of_socket",
       [&] {
         socklen_t size = bytes.size();
         return result(getsockopt(to_host, SOL_SOCKET, SO_TYPE, bytes.data(), &size));
       }},
      {"thread",
       [] {
         std::thread([] {}).join();
         return std::string("succeeded");
       }},
      {"raise_limit", [] { return result(syscall(SYS_prlimit64, 0, 0, nullptr, nullptr)); }},
      {"inherited", inherited_descriptors},
      {"environment", environment},
  };
  const auto found = ways.find(way);
  return found == ways.end() ? "unknown way" : found->second();
}

/// Breaks the protocol, or asks what must be refused.
void misbehave(const Start& start) {
  const std::string& a = start.attack;
  const Index d = start.facts.dimension;
  const Vector zero = Vector::Zero(d), long_one = Vector::Zero(d + 1);
  const Vector nan = Vector::Constant(d, std::nan(""));
  const dpsosp::GradientQuery query{1.0, dpsosp::Noise::sensitivity_ratio(1e4), dpsosp::Block::x};
  const auto batch = [] {
    return opened("draw", Index{0}, dpsosp::BatchPolicy::all(), dpsosp::BatchUse::several_queries);
  };
  if (a == "exit") _exit(7);
  if (a == "crash_later") {
    const auto b = batch();
    for (int k = 0; k < 5; ++k) heard("gradient", Index{0}, zero, Vector{}, b, query);
    __builtin_trap();
  }
  const auto ask_once = [&] { heard("gradient", Index{0}, zero, Vector{}, batch(), query); };
  if (a == "blames_the_input") {  // to end as if nothing had been asked
    ask_once();
    host.post("failed", "input", "steps = 0, expected 1 or more\n" + std::string(5000, 'x'));
  }
  if (a == "unknown_status") {
    ask_once();
    host.post("done", "at_rest", Index{1}, zero, Index{0});
  }
  if (a == "point_not_finite") {
    ask_once();
    host.post("done", "steps_done", Index{1}, nan, Index{0});
  }
  if (a == "says_not_finite") {
    ask_once();
    host.post("done", "not_finite", Index{1}, nan, Index{0});
  }
  if (a == "overflowing_point") {
    ask_once();
    host.post("done", "steps_done", Index{1}, Vector(Vector::Constant(d, 1e308)), Index{0});
  }
  if (a == "negative_steps") {
    ask_once();
    host.post("done", "steps_done", Index{-1}, zero, Index{0});
  }
  if (a == "estimate_not_finite") {
    ask_once();
    host.post("estimate", Index{0}, zero, nan);
    host.post("done", "steps_done", Index{1}, zero, Index{0});
  }
  if (a == "no_utf8") {
    ask_once();
    host.post("done", "steps_done", Index{1}, zero, Index{1},
              "a\xff"
              "b",
              Index{3});
  }
  if (a == "truncated") {
    send_raw(std::string("\x40\0\0\0abc", 7));
    _exit(0);
  }
  if (a == "text") send_raw("hello, world\n");
  if (a == "short_text") send_raw("abc\ndef");  // as a length 166 MiB, which are not waited for
  if (a == "one_letter") {
    send_raw("x");
    host.post("remaining", Index{0});
  }
  if (a == "leaves_its_output_open") {
    for (int k = 0; k < 2000; ++k) host.post("remaining", Index{0});  // while the rest is sent
    send_raw("hello");
    send_descriptor();
  }
  if (a == "prints_and_exits") {
    print("a\tb\033[2J\nprogress 1\rprogress 2\r\n" + std::string(3000, 'y') + "\nlast");
    _exit(3);
  }
  if (a == "prints_many_lines") {
    for (int k = 0; k < 100; ++k) print("line " + std::to_string(k) + "\n");
    report("enough");
  }
  if (a == "reads_its_input") {
    std::array<char, 1> byte{};
    report(read(STDIN_FILENO, byte.data(), 1) == 0 ? "nothing to read" : "something to read");
  }
  if (a == "huge_length") send_raw("\xff\xff\xff\xff");
  if (a == "garbage") send_raw(framed("\xc1\xc1\xc1\xc1"));
  if (a == "array") send_raw(framed("\x93\x01\x02\x03"));
  if (a == "deep") send_raw(framed(std::string(100000, '\x91')));
  if (a == "array_of_billions") send_raw(framed(std::string("\xdd\xff\xff\xff\xff", 5)));
  if (a == "text_of_billions") send_raw(framed(std::string("\xdb\xff\xff\xff\xff", 5)));
  if (a == "empty") send_raw(framed(""));
  if (a == "unknown_question") host.post("records");
  if (a == "too_few_parts") host.post("gradient", Index{0});
  if (a == "too_many_parts") host.post("remaining", Index{0}, 1.0);
  if (a == "wrong_kind") host.post("draw", "root");
  if (a == "unknown_batch") host.post("gradient", Index{0}, zero, Vector{}, Index{12345}, query);
  if (a == "dropped_batch") {
    const auto b = batch();
    host.post("drop_batch", b);
    host.post("gradient", Index{0}, zero, Vector{}, b, query);
  }
  if (a == "unknown_curator") host.post("remaining", Index{77});
  if (a == "odd_bytes")
    send_raw(
        framed(std::string("\xa8gradient\x00\xc4\x03"
                           "abc",
                           15)));
  if (a == "hoard") {
    while (true) batch();
  }
  if (a == "words_of_billions")
    host.post("words", std::vector<std::uint64_t>{}, Index{0}, Index{1} << 40);
  if (a == "wrong_output") host.post("done", "steps_done", Index{1}, long_one, Index{0});
  if (a == "wrong_iterate") host.post("iterate", Index{0}, long_one);
  if (a == "table_of_billions") host.post("done", "steps_done", Index{1}, zero, Index{1} << 60);
  host.flush();

  if (a == "wrong_dimension")
    report(heard("gradient", Index{0}, long_one, Vector{}, batch(), query));
  if (a == "not_finite") report(heard("gradient", Index{0}, nan, Vector{}, batch(), query));
  if (a == "no_noise") {
    dpsosp::GradientQuery bare = query;
    bare.noise.value = 0;
    report(heard("gradient", Index{0}, zero, Vector{}, batch(), bare));
  }
  if (a == "nan_noise") {
    dpsosp::GradientQuery bad = query;
    bad.noise.value = std::nan("");
    report(heard("gradient", Index{0}, zero, Vector{}, batch(), bad));
  }
  if (a == "unknown_block") {
    host.post("gradient", Index{0}, zero, Vector{}, batch(), 1.0, "sensitivity_ratio", 1.0, "z");
    Message& answer = host.receive();
    const std::string word(answer.text());
    report(word + ": " + std::string(answer.text()));
  }
  if (a == "ball_of_billions")
    report(heard("ball", std::vector<std::uint64_t>{}, Index{0}, 1.0, Index{1} << 40));
  if (a == "ball_of_nan") {
    const double radius = std::numeric_limits<double>::quiet_NaN();
    report(heard("ball", std::vector<std::uint64_t>{}, Index{0}, radius, Index{3}));
  }
  if (a == "negative_batch")
    report(heard("draw", Index{0}, dpsosp::BatchPolicy::sample(-5), dpsosp::BatchUse::one_query));
  if (a == "double_spending") {  // a child, a session of it, and both after the budget is gone
    dpsosp::ChildSpec whole;
    whole.name = "all";
    const auto child = opened("child", Index{0}, whole);
    const auto b = batch();
    const std::string root = heard("gradient", Index{0}, zero, Vector{}, b, query);
    const std::string again = heard("child", Index{0}, whole);
    const std::string foreign = heard("gradient", child, zero, Vector{}, b, query);
    report(root + " | " + again + " | " + foreign);
  }
  if (a == "many_children") {  // each of other records, at another price
    const auto count = std::atol(start.argument.c_str());
    for (long k = 0; k < count; ++k) {
      dpsosp::ChildSpec spec;
      spec.name = std::to_string(k);
      spec.share = 0.5 / static_cast<double>(count);
      spec.range = {k, start.facts.records - k};
      const auto child = opened("child", Index{0}, spec);
      const auto all = dpsosp::BatchPolicy::all();
      const auto b = opened("draw", child, all, dpsosp::BatchUse::one_query);
      const auto noise = dpsosp::Noise::sensitivity_ratio(1e4 + static_cast<double>(k));
      heard("gradient", child, zero, Vector{}, b,
            dpsosp::GradientQuery{1.0, noise, dpsosp::Block::x});
    }
    host.post("done", "steps_done", count, zero, Index{0});
    host.flush();
    _exit(0);
  }
  if (a == "alternating") {  // two prices in turn, of samples of records that children share out
    const auto count = std::atol(start.argument.c_str());
    const dpsosp::Index part = start.facts.records / 10;
    const auto drawn = [](Index from, const dpsosp::BatchPolicy& policy) {
      return opened("draw", from, policy, dpsosp::BatchUse::one_query);
    };
    const auto ask_of = [&](Index from, Index of, double ratio) {
      const auto noise = dpsosp::Noise::sensitivity_ratio(ratio);
      heard("gradient", from, zero, Vector{}, of,
            dpsosp::GradientQuery{1.0, noise, dpsosp::Block::x});
    };
    for (long k = 0; k < 10; ++k) {
      dpsosp::ChildSpec spec;
      spec.name = std::to_string(k);
      spec.share = 0.5;
      spec.range = {k * part, (k + 1) * part};
      const auto child = opened("child", Index{0}, spec);
      ask_of(child, drawn(child, dpsosp::BatchPolicy::all()), 1e4);
    }
    for (long k = 0; k < count; ++k)
      ask_of(0, drawn(0, dpsosp::BatchPolicy::poisson(0.1)), k % 2 == 0 ? 1e4 : 2e4);
    host.post("done", "steps_done", count, zero, Index{0});
    host.flush();
    _exit(0);
  }
  if (a == "many_queries" || a == "prints") {
    const auto b = batch();
    const auto count = std::atol(start.argument.c_str());
    for (long k = 0; k < count; ++k) {
      if (a == "prints" && k % 2 == 0) print_much();
      Message& answer = ask("gradient", Index{0}, zero, Vector{}, b, query);
      if (answer.text() != "ok") report(std::string(answer.text()));
    }
    host.post("done", "steps_done", count, zero, Index{0});
    host.flush();
    _exit(0);
  }
}

Start hello() {
  Message& m = host.receive();
  Start start;
  if (m.text() != "start") _exit(4);
  const std::int64_t version = m.integer();
  dpsosp::wire::get<std::string>(m);
  const auto how = dpsosp::wire::get<dpsosp::Preparation>(m);
  dpsosp::wire::get<std::optional<double>>(m);               // common noise
  dpsosp::wire::get<std::map<std::string, std::string>>(m);  // defaults
  start.facts = dpsosp::wire::get<dpsosp::PublicFacts>(m);
  start.attack = how.settings.at("attack");
  if (how.settings.contains("argument")) start.argument = how.settings.at("argument");

  dpsosp::wire::Ready ready;
  ready.whole = start.attack != "large_budget";
  ready.rule.calibrator = how.calibrator;
  ready.rule.capacity = 1e6;
  if (start.attack == "large_pure_budget") ready.rule.pure_capacity = how.budget.epsilon * 2;
  if (start.attack == "large_delta") ready.rule.delta_extra = 0.5;
  if (start.attack == "large_alone") {
    ready.whole = false;
    ready.rule.capacity = 0;
    ready.rule.alone_epsilon = how.budget.epsilon * 2;
  }
  if (start.attack == "nan_budget") {
    ready.whole = false;
    ready.rule.capacity = std::nan("");
  }
  if (start.attack == "negative_pure") ready.rule.pure_capacity = -1;
  if (start.attack == "declares") ready.parameters = {{"attack", "declares"}, {"argument", ""}};
  if (start.attack == "first_version")
    host.post("ready", ready);
  else
    host.post("ready", start.attack == "next_version" ? version + 1 : version, ready);
  if (host.receive().text() != "run") _exit(5);
  constexpr std::array<std::string_view, 6> budgets{"large_budget", "large_pure_budget",
                                                    "large_delta",  "large_alone",
                                                    "nan_budget",   "negative_pure"};
  if (std::ranges::find(budgets, start.attack) != budgets.end()) _exit(6);  // it was granted
  return start;
}

}  // namespace

int main(int, char** argv) {
  if (std::string_view(argv[0]) == "dpsosp-guest") dpsosp::enter_sandbox();
  try {
    const Start start = hello();
    constexpr std::string_view prefix = "escape:";
    if (start.attack.starts_with(prefix))
      report(escape(start.attack.substr(prefix.size()), start.argument));
    if (start.attack == "declares") report("it was started");
    misbehave(start);
    host.receive();  // what the host says to it, if anything
    report("the host went on");
  } catch (const dpsosp::wire::Broken&) {
    _exit(6);
  }
}
