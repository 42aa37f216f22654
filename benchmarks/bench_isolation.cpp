// SPDX-License-Identifier: Apache-2.0
// What a gradient costs with d = 100 and two records: asked in this process, by a program in C++,
// and by a program in Python. The start of the program is not counted.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <tbb/global_control.h>

#include "asking.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp {
namespace {

constexpr Index steps = 20000;
const PrivacyBudget budget{.epsilon = 1.0, .delta = 1e-6};

/// A card of a program, made here because it names files of the build.
std::string program(const std::string& name, const std::string& file, const std::string& more) {
  const std::filesystem::path card =
      std::filesystem::temp_directory_path() / fmt::format("dpsosp-bench-{}.toml", name);
  std::ofstream(card) << fmt::format(
      "key = \"bench/{}\"\ntitle = \"Asks for gradients\"\nprogram = \"{}\"\n{}"
      "[settings.steps]\ndefault = 20000\n[settings.draws]\ndefault = false\n",
      name, file, more);
  std::string key = register_program(card);
  std::filesystem::remove(card);
  return key;
}

std::unique_ptr<Algorithm> here() { return std::make_unique<Asking>(); }
std::unique_ptr<Algorithm> cpp() {
  static const std::string key = program("asking-cpp", DPSOSP_ASKING_PROGRAM, "");
  return find_algorithm(key);
}
std::unique_ptr<Algorithm> python() {
  static const std::string key =
      program("asking-python", DPSOSP_SOURCE_FOLDER "/benchmarks/asking.py",
              "interpreter = \"/usr/bin/python3\"\n"
              "reads = [\"" DPSOSP_SOURCE_FOLDER "/python\"]\n");
  return find_algorithm(key);
}

/// \param state  1: a batch is drawn for every gradient; the package for Python keeps that of all
///               records, and asks once
void gradients(benchmark::State& state, std::unique_ptr<Algorithm> (*make)()) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Problem problem = find_problem("double-well")->make({.records = 2, .dimension = 100});
  const std::unique_ptr<Algorithm> algorithm = make();
  Fields fields = algorithm->fields();
  set_field(fields, algorithm->card().key, "draws", state.range(0) == 1 ? "true" : "false");
  const FilterRule rule =
      algorithm->schedule(Schedule::practical, problem.facts, budget, Calibrator::cks).rule;
  class Nobody final : public Observer {
    void iterate(Index, ConstVectorRef) override {}
  } nobody;
  for (auto _ : state) {
    state.PauseTiming();
    Curator curator(problem.facts, *problem.records, rule, {.seed = 1});
    algorithm->plan(problem.facts);  // starts the program, which waits
    state.ResumeTiming();
    benchmark::DoNotOptimize(algorithm->run(
        curator, Stream::sealed({.seed = 2, .purpose = Purpose::algorithm}), nobody));
  }
  state.counters["gradient"] =
      benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(gradients, here, here)->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK_CAPTURE(gradients, cpp, cpp)->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK_CAPTURE(gradients, python, python)->Arg(0)->Arg(1)->UseRealTime();

}  // namespace
}  // namespace dpsosp
