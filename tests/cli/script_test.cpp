// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "paths.hpp"
#include "program.hpp"

// ./run as far as it goes without installing or building anything.
namespace dpsosp::script_test {
namespace {

namespace fs = std::filesystem;

const std::string script = in_checkout("run");

TEST(RunScript, HelpListsEveryCommandOnStdout) {
  for (const char* word : {"--help", "-h", "help"}) {
    const Result r = run_program(script, {word});
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(r.err, "");
    for (const char* command : {"reproduce", "test", "build", "benchmark", "data", "dpsosp"})
      EXPECT_NE(r.out.find(std::string("\n  ") + command + " "), std::string::npos) << command;
  }
}

TEST(RunScript, RunsThroughSymlink) {
  const ScratchFolder folder;
  std::filesystem::create_symlink(script, folder / "link");
  EXPECT_EQ(run_program(folder / "link", {"--help"}).out, run_program(script, {"--help"}).out);
}

TEST(RunScript, RejectsUnknownCommandAndListsKnownOnes) {
  expect_one_error_line(run_program(script, {"reprduce"}), 2, "unknown command 'reprduce'");
  expect_one_error_line(run_program(script, {"reprduce"}), 2, "reproduce, test, build");
}

TEST(RunScript, RejectsUnknownOptionInOneLine) {
  expect_one_error_line(run_program(script, {"test", "--al"}), 2,
                        "expected --all, --neural, --distributions or --processors");
  expect_one_error_line(run_program(script, {"build", "--nativ"}), 2, "did you mean '--native'");
}

TEST(RunScript, PrintsUsageToStderrWithoutCommand) {
  const Result r = run_program(script, {});
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.out, "");
  EXPECT_TRUE(r.err.starts_with("usage: ./run COMMAND"));
}

/// A folder with ./run, a build configured for the sources in `home`, and stand-ins for the tools.
class Configured {
 public:
  explicit Configured(const std::string& home) {
    fs::copy_file(script, folder_ / "run");
    fs::create_directories(folder_ / "build/release/bin");
    std::ofstream(folder_ / "build/release/build.ninja");
    std::ofstream(folder_ / "build/release/CMakeCache.txt")
        << "CMAKE_HOME_DIRECTORY:INTERNAL=" << (home.empty() ? folder_.path().string() : home)
        << '\n';
    fs::create_directories(folder_ / "tools");
    tool("cmake", "echo \"$@\" >> '" + (folder_ / "calls").string() + "'");
    tool("dpkg-query", "echo 'install ok installed'");
  }

  /// What the program is given, and where it runs, of ./run in another folder.
  Result program_run_in(const std::string& folder, const std::string& arguments) const {
    std::ofstream(folder_ / "build/release/bin/dpsosp") << "#!/bin/sh\necho \"$PWD: $*\"\n";
    std::filesystem::permissions(folder_ / "build/release/bin/dpsosp",
                                 std::filesystem::perms::owner_all);
    return run_program(
        "/usr/bin/env",
        {"PATH=" + (folder_ / "tools").string() + ":" + std::getenv("PATH"), "/bin/sh", "-c",
         "cd '" + folder + "' && '" + (folder_ / "run").string() + "' " + arguments});
  }

  /// ./run test --processors, where the tests print how they see the processor and fail as
  /// baseline.
  Result tests_as_processors() const {
    tool("ctest", "echo \"$DPSOSP_SIMD $GLIBC_TUNABLES\"; [ \"$DPSOSP_SIMD\" != portable ]");
    return run_program("/usr/bin/env",
                       {"PATH=" + (folder_ / "tools").string() + ":" + std::getenv("PATH"),
                        folder_ / "run", "test", "--processors"});
  }

  /// The arguments of each call of cmake that ./run build makes, one call a line.
  std::string calls() const {
    const Result r = run_program(
        "/usr/bin/env", {"PATH=" + (folder_ / "tools").string() + ":" + std::getenv("PATH"),
                         folder_ / "run", "build"});
    EXPECT_EQ(r.code, 0) << r.err;
    return contents(folder_ / "calls");
  }

 private:
  void tool(const std::string& name, const std::string& body) const {
    std::ofstream(folder_ / "tools" / name) << "#!/bin/sh\n" << body << '\n';
    std::filesystem::permissions(folder_ / "tools" / name, std::filesystem::perms::owner_all);
  }

  ScratchFolder folder_;
};

TEST(RunScript, ConfiguresMovedCheckoutAnew) {
  EXPECT_TRUE(Configured("/somewhere/else").calls().starts_with("--preset release --fresh\n"));
  EXPECT_TRUE(Configured("").calls().starts_with("--build"));
}

TEST(RunScript, TestsAsEveryProcessorThatThisOneCanBe) {
  const Result r = Configured("").tests_as_processors();
  EXPECT_EQ(r.code, 1) << r.err;  // though the last ones pass
  EXPECT_TRUE(r.out.starts_with("portable glibc.cpu.hwcaps=-AVX2,")) << r.out;
  const std::string flags = contents("/proc/cpuinfo");
  for (const auto& [name, flag, tested] :
       {std::tuple{"AVX2", " avx2 ", "\navx2 "}, {"AVX-512", " avx512vl ", "\navx512 "}}) {
    const bool can = flags.find(flag) != std::string::npos;
    EXPECT_EQ(r.out.find(tested) != std::string::npos, can) << r.out;
    EXPECT_EQ(r.err.find(std::string("not as ") + name) == std::string::npos, can) << r.err;
  }
}

TEST(RunScript, RunsTheProgramInTheCallersFolder) {
  const ScratchFolder mine;
  const std::string where = std::filesystem::canonical(mine.path()).string();
  for (const std::string command : {"dpsosp sweep mine.toml", "reproduce --out mine"}) {
    const Result r = Configured("").program_run_in(where, command);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out, where + ": " + (command[0] == 'd' ? command.substr(7) : command) + "\n");
  }
}

/// ./run where no tools are but the given ones and stand-ins.
class Bare {
 public:
  Bare() {
    fs::create_directories(folder_ / "tools");
    fs::create_directories(folder_ / "cmake");
    fs::copy_file(script, folder_ / "run");
    const std::string list = "cmake/dpsosp_packages.cmake";
    fs::copy_file(fs::path(script).parent_path() / list, folder_ / list);
    for (const std::string tool :
         {"bash", "dirname", "grep", "paste", "readlink", "realpath", "sed"})
      fs::create_symlink((fs::exists("/usr/bin/" + tool) ? "/usr/bin/" : "/bin/") + tool,
                         folder_ / "tools" / tool);
  }

  void stand_in(const std::string& tool, const std::string& body) const {
    std::ofstream(folder_ / "tools" / tool) << "#!/bin/sh\n" << body << '\n';
    fs::permissions(folder_ / "tools" / tool, fs::perms::owner_all);
  }

  Result run(const std::string& command) const {
    return run_program("/usr/bin/env",
                       {"PATH=" + (folder_ / "tools").string(), "bash", folder_ / "run", command});
  }

 private:
  ScratchFolder folder_;
};

TEST(RunScript, NamesCMakePackagesAndTheirPageWithoutApt) {
  const Bare system;
  for (const char* command : {"packages", "build", "test"}) {
    const Result r = system.run(command);
    expect_one_error_line(r, 2, "no apt here; install Eigen3 Boost TBB ");
    expect_one_error_line(r, 2, " rapidcheck benchmark (docs/library.md)");
  }
}

TEST(RunScript, NamesInOneLineWhatAptLacks) {
  const Bare system;
  system.stand_in("id", "echo 0");
  system.stand_in("dpkg-query", "echo 'install ok installed'");
  system.stand_in("apt-get", "exit 0");
  // More than a pipe holds, as apt's table of versions goes on after the candidate.
  system.stand_in("apt-cache",
                  "[ \"$2\" = ninja-build ] && exit; echo '  Candidate: 1'; i=0\n"
                  "while [ $i -lt 5000 ]; do echo '  Version table:'; i=$((i+1)); done");
  EXPECT_EQ(system.run("packages").err, "");
  system.stand_in("dpkg-query", "exit 1");
  expect_one_error_line(system.run("packages"), 2, "apt knows no ninja-build; ");
  system.stand_in("apt-get", "[ $1 != update ]");
  expect_one_error_line(system.run("packages"), 2, "apt-get failed");
}

}  // namespace
}  // namespace dpsosp::script_test
