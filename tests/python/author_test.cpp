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
#include "paths.hpp"
#include "python.hpp"

namespace dpsosp::author_test {
namespace {

namespace fs = std::filesystem;

const std::string example = in_checkout("examples/program/smith.toml");
const std::string hostile = in_checkout("tests/python/programs/hostile.toml");

class InPython : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::python_has("numpy")) GTEST_SKIP() << "no NumPy for /usr/bin/python3";
  }
};

std::vector<std::string> run_words(const std::string& card,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{
      "run",       "--program", card,          "--problem", "double-well",
      "--records", "200",       "--dimension", "4",         "--epsilon",
      "1",         "--delta",   "1e-6",        "--seed",    "918273645546372819"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

/// The hostile program with another attack as its default.
std::string hostile_card(const std::string& attack) {
  std::string card = contents(hostile);
  replace(card, "\"none\"", '"' + attack + '"');
  replace(card, "\"hostile.py\"", '"' + in_checkout("tests/python/programs") + "/hostile.py\"");
  replace(card, "../../../python", in_checkout("python"));
  return card;
}

std::string after(const std::string& attack) {
  return run_program(built_program("dpsosp"), run_words(hostile, {"--set", "attack=" + attack}))
      .err;
}

TEST_F(InPython, RunsChecksAndIsListed) {
  const Result run = run_program(built_program("dpsosp"), run_words(example, {"--json"}));
  ASSERT_EQ(run.code, 0) << run.err;
  const auto result = nlohmann::json::parse(run.out);
  EXPECT_EQ(result["algorithm"]["status"], "steps_done");
  EXPECT_EQ(result["algorithm"]["parameters"]["momentum"], "0.9");
  EXPECT_EQ(result["description"]["program"].size(), 3U) << "program, package, defaults";
  EXPECT_GT(result["privacy"]["spent"].get<double>(), 0.9);
  EXPECT_EQ(run_program(built_program("dpsosp"), run_words(example, {"--json"})).out, run.out);
  const Result check = run_program(built_program("dpsosp"), {"check", example});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  const Result list = run_program("/usr/bin/env", {"DPSOSP_PROGRAMS=" + example,
                                                   built_program("dpsosp"), "list", "algorithms"});
  EXPECT_NE(list.out.find("smith-2027/normalised-momentum-py"), std::string::npos);
}

TEST_F(InPython, SweepsByAnyNumberOfThreadsAndProcesses) {
  const ScratchFolder folder;
  std::ofstream(folder / "own.toml")
      << "title = \"Own\"\nmetric = \"output.gradient_norm\"\nseeds = 2\n"
         "records = 200\ndimension = 4\nepsilon = 2\n"
         "settings = { steps = 10 }\n"
         "[[arm]]\nname = \"mine\"\nproblem = \"double-well\"\nprogram = \""
      << example
      << "\"\n[[arm]]\nname = \"rival\"\nproblem = \"double-well\"\n"
         "algorithm = \"wang-ye-xu-2017/dp-gd\"\nnoise = \"calibrated\"\n"
         "[[part]]\nname = \"n\"\naxes = [{ records = [200, 400, 800] }]\n"
         "fit = [{ axis = \"records\" }]\n";
  const auto swept = [&](const std::string& out, const std::vector<std::string>& more) {
    fs::create_directories(folder / out);
    if (out == "two" || out == "shared")
      fs::copy_file(folder / "one/programs.secret", folder / (out + "/programs.secret"));
    std::vector<std::string> words{"sweep", folder / "own.toml", "--out", folder / out, "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    const Result r = run_program(built_program("dpsosp"), words);
    EXPECT_EQ(r.code, 0) << r.err;
    return contents(folder / (out + "/own/cells-n.csv"));
  };
  const std::string one = swept("one", {"--threads", "1"});
  EXPECT_NE(one.find("mine"), std::string::npos);
  EXPECT_EQ(swept("two", {"--threads", "2"}), one);
  EXPECT_EQ(swept("one", {"--threads", "2"}), one) << "continued";
  EXPECT_EQ(swept("shared", {"--local", "2"}), one) << "by two processes";
  EXPECT_TRUE(fs::exists(folder / "shared/plans/0001/plan.json"));
  EXPECT_NE(swept("three", {"--threads", "2"}), one) << "another folder has another secret";
  const std::string figures = "import dpsosp\nf = dpsosp.figures('" +
                              (folder / "one/own").string() + "')['figure-n']\nf.save('" +
                              (folder / "n.svg").string() + "')\nprint(f._repr_svg_(), end='')";
  const Result shown =
      run_program("/usr/bin/env", {"PYTHONPATH=" + in_checkout("python"),
                                   "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3", "-c", figures});
  EXPECT_EQ(shown.out, contents(folder / "one/own/figure-n.svg")) << shown.err;
  EXPECT_EQ(shown.out, contents(folder / "n.svg"));
}

// Versions are compared at common noise: what decides nothing of a run moves no number of it.
TEST_F(InPython, KeepsItsNoiseInAnotherVersion) {
  const ScratchFolder folder;
  std::ofstream(folder / "smith.py")
      << contents(in_checkout("examples/program/smith.py")) << "# another version\n";
  std::string card = contents(example);
  replace(card, "default = 0.9", "default = 0.8");
  replace(card, "../../python", in_checkout("python"));
  std::ofstream(folder / "smith.toml") << card;
  const auto run = [](const std::string& of, const std::vector<std::string>& more) {
    const Result r = run_program(built_program("dpsosp"), run_words(of, more));
    EXPECT_EQ(r.code, 0) << r.err;
    return r.code == 0 ? nlohmann::json::parse(r.out) : nlohmann::json();
  };
  const std::vector<std::string> same{"--json", "--set", "momentum=0.9"};
  const nlohmann::json before = run(example, same), after = run(folder / "smith.toml", same);
  EXPECT_NE(before["description"]["program"]["smith.py"],
            after["description"]["program"]["smith.py"]);
  EXPECT_NE(before["description"]["program"]["settings"],
            after["description"]["program"]["settings"]);
  EXPECT_EQ(before["point"], after["point"]);
  EXPECT_NE(before["point"], run(folder / "smith.toml", {"--json"})["point"]) << "its own default";
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
  std::ofstream(site / "own_module.py") << "STEP = 0.05\n";
  std::string program = contents(in_checkout("examples/program/smith.py"));
  replace(program, "import dpsosp\n", "import dpsosp\nimport own_module\n");
  replace(program, "self.step_size *", "own_module.STEP *");
  std::ofstream(folder / "smith.py") << program;
  std::string card = contents(example);
  replace(card, "../../python", in_checkout("python"));
  std::ofstream(folder / "without.toml") << card;
  replace(card, "/usr/bin/python3", "env/bin/python");
  std::ofstream(folder / "smith.toml") << card;
  const auto run = [&](const std::string& name) {
    return run_program(built_program("dpsosp"), run_words(folder / name, {"--json"}));
  };
  const Result with = run("smith.toml"), without = run("without.toml");
  ASSERT_EQ(with.code, 0) << with.err;
  EXPECT_NE(without.err.find("No module named 'own_module'"), std::string::npos) << without.err;
  const auto files = [](const Result& r) {
    return nlohmann::json::parse(r.out)["description"]["program"];
  };
  std::ofstream(site / "own_module.py") << "STEP = 0.06\n";
  EXPECT_NE(files(run("smith.toml")), files(with)) << "the module is a part of the program";
}

TEST_F(InPython, NeedsASeedThatNobodyGuesses) {
  const Result r =
      run_program(built_program("dpsosp"), {"run", "--algorithm", example, "--problem",
                                            "double-well", "--epsilon", "1", "--delta", "1e-6"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("without --seed or --release"), std::string::npos) << r.err;
}

/// Neither does the package make one up: a program can read the clock, too.
TEST_F(InPython, NeedsASeedThatNobodyGuessesFromThePackageToo) {
  for (const char* more : {"", ", settings={'steps': 2}", ", records=200, dimension=4"}) {
    const std::string code =
        "import dpsosp.experiments as e\n"
        "e.run('" +
        std::string(example) + "', 'double-well', epsilon=1, delta=1e-6" + more + ")";
    const Result r = run_program(
        "/usr/bin/env", {"DPSOSP=" + built_program("dpsosp"), "PYTHONPATH=" + in_checkout("python"),
                         "/usr/bin/python3", "-B", "-c", code});
    EXPECT_NE(r.code, 0) << more;
    EXPECT_NE(r.err.find("without --seed or --release"), std::string::npos) << r.err;
  }
}

/// A certificate, or whatever else is computed from the records, would be no release.
TEST_F(InPython, ReleaseIsWhatTheProgramPrints) {
  const std::string code =
      "import dpsosp.experiments as e\n"
      "r = e.run('wang-ye-xu-2017/dp-gd', 'cosine-saddle', epsilon=1, delta=1e-6, records=500,\n"
      "          dimension=2, release=True)\n"
      "print(*sorted(r))";
  const Result r = run_program(
      "/usr/bin/env", {"DPSOSP=" + built_program("dpsosp"), "PYTHONPATH=" + in_checkout("python"),
                       "/usr/bin/python3", "-B", "-c", code});
  EXPECT_EQ(r.out, "algorithm description point privacy schedule\n") << r.err;
}

TEST_F(InPython, SeesNoRecords) {
  EXPECT_NE(after("records").find("it asks for 'records', which there is not"), std::string::npos);
  const std::string files = after("files");
  EXPECT_EQ(files.find("answered"), std::string::npos) << files;
  EXPECT_NE(files.find("PermissionError"), std::string::npos) << files;
}

TEST_F(InPython, KeepsNoBatch) {
  const std::string line = after("batch");
  EXPECT_EQ(line.find("answered"), std::string::npos) << line;
  EXPECT_NE(line.find("InputError"), std::string::npos) << line;
}

TEST_F(InPython, GetsNothingAfterARefusal) {
  EXPECT_NE(after("refusal").find("8 answered, then BudgetExhausted; 0.000 left"),
            std::string::npos)
      << after("refusal");
}

TEST_F(InPython, HasNoNoiseToSubtract) {
  EXPECT_NE(after("noise").find("InputError: query: noise = 0"), std::string::npos)
      << after("noise");
  const Result r = run_program(
      built_program("dpsosp"),
      run_words(hostile, {"--set", "attack=seed", "--set", "guess=918273645546372819"}));
  EXPECT_NE(r.err.find(" places, 0 with the seed"), std::string::npos) << r.err;
}

TEST_F(InPython, IsCaughtByCheckWhereItAsksMoreThanItPlans) {
  const ScratchFolder folder;
  std::ofstream(folder / "greedy.toml") << hostile_card("greedy");
  const Result r = run_program(built_program("dpsosp"), {"check", folder / "greedy.toml"});
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.out.find("FAIL  is refused no query that it plans"), std::string::npos) << r.out;
}

class AuditInPython : public testing::TestWithParam<std::string> {};

// A method whose questions or output follow from more than its answers and its stream.
TEST_P(AuditInPython, CatchesBugs) {
  if (!test::python_has("numpy")) GTEST_SKIP() << "no NumPy for /usr/bin/python3";
  const ScratchFolder folder;
  std::ofstream(folder / "bug.toml") << hostile_card(GetParam());
  const Result r = run_program(
      built_program("dpsosp"),
      {"audit", "--algorithm", folder / "bug.toml", "--problem", "double-well", "--threads", "2"});
  const bool sound = GetParam() == "none";
  EXPECT_EQ(r.code, sound ? 0 : 1) << r.out << r.err;
  EXPECT_EQ(r.out.find("FAIL") == std::string::npos, sound) << r.out;
}

INSTANTIATE_TEST_SUITE_P(InPython, AuditInPython,
                         testing::Values("none", "coin", "clock", "output"),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace dpsosp::author_test
