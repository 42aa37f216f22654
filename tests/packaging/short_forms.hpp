// SPDX-License-Identifier: Apache-2.0
// What runs in place of commands of the documents that are long, or that name something of the
// reader's.
#pragma once

#include <string_view>
#include <vector>

namespace dpsosp::commands_test {

struct Instead {
  std::string_view command;  ///< as documented, without the comment
  std::string_view form;     ///< what runs in its place
  std::string_view reason;
  /// The form, too, is too long for every test run: LongCommands runs it, and Page the command with
  /// --help, which checks its options.
  bool slow = false;
};

inline constexpr std::string_view minutes = "minutes";
inline constexpr std::string_view seconds = "seconds, which add up";
inline constexpr std::string_view name = "a name stands for one of the reader's";
inline constexpr std::string_view part = "names an option, not a whole command";
inline constexpr std::string_view download =
    "downloads; here the package tools refuse, as without network";
inline constexpr std::string_view optional_package = "with a package that ./run does not install";
inline constexpr std::string_view optional = "minutes, with packages that ./run does not install";

inline const std::vector<Instead> instead{
    // Reproductions. The test Reproduce looks at what the whole of them writes.
    {"./run reproduce", "./run reproduce --scale smoke", minutes, true},
    {"./run reproduce --scale smoke", "./run reproduce --scale smoke", minutes, true},
    {"./run reproduce --scale quick", "./run reproduce --scale smoke", minutes, true},
    {"./run reproduce xu-2026/table-2 claims",
     "./run reproduce xu-2026/table-2 claims --scale smoke", minutes, true},
    {"./run reproduce lowy-2024/figure-1 avdiukhin-2024/rates",
     "./run reproduce lowy-2024/figure-1 avdiukhin-2024/rates --scale smoke", minutes, true},
    {"./run reproduce verdict-rule/rates", "./run reproduce verdict-rule/rates --scale smoke",
     minutes, true},
    {"./run reproduce claims", "./run reproduce claims --scale smoke", minutes, true},
    {"./run reproduce xu-2026/table-1", "./run reproduce xu-2026/table-1 --scale smoke", minutes,
     true},
    {"./run reproduce xu-2026/table-1 --check results",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke --check results || test $? = 1",
     "minutes; other scales differ from the committed tables, which is exit code 1"},
    {"./run reproduce league-tuning/settings", "./run reproduce league-tuning/settings --dry-run",
     minutes},
    {"./run reproduce league", "./run reproduce league --dry-run", minutes},
    {"dpsosp reproduce claims", "dpsosp reproduce claims --scale smoke", minutes, true},
    {"./run reproduce --check results",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke --check results || test $? = 1",
     "minutes; other scales differ from the committed tables, which is exit code 1"},
    {"./run reproduce --scale quick --check results",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke --check results || test $? = 1",
     "minutes; other scales differ from the committed tables, which is exit code 1"},
    {"./run reproduce lowy-2024/contour --check results",
     "./run reproduce lowy-2024/contour --check results || test $? = 1",
     "last digits may differ on another processor, which is exit code 1", true},
    {"./run reproduce liu-talwar-2025/ablation claims",
     "./run reproduce liu-talwar-2025/ablation claims --scale smoke", minutes, true},
    {"./run reproduce xu-2026/table-1 claims",
     "./run reproduce xu-2026/table-1 claims --scale smoke", minutes, true},
    {"./run reproduce avdiukhin-2024", "./run reproduce avdiukhin-2024 --dry-run",
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
     "the default scale is not that of the stored runs", true},
    {"./run dpsosp report xu-2026 league",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke && "
     "./run dpsosp report avdiukhin-2024 --scale smoke",
     minutes, true},
    {"./run dpsosp report before.sqlite after.sqlite",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke && "
     "cp out/store.sqlite after.sqlite && "
     "./run dpsosp report out/store.sqlite after.sqlite avdiukhin-2024/no-clipping --scale smoke",
     name},
    {"./run dpsosp report xu-2026 --paper paper",
     "./run reproduce avdiukhin-2024/no-clipping --scale smoke && "
     "./run dpsosp report avdiukhin-2024/no-clipping --scale smoke --paper paper",
     minutes, true},

    // Audits and checks.
    {"./run dpsosp audit --all", "./run dpsosp audit --all --scale smoke", minutes, true},
    {"dpsosp audit --all", "dpsosp audit --all --scale smoke", minutes, true},
    {"dpsosp check algorithms", "dpsosp check algorithms", minutes, true},
    {"./run dpsosp check NAME", "./run dpsosp check cosine-saddle", name},
    {"./run dpsosp check smith-2027/normalised-momentum",
     "./run dpsosp check avdiukhin-2024/dp-sgd", name},
    {"./run dpsosp audit --algorithm smith-2027/normalised-momentum",
     "./run dpsosp audit --algorithm wang-ye-xu-2017/dp-gd", name},

    // Sweeps.
    {"./run dpsosp sweep examples/my-sweep.toml",
     "./run dpsosp sweep examples/my-sweep.toml --scale smoke", minutes},
    {"./run dpsosp sweep examples/own-loss.toml",
     "./run dpsosp sweep examples/own-loss.toml --scale smoke", seconds},
    {"./run dpsosp sweep mine.toml", "./run dpsosp sweep mine.toml --scale smoke", seconds},
    {"./run dpsosp fit mine.toml", "./run dpsosp fit mine.toml --scale smoke",
     "of the runs at that scale"},
    {"./run dpsosp fit examples/my-sweep.toml",
     "./run dpsosp fit examples/my-sweep.toml --scale smoke", "of the runs at that scale"},
    {"dpsosp sweep my-sweep.toml --scale full --dry-run",
     "dpsosp sweep my-sweep.toml --scale full --dry-run", "on a cluster"},
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
     "dpsosp sweep my-sweep.toml --scale smoke --out out", "hours"},
    {"dpsosp fit my-sweep.toml --scale full --out out",
     "dpsosp fit my-sweep.toml --scale smoke --out out", "of the runs at that scale"},
    {"./run dpsosp sweep NAME", "./run dpsosp sweep zhou-2020 --scale smoke --shard 1/20", name},
    {"./run dpsosp fit NAME", "./run dpsosp fit zhou-2020 --scale smoke || test $? = 2",
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
     "dpsosp merge out/shards-of-2 --into out/store.sqlite", "a synopsis"},
    {"dpsosp merge out/plans/0001", "dpsosp merge local/plans/0001 --into local/merged.sqlite",
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
     minutes, true},
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
     "dpsosp reproduce league --add examples/program/smith.toml --help", name},
    {"./run dpsosp check log-well", "./run dpsosp check cosine-saddle", name},
    {"./run dpsosp list problems --document docs", "./run dpsosp list problems --document docs",
     seconds, true},

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
     "test -f python/dpsosp/report/__main__.py", "report.pages does it"},
    {"pip install ./python", "test -f python/pyproject.toml",
     "python.package_installs_offline does it"},

    // Whole in the slow test.
    {"./run dpsosp account --batch tests/data/accounting_vectors.csv",
     "./run dpsosp account --batch tests/data/accounting_vectors.csv", seconds, true},
    {"dpsosp list problems --document docs", "dpsosp list problems --document docs", seconds, true},
    {"dpsosp run --algorithm wang-xu-2019/dp-frank-wolfe --problem separable-pl --records 100000 "
     "--dimension 16 --epsilon 1 --delta 1e-06",
     "dpsosp run --algorithm wang-xu-2019/dp-frank-wolfe --problem separable-pl --records 100000 "
     "--dimension 16 --epsilon 1 --delta 1e-06",
     seconds, true},

    {"dpsosp run --algorithm wang-chen-xu-2019/dp-gd --problem cosine-saddle --records 100000 "
     "--dimension 10 --epsilon 1 --delta 1e-06",
     "dpsosp run --algorithm wang-chen-xu-2019/dp-gd --problem cosine-saddle --records 100000 "
     "--dimension 10 --epsilon 1 --delta 1e-06",
     seconds, true},

    // Options named in passing.
    {"dpsosp account --batch", "dpsosp account --help", part},
    {"dpsosp run --json", "dpsosp run --json --help", part},
    {"./run dpsosp list claims --out out", "./run dpsosp list claims",
     "of runs that a command before made"},
    {"dpsosp run --release", "dpsosp run --release --help", part},
    {"./run dpsosp …", "./run dpsosp --help", part},

    // Builds: stand-ins for cmake and ctest look up presets and note the rest.
    {"cmake --install build/release --prefix PREFIX", "test -x build/release/bin/dpsosp",
     "packaging.an_installed_package_serves_a_project_outside does it"},
    {"cmake -S examples/library -B build/example -DCMAKE_PREFIX_PATH=PREFIX && cmake --build "
     "build/example",
     "test -f examples/library/CMakeLists.txt",
     "packaging.an_installed_package_serves_a_project_outside does it"},
    {"docker build -f cmake/packages/Dockerfile -t dpsosp .", "true",
     "needs Docker; packaging.an_installed_package_serves_a_project_outside installs the same"},
    {"docker run --rm -v \"$PWD:/work\" dpsosp sweep FILE.toml", "dpsosp sweep --help",
     "needs Docker"},
    {"dpsosp new algorithm mine", "rm -rf mine && dpsosp new algorithm mine", "stands twice"},
    {"dpsosp new problem mine", "rm -rf mine && dpsosp new problem mine",
     "its folder is another's"},
    {"cmake -S mine -B mine/build && cmake --build mine/build", "test -f mine/CMakeLists.txt",
     "packaging.what_dpsosp_new_writes_is_built_and_passes_check does it"},
    {"mkdir corpus && TMPDIR=/dev/shm build/fuzz/bin/libfuzz_csv corpus -max_total_time=300",
     "build/release/bin/fuzz_csv 10", "needs Clang; the same target with fixed mutations"},

    {"./run site", "./run site --oot x || test $? = 2",
     "packaging.the_site_of_the_documents_is_whole makes it"},

    // Downloads, and programs that need more than the build does.
    {"./run data", "./run data || test $? = 3", download},
    {"./run data randhie", "./run data randhie || test $? = 3", download},
    {"./run data cifar10", "./run data cifar10 || test $? = 3", download},
    {"./run benchmark", "./run benchmark --benchmark_list_tests", minutes},
    {"./run benchmark --benchmark_filter=gradient",
     "./run benchmark --benchmark_filter=gradient --benchmark_list_tests", minutes},
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

}  // namespace dpsosp::commands_test
