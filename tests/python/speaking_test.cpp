// SPDX-License-Identifier: Apache-2.0
// What a program in Python prints reaches its author and nothing else, and so do its errors.
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../cli/program.hpp"
#include "paths.hpp"
#include "python.hpp"

namespace dpsosp::speaking_test {
namespace {

const std::string speaks = in_checkout("tests/python/programs/speaks.toml");

class Speaking : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::python_has("numpy")) GTEST_SKIP() << "no NumPy for /usr/bin/python3";
  }
};

std::vector<std::string> run_words(const std::string& card, const std::string& more) {
  std::vector<std::string> all = words(
      "run --problem double-well --records 150 --dimension 4 --epsilon 1 --delta 1e-6 " + more);
  all.insert(all.end(), {"--program", card});
  return all;
}

const std::string seed = "--seed 918273645546372819 ";

Result run(const std::string& way, const std::string& more = seed) {
  return run_program(built_program("dpsosp"), run_words(speaks, more + " --set way=" + way));
}

/// A program of its own, with a card that may read the package.
Result run_of(const ScratchFolder& folder, const std::string& program,
              const std::string& more = seed, bool reads = true) {
  std::ofstream(folder / "mine.py") << program;
  std::ofstream(folder / "mine.toml")
      << "key = \"test/mine\"\ntitle = \"Mine\"\nprogram = \"mine.py\"\n"
         "interpreter = \"/usr/bin/python3\"\n"
      << (reads ? "reads = [\"" + in_checkout("python") + "\"]\n" : "");
  return run_program(built_program("dpsosp"), run_words(folder / "mine.toml", more));
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
  const std::string quiet =
      "import dpsosp, sys\n"
      "class Mine(dpsosp.Algorithm):\n"
      "    def plan(self, facts, budget):\n"
      "        return [dpsosp.Planned(3)]\n"
      "    def run(self, curator, stream):\n"
      "        x = curator.facts.initial_point.copy()\n"
      "        for t in range(3):\n"
      "            #\n"
      "            x -= curator.gradient(x, curator.draw(), limit=1.0, noise=self.noise)\n"
      "        return x\n"
      "dpsosp.serve(Mine)\n";
  const auto point = [&](const std::string& said) {
    std::string program = quiet;
    program.replace(program.find('#'), 1, said);
    const Result r = run_of(folder, program, seed + "--json");
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
      run_program(built_program("dpsosp"),
                  words("run --show-output --algorithm wang-ye-xu-2017/dp-gd --problem double-well "
                        "--epsilon 1 --delta 1e-6")),
      2, "--show-output, expected with a program");
}

TEST_F(Speaking, IsShownAfterAFailureWithThePlaceOfTheError) {
  const std::string spent = "; 3 queries had spent epsilon ";
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
    EXPECT_NE(said.back().find(spent), std::string::npos) << r.err;
    EXPECT_LE(said.size(), 22U) << "a heading, twenty lines and the reason";
    EXPECT_NE(r.err.find("speaks.py wrote, last of all:\n"), std::string::npos) << r.err;
    EXPECT_NE(r.err.find("/tests/python/programs/speaks.py\", line "), std::string::npos) << r.err;
    EXPECT_EQ(r.err.find("/proc/self"), std::string::npos) << r.err;
  }
}

TEST_F(Speaking, NamesQuestionAndArgumentOfWhatIsWrong) {
  for (const auto& [way, error] : std::map<std::string, std::string>{
           {"size", "fresh: size = 1.5, expected an integer"},
           {"policy",
            "draw: policy = 100, expected ALL, fresh(size), sample(size) or poisson(rate)"},
           {"batch", "gradient: batch = None, expected what curator.draw() returned"},
           {"limit", "gradient: limit = None, expected a number"},
           {"noise", "hessian_product: noise = 'much', expected a number"},
           {"point", "gradient: x = ['a'], expected a vector of real numbers"},
           {"complex", "gradient: x = array(["},
           {"text", "gradient: limit = '1.0', expected a number"},
           {"host", "query: noise = 0"}}) {
    const Result r = run(way);
    ASSERT_EQ(r.code, 1) << way << r.err;
    EXPECT_NE(lines(r.err).back().find("the program says: " + place_of(way) + error),
              std::string::npos)
        << r.err;
  }
  for (const auto& [way, error] : std::map<std::string, std::string>{
           {"none", "Speaks.run returned None, expected the point where it ends, d = 4 numbers"},
           {"shape", "Speaks.run returned array(["},
           {"row", "Speaks.run returned array([["},
           {"plan", "Speaks.plan returned None, expected a list of dpsosp.Planned"},
           {"count", "plan: count = 4.0, expected an integer"}}) {
    const Result r = run(way);
    ASSERT_NE(r.code, 0) << way;
    EXPECT_NE(lines(r.err).back().find("the program says: " + error), std::string::npos) << r.err;
  }
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
  EXPECT_NE(instance.err.find("expected a class that derives from dpsosp.Algorithm"),
            std::string::npos)
      << instance.err;
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
  EXPECT_EQ(good.out.find("step 3"), std::string::npos);
  const Result bad = run("raise", "--release");
  EXPECT_EQ(bad.code, 1);
  EXPECT_EQ(bad.err.find("started"), std::string::npos) << bad.err;
  EXPECT_EQ(bad.err.find("Traceback"), std::string::npos) << bad.err;
  EXPECT_EQ(lines(bad.err).size(), 2U) << bad.err;
  EXPECT_EQ(bad.err.find("what speaks.py wrote is withheld"), 0U) << bad.err;
  const ScratchFolder folder;
  const Result silent = run_of(folder, "import sys\nsys.exit('secret')\n", "--release");
  EXPECT_EQ(silent.err.find("secret"), std::string::npos) << silent.err;
  EXPECT_NE(silent.err.find("ended with status 1"), std::string::npos) << silent.err;
  expect_one_error_line(run("print", "--release --show-output"), 2, "--release with --show-output");
}

TEST_F(Speaking, IsShownByCheckAndSweepsOnceForEachProgram) {
  const ScratchFolder folder;
  std::string card = contents(speaks);
  const auto replace = [&](const std::string& from, const std::string& to) {
    card.replace(card.find(from), from.size(), to);
  };
  replace("\"silent\"", "\"raise\"");
  replace("\"speaks.py\"", '"' + in_checkout("tests/python/programs/speaks.py") + '"');
  replace("../../../python", in_checkout("python"));
  std::ofstream(folder / "errs.toml") << card;
  std::ofstream(folder / "sweep.toml")
      << "title = \"Errs\"\nmetric = \"output.gradient_norm\"\nseeds = 2\ndimension = 2\n"
         "epsilon = 1\n[[arm]]\nname = \"mine\"\nproblem = \"double-well\"\n"
         "program = \"errs.toml\"\n[[part]]\nname = \"n\"\naxes = [{ records = [50, 100] }]\n";
  const auto times = [](const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check", folder / "errs.toml"},
        {"sweep", folder / "sweep.toml", "--out", folder / "out", "--quiet"}}) {
    const Result r = run_program(built_program("dpsosp"), command);
    EXPECT_EQ(times(r.err, "speaks.py wrote, last of all:"), 1) << r.err;
    EXPECT_EQ(times(r.err, "\n  ValueError: my own error"), 1) << r.err;
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
  std::ofstream(folder / "storm.toml") << contents(speaks);
  std::ofstream(folder / "broken.toml") << "= 3\n";
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
