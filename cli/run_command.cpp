// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <nlohmann/json.hpp>

#include "choices.hpp"
#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;
using nlohmann::json;

po::options_description instance_options(const char* title) {
  po::options_description options(title);
  options.add_options()("help", "this text")("json", "as JSON")(
      "problem", po::value<std::string>(), "name; dpsosp list problems")(
      "records", po::value<std::string>(), "n; default: the problem's")(
      "dimension", po::value<std::string>(), "d; default: the problem's")(
      "seed",
      po::value<std::string>()->default_value("0"),
      "seed of noise, sampling and the start; privacy needs one that is secret and used once")(
      "data-seed", po::value<std::string>(), "seed of the records; default: the seed")(
      "set",
      po::value<std::vector<std::string>>()->composing(),
      "set a parameter: name=value of the algorithm, problem.name=value of the problem; "
      "repeatable")("threads",
                    po::value<std::string>()->default_value("1"),
                    "threads for sums over records; the result does not depend on them");
  return options;
}

po::options_description run_options() {
  auto options = instance_options("dpsosp run");
  options.add_options()("algorithm", po::value<std::string>(), "key; dpsosp list algorithms")(
      "epsilon", po::value<std::string>(), "epsilon of the budget, > 0")(
      "delta", po::value<std::string>(), "delta of the budget, in (0, 1)")(
      "variant", po::value<std::string>()->default_value("repaired"), "printed or repaired")(
      "schedule", po::value<std::string>()->default_value("practical"), "paper or practical")(
      "calibrator",
      po::value<std::string>()->default_value("cks"),
      "bun-steinke, cks, exact-gaussian or rdp")(
      "observations",
      po::value<std::string>()->default_value("0"),
      "points of the trace, for the best iterate; 0: none")("trace",
                                                            "print the trace too (with --json)")(
      "release",
      "draw exact noise from the system's entropy; the seed then decides only public random "
      "choices. Prints only what may be published; no two releases are the same")(
      "isolated",
      "make the algorithm's steps in a process that can reach neither the records nor the seed; "
      "the result is the same")("program",
                                po::value<std::string>(),
                                "a program in place of --algorithm, isolated; docs/isolation.md");
  return options;
}

std::string required(const po::variables_map& map, std::string_view command, const char* name) {
  if (map.count(name) == 0) throw InputError(fmt::format("{}: --{} is missing", command, name));
  return map[name].as<std::string>();
}

double real(const po::variables_map& map,
            std::string_view command,
            const char* name,
            std::string_view expected) {
  return parse_number<double>(
      command, fmt::format("--{}", name), required(map, command, name), expected);
}

void read_instance(const po::variables_map& map, std::string_view command, RunSpec& spec) {
  spec.problem = required(map, command, "problem");
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

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string certificate_text(const Certificate& c) {
  std::string text = fmt::format("value {}, gradient norm {}, lambda_min {} (at least {})",
                                 number(c.value),
                                 number(c.gradient_norm),
                                 number(c.lambda_min),
                                 number(c.lambda_min_lower));
  if (c.sosp_level) text += fmt::format(", sosp_level {}", number(*c.sosp_level));
  if (!c.in_region) text += "; outside the region where the constants are stated";
  return text;
}

std::string utility_text(const ScheduleResult& s) {
  return fmt::format(
      "utility      {}; {}{}\n",
      to_string(s.utility),
      s.alpha > 0 ? fmt::format("promised alpha {}", number(s.alpha)) : "no alpha promised",
      s.note.empty() ? "" : "; " + s.note);
}

/// Why a run ended, in words.
std::string_view reason_of(Status status) {
  switch (status) {
    case Status::steps_done:
      return "all steps were made";
    case Status::certified:
      return "the algorithm's own test passed";
    case Status::budget:
      return "the next query would have exceeded the budget";
    case Status::data:
      return "no fresh records were left";
    case Status::cap:
      return "the cap on refreshes was reached";
    case Status::not_finite:
      break;
  }
  return "an iterate was not finite";
}

/// "Gaussian noise, 28.7 times the sensitivity", "epsilon 0.156".
std::string event_text(const LedgerRow& e) {
  if (e.event.empty()) return "no finite cost";
  const bool noisy = e.event_parameters.contains("sensitivity_ratio");
  std::string text = noisy ? "Gaussian noise" : e.event;
  std::string_view comma = ", ";
  for (const auto& [name, value] : e.event_parameters)
    text += name == "sensitivity_ratio"
                ? fmt::format("{}{} times the sensitivity", comma, number(value))
                : fmt::format("{}{} {}", comma, name, number(value));
  return text;
}

std::string privacy_text(const PrivacyResult& p) {
  std::string out = fmt::format(
      "privacy      {}: epsilon {} at delta {}, replace_one; spent {} ({}) in {} queries\n",
      to_string(p.label),
      number(p.guarantee),
      number(p.delta),
      number(p.spent),
      p.spent_accountant,
      p.queries);
  if (p.nominal)
    out += fmt::format(
        "             nominal epsilon {} while no gradient and no Hessian exceeds its bound{}\n",
        number(*p.nominal),
        p.class_relative ? fmt::format("; epsilon {} at delta {} for data sets of the stated class",
                                       number(p.class_relative->epsilon),
                                       number(p.class_relative->delta))
                         : "");
  std::size_t queries = 0, names = 0, batches = 0;
  for (const LedgerRow& e : p.ledger.rows) {
    queries = std::max(queries, fmt::format("{}", e.count).size());
    names = std::max(names, e.query.size());
    batches = std::max(batches, e.batch.size());
  }
  std::string_view head = "ledger";
  for (const LedgerRow& e : p.ledger.rows) {
    out += fmt::format("{:<12} {:>{}} x {:<{}}  batch {:<{}}  {}\n",
                       std::exchange(head, ""),
                       e.count,
                       queries,
                       e.query,
                       names,
                       e.batch,
                       batches,
                       event_text(e));
  }
  if (p.ledger.further > 0)
    out += fmt::format("{:<12} and {} further kinds\n", head, p.ledger.further);
  return out;
}

/// The lines of a run that its release has too.
template <class Result>
std::string released_text(const Result& r) {
  std::string counts;
  for (const auto& [name, count] : r.algorithm.counts)
    counts += fmt::format("{} {} {}", counts.empty() ? ";" : ",", count, name);
  return fmt::format("run          {} steps; ended because {}{}\n",
                     r.algorithm.steps,
                     reason_of(r.algorithm.status),
                     counts) +
         utility_text(r.schedule) + privacy_text(r.privacy);
}

std::string as_text(const Release& r) {
  const std::string point = r.point.size() > 8
                                ? fmt::format("{} numbers, with --json", r.point.size())
                                : json(r.point).dump();
  return fmt::format("output       {}\n", point) + released_text(r) +
         fmt::format("noise        {}\n", r.privacy.noise);
}

std::string as_text(const RunResult& r) {
  std::string out = fmt::format("output       {}\n", certificate_text(r.output));
  out += fmt::format("start        {}\n", certificate_text(r.start));
  if (r.best)
    out += fmt::format("best iterate t = {}, sosp_level {} (not released)\n",
                       r.best->t,
                       number(r.best->sosp_level));
  out += released_text(r);
  const EvaluationLog& log = r.evaluation_log;
  out += fmt::format(
      "not private  {} of {:.6g} contributions clipped; the certificates are also computed "
      "from the records without noise\n",
      log.clipped,
      log.contributions);
  if (log.unclipped)
    out +=
        fmt::format("             {} gradients above the nominal bound, the longest {} times it\n",
                    log.unclipped->violations,
                    number(log.unclipped->largest_norm_over_nominal));
  return out;
}

void print(const auto& result, const RunDescription& description, bool as_json) {
  if (!as_json) {
    std::cout << as_text(result);
    return;
  }
  json j = result;
  if (j.contains("trace")) j["trace_columns"] = trace_columns;
  j["description"] = description;
  std::cout << j.dump(2) << '\n';
}

}  // namespace

int run_command(const Arguments& arguments) {
  const auto options = run_options();
  const auto map = parse_options("run", options, arguments);
  if (map.count("help") != 0) {
    std::cout << options;
    return 0;
  }
  RunSpec spec;
  std::optional<Isolation> isolation;
  if (map.count("isolated") != 0) isolation.emplace();
  if (map.count("program") != 0) {
    if (map.count("algorithm") != 0)
      throw InputError("run: --program with --algorithm; the program is the algorithm");
    isolation = Isolation{.program = map["program"].as<std::string>(), .starter = {}};
    if (map["seed"].defaulted() && map.count("release") == 0)
      throw InputError(
          "run: --program without --seed or --release; a program that guesses the seed has the "
          "noise: give one of 60 random bits");
    spec.algorithm = program_key(isolation->program);
  } else {
    spec.algorithm = required(map, "run", "algorithm");
  }
  read_instance(map, "run", spec);
  spec.epsilon = real(map, "run", "epsilon", "a number > 0");
  spec.delta = real(map, "run", "delta", "a number in (0, 1)");
  spec.variant = from_word<Variant>(map["variant"].as<std::string>());
  spec.schedule = from_word<Schedule>(map["schedule"].as<std::string>());
  spec.calibrator = from_word<Calibrator>(map["calibrator"].as<std::string>());
  spec.observations = integer(map, "run", "observations", 0);
  const auto threads = static_cast<std::size_t>(integer(map, "run", "threads", 1));
  if (map.count("trace") != 0 && (map.count("json") == 0 || spec.observations == 0))
    throw InputError("run: --trace needs --json and --observations");
  const bool release = map.count("release") != 0;
  if (release && spec.observations != 0)
    throw InputError("run: --release with --observations; a trace is not private");

  const bool as_json = map.count("json") != 0;
  const RunDescription description = describe(spec);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  if (release) {
    print(compute_release(description, isolation), description, as_json);
    return 0;
  }
  RunResult result = compute_run(description, isolation);
  if (map.count("trace") == 0) result.trace.reset();
  print(result, description, as_json);
  return 0;
}

int certify_command(const Arguments& arguments) {
  auto options = instance_options("dpsosp certify");
  options.add_options()("point",
                        po::value<std::string>()->default_value("initial"),
                        "initial, origin, or a JSON array of d numbers");
  const auto map = parse_options("certify", options, arguments);
  if (map.count("help") != 0) {
    std::cout << options;
    return 0;
  }
  RunSpec spec;
  read_instance(map, "certify", spec);
  if (!spec.settings.empty())
    throw InputError(
        fmt::format("certify: --set {}, expected problem.name=value; no algorithm runs here",
                    spec.settings.begin()->first));
  const Certificate c = certify_point(spec, map["point"].as<std::string>());
  std::cout << (map.count("json") != 0 ? json(c).dump(2) : certificate_text(c)) << '\n';
  return 0;
}

}  // namespace dpsosp
