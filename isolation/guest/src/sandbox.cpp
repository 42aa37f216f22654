// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/guest/sandbox.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/wire/channel.hpp"

namespace dpsosp {
namespace {

[[noreturn]] void impossible(std::string_view what, int error) {
  throw InputError(fmt::format("isolated run: {}: {}; this kernel cannot isolate it", what,
                               std::strerror(error)));
}

void require(bool success, std::string_view what) {
  if (!success) impossible(what, errno);
}

void limit(__rlimit_resource_t resource, rlim_t most) {
  const rlimit both{most, most};
  require(setrlimit(resource, &both) == 0, "setrlimit");
}

/// What no guest has: a parent that is gone, privileges, core files, files of more than a megabyte.
void give_up_privileges() {
  require(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "PR_SET_PDEATHSIG");
  pollfd host{.fd = wire::socket_of_guest, .events = 0, .revents = 0};
  if (poll(&host, 1, 0) == 1 && (host.revents & POLLHUP) != 0) _exit(1);  // it ended before that
  require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 1 << 20);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  limit(RLIMIT_AS, rlim_t{8} << 30);
#endif
  for (int capability = 0; capability < 64; ++capability)  // refused to all but root, who has them
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  require(syscall(SYS_capset, &header, none.data()) == 0, "capset");
}

/// Landlock as of its sixth version, which is newer than the system's header may be.
namespace landlock {

struct Ruleset {
  std::uint64_t files, network, scopes;
};
struct __attribute__((packed)) Beneath {
  std::uint64_t allowed;
  std::int32_t parent;
};
constexpr std::uint64_t execute = 1U << 0, write_file = 1U << 1, read_file = 1U << 2,
                        read_folder = 1U << 3;

long version() { return syscall(SYS_landlock_create_ruleset, nullptr, 0, 1); }

std::uint64_t all_files(long version) {
  const int bits = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
  return (std::uint64_t{1} << bits) - 1;
}

/// Every access to files, TCP, abstract sockets and signals of others is refused, so far as this
/// kernel's version knows it, but what `allow` adds.
template <class Allow>
void restrict(long version, const Allow& allow) {
  const Ruleset handled{all_files(version), version >= 4 ? 3U : 0U, version >= 6 ? 3U : 0U};
  const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const int rules = static_cast<int>(syscall(SYS_landlock_create_ruleset, &handled, size, 0));
  require(rules >= 0, "landlock_create_ruleset");
  allow(rules);
  require(syscall(SYS_landlock_restrict_self, rules, 0) == 0, "landlock_restrict_self");
  close(rules);
}

void allow_below(int rules, const char* path, std::uint64_t rights) {
  const int parent = ::open(path, O_PATH | O_CLOEXEC);
  if (parent < 0) return;  // what is not there need not be allowed
  const Beneath rule{rights, parent};
  require(syscall(SYS_landlock_add_rule, rules, 1, &rule, 0) == 0, "landlock_add_rule");
  close(parent);
}

/// Of a folder, all below it; a rule on a file takes no right that only folders have.
void allow_reading(int rules, const char* path) {
  struct stat what {};
  if (stat(path, &what) != 0) return;
  allow_below(rules, path, execute | read_file | (S_ISDIR(what.st_mode) ? read_folder : 0U));
}

}  // namespace landlock

/// A condition on an argument of a system call; libseccomp's macros for it are C.
scmp_arg_cmp argument(unsigned index, scmp_compare is, scmp_datum_t first,
                      scmp_datum_t second = 0) {
  return {index, is, first, second};
}

/// A filter of system calls: `otherwise` for those that it does not allow.
class Filter {
 public:
  explicit Filter(std::uint32_t otherwise) : context_(seccomp_init(otherwise)) {
    if (context_ == nullptr) impossible("seccomp", ENOMEM);
  }
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  void allow(std::initializer_list<int> calls) {
    for (const int call : calls) add(seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, 0));
  }
  /// Threads, but no processes, which would outlive a host that is killed, and no namespaces.
  void allow_threads() {
    constexpr std::uint64_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                         CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    constexpr std::uint64_t thread = CLONE_THREAD;
    add(seccomp_rule_add(context_, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                         argument(0, SCMP_CMP_MASKED_EQ, namespaces | thread, thread)));
    // Its flags lie in memory, where no filter sees them; libraries fall back on clone.
    add(seccomp_rule_add(context_, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
  }
  /// Descriptors, but no signals from them to an owner of the guest's choice, which reach any
  /// process of the user.
  void allow_descriptors() {
    constexpr std::array<std::uint64_t, 5> commands{F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD,
                                                    F_GETFL};
    for (const std::uint64_t command : commands)
      add(seccomp_rule_add(context_, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                           argument(1, SCMP_CMP_EQ, command)));
    constexpr std::uint64_t signals = O_ASYNC;
    add(seccomp_rule_add(context_, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2,
                         argument(1, SCMP_CMP_EQ, F_SETFL),
                         argument(2, SCMP_CMP_MASKED_EQ, signals, 0)));
    constexpr std::array<std::uint64_t, 2> requests{FIOCLEX, FIONCLEX};
    for (const std::uint64_t request : requests)
      add(seccomp_rule_add(context_, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                           argument(1, SCMP_CMP_EQ, request)));
  }
  /// A call on a socket, whose flags are its argument `at`: none of those that few programs use
  /// and that kernels have had errors in, such as MSG_OOB.
  void allow_flags(int call, unsigned at) {
    constexpr std::uint64_t usual =
        MSG_PEEK | MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC;
    add(seccomp_rule_add(context_, SCMP_ACT_ALLOW, call, 1,
                         SCMP_CMP(at, SCMP_CMP_MASKED_EQ, low_word & ~usual, 0)));
  }
  /// What a socket is, but not who has its other end.
  void allow_socket_facts() {
    constexpr std::array<std::uint64_t, 4> facts{SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ERROR};
    for (const std::uint64_t fact : facts)
      add(seccomp_rule_add(context_, SCMP_ACT_ALLOW, SCMP_SYS(getsockopt), 2,
                           argument(1, SCMP_CMP_MASKED_EQ, low_word, SOL_SOCKET),
                           argument(2, SCMP_CMP_MASKED_EQ, low_word, fact)));
  }
  void load() { add(seccomp_load(context_)); }

 private:
  static void add(int result) {
    if (result < 0) impossible("seccomp", -result);
  }
  static constexpr std::uint64_t low_word = 0xFFFFFFFF;  // an int's; the rest is not looked at
  scmp_filter_ctx context_;
};

/// What memory, the socket and the end of a process need.
void allow_bare_needs(Filter& filter) {
  filter.allow({SCMP_SYS(brk),          SCMP_SYS(clock_gettime),
                SCMP_SYS(close),        SCMP_SYS(exit),
                SCMP_SYS(exit_group),   SCMP_SYS(futex),
                SCMP_SYS(getpid),       SCMP_SYS(getrandom),
                SCMP_SYS(gettid),       SCMP_SYS(madvise),
                SCMP_SYS(mmap),         SCMP_SYS(mprotect),
                SCMP_SYS(mremap),       SCMP_SYS(munmap),
                SCMP_SYS(read),         SCMP_SYS(restart_syscall),
                SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
                SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_getaffinity),
                SCMP_SYS(sched_yield),  SCMP_SYS(sigaltstack),
                SCMP_SYS(write)});
  filter.allow_flags(SCMP_SYS(recvfrom), 3);
  filter.allow_flags(SCMP_SYS(sendto), 3);
}

}  // namespace

void enter_sandbox() {
  give_up_privileges();
  if (const long version = landlock::version(); version >= 1)
    landlock::restrict(version, [](int) {});
  Filter filter(SCMP_ACT_KILL_PROCESS);
  allow_bare_needs(filter);
  filter.load();
}

void enter_program_sandbox(std::span<const char* const> readable) {
  give_up_privileges();
  const long version = landlock::version();
  require(version >= 1, "Landlock");
  landlock::restrict(version, [&](int rules) {
    using namespace landlock;
    for (const char* path : readable) allow_reading(rules, path);
    for (const char* folder : {"/usr", "/lib", "/lib64", "/bin", "/sbin"})
      allow_below(rules, folder, execute | read_file | read_folder);
    allow_below(rules, "/etc/ld.so.cache", read_file);
    for (const char* device : {"/dev/null", "/dev/zero", "/dev/urandom"})
      allow_below(rules, device, read_file | write_file);
  });
  Filter filter(SCMP_ACT_ERRNO(EPERM));
  allow_bare_needs(filter);
  filter.allow_threads();
  filter.allow_descriptors();
  filter.allow_flags(SCMP_SYS(recvmsg), 2);
  filter.allow_flags(SCMP_SYS(sendmsg), 2);
  filter.allow_socket_facts();
  filter.allow({SCMP_SYS(access),
                SCMP_SYS(arch_prctl),
                SCMP_SYS(clock_getres),
                SCMP_SYS(clock_nanosleep),
                SCMP_SYS(dup),
                SCMP_SYS(dup2),
                SCMP_SYS(dup3),
                SCMP_SYS(epoll_create1),
                SCMP_SYS(epoll_ctl),
                SCMP_SYS(epoll_pwait),
                SCMP_SYS(epoll_wait),
                SCMP_SYS(eventfd2),
                SCMP_SYS(execve),
                SCMP_SYS(faccessat),
                SCMP_SYS(faccessat2),
                SCMP_SYS(fadvise64),
                SCMP_SYS(fstat),
                SCMP_SYS(fstatfs),
                SCMP_SYS(getcwd),
                SCMP_SYS(getdents64),
                SCMP_SYS(getegid),
                SCMP_SYS(geteuid),
                SCMP_SYS(getgid),
                SCMP_SYS(getppid),
                SCMP_SYS(getrlimit),
                SCMP_SYS(getsockname),
                SCMP_SYS(getrusage),
                SCMP_SYS(gettimeofday),
                SCMP_SYS(getuid),
                SCMP_SYS(lseek),
                SCMP_SYS(lstat),
                SCMP_SYS(membarrier),
                SCMP_SYS(nanosleep),
                SCMP_SYS(newfstatat),
                SCMP_SYS(open),
                SCMP_SYS(openat),
                SCMP_SYS(pipe),
                SCMP_SYS(pipe2),
                SCMP_SYS(poll),
                SCMP_SYS(ppoll),
                SCMP_SYS(pread64),
                SCMP_SYS(pselect6),
                SCMP_SYS(readlink),
                SCMP_SYS(readlinkat),
                SCMP_SYS(readv),
                SCMP_SYS(rseq),
                SCMP_SYS(select),
                SCMP_SYS(set_robust_list),
                SCMP_SYS(set_tid_address),
                SCMP_SYS(stat),
                SCMP_SYS(statfs),
                SCMP_SYS(statx),
                SCMP_SYS(sysinfo),
                SCMP_SYS(umask),
                SCMP_SYS(uname),
                SCMP_SYS(writev)});
  filter.load();
}

}  // namespace dpsosp
