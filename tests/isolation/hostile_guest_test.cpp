// SPDX-License-Identifier: Apache-2.0
// Guests that want records, the seed, more budget, or the end of the host.
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/isolation/program_output.hpp"
#include "dpsosp/isolation/sealed_program.hpp"
#include "paths.hpp"

namespace dpsosp::hostile_guest_test {
namespace {

const std::string guest = built_program("hostile_guest");

/// The two sandboxes that a guest may be in.
const Isolation as_program{.program = guest, .starter = {}};
const Isolation as_algorithm{.program = {}, .starter = guest};

RunDescription description(const std::string& attack, const std::string& argument = {},
                           Index records = 50) {
  RunSpec spec;
  spec.algorithm = program_key(guest);
  spec.problem = "double-well";
  spec.records = records;
  spec.dimension = 3;
  spec.observations = 5;
  spec.settings = {{"attack", attack}};
  if (!argument.empty()) spec.settings["argument"] = argument;
  return describe(spec);
}

/// What came of an attack: the reason for which the run failed.
std::string outcome(const std::string& attack, const Isolation& isolation = as_program,
                    const std::string& argument = {}) {
  try {
    compute_run(description(attack, argument), isolation);
  } catch (const RunFailed& e) {
    return e.what();
  } catch (const InputError& e) {
    return std::string("refused: ") + e.what();
  }
  return "a result";
}

std::string reported(const std::string& way, const std::string& argument = {}) {
  const std::string text = outcome("escape:" + way, as_program, argument);
  const std::string before = "isolated run: ", after = "; 0 queries";
  const auto end = text.find(after);
  return text.starts_with(before) && end != std::string::npos
             ? text.substr(before.size(), end - before.size())
             : text;
}

struct Way {
  std::string name, refusal;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

const Way ways[] = {{"write_file", "EACCES"},
                    {"list_folder", "EACCES"},
                    {"memory_of_host", "EACCES"},
                    {"environment_of_host", "EACCES"},
                    {"maps_of_host", "EACCES"},
                    {"descriptors_of_host", "EACCES"},
                    {"ptrace", "EPERM"},
                    {"process_vm_readv", "EPERM"},
                    {"pidfd_open", "EPERM"},
                    {"kill_host", "EPERM"},
                    {"own_signals", "EPERM"},
                    {"choose_signal", "EPERM"},
                    {"ask_for_signals", "EPERM"},
                    {"internet", "EPERM"},
                    {"local_socket", "EPERM"},
                    {"shared_memory", "EPERM"},
                    {"new_session", "EPERM"},
                    {"new_namespace", "EPERM"},
                    {"mount", "EPERM"},
                    {"bpf", "EPERM"},
                    {"perf", "EPERM"},
                    {"io_uring", "EPERM"},
                    {"userfaultfd", "EPERM"},
                    {"keyring", "EPERM"},
                    {"file_handle", "EPERM"},
                    {"memfd", "EPERM"},
                    {"set_user", "EPERM"},
                    {"fork", "EPERM"},
                    {"out_of_band", "EPERM"},
                    {"out_of_band_message", "EPERM"},
                    {"peer_of_socket", "EPERM"},
                    {"raise_limit", "EPERM"}};

class EveryWayOut : public testing::TestWithParam<Way> {};

TEST_P(EveryWayOut, IsClosedToPrograms) {
  EXPECT_EQ(reported(GetParam().name), GetParam().refusal);
}

TEST_P(EveryWayOut, KillsAlgorithmsThatTryIt) {
  const std::string text = outcome("escape:" + GetParam().name, as_algorithm);
  EXPECT_NE(text.find("killed for a system call that guests may not make"), std::string::npos)
      << text;
}

INSTANTIATE_TEST_SUITE_P(HostileGuest, EveryWayOut, testing::ValuesIn(ways),
                         [](const auto& of) { return of.param.name; });

TEST(HostileGuest, ReadsNoFileBesideTheSystems) {
  const auto secret = std::filesystem::temp_directory_path() / "dpsosp-secret-records.csv";
  std::ofstream(secret) << "1,2,3\n";
  EXPECT_EQ(reported("read_file", secret.string()), "EACCES");
  EXPECT_EQ(reported("read_file", guest), "EACCES");
  EXPECT_EQ(reported("read_file", "/usr/lib/os-release"), "succeeded");
  std::filesystem::remove(secret);
}

TEST(HostileGuest, InheritsNoDescriptor) {
  const std::ifstream open_here("/proc/self/exe");
  EXPECT_EQ(reported("inherited"), "0");
}

TEST(HostileGuest, InheritsNoEnvironment) {
  setenv("DPSOSP_TEST_SECRET", "seed", 1);
  EXPECT_EQ(
      reported("environment"),
      "PATH=/usr/bin:/bin LANG=C.UTF-8 DPSOSP_SOCKET=3 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "
      "MKL_NUM_THREADS=1 PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 ");
  unsetenv("DPSOSP_TEST_SECRET");
}

TEST(HostileGuest, HasThreadsAndKnowsItsSocketsType) {
  EXPECT_EQ(reported("thread"), "succeeded");
  EXPECT_EQ(reported("type_of_socket"), "succeeded");
}

TEST(HostileGuest, StartsAsTheFileThatWasHashed) {
  namespace fs = std::filesystem;
  const fs::path program = fs::temp_directory_path() / "dpsosp-changing-program";
  fs::copy_file(guest, program, fs::copy_options::overwrite_existing);
  RunSpec spec;
  spec.algorithm = program_key(program.string());
  spec.problem = "double-well";
  spec.records = 50;
  spec.dimension = 3;
  spec.settings = {{"attack", "escape:thread"}};
  const RunDescription d = describe(spec);
  const Isolation isolation{.program = program.string(), .starter = {}};
  EXPECT_THROW(compute_run(d, isolation), RunFailed);
  std::ofstream(program, std::ios::app | std::ios::binary) << "x";
  try {
    compute_run(d, isolation);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()),
              "run: program " + program.string() + " changed since its key was made");
  }
  fs::remove(program);
}

// The guest of the other tests declares no settings and is given `attack`.
TEST(HostileGuest, IsGivenNoSettingBesideThoseThatItDeclares) {
  RunDescription d = description("declares", "any");
  const auto line = [&]() -> std::string {
    try {
      compute_run(d, as_program);
    } catch (const InputError& e) {
      return e.what();
    } catch (const RunFailed& e) {
      return e.what();
    }
    return "a result";
  };
  EXPECT_NE(line().find("it was started"), std::string::npos) << "both settings are declared";
  d.settings["argumnet"] = "any";
  EXPECT_EQ(line(), "unknown setting of the program 'argumnet'; did you mean 'argument'?");
}

TEST(HostileGuest, CannotBeChangedAfterItIsRead) {
  const SealedProgram program(guest);
  EXPECT_EQ(write(program.descriptor(), "x", 1), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(program.descriptor(), 0), -1);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, program.descriptor(), 0),
            MAP_FAILED);
}

struct Fault {
  std::string attack, reason;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.attack; }

class EveryFault : public testing::TestWithParam<Fault> {};

TEST_P(EveryFault, EndsAsFailedRunWithItsReason) {
  for (const Isolation& isolation : {as_program, as_algorithm}) {
    const std::string text = outcome(GetParam().attack, isolation);
    EXPECT_NE(text.find(GetParam().reason), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    HostileGuest, EveryFault,
    testing::Values(
        Fault{"exit", "it is gone: ended with status 7; 0 queries had spent epsilon 0"},
        Fault{"truncated", "is no message of the protocol: '@\\x00\\x00\\x00abc'"},
        Fault{"text", "is no message of the protocol: 'hello, world\\n': killed; 0 queries"},
        Fault{"short_text", "is no message of the protocol: 'abc\\ndef': killed"},
        Fault{"one_letter", "is no message of the protocol: 'x"},
        Fault{"huge_length", "is no message of the protocol: '\\xff\\xff\\xff\\xff'"},
        Fault{"garbage", "is no message of the protocol: '\\x04\\x00\\x00\\x00\\xc1"},
        Fault{"array", "is no message of the protocol: '"},
        Fault{"deep", "is no message of the protocol: '"},
        Fault{"array_of_billions", "is no message of the protocol: '"},
        Fault{"leaves_its_output_open", "isolated run: "},
        Fault{"prints_and_exits", "it is gone: ended with status 3; it wrote: last; 0 queries"},
        Fault{"reads_its_input", "isolated run: nothing to read; 0 queries"},
        Fault{"text_of_billions", "not a list of MessagePack scalars"},
        Fault{"empty", "a message ends too early"},
        Fault{"unknown_question", "it asks for 'records', which there is not"},
        Fault{"too_few_parts", "a message ends too early"},
        Fault{"too_many_parts", "more parts than are due"},
        Fault{"wrong_kind", "draw: its part 1 is a text, expected an integer of 64 bits"},
        Fault{"unknown_batch", "a handle that it does not hold"},
        Fault{"dropped_batch", "a handle that it does not hold"},
        Fault{"unknown_curator", "a handle that it does not hold"},
        Fault{"odd_bytes", "no whole number of words of eight"},
        Fault{"hoard", "more than 65536 handles"},
        Fault{"words_of_billions", "more than 4096 random words"},
        Fault{"wrong_output", "its point has 4 entries, expected 3"},
        Fault{"wrong_iterate", "an iterate of another dimension"},
        Fault{"table_of_billions", "a table of names is too long"},
        Fault{"blames_the_input", "expected 1 or more\\nxxx"},
        Fault{"blames_the_input", "xxx...; 1 queries had spent epsilon 0.00"},
        Fault{"unknown_status", "unknown status 'at_rest', expected one of "},
        Fault{"unknown_status", "; 1 queries had spent epsilon 0.00"},
        Fault{"point_not_finite", "its point is not finite: killed; 1 queries had spent"},
        Fault{"overflowing_point", "certificate: the value is not finite; 1 queries had spent"},
        Fault{"negative_steps", "it made -1 steps: killed; 1 queries had spent"},
        Fault{"estimate_not_finite",
              "estimate at t = 0: its error is not finite; 1 queries had spent"},
        Fault{"says_not_finite", "is not finite after 1 steps; 1 queries had spent"},
        Fault{"no_utf8", "a text is not UTF-8: killed; 1 queries had spent"},
        Fault{"wrong_dimension", "input: query: x = 4, expected 3 entries"},
        Fault{"not_finite", "isolated run: ok; 1 queries"},
        Fault{"no_noise", "input: query: noise = 0"}, Fault{"nan_noise", "input: "},
        Fault{"unknown_block", "input: unknown block 'z'"},
        Fault{"negative_batch", "input: batch: size = -5"},
        Fault{"ball_of_billions", "input: ball: dimension = 1099511627776, expected"},
        Fault{"ball_of_nan", "input: ball: radius = nan, expected a finite number >= 0"},
        Fault{"double_spending",
              "budget: gradient refused: its charge exceeds the privacy budget | budget: "},
        Fault{"first_version",
              "refused: isolated run: the program speaks version 1 of the protocol, expected 3"},
        Fault{"next_version",
              "refused: isolated run: the program speaks version 4 of the protocol, expected 3"},
        Fault{"large_budget", "refused: filter rule: capacity = 1000000"},
        Fault{"nan_budget", "refused: filter rule: capacity = nan"},
        Fault{"large_pure_budget", "refused: "}, Fault{"negative_pure", "refused: "},
        Fault{"large_delta", "refused: "},
        Fault{"large_alone", "refused: filter rule: alone_epsilon"}),
    [](const auto& of) { return fmt::format("{}_{}", of.param.attack, of.index); });

/// Whatever is printed is no part of the protocol, and nobody waits for it to be read.
TEST(HostileGuest, RunsTheSameHoweverMuchItPrints) {
  for (const Isolation& isolation : {as_program, as_algorithm}) {
    const RunResult silent = compute_run(description("many_queries", "5"), isolation);
    const RunResult prints = compute_run(description("prints", "5"), isolation);
    EXPECT_EQ(prints.privacy.queries, 5);
    EXPECT_EQ(prints.point, silent.point);
    EXPECT_EQ(prints.privacy.spent, silent.privacy.spent);
  }
}

/// What a follower is told while it lives.
class Heard {
 public:
  Heard() {
    follow_output({.line = [this](const std::string& line) { lines.push_back(line); },
                   .failed =
                       [this](const std::string& program, const std::vector<std::string>& last) {
                         failed.emplace_back(program, last);
                       }});
  }
  ~Heard() { follow_output({}); }
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;

  std::vector<std::string> lines;
  std::vector<std::pair<std::string, std::vector<std::string>>> failed;
};

TEST(HostileGuest, ShowsItsLinesAndAfterAFailureTheLastTwenty) {
  for (const auto& [isolation, name] :
       {std::pair{as_program, "hostile_guest"}, {as_algorithm, "dpsosp-guest"}}) {
    const Heard heard;
    EXPECT_NE(outcome("prints_many_lines", isolation).find("isolated run: enough; 0 queries"),
              std::string::npos);
    ASSERT_EQ(heard.lines.size(), 100U);
    EXPECT_EQ(heard.lines.front(), "line 0");
    ASSERT_EQ(heard.failed.size(), 1U);
    EXPECT_EQ(heard.failed[0].first, name);
    EXPECT_EQ(heard.failed[0].second,
              std::vector<std::string>(heard.lines.end() - 20, heard.lines.end()));
  }
}

TEST(HostileGuest, WritesNothingThatSteersATerminalAndNoEndlessLine) {
  const Heard heard;
  outcome("prints_and_exits");
  EXPECT_EQ(heard.lines,
            (std::vector<std::string>{"a    b\\x1b[2J", "progress 1", "progress 2",
                                      std::string(1000, 'y') + "... and 2000 bytes more", "last"}));
}

/// A release has the reasons that a program gives, and nothing that it writes.
TEST(HostileGuest, WritesNothingIntoTheReasonOfARelease) {
  RunSpec spec = description("prints_and_exits");
  spec.observations = 0;
  try {
    compute_release(describe(spec), as_program);
    FAIL();
  } catch (const RunFailed& e) {
    EXPECT_EQ(std::string(e.what()).find("last"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("ended with status 3"), std::string::npos) << e.what();
  }
}

TEST(HostileGuest, FailedRunsSayWhatTheySpent) {
  const std::string text = outcome("crash_later");
  EXPECT_NE(text.find("ended by signal 4 (Illegal instruction); 5 queries had spent epsilon 0.00"),
            std::string::npos)
      << text;
}

/// Composing what each record was charged with takes time that grows with their square.
TEST(HostileGuest, MakesNoMoreDifferingChargesThanCanBeComposed) {
  const auto made = [](const char* children) {
    return compute_run(description("many_children", children, 20'000), as_program);
  };
  EXPECT_EQ(made("300").privacy.queries, 300);
  try {
    made("4200");
    ADD_FAILURE() << "it was composed";
  } catch (const RunFailed& e) {
    EXPECT_STREQ(e.what(),
                 "isolated run: too many differing charges to too many differing ranges of "
                 "records; 4200 queries had spent what takes too long to account for");
  }
}

/// Charges that recur cost nothing more, however many entries of the ledger they take.
TEST(HostileGuest, MayRepeatItsChargesInTurn) {
  const RunResult r = compute_run(description("alternating", "2000", 20'000), as_program);
  EXPECT_EQ(r.privacy.queries, 2010);
}

TEST(HostileGuest, AsksAsManyQuestionsAsTheBudgetHas) {
  const RunResult r = compute_run(description("many_queries", "2000"), as_program);
  EXPECT_EQ(r.privacy.queries, 2000);
  EXPECT_EQ(r.schedule.utility, Utility::heuristic);
}

}  // namespace
}  // namespace dpsosp::hostile_guest_test
