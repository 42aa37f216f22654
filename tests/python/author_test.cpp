// SPDX-License-Identifier: Apache-2.0
// An author's afternoon in Python: the program's commands take a card, and what it may not have it
// does not get.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../cli/program.hpp"
#include "python.hpp"

namespace dpsosp::author_test {
namespace {

namespace fs = std::filesystem;

const std::string example = in_checkout("examples/program/smith.toml");
const std::string hostile = in_checkout("tests/python/programs/hostile.toml");

using InPython = test::WithNumpy;

Result run_card(const std::string& card, const std::string& more) {
  return dpsosp(
      "run --problem double-well --records 200 --dimension 4 --epsilon 1 --delta 1e-6 "
      "--seed 918273645546372819 " +
          more,
      {"--program", card});
}

nlohmann::json json_of(const std::string& card, const std::string& more = "") {
  const Result r = run_card(card, "--json " + more);
  EXPECT_EQ(r.code, 0) << r.err;
  return r.code == 0 ? nlohmann::json::parse(r.out) : nlohmann::json();
}

/// The example's card or another, for another folder.
std::string moved(const std::string& card, const std::string& package) {
  return replaced(contents(card), package, in_checkout("python"));
}

/// The hostile program with another attack as its default.
std::string hostile_card(const std::string& attack) {
  const std::string card =
      replaced(moved(hostile, "../../../python"), "\"none\"", '"' + attack + '"');
  return replaced(card, "hostile.py", in_checkout("tests/python/programs/hostile.py"));
}

std::string after(const std::string& attack) {
  return run_card(hostile, "--set attack=" + attack).err;
}

/// What Python with the package says.
Result in_python(const std::string& code) {
  return run_program("/usr/bin/env",
                     {"DPSOSP=" + built_program("dpsosp"), "PYTHONPATH=" + in_checkout("python"),
                      "/usr/bin/python3", "-B", "-c", code});
}

TEST_F(InPython, RunsChecksAndIsListed) {
  const nlohmann::json result = json_of(example);
  ASSERT_FALSE(result.is_null());
  EXPECT_EQ(result["algorithm"]["status"], "steps_done");
  EXPECT_EQ(result["algorithm"]["parameters"]["momentum"], "0.9");
  EXPECT_EQ(result["description"]["program"].size(), 3U) << "program, package, defaults";
  EXPECT_GT(result["privacy"]["spent"].get<double>(), 0.9);
  EXPECT_EQ(run_card(example, "--json").out, run_card(example, "--json").out);
  EXPECT_EQ(dpsosp("check", {example}).code, 0);
  const Result list = run_program("/usr/bin/env", {"DPSOSP_PROGRAMS=" + example,
                                                   built_program("dpsosp"), "list", "algorithms"});
  EXPECT_TRUE(has(list.out, "smith-2027/normalised-momentum-py"));
}

TEST_F(InPython, SweepsByAnyNumberOfThreadsAndProcesses) {
  const ScratchFolder folder;
  folder.write("own.toml", R"(title = "Own"
metric = "output.gradient_norm"
seeds = 2
records = 200
dimension = 4
epsilon = 2
settings = { steps = 10 }
[[arm]]
name = "mine"
problem = "double-well"
program = ")" + example + R"("
[[arm]]
name = "rival"
problem = "double-well"
algorithm = "wang-ye-xu-2017/dp-gd"
noise = "calibrated"
[[part]]
name = "n"
axes = [{ records = [200, 400, 800] }]
fit = [{ axis = "records" }]
)");
  const auto swept = [&](const std::string& out, const std::string& more) {
    if (out == "two" || out == "shared")
      folder.write(out + "/programs.secret", contents(folder / "one/programs.secret"));
    const Result r = dpsosp("sweep --quiet " + more, {folder / "own.toml", "--out", folder / out});
    EXPECT_EQ(r.code, 0) << r.err;
    return contents(folder / (out + "/own/cells-n.csv"));
  };
  const std::string one = swept("one", "--threads 1");
  EXPECT_TRUE(has(one, "mine"));
  EXPECT_EQ(swept("two", "--threads 2"), one);
  EXPECT_EQ(swept("one", "--threads 2"), one) << "continued";
  EXPECT_EQ(swept("shared", "--local 2"), one) << "by two processes";
  EXPECT_TRUE(fs::exists(folder / "shared/plans/0001/plan.json"));
  EXPECT_NE(swept("three", "--threads 2"), one) << "another folder has another secret";
  const Result shown = in_python("import dpsosp\nf = dpsosp.figures('" +
                                 (folder / "one/own").string() + "')['figure-n']\nf.save('" +
                                 (folder / "n.svg").string() + "')\nprint(f._repr_svg_(), end='')");
  EXPECT_EQ(shown.out, contents(folder / "one/own/figure-n.svg")) << shown.err;
  EXPECT_EQ(shown.out, contents(folder / "n.svg"));
}

// Versions are compared at common noise: what decides nothing of a run moves no number of it.
TEST_F(InPython, KeepsItsNoiseInAnotherVersion) {
  const ScratchFolder folder;
  folder.write("smith.py",
               contents(in_checkout("examples/program/smith.py")) + "# another version\n");
  const auto card = folder.write(
      "smith.toml", replaced(moved(example, "../../python"), "default = 0.9", "default = 0.8"));
  const auto before = json_of(example, "--set momentum=0.9"),
             after = json_of(card, "--set momentum=0.9");
  for (const char* part : {"smith.py", "settings"})
    EXPECT_NE(before["description"]["program"][part], after["description"]["program"][part]);
  EXPECT_EQ(before["point"], after["point"]);
  EXPECT_NE(before["point"], json_of(card)["point"]) << "its own default";
}

/// A virtual environment with a module of one's own, as one with torch is.
TEST_F(InPython, RunsInAVirtualEnvironment) {
  const ScratchFolder folder;
  const std::string environment = folder / "env";
  if (run_program("/usr/bin/python3",
                  {"-m", "venv", "--without-pip", "--system-site-packages", environment})
          .code != 0)
    GTEST_SKIP() << "no module venv for /usr/bin/python3";
  fs::path site;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "env"))
    if (entry.path().filename() == "site-packages") site = entry.path();
  const auto step = [&](const char* value) {
    std::ofstream(site / "own_module.py") << "STEP = " << value << '\n';
  };
  step("0.05");
  const std::string program = replaced(contents(in_checkout("examples/program/smith.py")),
                                       "import dpsosp\n", "import dpsosp\nimport own_module\n");
  folder.write("smith.py", replaced(program, "self.step_size *", "own_module.STEP *"));
  const std::string card = moved(example, "../../python");
  EXPECT_TRUE(
      has(run_card(folder.write("without.toml", card), "").err, "No module named 'own_module'"));
  const auto with =
      folder.write("smith.toml", replaced(card, "/usr/bin/python3", "env/bin/python"));
  const auto files = json_of(with)["description"]["program"];
  ASSERT_FALSE(files.is_null());
  step("0.06");
  EXPECT_NE(json_of(with)["description"]["program"], files)
      << "the module is a part of the program";
}

/// Neither does the package make one up: a program can read the clock, too.
TEST_F(InPython, NeedsASeedThatNobodyGuessesFromThePackageToo) {
  const std::string unsaid = "without --seed or --release";
  const Result r =
      dpsosp("run --problem double-well --epsilon 1 --delta 1e-6 --algorithm", {example});
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(has(r.err, unsaid));
  for (const char* more : {"", ", settings={'steps': 2}", ", records=200, dimension=4"}) {
    const Result asked = in_python("import dpsosp.experiments as e\ne.run('" + example +
                                   "', 'double-well', epsilon=1, delta=1e-6" + more + ")");
    EXPECT_NE(asked.code, 0) << more;
    EXPECT_TRUE(has(asked.err, unsaid));
  }
}

/// A certificate, or whatever else is computed from the records, would be no release.
TEST_F(InPython, ReleaseIsWhatTheProgramPrints) {
  const Result r = in_python(
      "import dpsosp.experiments as e\n"
      "print(*sorted(e.run('wang-ye-xu-2017/dp-gd', 'cosine-saddle', epsilon=1, delta=1e-6,\n"
      "                    records=500, dimension=2, release=True)))");
  EXPECT_EQ(r.out, "algorithm description point privacy schedule\n") << r.err;
}

TEST_F(InPython, SeesNoRecords) {
  EXPECT_TRUE(has(after("records"), "it asks for 'records', which there is not"));
  const std::string files = after("files");
  EXPECT_TRUE(lacks(files, "answered"));
  EXPECT_TRUE(has(files, "PermissionError"));
}

TEST_F(InPython, KeepsNoBatch) {
  const std::string line = after("batch");
  EXPECT_TRUE(lacks(line, "answered"));
  EXPECT_TRUE(has(line, "InputError"));
}

TEST_F(InPython, GetsNothingAfterARefusal) {
  EXPECT_TRUE(has(after("refusal"), "8 answered, then BudgetExhausted; 0.000 left"));
}

TEST_F(InPython, HasNoNoiseToSubtract) {
  EXPECT_TRUE(has(after("noise"), "InputError: query: noise = 0"));
  const Result r = run_card(hostile, "--set attack=seed --set guess=918273645546372819");
  EXPECT_TRUE(has(r.err, " places, 0 with the seed"));
}

TEST_F(InPython, IsCaughtByCheckWhereItAsksMoreThanItPlans) {
  const ScratchFolder folder;
  folder.write("greedy.toml", hostile_card("greedy"));
  const Result r = dpsosp("check", {folder / "greedy.toml"});
  EXPECT_EQ(r.code, 1);
  EXPECT_TRUE(has(r.out, "FAIL  is refused no query that it plans"));
}

class AuditInPython : public testing::TestWithParam<std::string> {};

// A method whose questions or output follow from more than its answers and its stream.
TEST_P(AuditInPython, CatchesBugs) {
  if (!test::python_has("numpy")) GTEST_SKIP() << "no NumPy for /usr/bin/python3";
  const ScratchFolder folder;
  folder.write("bug.toml", hostile_card(GetParam()));
  const Result r =
      dpsosp("audit --problem double-well --threads 2 --algorithm", {folder / "bug.toml"});
  const bool sound = GetParam() == "none";
  EXPECT_EQ(r.code, sound ? 0 : 1) << r.out << r.err;
  EXPECT_EQ(bool(lacks(r.out, "FAIL")), sound) << r.out;
}

INSTANTIATE_TEST_SUITE_P(InPython, AuditInPython,
                         testing::Values("none", "coin", "clock", "output"),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace dpsosp::author_test
