// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/files.hpp"

#include <gtest/gtest.h>

#include "markup_text.hpp"
#include "scratch_folder.hpp"

namespace dpsosp::plots::files_test {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(Files, RoundTripsContentAndLeavesNoOtherFiles) {
  const ScratchFolder scratch;
  const fs::path file = scratch.path() / "a.txt";
  for (const std::string& content :
       {std::string("first"), std::string("a\0b\n", 4), std::string()}) {
    write_file(file, content);
    EXPECT_EQ(read_file(file), content);
    EXPECT_EQ(entries(scratch.path()), 1);
  }
}

TEST(Files, LeavesNothingAfterFailedWrite) {
  const ScratchFolder scratch;
  const fs::path occupied = scratch.path() / "occupied";
  fs::create_directories(occupied / "inside");
  EXPECT_EQ(count_of(message_of([&] { write_file(occupied, "x"); }), "cannot write this file"), 1U);
  EXPECT_EQ(entries(scratch.path()), 1);
  EXPECT_THROW(write_file(scratch.path() / "missing" / "a.txt", "x"), InputError);
}

TEST(Files, CreatesFolderWithItsParents) {
  const ScratchFolder scratch;
  ensure_writable_folder(scratch.path() / "a" / "b");
  EXPECT_TRUE(fs::is_directory(scratch.path() / "a" / "b"));
  EXPECT_EQ(entries(scratch.path() / "a" / "b"), 0);
}

TEST(Files, RejectsUnwritableFolderInOneLine) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "file", "x");
  for (const fs::path& folder : {scratch.path() / "file", scratch.path() / "file" / "below"}) {
    const std::string message = message_of([&] { ensure_writable_folder(folder); });
    EXPECT_TRUE(message.starts_with(folder.string())) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(Files, AcceptsOnlyPortableFileStemsAsIds) {
  EXPECT_NO_THROW(check_id("table", "xu-2026_table.2"));
  for (const char* id : {"", "../up", "a b", "-flag", ".hidden", "a/b", "é", "a\"b"})
    EXPECT_THROW(check_id("table", id), InputError) << id;
}

}  // namespace
}  // namespace dpsosp::plots::files_test
