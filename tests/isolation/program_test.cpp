// SPDX-License-Identifier: Apache-2.0
// A program with a card is an algorithm like any other.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/hidden_files.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/run_inputs.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/store.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "paths.hpp"
#include "plain_descent.hpp"

namespace dpsosp::program_test {
namespace {

namespace fs = std::filesystem;

const std::string settings = R"(
[settings.steps]
default = 20
least = 1
[settings.step_size]
default = 0.1
above = 0
[settings.limit]
default = 1.0
above = 0
)";

/// A folder with a card of its own, which is read once.
class ProgramCard : public testing::Test {
 protected:
  ProgramCard()
      : folder_(fs::temp_directory_path() / fmt::format("dpsosp-program-card-{}", ::getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ProgramCard() override { fs::remove_all(folder_); }

  /// \param rest  after key, title and program
  fs::path card(const std::string& name, const std::string& rest = settings) const {
    const fs::path file = folder_ / (name + ".toml");
    std::ofstream(file) << fmt::format(
                               "key = \"test/{}\"\ntitle = \"A program\"\nprogram = \"{}\"\n", name,
                               built_program("plain_guest"))
                        << rest;
    return file;
  }
  std::string refusal(const fs::path& file) const {
    try {
      register_program(file);
    } catch (const InputError& e) {
      std::string line = e.what();
      const auto at = line.find(folder_.string());
      return at == 0 ? line.substr(folder_.string().size() + 1) : line;
    }
    return "none";
  }
  fs::path folder_;
};

RunSpec spec_of(const std::string& key) {
  RunSpec spec;
  spec.algorithm = key;
  spec.problem = "double-well";
  spec.records = 500;
  spec.dimension = 5;
  spec.epsilon = 2;
  spec.calibrator = Calibrator::rdp;
  spec.seed = 8;
  spec.observations = 10;
  return spec;
}

Curator curator_of(const PublicFacts& facts, const AnyRecords& records, const FilterRule& rule) {
  return {facts, records, rule, {.seed = 5}, nullptr};
}

TEST_F(ProgramCard, MakesItAnAlgorithm) {
  const std::string key = register_program(card("listed"));
  EXPECT_EQ(key, "test/listed");
  EXPECT_EQ(register_program(card("listed")), key) << "a card is read once";
  const auto algorithm = find_algorithm(key);
  EXPECT_TRUE(algorithm->card().is_program());
  EXPECT_EQ(
      values_of(algorithm->fields()),
      (std::map<std::string, std::string>{{"limit", "1"}, {"step_size", "0.1"}, {"steps", "20"}}));
}

TEST_F(ProgramCard, RunsAgainWithTheSameBits) {
  const RunDescription d = describe(spec_of(register_program(card("repeats"))));
  const nlohmann::json first = compute_run(d);
  EXPECT_EQ(first, nlohmann::json(compute_run(d)));
  EXPECT_EQ(first, nlohmann::json(compute_run(d, Isolation{}))) << "it is isolated anyway";
  EXPECT_EQ(first.at("algorithm").at("status"), "steps_done");
  EXPECT_EQ(first.at("privacy").at("queries"), 20);
  EXPECT_EQ(first.at("privacy").at("label"), "enforced");
  EXPECT_LE(first.at("privacy").at("spent").get<double>(), 2.0);
  EXPECT_GT(first.at("privacy").at("spent").get<double>(), 1.8) << "its noise is that of its plan";
}

TEST_F(ProgramCard, AsksLikeTheAlgorithmInThisProcess) {
  const auto program = find_algorithm(register_program(card("agrees")));
  test::PlainDescent here;
  const auto family = dpsosp::find_problem("double-well");
  const Problem p = family->make({.records = 300, .dimension = 4});
  const PrivacyBudget budget{1, 1e-6};
  const auto rule = here.schedule(Schedule::practical, p.facts, budget, Calibrator::rdp).rule;
  const auto theirs = program->schedule(Schedule::practical, p.facts, budget, Calibrator::rdp).rule;
  EXPECT_EQ(rule.capacity, theirs.capacity);
  class Nobody final : public Observer {
    void iterate(Index, ConstVectorRef) override {}
  } nobody;
  const Stream stream = Stream::sealed({.seed = 4, .purpose = Purpose::algorithm});
  for (int k = 0; k < 2; ++k) {  // the second run is a process of its own
    Curator one = curator_of(p.facts, *p.records, rule),
            two = curator_of(p.facts, *p.records, rule);
    const Outcome a = here.run(one, stream, nobody), b = program->run(two, stream, nobody);
    EXPECT_EQ(a.point, b.point);
    EXPECT_EQ(a.counts, b.counts);
    EXPECT_EQ(one.ledger().queries(), two.ledger().queries());
  }
  // Noise that another sets, as for `noise = "calibrated"`.
  EXPECT_EQ(program->plan(p.facts).front().count, 20);
  here.set_common_noise(40);
  program->set_common_noise(40);
  Curator one = curator_of(p.facts, *p.records, rule), two = curator_of(p.facts, *p.records, rule);
  EXPECT_EQ(here.run(one, stream, nobody).point, program->run(two, stream, nobody).point);
}

TEST_F(ProgramCard, TakesCalibratedNoise) {
  RunSpec spec = spec_of(register_program(card("calibrated")));
  spec.noise = NoiseRule::calibrated;
  const RunResult r = compute_run(describe(spec));
  EXPECT_EQ(r.algorithm.status, Status::steps_done);
  EXPECT_GT(r.privacy.spent, 1.8);
  EXPECT_LE(r.privacy.spent, 2.0);
}

TEST_F(ProgramCard, IsInTheDescriptionWithItsFilesAndTheStoresSecret) {
  const std::string key = register_program(card("described"));
  const RunDescription open = describe(spec_of(key));
  EXPECT_EQ(open.program.size(), 2U) << "the program and the defaults of its settings";
  set_program_secret(12345);
  const RunDescription closed = describe(spec_of(key));
  set_program_secret(0);
  EXPECT_EQ(nlohmann::json(closed).get<RunDescription>(), closed);
  EXPECT_NE(compute_run(open).point, compute_run(closed).point) << "the secret decides the noise";
  RunDescription changed = open;
  changed.program.begin()->second = std::string(64, '0');
  EXPECT_THROW(compute_run(changed), InputError);
  const RunDescription other = describe([] {
    RunSpec spec = spec_of("abadi-2016/dp-sgd");
    return spec;
  }());
  EXPECT_FALSE(nlohmann::json(other).contains("program"));
  EXPECT_FALSE(nlohmann::json(other).contains("secret"));
}

TEST_F(ProgramCard, TellsItsFilesApartWhateverTheyAreCalled) {
  // The hash of the defaults has a name in the description, too.
  fs::create_directories(folder_ / "settings");
  const auto hashes = [&](const std::string& name) {
    std::ofstream(folder_ / "settings/module.py") << name;
    return describe(spec_of(register_program(card(name, "reads = [\"settings\"]\n" + settings))))
        .program;
  };
  const auto before = hashes("before"), after = hashes("after");
  EXPECT_EQ(before.at("settings"), after.at("settings"));
  EXPECT_NE(before.at("reads: settings"), after.at("reads: settings"));
}

TEST_F(ProgramCard, ReadsNoFileThatHoldsRecordsOrSecrets) {
  fs::create_directories(folder_ / "lib");
  std::ofstream(folder_ / "lib/records.csv") << "a,y\n1,0\n";
  fs::create_directory_symlink(folder_ / "lib", folder_ / "link");
  for (const auto& [name, reads] : std::map<std::string, std::string>{
           {"folder", "lib"}, {"file", "lib/records.csv"}, {"link", "link"}, {"all", "."}}) {
    const std::string key =
        register_program(card(name, fmt::format("reads = [\"{}\"]\n", reads) + settings));
    hide_from_guests(folder_ / "lib/records.csv");
    try {
      compute_run(describe(spec_of(key)));
      ADD_FAILURE() << reads;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("lib/records.csv to the program"), std::string::npos)
          << e.what();
    }
  }
}

/// Descriptions of runs hold the secret and the seeds, results depend on records.
TEST_F(ProgramCard, ReadsNothingThatAFolderKeepsOfRuns) {
  const fs::path out = folder_ / "out";
  fs::create_directories(out / "plans/0001");
  fs::create_directories(out / "shards-of-4");
  for (const char* file : {"programs.secret", "store.sqlite", "store.sqlite-wal",
                           "plans/0001/runs.jsonl", "shards-of-4/1.jsonl"})
    std::ofstream(out / file) << "1\n";
  fs::create_directory_symlink(out / "plans", folder_ / "link");
  int cards = 0;
  for (const char* reads :
       {"out", "out/programs.secret", "out/store.sqlite", "out/store.sqlite-wal", "out/plans",
        "out/plans/0001", "out/plans/0001/runs.jsonl", "out/shards-of-4/1.jsonl", "link/0001"}) {
    const std::string key = register_program(
        card(fmt::format("runs-{}", ++cards), fmt::format("reads = [\"{}\"]\n", reads) + settings));
    hide_outputs(out);
    try {
      compute_run(describe(spec_of(key)));
      ADD_FAILURE() << reads;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("the card's `reads` would show"), std::string::npos)
          << e.what();
    }
  }
}

/// In a sweep every run has the secret, however its cells are described: a run without one has
/// noise that its seed, 0, decides alone.
TEST_F(ProgramCard, EveryRunOfASweepHasTheSecret) {
  card("swept");
  const auto secrets = [&](const std::string& rest, std::uint64_t secret) {
    std::ofstream(folder_ / "sweep.toml")
        << "title = \"Swept\"\nmetric = \"output.gradient_norm\"\nrecords = 50\ndimension = 2\n"
           "[[arm]]\nname = \"own\"\nproblem = \"double-well\"\nprogram = \"swept.toml\"\n" +
               rest;
    set_program_secret(0);
    const Sweep sweep = read_sweep(folder_ / "sweep.toml", Scale::smoke);
    set_program_secret(secret);  // as a command does, which knows the programs by then
    std::set<std::uint64_t> found;
    for (const Job& job : jobs_of(sweep)) found.insert(job.run()->secret);
    set_program_secret(0);
    return found;
  };
  const std::string axes = "axes = [{ records = [50, 100] }]\n";
  for (const std::uint64_t secret : {918273645918273U, 918273645918274U})
    for (const std::string& rest : {"[[part]]\nname = \"n\"\nseeds = 1\n" + axes,
                                    "[[part]]\nname = \"n\"\nseeds = 2\n" + axes,
                                    "[[part]]\nname = \"n\"\nseeds = 3\nby_seed = [{ "
                                    "\"set.step_size\" = [0.1, 0.2, 0.3] }]\n" +
                                        axes})
      EXPECT_EQ(secrets(rest, secret), std::set{secret}) << rest;
}

/// Versions of a program have common noise on records that are no secret. On a caller's own, the
/// difference of two runs would be that of their clean answers.
TEST_F(ProgramCard, VersionsShareNoNoiseOnOwnData) {
  std::ofstream(folder_ / "data.csv") << "a,b,y\n1,0,0\n0,1,1\n1,1,0\n0.5,0,1\n";
  const std::string key = register_program(card("versions"));
  for (const bool own : {false, true}) {
    RunSpec spec = spec_of(key);
    if (own) {
      spec.problem = "own-glm";
      spec.dimension.reset();
      spec.records = 0;
      spec.problem_settings = {{"data", (folder_ / "data.csv").string()}, {"label", "y"}};
    }
    const RunDescription first = describe(spec);
    RunDescription second = first;
    second.program.begin()->second = std::string(64, 'a');
    EXPECT_EQ(key_of(first).path == key_of(second).path, !own);
    EXPECT_EQ(key_of(first).run == key_of(second).run, !own);
  }
}

/// Pages and stores are computed from records, whichever folder they are in.
TEST_F(ProgramCard, ReadsNoStoreWhereverItLies) {
  fs::create_directories(folder_ / "lib");
  { const Store store(folder_ / "lib/other.sqlite"); }
  EXPECT_NE(refusal(card("store", "reads = [\"lib/other.sqlite\"]\n" + settings))
                .find("is a store of dpsosp"),
            std::string::npos);
  EXPECT_NE(refusal(card("stores", "reads = [\"lib\"]\n" + settings)).find("is a store of dpsosp"),
            std::string::npos);
}

/// Where a card lies in the folder of outputs, what is hidden there is what dpsosp writes.
TEST_F(ProgramCard, MayLieInTheFolderOfOutputs) {
  fs::create_directories(folder_ / "here/plans");
  fs::create_directories(folder_ / "here/results/0001");
  fs::create_directories(folder_ / "here/page");
  std::ofstream(folder_ / "here/plans/mine.py") << "\n";
  std::ofstream(folder_ / "here/results/0001/plan.json") << "{}\n";
  std::ofstream(folder_ / "here/page/timings.csv") << "\n";
  fs::copy(card("here"), folder_ / "here/here.toml");
  register_program(folder_ / "here/here.toml");
  hide_outputs(folder_ / "here");
  EXPECT_EQ(hidden_among({(folder_ / "here/plans").string()}), "");
  for (const char* name : {"here", "here/results", "here/page", "here/programs.secret",
                           "here/store.sqlite", "here/checkpoints"})
    EXPECT_NE(hidden_among({(folder_ / name).string()}), "") << name;
}

TEST_F(ProgramCard, ReadsNoHardLinkOfAHiddenFile) {
  fs::create_directories(folder_ / "links/deep");
  std::ofstream(folder_ / "linked.csv") << "a,y\n1,0\n";
  hide_from_guests(folder_ / "linked.csv");
  EXPECT_EQ(hidden_among({(folder_ / "links").string()}), "");
  fs::create_hard_link(folder_ / "linked.csv", folder_ / "links/deep/other.csv");
  EXPECT_NE(hidden_among({(folder_ / "links").string()}), "");
  EXPECT_NE(hidden_among({(folder_ / "links/deep/other.csv").string()}), "");
}

/// A file is hidden where its links lead, by whatever name it was hidden.
TEST_F(ProgramCard, ReadsNoHiddenFileThatWasNamedByALink) {
  fs::create_directories(folder_ / "lib");
  fs::create_directories(folder_ / "elsewhere");
  std::ofstream(folder_ / "lib/records.csv") << "a,y\n1,0\n";
  std::ofstream(folder_ / "elsewhere/more.csv") << "a,y\n1,0\n";
  fs::create_symlink(folder_ / "lib/records.csv", folder_ / "data.csv");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "place");
  hide_from_guests(folder_ / "data.csv");
  hide_from_guests(folder_ / "place/more.csv");
  for (const char* reads : {"lib", "lib/records.csv", "data.csv", "elsewhere", "place"})
    EXPECT_NE(hidden_among({(folder_ / reads).string()}), "") << reads;
}

TEST_F(ProgramCard, RefusesSettingsThatItDoesNotDeclare) {
  RunSpec spec = spec_of(register_program(card("strict")));
  spec.settings = {{"step_sise", "0.2"}};
  try {
    describe(spec);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean 'step_size'?"), std::string::npos);
  }
  spec.settings = {{"steps", "0"}};
  EXPECT_THROW(compute_run(describe(spec)), InputError);
}

TEST_F(ProgramCard, IsRefusedInOneLine) {
  const fs::path none = folder_ / "none.toml";
  EXPECT_EQ(refusal(none),
            "program: " + none.string() + " does not exist, expected a card in TOML");
  std::ofstream(folder_ / "bare.toml") << "title = \"x\"\n";
  EXPECT_EQ(refusal(folder_ / "bare.toml"), "bare.toml:1: key is missing at the top of the file");
  EXPECT_EQ(refusal(card("typo", "intepreter = \"/usr/bin/python3\"\n")),
            "typo.toml:4: unknown key 'intepreter'; did you mean 'interpreter'?");
  EXPECT_EQ(refusal(card("gone", "reads = [\"nothing.py\"]\n")),
            "gone.toml:4: " + (folder_ / "nothing.py").string() + " does not exist");
  EXPECT_EQ(refusal(card("range", "[settings.steps]\ndefault = 0\nleast = 1\n")),
            "range.toml:5: default = 0, expected a number in the setting's own range");
  EXPECT_EQ(refusal(card("interpreter", "interpreter = \"missing\"\n")),
            "interpreter.toml:4: interpreter = 'missing', expected a program that may be executed");
  register_program(card("taken"));
  fs::create_directories(folder_ / "other");
  fs::copy(folder_ / "taken.toml", folder_ / "other/taken.toml");
  EXPECT_EQ(refusal(folder_ / "other/taken.toml"),
            "other/taken.toml: two algorithms have the key test/taken");
}

TEST_F(ProgramCard, SaysWhatOfASettingGoesWithItsDefault) {
  EXPECT_EQ(refusal(card("text", "[settings.mode]\ndefault = \"fast\"\nabove = 0\n")),
            "text.toml:6: above = 0, expected a number as default; of a text, choices lists the "
            "values");
  EXPECT_EQ(refusal(card("choices", "[settings.mode]\ndefault = 2\nchoices = [\"1\", \"2\"]\n")),
            "choices.toml:6: choices = [ '1', '2' ], expected a text as default; a number is "
            "bounded by least or above, most or below");
}

/// What the sandbox could not read is refused before it says "Permission denied".
TEST_F(ProgramCard, NamesNoInterpreterThatTheProgramMayNotRead) {
  for (const char* folder : {"shims", "bin"}) {
    fs::create_directories(folder_ / folder);
    std::ofstream(folder_ / folder / "python3") << "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n";
    fs::permissions(folder_ / folder / "python3", fs::perms::owner_all);
  }
  const std::string line = refusal(card("shim", "interpreter = \"shims/python3\"\n"));
  EXPECT_EQ(line.find("shim.toml:4: interpreter = 'shims/python3', expected one below /usr, "), 0U)
      << line;
  EXPECT_NE(line.find("print(sys.executable)"), std::string::npos) << line;
  EXPECT_EQ(refusal(card("shim-read", "interpreter = \"shims/python3\"\nreads = [\"shims\"]\n")),
            "none");
  EXPECT_EQ(refusal(card("bin", "interpreter = \"bin/python3\"\n")), "none");
}

/// Programs in the language of the shell: what they write, and what they are told of it.
TEST_F(ProgramCard, SaysOfAnyLanguageHowItEndedAndWhatItWrote) {
  const std::string unsaid =
      "isolated run: it is gone: before it said anything on the socket that DPSOSP_SOCKET names: ";
  int count = 0;
  const auto failure = [&](const std::string& script) -> std::string {
    const std::string name = fmt::format("script-{}", ++count);
    std::ofstream(folder_ / (name + ".sh")) << script;
    std::ofstream(folder_ / (name + ".toml")) << fmt::format(
        "key = \"test/{0}\"\ntitle = \"A script\"\nprogram = \"{0}.sh\"\n"
        "interpreter = \"/bin/sh\"\n",
        name);
    try {
      compute_run(describe(spec_of(register_program(folder_ / (name + ".toml")))));
    } catch (const RunFailed& e) {
      return e.what();
    }
    return "a result";
  };
  EXPECT_EQ(failure("exit 0\n"),
            unsaid + "ended with status 0; one in Python ends with dpsosp.serve(CLASS)");
  EXPECT_EQ(failure("echo first\necho second >&2\nexit 3\n"),
            unsaid + "ended with status 3; it wrote: second");
  EXPECT_EQ(failure("read line && echo something\necho nothing to read\nexit 1\n"),
            unsaid + "ended with status 1; it wrote: nothing to read");
  EXPECT_EQ(failure("no_such_command\n"),
            unsaid + "ended with status 127; it wrote: " + (folder_ / "script-4.sh").string() +
                ": 1: no_such_command: not found");
  EXPECT_EQ(failure("printf 'hello, world\\n' >&$DPSOSP_SOCKET\nwhile :; do :; done\n"),
            "isolated run: what came through its socket is no message of the protocol: 'hello, "
            "world\\n': killed");
}

TEST_F(ProgramCard, ReportsOfWhatIsNotDeclaredAreRefused) {
  const std::string key =
      register_program(card("partly", "[settings.steps]\ndefault = 20\nleast = 1\n"));
  try {
    compute_run(describe(spec_of(key)));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("limit"), std::string::npos) << e.what();
  }
}

TEST_F(ProgramCard, SecretsAreKeptByTheFolder) {
  register_program(card("secret"));
  const fs::path out = folder_ / "out";
  use_program_secret_of(out, false);
  EXPECT_FALSE(fs::exists(out / "programs.secret")) << "a plan writes nothing";
  use_program_secret_of(out, true);
  const std::string first = read_file(out / "programs.secret");
  EXPECT_EQ(fs::status(out / "programs.secret").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  const auto described = [] { return describe(spec_of("test/secret")).secret; };
  EXPECT_EQ(std::to_string(described()) + "\n", first);
  set_program_secret(0);
  use_program_secret_of(out, true);
  EXPECT_EQ(std::to_string(described()) + "\n", first);
  const std::string digits = first.substr(0, first.size() - 1);
  std::ofstream(out / "programs.secret") << "  " << digits << " \r\n";  // as other systems copy it
  use_program_secret_of(out, true);
  EXPECT_EQ(std::to_string(described()), digits);
  for (const std::string& damaged :
       {std::string("none"), digits.substr(0, 9), digits + "x", digits + "\n" + digits}) {
    std::ofstream(out / "programs.secret") << damaged << '\n';
    try {
      use_program_secret_of(out, true);
      ADD_FAILURE() << damaged;
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()).find(digits.substr(0, 9)), std::string::npos) << e.what();
    }
  }
  set_program_secret(0);
}

TEST_F(ProgramCard, AreListedByTheEnvironment) {
  card("listed-one");
  card("listed-two");
  std::ofstream(folder_ / "pyproject.toml") << "[project]\nname = \"smith\"\n";
  setenv("DPSOSP_PROGRAMS", folder_.c_str(), 1);
  register_listed_programs();
  unsetenv("DPSOSP_PROGRAMS");
  EXPECT_NO_THROW(find_algorithm("test/listed-one"));
  EXPECT_NO_THROW(find_algorithm("test/listed-two"));
}

}  // namespace
}  // namespace dpsosp::program_test
