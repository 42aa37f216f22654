// SPDX-License-Identifier: Apache-2.0
// Small runs on records in memory, whose points have the bits of reference_runs.csv. With
// DPSOSP_WRITE_REFERENCE_RUNS=FILE the program writes that file in place of comparing with it: of
// every algorithm on every instance, the runs that take less than 40 ms. What differs between
// processors (./run test --processors) is taken out by hand.
#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run.hpp"
#include "paths.hpp"

namespace dpsosp::reference_runs_test {
namespace {

constexpr const char* header = "algorithm,problem,settings,n,d,epsilon,seed,digest";

/// FNV-1a, 64 bits.
class Digest {
 public:
  void add(std::uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8)
      state_ = (state_ ^ ((word >> shift) & 0xff)) * 0x100000001b3;
  }
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  std::string hex() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

/// A problem with its settings, "name=value" joined by semicolons, and its sizes.
struct Instance {
  std::string problem, settings;
  Index records;
  std::optional<Index> dimension = {};

  std::string name() const {
    std::string made = problem + "_" + settings;
    std::ranges::replace_if(
        made, [](char c) { return std::isalnum(c) == 0; }, '_');
    return made;
  }
  friend void PrintTo(const Instance& instance, std::ostream* out) { *out << instance.name(); }
};

const std::vector<Instance>& instances() {
  static const std::vector<Instance> all{
      // generalised linear models
      {"glm-logistic", "", 301},
      {"glm-logistic", "regulariser=0", 1201, 7},
      {"glm-sigmoid", "", 1000},
      {"glm-sigmoid", "support=20", 301},
      {"glm-welsch", "", 301},
      {"glm-tukey", "", 301},
      // landscapes that records tilt
      {"double-well", "sampling=independent", 301},
      {"ramp", "", 301},
      {"multi-well", "", 301},
      {"octopus", "", 301},
      {"quartic-saddle", "", 301},
      {"radial-ripple", "sampling=balanced", 301},
      {"separable-pl", "", 301},
      {"staircase", "", 301},
      {"trig-radial", "", 301},
      // others
      {"auc", "", 301},
      {"coins", "", 301},
      {"cosine-minimax", "", 301},
      {"cosine-saddle", "", 301},
      {"covariance-gan", "", 301},
      {"group-dro", "", 301},
      {"matrix-completion", "", 301},
      {"matrix-sensing", "rows=6;cols=5;rank=2", 301},
      {"matrix-sensing-symmetric", "", 301},
      {"orthogonal-tensor", "", 301},
      {"phase-retrieval", "", 301},
      {"ripple-location", "", 301},
      {"robust-phase-retrieval", "", 301},
      {"tensor-ica", "", 301},
  };
  return all;
}

RunSpec spec_of(const std::string& algorithm, const Instance& instance) {
  RunSpec spec{.algorithm = algorithm,
               .problem = instance.problem,
               .records = instance.records,
               .dimension = instance.dimension,
               .epsilon = 4,
               .seed = 1,
               .observations = 0};  // points of the trace, which take no part
  std::istringstream settings(instance.settings);
  for (std::string one; std::getline(settings, one, ';');) {
    const auto equals = one.find('=');
    spec.problem_settings[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return spec;
}

/// Of the bits of the point and the status; empty where the algorithm does not run on the problem.
std::string digest_of(const RunSpec& spec) {
  Digest digest;
  try {
    const RunResult result = compute_run(describe(spec));
    digest.add(to_string(result.algorithm.status));
    for (const double x : result.point.value()) digest.add(std::bit_cast<std::uint64_t>(x));
  } catch (const RunFailed&) {
    digest.add("failed");
  } catch (const InputError&) {
    return {};
  }
  return digest.hex();
}

/// The row of a run without its digest.
std::string key_of(const RunSpec& spec, const std::string& settings) {
  return fmt::format("{},{},{},{},{},{},{},", spec.algorithm, spec.problem, settings, spec.records,
                     spec.dimension ? std::to_string(*spec.dimension) : "", spec.epsilon,
                     spec.seed);
}

const std::map<std::string, std::string>& stored() {
  static const auto rows = [] {
    std::ifstream in(in_checkout("tests/trusted/reference_runs.csv"));
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(line, header);
    std::map<std::string, std::string> read;
    while (std::getline(in, line)) {
      const auto end = line.rfind(',') + 1;
      read.emplace(line.substr(0, end), line.substr(end));
    }
    return read;
  }();
  return rows;
}

TEST(ReferenceRuns, AreHundredsAndOfEveryInstance) {
  if (std::getenv("DPSOSP_WRITE_REFERENCE_RUNS") != nullptr) {
    std::ofstream out(std::getenv("DPSOSP_WRITE_REFERENCE_RUNS"));
    out << header << '\n';
    for (const Instance& instance : instances())
      for (const auto& entry : algorithm_registry()) {
        const RunSpec spec = spec_of(entry.key, instance);
        const std::clock_t start = std::clock();
        const std::string digest = digest_of(spec);
        const bool short_run = std::clock() - start < CLOCKS_PER_SEC / 25;
        if (!digest.empty() && short_run) out << key_of(spec, instance.settings) << digest << '\n';
      }
    GTEST_SKIP() << "written";
  }
  EXPECT_GE(stored().size(), 500U);
}

class ReferenceRuns : public testing::TestWithParam<Instance> {};

TEST_P(ReferenceRuns, HaveTheSameBits) {
  if (std::getenv("DPSOSP_WRITE_REFERENCE_RUNS") != nullptr) GTEST_SKIP() << "written";
  const Instance& instance = GetParam();
  Index compared = 0;
  for (const auto& entry : algorithm_registry()) {
    const RunSpec spec = spec_of(entry.key, instance);
    const auto found = stored().find(key_of(spec, instance.settings));
    if (found == stored().end()) continue;
    EXPECT_EQ(digest_of(spec), found->second) << found->first;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Instances, ReferenceRuns, testing::ValuesIn(instances()),
                         [](const auto& test) { return test.param.name(); });

}  // namespace
}  // namespace dpsosp::reference_runs_test
