// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../cli/program.hpp"

// Every command of the documents runs: as it is written, or in the shorter form of `instead`.
namespace dpsosp::commands_test {
namespace {

namespace fs = std::filesystem;

fs::path source(const std::string& name) { return fs::path(in_checkout()) / name; }

struct Instead {
  std::string command, form;  // as documented, without the comment; what runs in its place
  bool slow = false;          // not in every test run
};

/// short_forms.txt, which says what its lines mean.
std::vector<Instead> short_forms() {
  std::vector<Instead> all;
  bool slow = false;
  for (const std::string& line : lines(contents(source("tests/packaging/short_forms.txt")))) {
    const auto arrow = line.find(" => ");
    if (arrow == std::string::npos) {
      slow = line.starts_with("slow: ") || (slow && !line.starts_with("why: "));
      continue;
    }
    std::string form = line.substr(arrow + 4);
    if (const auto at = form.find("..."); at != std::string::npos)
      form.replace(at, 3, line, 0, arrow);
    if (form.starts_with("with ")) {
      const auto end = form.find(": ");
      form = "! /usr/bin/python3 -c 'import " + form.substr(5, end - 5) + "' 2>/dev/null || " +
             form.substr(end + 2);
    }
    all.push_back({line.substr(0, arrow), form, slow});
  }
  return all;
}

const std::vector<Instead> instead = short_forms();

const Instead* find_instead(const std::string& command) {
  const auto entry = std::ranges::find(instead, command, &Instead::command);
  return entry == instead.end() ? nullptr : &*entry;
}

/// Words that begin a command in prose or in an indented block.
bool is_command(const std::string& text) {
  static const std::regex begins(
      R"((\./\S+|build/\S+|[A-Z_]{3,}=\S+ \S+|dpsosp|cmake|ctest|ninja|make|mkdir|cp|mv|rm|git|bash|sh)"
      R"(|python3|pip|sudo|apt|apt-get|npm|docker|srun)(\s.*)?)");
  return std::regex_match(text, begins);
}

/// Programs that a test may run as a document says, here or as a stand-in.
bool may_run(const std::string& command) {
  static const std::regex begins(
      R"((\./run|dpsosp|cmake|mkdir|cp|bash scripts/\S+|build/release/bin/\S+)(\s.*)?)");
  return std::regex_match(command, begins);
}

std::string without_comment(const std::string& line) {
  return std::regex_replace(line, std::regex(R"(\s{2,}#.*$|\s+$)"), "");
}

std::string trimmed(const std::string& line) {
  const auto begin = line.find_first_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin);
}

/// The commands of a page: the lines of its shell blocks, commands in indented blocks, and in
/// backticks those that have arguments. A command named alone (`dpsosp check`) stands for its help.
std::vector<std::string> commands(const std::string& markdown) {
  static const std::regex quoted("`([^`]+)`");
  static const std::regex named(R"((\./run dpsosp|dpsosp) [a-z]+)");
  std::vector<std::string> found;
  std::string prose, open;
  bool fence = false, shell = false;
  const auto end_paragraph = [&] {
    for (std::sregex_iterator m(prose.begin(), prose.end(), quoted), end; m != end; ++m) {
      const std::string text = (*m)[1];
      if (!is_command(text) || text.find(' ') == std::string::npos) continue;
      found.push_back(std::regex_match(text, named) ? text + " --help" : text);
    }
    prose.clear();
  };
  for (const std::string& line : lines(markdown)) {
    const std::string text = trimmed(line);
    if (text.starts_with("```")) {
      fence = !fence;
      shell = fence && (text == "```sh" || text == "```bash" || text == "```console");
      end_paragraph();
    } else if (!open.empty() || (fence ? shell && !text.empty() && !text.starts_with('#')
                                       : line.starts_with("    ") && is_command(text))) {
      end_paragraph();
      open += text.starts_with("$ ") ? text.substr(2) : text;
      if (open.ends_with('\\')) {
        open.pop_back();
        continue;
      }
      found.push_back(without_comment(open));
      open.clear();
    } else if (!fence) {
      if (text.empty() || text.starts_with('|')) end_paragraph();
      prose += (prose.empty() ? "" : " ") + text;
    }
  }
  end_paragraph();
  return found;
}

/// A checkout as the script ./run sees it, with the built programs, and with stand-ins for what
/// would build, download or install.
class Checkout {
 public:
  Checkout() {
    const fs::path bin = folder_ / "build/release/bin";
    fs::create_directories(bin);
    std::ofstream(folder_ / "build/release/build.ninja");
    for (const auto& entry :
         fs::directory_iterator(fs::path(built_program("dpsosp")).parent_path())) {
      const std::string program = entry.path().filename().string();
      if (program == "dpsosp" || program == "fuzz_csv" || program.starts_with("bench_"))
        fs::create_symlink(entry.path(), bin / program);
    }
    fs::copy_file(source("run"), folder_ / "run");
    fs::create_symlink(source("CMakePresets.json"), folder_ / "CMakePresets.json");
    for (const char* folder : {"benchmarks", "examples", "isolation", "python"})
      fs::create_symlink(source(folder), folder_ / folder);
    fs::create_directories(folder_ / "tests");
    fs::create_symlink(source("tests/data"), folder_ / "tests/data");
    fs::create_directories(folder_ / "docs");
    fs::copy(source("results"), folder_ / "results", fs::copy_options::recursive);
    fs::copy_file(source("examples/my-sweep.toml"), folder_ / "my-sweep.toml");

    fs::create_directories(folder_ / "tools");
    fs::create_symlink(built_program("dpsosp"), folder_ / "tools/dpsosp");
    stand_in("cmake", R"(
      case " $* " in
        *' --workflow '*) kind=--workflow ;;
        *' --build '*) kind=--build ;;
        *) kind= ;;
      esac
      while [ $# -gt 0 ] && [ "$1" != --preset ]; do shift; done
      [ $# -ge 2 ] && ")" DPSOSP_CMAKE R"(" $kind --list-presets | grep -q "^ *\"$2\"")");
    stand_in("ctest", "exit 0");
    stand_in("dpkg-query", "echo 'install ok installed'");
    stand_in("srun", "exec \"$@\"");
    for (const char* tool : {"apt-get", "npm", "sudo"})
      stand_in(tool, "echo 'no network' >&2; exit 1");
  }

  Result run(const std::string& command) const {
    return run_program(
        "/usr/bin/env",
        {"-u", "DPSOSP_DATA", "PATH=" + (folder_ / "tools").string() + ":" + std::getenv("PATH"),
         "SLURM_ARRAY_TASK_ID=1", "SLURM_CPUS_PER_TASK=1", "bash", "-c",
         "cd '" + folder_.path().string() + "' && " + command});
  }

  bool holds(const std::string& file) const { return fs::exists(folder_ / file); }

  /// A program of the checkout, or a tool, that does `body`.
  void program(const std::string& file, const std::string& body) const {
    fs::remove(folder_ / file);
    folder_.write(file, "#!/bin/sh\n" + body + "\n");
    fs::permissions(folder_ / file, fs::perms::owner_all);
  }

 private:
  void stand_in(const std::string& tool, const std::string& body) const {
    program("tools/" + tool, body);
  }

  ScratchFolder folder_;
};

/// What runs for a command in every test run.
std::string quick_form(const std::string& command) {
  const Instead* entry = find_instead(command);
  if (entry == nullptr) return command;
  return entry->slow ? command + " --help" : entry->form;
}

/// Runs a command in a checkout. One that stands on several pages and needs nothing of those before
/// it runs once.
Result result_of(const std::string& form, const Checkout& checkout) {
  static const std::regex alone(
      R"((\./run )?dpsosp (run|check|audit|account|list) [^&|>$]*|\./run reproduce .* --check .*)");
  static std::map<std::string, Result> known;
  if (!std::regex_match(form, alone) || form.find(".toml") != std::string::npos)
    return checkout.run(form);
  const auto [at, is_new] = known.try_emplace(form);
  if (is_new) at->second = checkout.run(form);
  return at->second;
}

/// The commands that fail, with what they print.
std::vector<std::string> failures(const std::vector<std::string>& list) {
  const Checkout checkout;
  std::vector<std::string> failed;
  for (const std::string& command : list) {
    if (find_instead(command) == nullptr && !may_run(command)) {
      failed.push_back(command + ": no test runs this program; say in `instead` what does");
      continue;
    }
    const std::string form = quick_form(command);
    const Result r = result_of(form, checkout);
    if (r.code != 0)
      failed.push_back(command + (form == command ? "" : ", run as " + form) + ": exit code " +
                       std::to_string(r.code) + '\n' + r.err);
  }
  return failed;
}

/// A page, and what the site has in its place: the cards of algorithms, the whole protocol.
std::string text_of(const std::string& page) {
  static std::map<std::string, std::string> known;
  const auto [at, is_new] = known.try_emplace(page);
  if (!is_new) return at->second;
  at->second = contents(source(page));
  if (page == "docs/algorithms.md") {
    const ScratchFolder folder;
    const Result r = dpsosp("list algorithms --document", {folder.path().string()});
    EXPECT_EQ(r.code, 0) << r.err;
    at->second += contents(folder / "reference/algorithms.md");
  } else if (page == "docs/protocol.md") {
    at->second += dpsosp("list protocol").out;
  }
  return at->second;
}

/// The documents that hold commands, but for CHANGELOG.md, whose entries speak of their own time.
std::vector<std::string> pages() {
  std::vector<std::string> all;
  std::vector<fs::path> documents{source("README.md"), source("CONTRIBUTING.md"),
                                  source("benchmarks/README.md"), source("results/README.md")};
  for (const char* folder : {".github", "docs", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(source(folder)))
      if (entry.path().extension() == ".md") documents.push_back(entry.path());
  for (const fs::path& document : documents)
    if (!commands(contents(document)).empty())
      all.push_back(fs::relative(document, in_checkout()).generic_string());
  std::ranges::sort(all);
  return all;
}

class Page : public testing::TestWithParam<std::string> {};

TEST_P(Page, CommandsRun) {
  if (!DPSOSP_BENCHMARKS && GetParam() == "benchmarks/README.md")
    GTEST_SKIP() << "built without benchmarks";
  for (const std::string& failure : failures(commands(text_of(GetParam()))))
    ADD_FAILURE() << failure;
}

INSTANTIATE_TEST_SUITE_P(Documents, Page, testing::ValuesIn(pages()), [](const auto& page) {
  return std::regex_replace(page.param, std::regex("[^A-Za-z0-9]+"), "_");
});

TEST(Commands, AreFoundInDocuments) { EXPECT_GE(pages().size(), 25U); }

TEST(Commands, OfSweepsAreGivenTheExampleThatIsPrinted) {
  EXPECT_TRUE(has(contents(source("docs/sweeps.md")),
                  "```toml\n" + contents(source("examples/my-sweep.toml")) + "```\n"));
}

TEST(Commands, ShortFormsStandForCommandsOfPages) {
  std::vector<std::string> all;
  for (const std::string& page : pages())
    std::ranges::copy(commands(text_of(page)), std::back_inserter(all));
  for (const Instead& entry : instead)
    EXPECT_NE(std::ranges::find(all, entry.command), all.end()) << entry.command;
}

TEST(Commands, AreReadAsWritten) {
  const std::string page =
      "Text with `./run reproduce`, `dpsosp`, `dpsosp check`, `x = 3` and `dpsosp list\nclaims "
      "--json`.\n"
      "\n"
      "    dpsosp run --a 1 \\\n"
      "      --b 2    # why\n"
      "    r = min(a, b)\n"
      "- a list\n"
      "    that goes on with `make all` and\n"
      "\n"
      "| `cmake --preset dev` | text |\n"
      "```bash\n"
      "#SBATCH --array=1\n"
      "srun x \\\n"
      "  --y\n"
      "```\n"
      "```\n"
      "dpsosp pseudo-code\n"
      "```\n";
  EXPECT_EQ(commands(page),
            (std::vector<std::string>{"./run reproduce", "dpsosp check --help",
                                      "dpsosp list claims --json", "dpsosp run --a 1 --b 2",
                                      "make all", "cmake --preset dev", "srun x --y"}));
}

TEST(Commands, ThatAreWrongAreFound) {
  const std::vector<std::string> wrong{
      "dpsosp lst --help", "./run dpsosp list algorithm",     "./run reproduce --scael smoke",
      "./run tset",        "cmake --workflow --preset devel", "cmake --build --preset devel",
      "make all"};
  EXPECT_EQ(failures(wrong).size(), wrong.size());
  EXPECT_TRUE(
      failures({"dpsosp list algorithms", "./run test --all", "cmake --workflow --preset dev"})
          .empty());
}

/// A checkout whose programs, cmake and ctest say what they are asked for.
class Networks : public testing::Test {
 protected:
  Networks() {
    checkout_.program("build/release/bin/dpsosp", "echo dpsosp \"$@\"");
    checkout_.program("build/release/bin/dpsosp-neural", "echo dpsosp-neural \"$@\"");
    checkout_.program("tools/cmake", "echo cmake \"$@\" >>calls");
    checkout_.program("tools/ctest", "echo ctest \"$@\"");
  }
  /// What is printed, then what cmake was asked for.
  std::string said(const std::string& command) const {
    return checkout_.run("rm -f calls; " + command + "; cat calls 2>/dev/null").out;
  }

  Checkout checkout_;
};

TEST_F(Networks, AreBuiltAndRunWhereTheirExhibitsAreNamed) {
  const std::string with_networks =
      "cmake --preset release -DDPSOSP_NEURAL=ON\n"
      "cmake --build --preset release --target dpsosp-neural\n";
  for (const char* words :
       {"avdiukhin-2024/figure-2a --scale smoke",
        "--out x avdiukhin-2024/figure-2b xu-2026/table-2", "--exhibit=avdiukhin-2024/figure-2a"})
    EXPECT_EQ(said(std::string("./run reproduce ") + words),
              std::string("dpsosp-neural reproduce ") + words + "\n" + with_networks);
  EXPECT_EQ(said("echo DPSOSP_NEURAL:BOOL=ON >build/release/CMakeCache.txt; "
                 "./run reproduce avdiukhin-2024/figure-2a"),
            "dpsosp-neural reproduce avdiukhin-2024/figure-2a\n"
            "cmake --build --preset release --target dpsosp-neural\n");
}

TEST_F(Networks, AreLeftOutWhereNothingOfTheirsIsComputed) {
  for (const char* words : {"", " avdiukhin-2024/rates", " --out avdiukhin-2024 xu-2026/table-2",
                            " --check avdiukhin-2024/figure-1a",
                            " avdiukhin-2024/figure-1a --dry-run", " --help avdiukhin-2024"})
    EXPECT_EQ(said(std::string("./run reproduce") + words),
              std::string("dpsosp reproduce") + words +
                  "\ncmake --build --preset release --target dpsosp\n");
}

TEST_F(Networks, AskForCifar10BeforeAnythingIsBuilt) {
  for (const char* exhibits : {"avdiukhin-2024", "avdiukhin-2024/figure-3b"}) {
    const Result r = checkout_.run(std::string("./run reproduce ") + exhibits);
    EXPECT_NE(r.code, 0);
    EXPECT_EQ(r.out, "");
    EXPECT_TRUE(has(r.err, "cifar10"));
    EXPECT_FALSE(checkout_.holds("calls"));
  }
}

TEST_F(Networks, HaveTestsOfTheirOwn) {
  const std::string calls = said("./run test --neural");
  EXPECT_TRUE(has(calls, "--label-regex ^neural$\n", "-DDPSOSP_NEURAL=ON\n"));
}

TEST(LongCommands, RunInShortForm) {
  const Checkout checkout;
  for (const Instead& entry : instead) {
    if (!entry.slow) continue;
    const Result r = checkout.run(entry.form);
    EXPECT_EQ(r.code, 0) << entry.form << '\n' << r.err;
  }
  EXPECT_TRUE(checkout.holds("out/report"));
}

/// The files that a page shows: "This is `FILE`", and the next block.
TEST(Guides, ShowFilesAsTheyAre) {
  const std::string page = contents(source("docs/add-an-algorithm.md"));
  const std::string begins = "This is `", fence = "```";
  int shown = 0;
  for (auto at = page.find(begins); at != std::string::npos; at = page.find(begins, at + 1)) {
    const auto from = at + begins.size();
    const std::string file = page.substr(from, page.find('`', from) - from);
    const auto open = page.find('\n', page.find(fence, from)) + 1;
    EXPECT_EQ(page.substr(open, page.find(fence, open) - open), contents(source(file))) << file;
    ++shown;
  }
  EXPECT_EQ(shown, 3);
}

}  // namespace
}  // namespace dpsosp::commands_test
