// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/files.hpp"

#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dpsosp/core/data_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/text_file.hpp"
#include "scratch_folder.hpp"

namespace dpsosp::files_test {
namespace {

namespace fs = std::filesystem;

std::string refusal(const auto& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST(Files, RoundTripsContentAndLeavesNoOtherFiles) {
  const ScratchFolder scratch;
  const fs::path file = scratch.path() / "a.txt";
  for (const std::string& content :
       {std::string("first"), std::string("a\0b\n", 4), std::string()}) {
    write_file(file, content);
    EXPECT_EQ(read_file(file), content);
    EXPECT_EQ(scratch.entries(), 1);
  }
}

TEST(Files, RefusesToReadWhatIsNoFileInOneLine) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path().string();
  EXPECT_EQ(refusal([&] { read_file(folder); }), folder + ": cannot be read (it is a folder)");
  EXPECT_EQ(refusal([&] { open_file(folder + "/a"); }),
            folder + "/a: cannot be read (No such file or directory)");
}

TEST(Files, SaysWhyAPathCannotBeRead) {
  const ScratchFolder scratch;
  const fs::path file = scratch.write("a", "x"), link = scratch.path() / "link",
                 pipe = scratch.path() / "pipe";
  EXPECT_EQ(why_unreadable(file), "");
  EXPECT_EQ(why_unreadable(scratch.path() / "none"), "does not exist");
  EXPECT_EQ(why_unreadable(file / "below"), "does not exist");
  EXPECT_EQ(why_unreadable(scratch.path()), "is a folder");
  EXPECT_EQ(why_unreadable("/dev/null"), "is a device");
  fs::create_symlink("none", link);
  EXPECT_EQ(why_unreadable(link), "is a link to what does not exist");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(why_unreadable(pipe), "is a pipe, which can be read only once");
  fs::create_symlink("loop", scratch.path() / "loop");
  EXPECT_NE(why_unreadable(scratch.path() / "loop").find("cannot be read (Too many"),
            std::string::npos);
  if (geteuid() == 0) return;  // who may read everything
  fs::permissions(file, fs::perms::none);
  EXPECT_EQ(why_unreadable(file), "cannot be read (Permission denied)");
}

/// As of a bad disk: it opens, and cannot be read.
TEST(Files, ReadErrorNamesTheFile) {
  const std::string file = "/proc/self/mem", said = file + ": cannot be read (Input/output error)";
  const auto refusal = [&](const auto& reader) -> std::string {
    try {
      reader(file);
    } catch (const InputError& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal(read_file), said);
  EXPECT_EQ(refusal(read_text), said);
}

TEST(Files, ReadsTextWithoutByteOrderMarkAndRefusesUtf16) {
  const ScratchFolder scratch;
  EXPECT_EQ(read_text(scratch.write("a", "\xEF\xBB\xBFx\n")), "x\n");
  EXPECT_EQ(read_text(scratch.write("a", "x\xEF\xBB\xBF")), "x\xEF\xBB\xBF");
  EXPECT_EQ(refusal([&] { read_text(scratch.write("a", std::string("\xFF\xFEx\0", 4))); }),
            (scratch.path() / "a").string() + " is text in UTF-16, expected UTF-8");
  EXPECT_EQ(refusal([&] { read_text(scratch.path()); }), scratch.path().string() + " is a folder");
}

TEST(Files, LeavesNothingAfterFailedWrite) {
  const ScratchFolder scratch;
  const fs::path occupied = scratch.path() / "occupied";
  fs::create_directories(occupied / "inside");
  EXPECT_NE(refusal([&] { write_file(occupied, "x"); }).find("cannot write this file"),
            std::string::npos);
  EXPECT_EQ(scratch.entries(), 1);
  EXPECT_THROW(write_file(scratch.path() / "missing" / "a.txt", "x"), InputError);
}

TEST(Files, CreatesFolderWithItsParents) {
  const ScratchFolder scratch;
  ensure_writable_folder(scratch.path() / "a" / "b");
  EXPECT_TRUE(fs::is_empty(scratch.path() / "a" / "b"));
}

TEST(Files, RejectsUnwritableFolderInOneLine) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "file", "x");
  for (const fs::path& folder : {scratch.path() / "file", scratch.path() / "file" / "below"}) {
    const std::string message = refusal([&] { ensure_writable_folder(folder); });
    EXPECT_TRUE(message.starts_with(folder.string())) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(Files, AcceptsOnlyPortableFileStemsAsIds) {
  EXPECT_NO_THROW(check_id("table", "xu-2026_table.2"));
  for (const char* id : {"", "../up", "a b", "-flag", ".hidden", "a/b", "é", "a\"b"})
    EXPECT_THROW(check_id("table", id), InputError) << id;
}

TEST(DataFolder, IsThatOfTheVariableOrLocalOne) {
  const char* value = std::getenv("DPSOSP_DATA");
  const std::optional<std::string> old =
      value == nullptr ? std::nullopt : std::optional<std::string>(value);
  setenv("DPSOSP_DATA", "elsewhere", 1);
  EXPECT_EQ(data_folder(), "elsewhere");
  setenv("DPSOSP_DATA", "", 1);
  EXPECT_EQ(data_folder(), "data");
  unsetenv("DPSOSP_DATA");
  EXPECT_EQ(data_folder(), "data");
  if (old) setenv("DPSOSP_DATA", old->c_str(), 1);
}

}  // namespace
}  // namespace dpsosp::files_test
