// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/text_file.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/problems/number_table.hpp"
#include "names.hpp"
#include "options.hpp"
#include "own_data.hpp"
#include "run_progress.hpp"
#include "run_text.hpp"
#include "show_programs.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;
using nlohmann::json;

OptionGroup problem_group() {
  return {"the problem",
          {{.name = "problem",
            .value = "NAME",
            .meaning = "as listed by dpsosp list problems",
            .offers = {.names = problem_names}},
           {.name = "records",
            .value = "N",
            .meaning = "number of records n, as 1000 or 1e5 (default: the problem's)"},
           {.name = "dimension", .value = "D", .meaning = "dimension d (default: the problem's)"}}};
}

OptionGroup randomness_group() {
  return {"random numbers and threads",
          {{.name = "seed",
            .value = "SEED",
            .meaning = "of noise, sampling and the start; privacy needs one that is secret and "
                       "used once",
            .standard = "0"},
           {.name = "data-seed", .value = "SEED", .meaning = "of the records (default: the seed)"},
           {.name = "threads",
            .value = "N",
            .meaning = "for sums over records; the result does not depend on them",
            .standard = "1"}}};
}

std::vector<OptionText> output_options() { return {json_option(), quiet_option(), help_option()}; }

const OptionText kSetOfProblem{.name = "set",
                               .value = "problem.NAME=VALUE",
                               .meaning = "a parameter of the problem",
                               .repeatable = true};

void read_instance(const po::variables_map& map, std::string_view command, RunSpec& spec) {
  spec.problem = the_problem(required(map, command, "problem"));
  if (map.count("records") != 0) spec.records = integer(map, command, "records", 1);
  if (map.count("dimension") != 0) spec.dimension = integer(map, command, "dimension", 1);
  spec.seed = static_cast<std::uint64_t>(integer(map, command, "seed", 0));
  spec.data_seed = map.count("data-seed") != 0
                       ? static_cast<std::uint64_t>(integer(map, command, "data-seed", 0))
                       : spec.seed;
  if (map.count("set") == 0) return;
  for (auto& [name, value] : assignments(command, map["set"].as<std::vector<std::string>>())) {
    constexpr std::string_view prefix = "problem.";
    if (name.starts_with(prefix))
      spec.problem_settings[name.substr(prefix.size())] = value;
    else
      spec.settings[name] = value;
  }
}

/// Says that the delta is large, once.
void warn_of_delta(const RunDescription& d) {
  const bool spends = d.door != Door::not_private && d.door != Door::no_noise;
  if (spends && d.delta * static_cast<double>(d.records) > 1)
    std::cerr << fmt::format(
        "run: delta = {:g} is above 1/n = {:g}, which allows publishing one record whole; choose "
        "it well below\n",
        d.delta, 1.0 / static_cast<double>(d.records));
}

/// Says that a program might try seeds until it has its run's, and so its noise.
void warn_of_seed(std::uint64_t seed) {
  constexpr std::uint64_t few = std::uint64_t{1} << 40;
  if (seed < few)
    std::cerr << fmt::format(
        "run: --seed {} can be guessed, and with it the noise; give 60 random bits where the "
        "program is not to know it\n",
        seed);
}

/// Of what a program writes.
void show_what_is_written(const po::variables_map& map, bool of_program) {
  const bool show = map.count("show-output") != 0;
  if (show && !of_program)
    throw InputError(
        "run: --show-output, expected with a program; dpsosp's own algorithms write "
        "nothing");
  if (map.count("release") != 0) {
    if (show)
      throw InputError(
          "run: --release with --show-output; times, which depend on the records, may be in it");
    withhold_output_of_programs();
  } else if (show) {
    show_output_of_programs();
  }
}

std::string bytes_text(double bytes) {
  constexpr std::array<std::string_view, 4> units{"MB", "GB", "TB", "PB"};
  double value = bytes / 1e6;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  return fmt::format("{:.3g} {}", value, units[unit]);
}

RunFailed out_of_memory(const RunSpec& spec, const std::optional<MemoryNeed>& need) {
  if (!need || need->bytes < 0.1 * need->machine)
    return RunFailed("out of memory; fewer --records or a smaller --dimension need less");
  return RunFailed(fmt::format(
      "out of memory: {} records of {}{} take about {}, and this machine has {}; {}", spec.records,
      spec.problem, spec.dimension ? fmt::format(" in dimension {}", *spec.dimension) : "",
      bytes_text(need->bytes), bytes_text(need->machine),
      need->can_be_simulated
          ? "--set problem.sampling=whole simulates them, or choose fewer --records"
          : "fewer --records or a smaller --dimension need less"));
}

/// Where the system would end the program in the middle. \throws RunFailed
void refuse_what_exceeds_memory(const RunSpec& spec) {
  constexpr double always_fits = 1e7;  // entries
  if (static_cast<double>(spec.records) * static_cast<double>(spec.dimension.value_or(10)) <=
      always_fits)
    return;
  const auto need = memory_need(spec);
  if (need && need->bytes > need->machine) throw out_of_memory(spec, need);
}

/// A point as the caller gives it: a word, an array, or a file that holds one.
std::string point_of(const std::string& given) {
  if (given == "initial" || given == "origin" || given.starts_with('[')) return given;
  if (const std::string why = why_unreadable(given); !why.empty())
    throw InputError(
        fmt::format("certify: point = {}, which {}; expected initial, origin, a JSON "
                    "array of numbers, or a file of one",
                    given, why));
  return read_text(given);
}

void print(const auto& result, const RunDescription& description, const std::optional<OwnData>& own,
           bool as_json) {
  if (!as_json) {
    std::cout << text_of(result, description, own);
    return;
  }
  json j = result;
  constexpr bool is_release = std::is_same_v<std::remove_cvref_t<decltype(result)>, Release>;
  if (own) j["own_data"] = is_release ? own->published() : own->all();
  if (j.contains("trace")) j["trace_columns"] = trace_columns;
  j["description"] = description;
  if (is_release) j["description"].erase("data");  // a digest of the records
  std::cout << j.dump(2) << '\n';
}

}  // namespace

const Description& run_description() {
  static const Description description = [] {
    Description d{
        .name = "run",
        .summary = "one private run: output, certificate, guarantee, ledger",
        .usage = {"--algorithm KEY --problem NAME --epsilon EPSILON --delta DELTA [OPTIONS]",
                  "--program FILE --seed SEED --problem NAME --epsilon EPSILON --delta DELTA "
                  "[OPTIONS]"},
        .examples = {{"dpsosp run --algorithm dp-spider --problem ripple-location --records 1e4 "
                      "--epsilon 1 --delta 1e-6",
                      "DP-SPIDER on 10 000 records, with the parameters of its schedule"},
                     {"dpsosp run --algorithm ganesh-2023/stochastic-spider --problem "
                      "cosine-saddle --records 1e5 --epsilon 1 --delta 1e-6 --watch",
                      "the same of another algorithm, with a line at each tenth of its steps"}}};
    d.groups.push_back(
        {"the algorithm",
         {{.name = "algorithm",
           .value = "KEY",
           .meaning = "key, its last part or its title, as listed by dpsosp list algorithms",
           .offers = {.names = algorithm_names}},
          {.name = "program",
           .value = "FILE",
           .meaning = "a program, or its card in TOML, in place of --algorithm; docs/isolation.md",
           .offers = {.files = true}},
          {.name = "schedule",
           .value = "NAME",
           .meaning = "paper: the published parameters; practical: runnable ones; none: the "
                      "settings alone",
           .standard = "practical",
           .offers = {.words = {{"practical"}, {"paper"}, {"none"}}}},
          {.name = "noise",
           .value = "RULE",
           .meaning = "schedule, or calibrated: the least with which what schedule and settings "
                      "plan fits the budget",
           .standard = "schedule",
           .offers = {.words = {{"schedule"}, {"calibrated"}}}},
          {.name = "variant",
           .value = "NAME",
           .meaning = "printed: with the errors of the paper; repaired: without",
           .standard = "repaired",
           .offers = {.words = {{"repaired"}, {"printed"}}}},
          {.name = "set",
           .value = "NAME=VALUE",
           .meaning = "a parameter of the algorithm, or problem.NAME=VALUE of the problem; dpsosp "
                      "list algorithms --settings",
           .repeatable = true}}});
    d.groups.push_back(problem_group());
    d.groups.push_back(
        {"privacy",
         {{.name = "epsilon", .value = "EPSILON", .meaning = "of the budget, > 0"},
          {.name = "delta",
           .value = "DELTA",
           .meaning = "of the budget, in (0, 1); well below 1/n"},
          {.name = "calibrator",
           .value = "NAME",
           .meaning = "bun-steinke, cks, exact-gaussian or rdp",
           .standard = "cks",
           .offers = {.words = {{"bun-steinke"}, {"cks"}, {"exact-gaussian"}, {"rdp"}}}},
          {.name = "release",
           .meaning = "draw exact noise from the system's entropy; the seed then "
                      "decides only public random choices. Prints only what may be "
                      "published; no two releases are the same"},
          {.name = "isolated",
           .meaning = "make the algorithm's steps in a process that can reach "
                      "neither the records nor the seed; the result is the same"}}});
    d.groups.push_back(randomness_group());
    OptionGroup output{"output",
                       {{.name = "observations",
                         .value = "N",
                         .meaning = "points of the trace, for the best iterate; 0: none",
                         .standard = "0"},
                        {.name = "trace", .meaning = "print the trace too (with --json)"},
                        {.name = "watch",
                         .meaning = "a line on standard error at each tenth of the steps and at "
                                    "each new best; not private"},
                        {.name = "show-output",
                         .meaning = "pass on to standard error what a program writes, as it comes; "
                                    "without it the last lines of one that fails"}}};
    for (OptionText& option : output_options()) output.options.push_back(std::move(option));
    d.groups.push_back(std::move(output));
    return d;
  }();
  return description;
}

const Description& certify_description() {
  static const Description description{
      .name = "certify",
      .summary = "gradient norm, smallest eigenvalue and sosp_level of a point",
      .usage = {"--problem NAME [--point POINT] [OPTIONS]"},
      .examples = {{"dpsosp certify --problem matrix-sensing --point origin",
                    "the certificate of the saddle at the origin"},
                   {"dpsosp certify --problem cosine-saddle --dimension 2 --point [0.5,1]",
                    "of a point of one's own"}},
      .groups = {problem_group(),
                 {"the point",
                  {{.name = "point",
                    .value = "POINT",
                    .meaning = "initial, origin, a JSON array of d numbers, or a file of one or of "
                               "what run --json printed",
                    .standard = "initial",
                    .offers = {.words = {{"initial"}, {"origin"}}, .files = true}},
                   kSetOfProblem}},
                 randomness_group(),
                 {"output", output_options()}}};
  return description;
}

int run_command(const Arguments& arguments) {
  const auto map = parse_options(run_description(), arguments);
  RunSpec spec;
  std::optional<Isolation> isolation;
  if (map.count("isolated") != 0) isolation.emplace();
  if (map.count("program") != 0) {
    if (map.count("algorithm") != 0)
      throw InputError("run: --program with --algorithm; the program is the algorithm");
    const auto program = map["program"].as<std::string>();
    if (is_card(program)) {
      spec.algorithm = register_program(program);
    } else {
      isolation = Isolation{.program = program, .starter = {}};
      spec.algorithm = program_key(isolation->program);
    }
  } else {
    spec.algorithm = the_algorithm(required(map, "run", "algorithm"));
  }
  hide_outputs("out");  // where sweeps and reproductions write by default
  const bool of_program =
      map.count("program") != 0 || find_algorithm(spec.algorithm)->card().is_program();
  if (of_program && map["seed"].defaulted() && map.count("release") == 0)
    throw InputError(
        "run: a program without --seed or --release; one that guesses the seed has the noise: give "
        "60 random bits");
  read_instance(map, "run", spec);
  const bool release = map.count("release") != 0;
  show_what_is_written(map, of_program);
  if (of_program && !release) warn_of_seed(spec.seed);
  spec.epsilon = real(map, "run", "epsilon", "a number > 0");
  spec.delta = real(map, "run", "delta", "a number in (0, 1)");
  spec.variant = from_word<Variant>(map["variant"].as<std::string>());
  spec.schedule = from_word<Schedule>(map["schedule"].as<std::string>());
  spec.noise = from_word<NoiseRule>(map["noise"].as<std::string>());
  spec.calibrator = from_word<Calibrator>(map["calibrator"].as<std::string>());
  spec.observations = integer(map, "run", "observations", 0);
  const auto workers = static_cast<std::size_t>(threads_here(map, "run"));
  if (map.count("trace") != 0 && (map.count("json") == 0 || spec.observations == 0))
    throw InputError("run: --trace needs --json and --observations");
  if (release && spec.observations != 0)
    throw InputError("run: --release with --observations; a trace is not private");

  const bool as_json = map.count("json") != 0, watch = map.count("watch") != 0;
  if (release && watch)
    throw InputError("run: --release with --watch; gradient norms of iterates are not private");
  const RunDescription description =
      release ? without_cells([&] { return describe(spec); }) : describe(spec);
  refuse_what_exceeds_memory(spec);
  warn_of_delta(description);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
  const auto followed = [&](const auto& compute) {
    RunProgress progress("run", map.count("quiet") != 0, watch);
    return compute(progress);
  };
  try {
    if (release) {
      const Release r = followed([&](RunFollower& f) {
        return without_cells([&] { return compute_release(description, isolation, f); });
      });
      print(r, description, own_data_of(spec, r.point), as_json);
      return 0;
    }
    RunResult result =
        followed([&](RunFollower& f) { return compute_run(description, isolation, f); });
    if (map.count("trace") == 0) result.trace.reset();
    print(result, description, own_data_of(spec, result.point), as_json);
    return 0;
  } catch (const std::bad_alloc&) {
    throw out_of_memory(spec, memory_need(spec));
  }
}

int certify_command(const Arguments& arguments) {
  const auto map = parse_options(certify_description(), arguments);
  RunSpec spec;
  read_instance(map, "certify", spec);
  if (!spec.settings.empty())
    throw InputError(
        fmt::format("certify: --set {}, expected problem.name=value; no algorithm runs here",
                    spec.settings.begin()->first));
  refuse_what_exceeds_memory(spec);
  const auto workers = static_cast<std::size_t>(threads_here(map, "certify"));
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
  const std::string point = point_in(point_of(map["point"].as<std::string>()), spec);
  const Certificate c = [&] {
    const ProgressLine line("certify", map.count("quiet") != 0, look_at_work("the certificate"));
    return certify_point(spec, point);
  }();
  const auto own = own_data_of(spec, point);
  if (map.count("json") == 0) {
    std::cout << text_of(c, own);
    return 0;
  }
  json j = c;
  if (own) j["own_data"] = own->all();
  std::cout << j.dump(2) << '\n';
  return 0;
}

}  // namespace dpsosp
