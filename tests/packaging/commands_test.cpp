// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "../cli/program.hpp"
#include "paths.hpp"

// Every command of the documents runs: as it is written, or in the shorter form of `instead`.
namespace dpsosp::commands_test {
namespace {

namespace fs = std::filesystem;

fs::path source(const std::string& name) { return fs::path(in_checkout()) / name; }

/// The documents that hold commands, but for CHANGELOG.md, whose entries speak of their own time.
constexpr std::array pages{".github/ISSUE_TEMPLATE/bug.md",
                           ".github/ISSUE_TEMPLATE/wrong-number.md",
                           "CONTRIBUTING.md",
                           "README.md",
                           "benchmarks/README.md",
                           "docs/add-a-problem.md",
                           "docs/add-an-algorithm.md",
                           "docs/algorithms.md",
                           "docs/claims.md",
                           "docs/cluster.md",
                           "docs/command-line.md",
                           "docs/data.md",
                           "docs/errata.md",
                           "docs/findings.md",
                           "docs/first-hour.md",
                           "docs/glossary.md",
                           "docs/isolation.md",
                           "docs/library.md",
                           "docs/own-data.md",
                           "docs/own-loss.md",
                           "docs/papers/avdiukhin-2024.md",
                           "docs/papers/privacy-accounting.md",
                           "tests/planted-bugs.md",
                           "docs/privacy.md",
                           "docs/problems.md",
                           "docs/protocol.md",
                           "docs/report.md",
                           "docs/security.md",
                           "docs/sweeps.md",
                           "docs/tune-and-compare.md",
                           "results/README.md",
                           "tests/data/README.md"};

struct Instead {
  std::string_view command;  ///< as documented, without the comment
  std::string_view form;     ///< what runs in its place
  std::string_view reason;
  /// The form, too, is too long for every test run: LongCommands runs it, and Page the command with
  /// --help, which checks its options.
  bool slow = false;
};

constexpr std::string_view minutes = "minutes";
constexpr std::string_view seconds = "seconds, which add up";
constexpr std::string_view name = "a name stands for one of the reader's";
constexpr std::string_view part = "names an option, not a whole command";
constexpr std::string_view download =
    "downloads; here the package tools refuse, as without network";
constexpr std::string_view optional_package = "with a package that ./run does not install";
constexpr std::string_view optional = "minutes, with packages that ./run does not install";

const std::vector<Instead> instead{
    // Reproductions. The test Reproduce looks at what the whole of them writes.
    {"./run reproduce", "./run reproduce --scale smoke", minutes, true},
    {"./run reproduce --scale smoke", "./run reproduce --scale smoke", minutes, true},
    {"./run reproduce --scale quick", "./run reproduce --scale smoke", minutes, true},
    {"./run reproduce xu-2026/table-2 claims",
     "./run reproduce xu-2026/table-2 claims --scale smoke",
     minutes,
     true},
    {"./run reproduce lowy-2024/figure-1 avdiukhin-2024/rates",
     "./run reproduce lowy-2024/figure-1 avdiukhin-2024/rates --scale smoke",
     minutes,
     true},
    {"./run reproduce verdict-rule/rates",
     "./run reproduce verdict-rule/rates --scale smoke",
     minutes,
     true},
    {"./run reproduce claims", "./run reproduce claims --scale smoke", minutes, true},
    {"./run reproduce xu-2026/table-1",
     "./run reproduce xu-2026/table-1 --scale smoke",
     minutes,
     true},
    {"./run reproduce xu-2026/table-1 --check results",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke --check results || test $? = 1",
     "minutes; other scales differ from the committed tables, which is exit code 1"},
    {"dpsosp reproduce claims", "dpsosp reproduce claims --scale smoke", minutes, true},
    {"./run reproduce --check results",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke --check results || test $? = 1",
     "minutes; other scales differ from the committed tables, which is exit code 1"},
    {"./run reproduce --scale quick --check results",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke --check results || test $? = 1",
     "minutes; other scales differ from the committed tables, which is exit code 1"},
    {"./run reproduce lowy-2024/contour --check results",
     "./run reproduce lowy-2024/contour --check results || test $? = 1",
     "last digits may differ on another processor, which is exit code 1",
     true},
    {"./run reproduce liu-talwar-2025/ablation claims",
     "./run reproduce liu-talwar-2025/ablation claims --scale smoke",
     minutes,
     true},
    {"./run reproduce xu-2026/table-1 claims",
     "./run reproduce xu-2026/table-1 claims --scale smoke",
     minutes,
     true},
    {"./run reproduce avdiukhin-2024",
     "./run reproduce avdiukhin-2024 --dry-run",
     "hours, with packages that ./run does not install"},
    {"./run reproduce KEY/NAME", "./run reproduce avdiukhin-2024/no-clipping --scale smoke", name},
    {"mkdir -p results/KEY-NAME && cp out/report/KEY-NAME/*.csv out/report/KEY-NAME/*.md "
     "out/report/KEY-NAME/*.svg results/KEY-NAME/",
     "mkdir -p results/KEY-NAME && cp out/report/avdiukhin-2024-no-clipping/*.csv "
     "out/report/avdiukhin-2024-no-clipping/*.md out/report/avdiukhin-2024-no-clipping/*.svg "
     "results/KEY-NAME/",
     name},
    {"cp out/report/EXHIBIT/*.csv out/report/EXHIBIT/*.md out/report/EXHIBIT/*.svg "
     "results/EXHIBIT/",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke && "
     "cp out/report/avdiukhin-2024-no-clipping/*.csv out/report/avdiukhin-2024-no-clipping/*.md "
     "out/report/avdiukhin-2024-no-clipping/*.svg results/avdiukhin-2024-no-clipping/",
     name},

    {"./run reproduce CLAIM", "./run reproduce xu-2026/definition-3 --scale smoke", name},

    // Reports of what is stored.
    {"./run dpsosp report",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke && ./run dpsosp report --scale "
     "smoke",
     "the default scale is not that of the stored runs",
     true},
    {"./run dpsosp report xu-2026 league",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke && "
     "./run dpsosp report avdiukhin-2024 --scale smoke",
     minutes,
     true},
    {"./run dpsosp report before.sqlite after.sqlite",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke && "
     "cp out/store.sqlite after.sqlite && "
     "./run dpsosp report out/store.sqlite after.sqlite avdiukhin-2024/no-clipping --scale smoke",
     name},
    {"./run dpsosp report xu-2026 --paper paper",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke && "
     "./run dpsosp report avdiukhin-2024/no-clipping --scale smoke --paper paper",
     minutes,
     true},

    // Audits and checks.
    {"./run dpsosp audit --all", "./run dpsosp audit --all --scale smoke", minutes, true},
    {"dpsosp audit --all", "dpsosp audit --all --scale smoke", minutes, true},
    {"dpsosp check algorithms", "dpsosp check algorithms", minutes, true},
    {"./run dpsosp check NAME", "./run dpsosp check cosine-saddle", name},
    {"./run dpsosp check smith-2027/normalised-momentum",
     "./run dpsosp check avdiukhin-2024/dp-sgd",
     name},
    {"./run dpsosp audit --algorithm smith-2027/normalised-momentum",
     "./run dpsosp audit --algorithm wang-ye-xu-2017/dp-gd",
     name},

    // Sweeps.
    {"./run dpsosp sweep examples/my-sweep.toml",
     "./run dpsosp sweep examples/my-sweep.toml --scale smoke",
     minutes},
    {"./run dpsosp sweep examples/own-loss.toml",
     "./run dpsosp sweep examples/own-loss.toml --scale smoke",
     seconds},
    {"./run dpsosp sweep mine.toml", "./run dpsosp sweep mine.toml --scale smoke", seconds},
    {"./run dpsosp fit mine.toml",
     "./run dpsosp fit mine.toml --scale smoke",
     "of the runs at that scale"},
    {"./run dpsosp fit examples/my-sweep.toml",
     "./run dpsosp fit examples/my-sweep.toml --scale smoke",
     "of the runs at that scale"},
    {"dpsosp sweep my-sweep.toml --scale full --dry-run",
     "dpsosp sweep my-sweep.toml --scale full --dry-run",
     "on a cluster"},
    {"dpsosp sweep my-sweep.toml --scale full --out out --slurm --at-a-time 50",
     "dpsosp sweep my-sweep.toml --scale full --out cluster --slurm --at-a-time 50 --expect 1 || "
     "test $? = 2",
     "no Slurm here, which is exit code 2; "
     "slurm.a_sweep_survives_lost_nodes_requeues_and_time_limits "
     "has one"},
    {"dpsosp sweep my-sweep.toml --scale full --out out --status",
     "dpsosp sweep my-sweep.toml --scale full --out cluster --status || test $? = 2",
     "of a plan that was not submitted, which is exit code 2"},
    {"dpsosp sweep my-sweep.toml --scale full --out out --cancel",
     "dpsosp sweep my-sweep.toml --scale full --out cluster --cancel || test $? = 2",
     "of a plan that was not submitted, which is exit code 2"},
    {"dpsosp sweep my-sweep.toml --scale full --out out",
     "dpsosp sweep my-sweep.toml --scale smoke --out out",
     "hours"},
    {"dpsosp fit my-sweep.toml --scale full --out out",
     "dpsosp fit my-sweep.toml --scale smoke --out out",
     "of the runs at that scale"},
    {"./run dpsosp sweep NAME", "./run dpsosp sweep zhou-2020 --scale smoke --shard 1/20", name},
    {"./run dpsosp fit NAME",
     "./run dpsosp fit zhou-2020 --scale smoke || test $? = 2",
     "a name, and most runs are missing, which is exit code 2"},
    {"dpsosp sweep FILE.toml [--scale smoke|quick|full] [--out FOLDER] [--threads N] [--shard i/k] "
     "[--dry-run]",
     "dpsosp sweep my-sweep.toml --scale smoke --out out --threads 2 --shard 1/2 && "
     "dpsosp sweep my-sweep.toml --scale smoke --out out --threads 2 --shard 2/2 --dry-run",
     "a synopsis"},
    {"dpsosp fit FILE.toml [--scale S] [--out FOLDER] [--json]",
     "dpsosp fit my-sweep.toml --scale smoke --out out --json || test $? = 2",
     "a synopsis, and half of the runs are missing"},
    {"dpsosp merge SHARDS... --into FOLDER/store.sqlite",
     "dpsosp merge out/shards-of-2 --into out/store.sqlite",
     "a synopsis"},
    {"dpsosp merge out/plans/0001",
     "dpsosp merge local/plans/0001 --into local/merged.sqlite",
     "of a plan that was computed"},

    // Programs with cards: the example is in Python, with NumPy.
    {"dpsosp run --program examples/program/smith.toml --problem double-well --records 1000 "
     "--epsilon 1 --delta 1e-6 --seed 918273645546372819",
     "! /usr/bin/python3 -c 'import numpy' 2>/dev/null || dpsosp run --program "
     "examples/program/smith.toml --problem double-well --records 1000 --epsilon 1 --delta 1e-6 "
     "--seed 918273645546372819",
     optional_package},
    {"dpsosp run --program examples/program/smith.toml --problem cosine-saddle --records 2000 "
     "--epsilon 1 --delta 1e-6 --seed 918273645546372819",
     "! /usr/bin/python3 -c 'import numpy' 2>/dev/null || dpsosp run --program "
     "examples/program/smith.toml --problem cosine-saddle --records 2000 --epsilon 1 --delta 1e-6 "
     "--seed 918273645546372819",
     optional_package},
    {"dpsosp check examples/program/smith.toml",
     "! /usr/bin/python3 -c 'import numpy' 2>/dev/null || dpsosp check examples/program/smith.toml",
     optional_package},
    {"dpsosp audit --algorithm examples/program/smith.toml --problem double-well",
     "! /usr/bin/python3 -c 'import numpy' 2>/dev/null || dpsosp audit --algorithm "
     "examples/program/smith.toml --problem double-well",
     optional_package},
    {"dpsosp audit --algorithm examples/program/smith.toml",
     "! /usr/bin/python3 -c 'import numpy' 2>/dev/null || dpsosp audit --algorithm "
     "examples/program/smith.toml --scale smoke",
     minutes,
     true},
    {"dpsosp sweep examples/smith-sweep.toml --scale smoke",
     "! /usr/bin/python3 -c 'import numpy' 2>/dev/null || dpsosp sweep examples/smith-sweep.toml "
     "--scale smoke",
     optional_package},
    {"dpsosp sweep examples/smith-sweep.toml",
     "! /usr/bin/python3 -c 'import numpy' 2>/dev/null || dpsosp sweep examples/smith-sweep.toml "
     "--scale smoke",
     minutes},
    {"dpsosp sweep examples/smith-sweep.toml --dry-run",
     "! /usr/bin/python3 -c 'import numpy' 2>/dev/null || dpsosp sweep examples/smith-sweep.toml "
     "--dry-run",
     optional_package},
    {"dpsosp fit examples/smith-sweep.toml",
     "! /usr/bin/python3 -c 'import numpy' 2>/dev/null || dpsosp fit examples/smith-sweep.toml "
     "--scale smoke",
     optional_package},
    {"dpsosp reproduce league --add smith.toml",
     "dpsosp reproduce league --add examples/program/smith.toml --help",
     name},
    {"./run dpsosp check log-well", "./run dpsosp check cosine-saddle", name},
    {"./run dpsosp list problems --document docs",
     "./run dpsosp list problems --document docs",
     seconds,
     true},

    {"DPSOSP_PROGRAMS=examples/program dpsosp list algorithms",
     "! test -x /usr/bin/python3 || DPSOSP_PROGRAMS=examples/program dpsosp list algorithms",
     optional_package},

    // Isolated programs: the example is in Python.
    {"dpsosp run --program isolation/examples/dp_sgd.py --problem double-well --records 1000 "
     "--epsilon 1 --delta 1e-6 --set steps=50 --seed 918273645546372819",
     "! /usr/bin/python3 -c 'import msgpack' 2>/dev/null || "
     "dpsosp run --program isolation/examples/dp_sgd.py --problem double-well --records 1000 "
     "--epsilon 1 --delta 1e-6 --set steps=50 --seed 918273645546372819",
     optional_package},

    {"PYTHONPATH=python python3 -m dpsosp.report out/report",
     "test -f python/dpsosp/report/__main__.py",
     "report.pages does it"},
    {"pip install ./python",
     "test -f python/pyproject.toml",
     "python.package_installs_offline does it"},

    // Whole in the slow test.
    {"./run dpsosp account --batch tests/data/accounting_vectors.csv",
     "./run dpsosp account --batch tests/data/accounting_vectors.csv",
     seconds,
     true},
    {"dpsosp list problems --document docs", "dpsosp list problems --document docs", seconds, true},
    {"dpsosp run --algorithm wang-xu-2019/dp-frank-wolfe --problem separable-pl --records 100000 "
     "--dimension 16 --epsilon 1 --delta 1e-06",
     "dpsosp run --algorithm wang-xu-2019/dp-frank-wolfe --problem separable-pl --records 100000 "
     "--dimension 16 --epsilon 1 --delta 1e-06",
     seconds,
     true},

    {"dpsosp run --algorithm wang-chen-xu-2019/dp-gd --problem cosine-saddle --records 100000 "
     "--dimension 10 --epsilon 1 --delta 1e-06",
     "dpsosp run --algorithm wang-chen-xu-2019/dp-gd --problem cosine-saddle --records 100000 "
     "--dimension 10 --epsilon 1 --delta 1e-06",
     seconds,
     true},

    // Options named in passing.
    {"dpsosp account --batch", "dpsosp account --help", part},
    {"dpsosp run --json", "dpsosp run --json --help", part},
    {"./run dpsosp list claims --out out",
     "./run dpsosp list claims",
     "of runs that a command before made"},
    {"dpsosp run --release", "dpsosp run --release --help", part},
    {"./run dpsosp …", "./run dpsosp --help", part},

    // Builds: stand-ins for cmake and ctest look up presets and note the rest.
    {"cmake --install build/release --prefix PREFIX",
     "test -x build/release/bin/dpsosp",
     "packaging.an_installed_package_serves_a_project_outside does it"},
    {"cmake -S examples/library -B build/example -DCMAKE_PREFIX_PATH=PREFIX && cmake --build "
     "build/example",
     "test -f examples/library/CMakeLists.txt",
     "packaging.an_installed_package_serves_a_project_outside does it"},
    {"docker build -f cmake/packages/Dockerfile -t dpsosp .",
     "true",
     "needs Docker; packaging.an_installed_package_serves_a_project_outside installs the same"},
    {"docker run --rm -v \"$PWD:/work\" dpsosp sweep FILE.toml",
     "dpsosp sweep --help",
     "needs Docker"},
    {"dpsosp new algorithm mine", "rm -rf mine && dpsosp new algorithm mine", "stands twice"},
    {"dpsosp new problem mine",
     "rm -rf mine && dpsosp new problem mine",
     "its folder is another's"},
    {"cmake -S mine -B mine/build && cmake --build mine/build",
     "test -f mine/CMakeLists.txt",
     "packaging.what_dpsosp_new_writes_is_built_and_passes_check does it"},
    {"mkdir corpus && TMPDIR=/dev/shm build/fuzz/bin/libfuzz_csv corpus -max_total_time=300",
     "build/release/bin/fuzz_csv 10",
     "needs Clang; the same target with fixed mutations"},

    {"./run site",
     "./run site --oot x || test $? = 2",
     "packaging.the_site_of_the_documents_is_whole makes it"},

    // Downloads, and programs that need more than the build does.
    {"./run data", "./run data || test $? = 3", download},
    {"./run data randhie", "./run data randhie || test $? = 3", download},
    {"./run data cifar10", "./run data cifar10 || test $? = 3", download},
    {"./run benchmark", "./run benchmark --benchmark_list_tests", minutes},
    {"./run benchmark --benchmark_filter=gradient",
     "./run benchmark --benchmark_filter=gradient --benchmark_list_tests",
     minutes},
    {"build/release/bin/bench_problems --benchmark_repetitions=10 "
     "--benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true",
     "build/release/bin/bench_problems --benchmark_repetitions=10 "
     "--benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true "
     "--benchmark_list_tests",
     minutes},
    {"./run benchmark peers",
     "! command -v python3 || python3 -c \"import ast; "
     "ast.parse(open('benchmarks/peers.py').read())\"",
     optional},
    {"./run benchmark peers --filter glm_step --rounds 3",
     "! command -v python3 || python3 -c \"import ast; "
     "ast.parse(open('benchmarks/compare.py').read())\"",
     optional},
};

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
    return run_program("/usr/bin/env",
                       {"-u",
                        "DPSOSP_DATA",
                        "PATH=" + (folder_ / "tools").string() + ":" + std::getenv("PATH"),
                        "SLURM_ARRAY_TASK_ID=1",
                        "SLURM_CPUS_PER_TASK=1",
                        "bash",
                        "-c",
                        "cd '" + folder_.path().string() + "' && " + command});
  }

  bool has(const std::string& file) const { return fs::exists(folder_ / file); }

  /// A program of the checkout, or a tool, that does `body`.
  void program(const std::string& file, const std::string& body) const {
    fs::remove(folder_ / file);
    std::ofstream(folder_ / file) << "#!/bin/sh\n" << body << '\n';
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
  return entry->slow ? command + " --help" : std::string(entry->form);
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
    const Result r = run_program(built_program("dpsosp"),
                                 {"list", "algorithms", "--document", folder.path().string()});
    EXPECT_EQ(r.code, 0) << r.err;
    at->second += contents(folder / "reference/algorithms.md");
  } else if (page == "docs/protocol.md") {
    at->second += run_program(built_program("dpsosp"), {"list", "protocol"}).out;
  }
  return at->second;
}

class Page : public testing::TestWithParam<const char*> {};

TEST_P(Page, CommandsRun) {
  if (!DPSOSP_BENCHMARKS && std::string_view(GetParam()) == "benchmarks/README.md")
    GTEST_SKIP() << "built without benchmarks";
  const std::vector<std::string> list = commands(text_of(GetParam()));
  EXPECT_FALSE(list.empty()) << "a page without commands needs no place in `pages`";
  for (const std::string& failure : failures(list)) ADD_FAILURE() << failure;
}

INSTANTIATE_TEST_SUITE_P(Documents, Page, testing::ValuesIn(pages), [](const auto& page) {
  return std::regex_replace(std::string(page.param), std::regex("[^A-Za-z0-9]+"), "_");
});

TEST(Commands, OfSweepsAreGivenTheExampleThatIsPrinted) {
  EXPECT_NE(contents(source("docs/sweeps.md"))
                .find("```toml\n" + contents(source("examples/my-sweep.toml")) + "```\n"),
            std::string::npos);
}

TEST(Commands, PagesThatHoldThemAreTested) {
  std::vector<fs::path> documents{source("README.md"),
                                  source("CONTRIBUTING.md"),
                                  source("benchmarks/README.md"),
                                  source("results/README.md")};
  for (const char* folder : {".github", "docs", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(source(folder)))
      if (entry.path().extension() == ".md") documents.push_back(entry.path());
  for (const fs::path& document : documents)
    if (!commands(contents(document)).empty()) {
      const std::string page = fs::relative(document, in_checkout()).generic_string();
      EXPECT_NE(std::ranges::find(pages, page), pages.end()) << page;
    }
}

TEST(Commands, ShortFormsStandForCommandsOfPages) {
  std::vector<std::string> all;
  for (const char* page : pages)
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
            (std::vector<std::string>{"./run reproduce",
                                      "dpsosp check --help",
                                      "dpsosp list claims --json",
                                      "dpsosp run --a 1 --b 2",
                                      "make all",
                                      "cmake --preset dev",
                                      "srun x --y"}));
}

TEST(Commands, ThatAreWrongAreFound) {
  const std::vector<std::string> wrong{"dpsosp lst --help",
                                       "./run dpsosp list algorithm",
                                       "./run reproduce --scael smoke",
                                       "./run tset",
                                       "cmake --workflow --preset devel",
                                       "cmake --build --preset devel",
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
  for (const char* words : {"avdiukhin-2024/figure-2a --scale smoke",
                            "--out x avdiukhin-2024/figure-2b xu-2026/table-2",
                            "--exhibit=avdiukhin-2024/figure-2a"})
    EXPECT_EQ(said(std::string("./run reproduce ") + words),
              std::string("dpsosp-neural reproduce ") + words + "\n" + with_networks);
  EXPECT_EQ(said("echo DPSOSP_NEURAL:BOOL=ON >build/release/CMakeCache.txt; "
                 "./run reproduce avdiukhin-2024/figure-2a"),
            "dpsosp-neural reproduce avdiukhin-2024/figure-2a\n"
            "cmake --build --preset release --target dpsosp-neural\n");
}

TEST_F(Networks, AreLeftOutWhereNothingOfTheirsIsComputed) {
  for (const char* words : {"",
                            " avdiukhin-2024/rates",
                            " --out avdiukhin-2024 xu-2026/table-2",
                            " --check avdiukhin-2024/figure-1a",
                            " avdiukhin-2024/figure-1a --dry-run",
                            " --help avdiukhin-2024"})
    EXPECT_EQ(said(std::string("./run reproduce") + words),
              std::string("dpsosp reproduce") + words +
                  "\ncmake --build --preset release --target dpsosp\n");
}

TEST_F(Networks, AskForCifar10BeforeAnythingIsBuilt) {
  for (const char* exhibits : {"avdiukhin-2024", "avdiukhin-2024/figure-3b"}) {
    const Result r = checkout_.run(std::string("./run reproduce ") + exhibits);
    EXPECT_NE(r.code, 0);
    EXPECT_EQ(r.out, "");
    EXPECT_NE(r.err.find("cifar10"), std::string::npos) << r.err;
    EXPECT_FALSE(checkout_.has("calls"));
  }
}

TEST_F(Networks, HaveTestsOfTheirOwn) {
  const std::string calls = said("./run test --neural");
  EXPECT_NE(calls.find("--label-regex ^neural$\n"), std::string::npos) << calls;
  EXPECT_NE(calls.find("-DDPSOSP_NEURAL=ON\n"), std::string::npos) << calls;
}

TEST(LongCommands, RunInShortForm) {
  const Checkout checkout;
  for (const Instead& entry : instead) {
    if (!entry.slow) continue;
    const Result r = checkout.run(std::string(entry.form));
    EXPECT_EQ(r.code, 0) << entry.form << '\n' << r.err;
  }
  EXPECT_TRUE(checkout.has("out/report"));
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
