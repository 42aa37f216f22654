// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "commands.hpp"
#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "names.hpp"
#include "options.hpp"
#include "progress_line.hpp"

namespace dpsosp {
namespace {

/// What was found of an algorithm.
struct AlgorithmAudit {
  std::string algorithm;
  ReplayAudit replay;
  StatisticalAudit statistics;

  bool stands() const { return replay.passed && !statistics.falsified; }
};
DPSOSP_MEMBERS(AlgorithmAudit, algorithm, replay, statistics);

struct AllAudits {
  std::vector<AlgorithmAudit> algorithms;
  std::vector<PlantAudit> plants;
  std::vector<CheckLine> common;  ///< of what all rests on
  bool tails_hold = true;
};
DPSOSP_MEMBERS(AllAudits, algorithms, plants, common, tails_hold);

/// Everything computed anew; nothing is taken from a store.
AllAudits compute_all(const AuditJobs& jobs, int threads, bool quiet) {
  AllAudits all;
  all.plants.resize(jobs.plants.size());
  all.common.resize(jobs.common.size());
  for (const AuditJobs::OfAlgorithm& job : jobs.algorithms)
    all.algorithms.push_back({job.algorithm, {}, {}});
  const std::size_t attacks = 2 * jobs.algorithms.size(),
                    with_plants = attacks + jobs.plants.size(),
                    count = with_plants + jobs.common.size();
  std::atomic<std::size_t> done{0};
  // Of many attacks, the share is that of attacks done; one or two tell how far they are.
  const ProgressLine line("audit", quiet,
                          [&, look = look_at_work("the attacks")](double elapsed) -> ProgressState {
                            if (count <= 2) return look(elapsed);
                            return {.doing = fmt::format("{} attacks", count),
                                    .share = static_cast<double>(done) / static_cast<double>(count),
                                    .elapsed = elapsed};
                          });
  tbb::task_arena(threads).execute([&] {
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t k) {
      if (k >= with_plants)
        all.common[k - with_plants] = audit_common(jobs.common[k - with_plants]);
      else if (k >= attacks)
        all.plants[k - attacks] = audit_plant(jobs.plants[k - attacks]);
      else if (k % 2 == 0)
        all.algorithms[k / 2].replay = audit_replay(jobs.algorithms[k / 2].replay);
      else
        all.algorithms[k / 2].statistics = audit_statistics(jobs.algorithms[k / 2].statistics);
      ++done;
    });
  });
  return all;
}

void print_header() {
  fmt::print("{:<41} {:>8} {:>9} {:>8} {:>7} {:>7} {:>6}  {:<7} {}\n", "algorithm", "claimed",
             "accounted", "audited", "direct", "runs", "power", "replay", "verdict");
}

void print_row(const AlgorithmAudit& audit) {
  const StatisticalAudit& attack = audit.statistics;
  fmt::print("{:<41} {:>8.4g} {:>9.4g} {:>8.4g} {:>7.4g} {:>7} {:>6}  {:<7} {}\n", audit.algorithm,
             attack.claimed, attack.accounted, attack.audited, attack.direct, attack.runs,
             attack.power ? fmt::format("{:.2f}", *attack.power) : "-",
             audit.replay.passed ? "passed" : "FAILED", audit.stands() ? "stands" : "FALSIFIED");
}

void print_checks(const std::vector<CheckLine>& checks) {
  for (const CheckLine& line : checks)
    fmt::print("  {}  {}{}\n", line.passed ? "ok  " : "FAIL", line.property,
               line.detail.empty() ? "" : fmt::format(" ({})", line.detail));
}

void print_terms(const StatisticalAudit& attack) {
  fmt::print(
      "epsilon at delta {:g}, replace one record, at confidence {:g} a row; audited: epsilon of "
      "the charges with the most noise that the error rates rule out; direct: lower bound from the "
      "error rates alone; power: against noise 1.25 times too small\n",
      attack.delta, attack.confidence);
}

/// One algorithm; with a plant the audit must fail.
int audit_one(const AuditJobs::OfAlgorithm& job, bool planted, int threads, bool as_json,
              bool quiet) {
  const AlgorithmAudit audit =
      compute_all({.algorithms = {job}, .plants = {}, .common = {}}, threads, quiet)
          .algorithms.front();
  if (as_json) {
    std::cout << write_json(audit).dump(2) << '\n';
  } else {
    print_header();
    print_row(audit);
    print_terms(audit.statistics);
    print_checks(audit.replay.checks);
    if (planted)
      fmt::print(
          "{}\n",
          audit.stands()
              ? "planted bug missed: no query of this algorithm meets it, or the attacks are "
                "too weak; dpsosp audit --help names an algorithm for each"
              : "planted bug caught");
  }
  return audit.stands() == planted ? 1 : 0;
}

/// What record and replay found on a problem of the caller's choice.
struct ProblemAudit {
  std::string algorithm, problem;
  Index pairs, answers;
  bool passed;
  std::vector<CheckLine> checks;
};
DPSOSP_MEMBERS(ProblemAudit, algorithm, problem, pairs, answers, passed, checks);

int audit_on(const ReplayOptions& options, const std::string& algorithm, bool as_json, bool quiet) {
  const ReplayAudit audit = [&] {
    const ProgressLine line("audit", quiet, look_at_work("record and replay"));
    return audit_replay(algorithm, options);
  }();
  if (as_json) {
    std::cout << write_json(ProblemAudit{algorithm, std::string(options.problem), audit.pairs,
                                         audit.answers, audit.passed, audit.checks})
                     .dump(2)
              << '\n';
  } else {
    fmt::print("{} on {}: replay {}\n", algorithm, options.problem,
               audit.passed ? "passed" : "FAILED");
    print_checks(audit.checks);
  }
  return audit.passed == !options.plant.empty() ? 1 : 0;
}

int audit_all(Scale scale, std::uint32_t seed, int threads, bool as_json, bool quiet) {
  AllAudits all = compute_all(audit_jobs({reproductions().catalogue, scale}, seed), threads, quiet);
  NoiseNumbers noise;
  for (const AlgorithmAudit& audit : all.algorithms)
    for (const NoiseNumbers& numbers : {audit.replay.noise, audit.statistics.noise})
      noise.add(numbers);
  const std::vector<CheckLine> tails = pooled_tails(noise);
  all.tails_hold = std::ranges::all_of(tails, &CheckLine::passed);
  const auto stand = std::ranges::count_if(all.algorithms, &AlgorithmAudit::stands);
  const auto caught = std::ranges::count_if(all.plants, &PlantAudit::caught);
  const auto hold = std::ranges::count_if(all.common, &CheckLine::passed);
  if (as_json) {
    std::cout << write_json(all).dump(2) << '\n';
  } else {
    print_header();
    for (const AlgorithmAudit& audit : all.algorithms) {
      print_row(audit);
      if (!audit.replay.passed) print_checks(audit.replay.checks);
    }
    print_terms(all.algorithms.front().statistics);
    print_checks(tails);
    print_checks(all.common);
    fmt::print("\n{:<23} {:<41} {:>6} {:>7}  {}\n", "plant", "in", "pairs", "runs", "replay says");
    const auto count = [](Index n) { return n == 0 ? "-" : std::to_string(n); };
    for (const PlantAudit& plant : all.plants)
      fmt::print("{:<23} {:<41} {:>6} {:>7}  {}\n", plant.name, plant.host, count(plant.pairs),
                 count(plant.runs), plant.caught ? plant.property : "MISSED");
    fmt::print(
        "{} of {} claims falsified; {} of {} planted bugs caught; {} of {} checks of what all rest "
        "on hold\n",
        std::ssize(all.algorithms) - stand, all.algorithms.size(), caught, all.plants.size(), hold,
        all.common.size());
  }
  return stand == std::ssize(all.algorithms) && caught == std::ssize(all.plants) &&
                 hold == std::ssize(all.common) && all.tails_hold
             ? 0
             : 1;
}

}  // namespace

const Description& audit_description() {
  static const Description description = [] {
    Description d{
        .name = "audit",
        .summary = "try to falsify the privacy claims of algorithms",
        .usage = {"--algorithm KEY [OPTIONS]", "--all [--scale SCALE] [--seed SEED] [OPTIONS]"},
        .examples =
            {{"dpsosp audit --algorithm dp-spider",
              "record and replay, and a statistical attack; exit code 1 if the claim falls"},
             {"dpsosp audit --algorithm wang-ye-xu-2017/dp-gd --plant noise-over-sqrt2",
              "whether the audit catches a planted bug"}},
        .groups = {
            {"what is attacked",
             {{.name = "algorithm",
               .value = "KEY",
               .meaning = "key, its last part or its title, as listed by dpsosp list "
                          "algorithms",
               .offers = {.names = audited_names}},
              {.name = "all",
               .meaning = "every algorithm that claims privacy, and every planted bug"},
              {.name = "problem",
               .value = "NAME",
               .meaning = "record and replay alone, on this problem in place of the audit's "
                          "own instances",
               .offers = {.names = problem_names}},
              {.name = "set",
               .value = "NAME=VALUE",
               .meaning = "a parameter of that problem",
               .repeatable = true},
              {.name = "plant",
               .value = "NAME",
               .meaning = "a bug that the audit must catch; exit code 1 if it does not",
               .offers = {.names = plant_names}}}},
            {"the attack",
             {{.name = "runs",
               .value = "N",
               .meaning = "of the statistical attack on each of two data sets (default: 4000 "
                          "at quick)"},
              scale_option(),
              {.name = "seed",
               .value = "SEED",
               .meaning = "of all runs but those with planted bugs",
               .standard = "0"},
              threads_option()}},
            {"output", {json_option(), quiet_option(), help_option()}}}};
    std::string plants = "plants:";
    for (const AuditPlant& plant : audit_plants())
      plants += fmt::format("\n  {:<23} {}; in {}", plant.name, plant.wrong, plant.host);
    d.notes.push_back(std::move(plants));
    return d;
  }();
  return description;
}

int audit_command(const Arguments& arguments) {
  const auto map = parse_options(audit_description(), arguments);
  const Scale scale = from_word<Scale>(map["scale"].as<std::string>());
  const auto seed = static_cast<std::uint32_t>(
      integer(map, "audit", "seed", 0, std::numeric_limits<std::uint32_t>::max()));
  const bool as_json = map.count("json") != 0, quiet = map.count("quiet") != 0;
  if ((map.count("all") != 0) == (map.count("algorithm") != 0))
    throw InputError("audit: expected --algorithm KEY (dpsosp list algorithms) or --all");
  const std::string algorithm =
      map.count("algorithm") != 0 ? the_audited(map["algorithm"].as<std::string>()) : "";
  if (map.count("all") != 0) {
    for (const char* name : {"plant", "problem", "runs", "set"})
      if (map.count(name) != 0)
        throw InputError(
            fmt::format("audit: --{} needs --algorithm; --all has its own, by --scale", name));
    return audit_all(scale, seed, threads_here(map, "audit"), as_json, quiet);
  }
  if (map.count("problem") != 0) {
    if (map.count("runs") != 0)
      throw InputError("audit: --runs is of the statistical attack, which --problem leaves out");
    const std::string problem = the_problem(map["problem"].as<std::string>());
    const std::string plant = map.count("plant") != 0 ? map["plant"].as<std::string>() : "";
    return audit_on({.plant = plant,
                     .problem = problem,
                     .problem_settings = problem_settings(map, "audit"),
                     .seed = seed},
                    algorithm, as_json, quiet);
  }
  if (map.count("set") != 0)
    throw InputError("audit: --set is of the problem that --problem names");
  AuditJobs::OfAlgorithm jobs =
      audit_jobs(algorithm, {reproductions().catalogue, scale},
                 map.count("runs") != 0 ? integer(map, "audit", "runs", 8) : 0, seed);
  const bool planted = map.count("plant") != 0;
  if (planted) jobs.replay.plant = jobs.statistics.plant = map["plant"].as<std::string>();
  return audit_one(jobs, planted, threads_here(map, "audit"), as_json, quiet);
}

}  // namespace dpsosp
