// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <iostream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "names.hpp"
#include "options.hpp"
#include "progress_line.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

/// The jobs computed anew, in their order; nothing is taken from a store.
std::vector<json> compute_all(const std::vector<json>& jobs, int threads, bool quiet) {
  std::vector<json> results(jobs.size());
  std::atomic<std::size_t> done{0};
  // Of many attacks, the share is that of attacks done; one or two tell how far they are.
  const ProgressLine line(
      "audit", quiet, [&, look = look_at_work("the attacks")](double elapsed) -> ProgressState {
        if (jobs.size() <= 2) return look(elapsed);
        return {.doing = fmt::format("{} attacks", jobs.size()),
                .share = static_cast<double>(done) / static_cast<double>(jobs.size()),
                .elapsed = elapsed};
      });
  tbb::task_arena(threads).execute([&] {
    tbb::parallel_for(std::size_t{0}, jobs.size(), [&](std::size_t k) {
      results[k] = reproductions().catalogue.compute(jobs[k]);
      ++done;
    });
  });
  return results;
}

bool stands(const json& replay, const json& attack) {
  return replay.at("passed").get<bool>() && !attack.at("falsified").get<bool>();
}

void print_header() {
  fmt::print("{:<41} {:>8} {:>9} {:>8} {:>7} {:>7} {:>6}  {:<7} {}\n",
             "algorithm",
             "claimed",
             "accounted",
             "audited",
             "direct",
             "runs",
             "power",
             "replay",
             "verdict");
}

void print_row(const std::string& algorithm, const json& replay, const json& attack) {
  fmt::print("{:<41} {:>8.4g} {:>9.4g} {:>8.4g} {:>7.4g} {:>7} {:>6}  {:<7} {}\n",
             algorithm,
             attack.at("claimed").get<double>(),
             from_json_number(attack.at("accounted")),
             from_json_number(attack.at("audited")),
             from_json_number(attack.at("direct")),
             attack.at("runs").get<Index>(),
             attack.contains("power") ? fmt::format("{:.2f}", attack.at("power").get<double>())
                                      : std::string("-"),
             replay.at("passed").get<bool>() ? "passed" : "FAILED",
             stands(replay, attack) ? "stands" : "FALSIFIED");
}

void print_checks(const json& replay) {
  for (const json& line : replay.at("checks"))
    fmt::print("  {}  {} ({})\n",
               line.at("passed").get<bool>() ? "ok  " : "FAIL",
               line.at("property").get<std::string>(),
               line.at("detail").get<std::string>());
}

void print_terms(const json& attack) {
  fmt::print(
      "epsilon at delta {:g}, replace one record, at confidence {:g} a row; audited: epsilon of "
      "the charges with the most noise that the error rates rule out; direct: lower bound from the "
      "error rates alone; power: against noise 1.25 times too small\n",
      attack.at("delta").get<double>(),
      attack.at("confidence").get<double>());
}

/// One algorithm; with a plant the audit must fail.
int audit_one(
    const AuditJobs::OfAlgorithm& jobs, bool planted, int threads, bool as_json, bool quiet) {
  const auto results = compute_all({jobs.replay, jobs.statistics}, threads, quiet);
  const json &replay = results[0], &attack = results[1];
  if (as_json) {
    std::cout
        << json{{"algorithm", jobs.algorithm}, {"replay", replay}, {"statistics", attack}}.dump(2)
        << '\n';
  } else {
    print_header();
    print_row(jobs.algorithm, replay, attack);
    print_terms(attack);
    print_checks(replay);
    if (planted)
      fmt::print(
          "{}\n",
          stands(replay, attack)
              ? "planted bug missed: no query of this algorithm meets it, or the attacks are "
                "too weak; dpsosp audit --help names an algorithm for each"
              : "planted bug caught");
  }
  return stands(replay, attack) == planted ? 1 : 0;
}

/// Record and replay on a problem of the caller's choice.
int audit_on(const ReplayOptions& options, const std::string& algorithm, bool as_json, bool quiet) {
  const ReplayAudit audit = [&] {
    const ProgressLine line("audit", quiet, look_at_work("record and replay"));
    return audit_replay(algorithm, options);
  }();
  json checks = json::array();
  for (const CheckLine& line : audit.lines)
    checks.push_back(
        {{"property", line.property}, {"passed", line.passed}, {"detail", line.detail}});
  const json result{{"algorithm", algorithm},
                    {"problem", options.problem},
                    {"pairs", audit.pairs},
                    {"answers", audit.answers},
                    {"passed", audit.passed()},
                    {"checks", checks}};
  if (as_json) {
    std::cout << result.dump(2) << '\n';
  } else {
    fmt::print(
        "{} on {}: replay {}\n", algorithm, options.problem, audit.passed() ? "passed" : "FAILED");
    print_checks(result);
  }
  return audit.passed() == !options.plant.empty() ? 1 : 0;
}

int audit_all(Scale scale, std::uint32_t seed, int threads, bool as_json, bool quiet) {
  const AuditJobs jobs = audit_jobs({reproductions().catalogue, scale}, seed);
  const auto results = compute_all(jobs.all(), threads, quiet);
  std::size_t falsified = 0, missed = 0, next = 0;
  NoiseNumbers noise;
  json algorithms = json::array(), plants = json::array();
  if (!as_json) print_header();
  for (const AuditJobs::OfAlgorithm& a : jobs.algorithms) {
    const json &replay = results[next], &attack = results[next + 1];
    next += 2;
    falsified += stands(replay, attack) ? 0U : 1U;
    noise.add(AuditJobs::noise_of(replay, attack));
    algorithms.push_back({{"algorithm", a.algorithm}, {"replay", replay}, {"statistics", attack}});
    if (as_json) continue;
    print_row(a.algorithm, replay, attack);
    if (!replay.at("passed").get<bool>()) print_checks(replay);
  }
  const std::vector<CheckLine> tails = pooled_tails(noise);
  const bool tails_hold = std::ranges::all_of(tails, &CheckLine::passed);
  if (!as_json) {
    print_terms(results[1]);
    for (const CheckLine& line : tails)
      fmt::print("  {}  {} ({})\n", line.passed ? "ok  " : "FAIL", line.property, line.detail);
    fmt::print("\n{:<23} {:<41} {:>6} {:>7}  {}\n", "plant", "in", "pairs", "runs", "replay says");
  }
  for (; next < results.size(); ++next) {
    const json& plant = results[next];
    const bool caught = plant.at("caught");
    missed += caught ? 0U : 1U;
    plants.push_back(plant);
    if (as_json) continue;
    const auto count = [&](const char* name) {
      return plant.at(name) == 0 ? std::string("-") : plant.at(name).dump();
    };
    fmt::print("{:<23} {:<41} {:>6} {:>7}  {}\n",
               plant.at("name").get<std::string>(),
               plant.at("host").get<std::string>(),
               count("pairs"),
               count("runs"),
               caught ? plant.at("property").get<std::string>() : "MISSED");
  }
  if (as_json)
    std::cout
        << json{{"algorithms", algorithms}, {"plants", plants}, {"tails_hold", tails_hold}}.dump(2)
        << '\n';
  else
    fmt::print("{} of {} claims falsified; {} of {} planted bugs caught\n",
               falsified,
               jobs.algorithms.size(),
               jobs.plants.size() - missed,
               jobs.plants.size());
  return falsified + missed == 0 && tails_hold ? 0 : 1;
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
  const auto seed = static_cast<std::uint32_t>(integer(map, "audit", "seed", 0));
  const bool as_json = map.count("json") != 0, quiet = map.count("quiet") != 0;
  if ((map.count("all") != 0) == (map.count("algorithm") != 0))
    throw InputError("audit: expected --algorithm KEY (dpsosp list algorithms) or --all");
  const std::string algorithm =
      map.count("algorithm") != 0 ? the_audited(map["algorithm"].as<std::string>()) : "";
  if (map.count("all") != 0) {
    for (const char* name : {"plant", "problem", "runs"})
      if (map.count(name) != 0)
        throw InputError(
            fmt::format("audit: --{} needs --algorithm; --all has its own, by --scale", name));
    return audit_all(scale, seed, threads(map, "audit"), as_json, quiet);
  }
  if (map.count("problem") != 0) {
    if (map.count("runs") != 0)
      throw InputError("audit: --runs is of the statistical attack, which --problem leaves out");
    const std::string problem = the_problem(map["problem"].as<std::string>());
    const std::string plant = map.count("plant") != 0 ? map["plant"].as<std::string>() : "";
    return audit_on({.plant = plant, .problem = problem, .seed = seed}, algorithm, as_json, quiet);
  }
  AuditJobs::OfAlgorithm jobs =
      audit_jobs(algorithm,
                 {reproductions().catalogue, scale},
                 map.count("runs") != 0 ? integer(map, "audit", "runs", 8) : 0,
                 seed);
  const bool planted = map.count("plant") != 0;
  if (planted)
    for (json* job : {&jobs.replay, &jobs.statistics})
      job->at("parameters").at("plant") = map["plant"].as<std::string>();
  return audit_one(jobs, planted, threads(map, "audit"), as_json, quiet);
}

}  // namespace dpsosp
