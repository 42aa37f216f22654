// SPDX-License-Identifier: Apache-2.0
// What a program in Python prints reaches its author and nothing else, and so do its errors.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../cli/program.hpp"
#include "python.hpp"

namespace dpsosp::speaking_test {
namespace {

const std::string speaks = in_checkout("tests/python/programs/speaks.toml");

using Speaking = test::WithNumpy;

Result run_card(const std::string& card, const std::string& more) {
  return dpsosp(
      "run --problem double-well --records 150 --dimension 4 --epsilon 1 --delta 1e-6 " + more,
      {"--program", card});
}

const std::string seed = "--seed 918273645546372819 ";

Result run(const std::string& way, const std::string& more = seed) {
  return run_card(speaks, more + " --set way=" + way);
}

/// A program of its own, with a card that may read the package.
Result run_of(const ScratchFolder& folder, const std::string& program,
              const std::string& more = seed, bool reads = true) {
  folder.write("mine.py", program);
  const std::string card =
      "key = \"test/mine\"\ntitle = \"Mine\"\nprogram = \"mine.py\"\n"
      "interpreter = \"/usr/bin/python3\"\n";
  return run_card(
      folder.write("mine.toml",
                   card + (reads ? "reads = [\"" + in_checkout("python") + "\"]\n" : "")),
      more);
}

/// "speaks.py:12: ", the line of the program that is marked so.
std::string place_of(const std::string& mark) {
  int number = 0;
  for (const std::string& line : lines(contents(in_checkout("tests/python/programs/speaks.py")))) {
    ++number;
    if (line.ends_with("# here: " + mark)) return fmt::format("speaks.py:{}: ", number);
  }
  return "no line is marked " + mark;
}

TEST_F(Speaking, ChangesNoBitOfARun) {
  const auto numbers = [](const std::string& way) {
    const Result r = run(way, seed + "--json");
    EXPECT_EQ(r.code, 0) << way << '\n' << r.err;
    EXPECT_EQ(r.err, "") << way;
    auto result = r.code == 0 ? nlohmann::json::parse(r.out) : nlohmann::json::object();
    return std::pair(result["point"].size(), result["privacy"]["queries"]);
  };
  const auto silent = numbers("silent");
  for (const char* way : {"print", "flush", "os", "dunder", "much", "input"})
    EXPECT_EQ(numbers(way), silent) << way;
  // The setting is part of the key of the noise, so versions of a program tell more: these differ
  // in what they print alone.
  const ScratchFolder folder;
  const std::string quiet = R"(import dpsosp, sys
class Mine(dpsosp.Algorithm):
    def plan(self, facts, budget):
        return [dpsosp.Planned(3)]
    def run(self, curator, stream):
        x = curator.facts.initial_point.copy()
        for t in range(3):
            #
            x -= curator.gradient(x, curator.draw(), limit=1.0, noise=self.noise)
        return x
dpsosp.serve(Mine)
)";
  const auto point = [&](const std::string& said) {
    const Result r = run_of(folder, replaced(quiet, "#", said), seed + "--json");
    EXPECT_EQ(r.code, 0) << r.err;
    return r.code == 0 ? nlohmann::json::parse(r.out)["point"].dump() : "";
  };
  const std::string without = point("pass");
  for (const char* said : {"print('hello', flush=True)", "print('x' * 100000)",
                           "sys.__stdout__.write('x')", "sys.stderr.write('x' * 3000000)"})
    EXPECT_EQ(point(said), without) << said;
}

TEST_F(Speaking, IsShownWhereItIsAskedFor) {
  const Result shown = run("print", seed + "--show-output");
  EXPECT_EQ(shown.code, 0) << shown.err;
  std::vector<std::string> expected{"started"};
  for (int t = 0; t < 8; ++t) expected.push_back(fmt::format("step {}", t));
  EXPECT_EQ(lines(shown.err), expected) << "once, although the plan sets a parameter";
  EXPECT_EQ(shown.out, run("print").out);
  EXPECT_EQ(lines(run("input", seed + "--show-output").err).at(1), "read ''");
  expect_one_error_line(
      dpsosp("run --show-output --algorithm wang-ye-xu-2017/dp-gd --problem double-well "
             "--epsilon 1 --delta 1e-6"),
      2, "--show-output, expected with a program");
}

TEST_F(Speaking, IsShownAfterAFailureWithThePlaceOfTheError) {
  for (const auto& [way, error] : std::map<std::string, std::string>{
           {"raise", "ValueError: my own error"},
           {"name", "AttributeError: 'Speaks' object has no attribute 'stepps'"},
           {"inside", "LinAlgError: Singular matrix"},
           {"module", "ModuleNotFoundError: No module named 'no_such_module'; a program finds"},
           {"exit", "SystemExit: enough"}}) {
    const Result r = run(way);
    EXPECT_EQ(r.code, 1) << r.err;
    EXPECT_EQ(r.out, "");
    const std::vector<std::string> said = lines(r.err);
    EXPECT_EQ(said.back().find("run failed: isolated run: " + place_of(way) + error), 0U) << r.err;
    EXPECT_TRUE(has(said.back(), "; 3 queries had spent epsilon "));
    EXPECT_LE(said.size(), 22U) << "a heading, twenty lines and the reason";
    EXPECT_TRUE(
        has(r.err, "speaks.py wrote, last of all:\n", "/tests/python/programs/speaks.py\", line "));
    EXPECT_TRUE(lacks(r.err, "/proc/self"));
  }
  for (const auto& [way, error] : {std::pair{"limit", "gradient: limit = None, expected a number"},
                                   {"host", "query: noise = 0"}})
    EXPECT_TRUE(has(lines(run(way).err).back(), "the program says: " + place_of(way) + error));
}

/// What ends before it serves has said nothing of itself: its last lines do.
TEST_F(Speaking, BeforeItServesIsToldWithItsPlace) {
  struct Case {
    std::string program, reason;
    bool reads = true;
  };
  const std::string before = "run failed: isolated run: ",
                    unsaid = "before it said anything on the socket that DPSOSP_SOCKET names: ";
  for (const Case& c :
       {Case{"print('done')\n", "it is gone: " + unsaid +
                                    "ended with status 0; one in Python ends "
                                    "with dpsosp.serve(CLASS); it wrote: done"},
        Case{"import dpsosp\n\n\ndef f(:\n",
             "mine.py:4: it is gone: " + unsaid + "ended with status 1; it wrote: SyntaxError: "},
        Case{
            "import dpsosp\n",
            "mine.py:1: it is gone: " + unsaid +
                "ended with status 1; it wrote: "
                "ModuleNotFoundError: No module named 'dpsosp'; a program finds modules below /usr",
            false},
        Case{"import socket\nsocket.socket(fileno=0)\n",  // the second version of the protocol
             "mine.py:2: it is gone: " + unsaid + "ended with status 1; it wrote: OSError: "}}) {
    const ScratchFolder folder;
    const Result r = run_of(folder, c.program, seed, c.reads);
    EXPECT_EQ(r.code, 1);
    EXPECT_EQ(lines(r.err).back().find(before + c.reason), 0U) << r.err;
  }
  const ScratchFolder folder;
  const Result instance = run_of(folder,
                                 "import dpsosp\n"
                                 "class Mine(dpsosp.Algorithm):\n    pass\n"
                                 "dpsosp.serve(Mine())\n");
  EXPECT_TRUE(has(instance.err, "expected a class that derives from dpsosp.Algorithm"));
  const Result alone =
      run_program("/usr/bin/env", {"PYTHONPATH=" + in_checkout("python"), "/usr/bin/python3", "-B",
                                   in_checkout("examples/program/smith.py")});
  expect_one_error_line(alone, 1, "smith.py: `dpsosp run --program CARD` starts this program");
}

/// A release shows nothing that a program writes, and says so.
TEST_F(Speaking, IsWithheldFromAReleaseWhichSaysSo) {
  const Result good = run("print", "--release");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_EQ(good.err, "");
  EXPECT_TRUE(lacks(good.out, "step 3"));
  const Result bad = run("raise", "--release");
  EXPECT_EQ(bad.code, 1);
  EXPECT_TRUE(lacks(bad.err, "started", "Traceback"));
  EXPECT_EQ(lines(bad.err).size(), 2U) << bad.err;
  EXPECT_EQ(bad.err.find("what speaks.py wrote is withheld"), 0U) << bad.err;
  const ScratchFolder folder;
  const Result silent = run_of(folder, "import sys\nsys.exit('secret')\n", "--release");
  EXPECT_TRUE(lacks(silent.err, "secret"));
  EXPECT_TRUE(has(silent.err, "ended with status 1"));
  expect_one_error_line(run("print", "--release --show-output"), 2, "--release with --show-output");
}

TEST_F(Speaking, IsShownByCheckAndSweepsOnceForEachProgram) {
  const ScratchFolder folder;
  const std::string programs = in_checkout("tests/python/programs/");
  const std::string card = replaced(replaced(contents(speaks), "\"silent\"", "\"raise\""),
                                    "speaks.py", programs + "speaks.py");
  folder.write("errs.toml", replaced(card, "../../../python", in_checkout("python")));
  folder.write("sweep.toml", R"(title = "Errs"
metric = "output.gradient_norm"
seeds = 2
dimension = 2
epsilon = 1
[[arm]]
name = "mine"
problem = "double-well"
program = "errs.toml"
[[part]]
name = "n"
axes = [{ records = [50, 100] }]
)");
  for (const Result& r :
       {dpsosp("check", {folder / "errs.toml"}),
        dpsosp("sweep --quiet", {folder / "sweep.toml", "--out", folder / "out"})})
    for (const std::string once :
         {"speaks.py wrote, last of all:", "\n  ValueError: my own error"}) {
      EXPECT_TRUE(has(r.err, once));
      EXPECT_EQ(r.err.find(once), r.err.rfind(once)) << r.err;
    }
}

TEST_F(Speaking, WarnsOfASeedThatCanBeGuessed) {
  const Result r = run("silent", "--seed 5");
  EXPECT_EQ(r.code, 0);
  ASSERT_EQ(lines(r.err).size(), 1U) << r.err;
  EXPECT_EQ(r.err.find("run: --seed 5 can be guessed"), 0U) << r.err;
  EXPECT_EQ(run("silent", "--seed 91827364554637").err, "");
  EXPECT_EQ(run("silent", "--release").err, "");
}

TEST_F(Speaking, IsFoundByTheNameOfItsCard) {
  const ScratchFolder folder;
  folder.write("storm.toml", contents(speaks));
  folder.write("broken.toml", "= 3\n");
  for (const char* word : {"STORM", "storm", "test/speaks", "speaks"})
    for (const char* command : {"run --problem double-well --epsilon 1 --delta 1e-6 --algorithm ",
                                "audit --algorithm ", "check "}) {
      std::vector<std::string> all{"-C", folder.path(), built_program("dpsosp")};
      for (const std::string& part : words(command + std::string(word))) all.push_back(part);
      expect_one_error_line(run_program("/usr/bin/env", all), 2,
                            "; a program is named by its card, storm.toml");
    }
}

}  // namespace
}  // namespace dpsosp::speaking_test
