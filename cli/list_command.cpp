// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/checks/problem_page.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/store.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/report/contents.hpp"
#include "dpsosp/reproductions/algorithm_page.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "dpsosp/wire/questions.hpp"
#include "names.hpp"
#include "options.hpp"
#include "progress_line.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;
using nlohmann::json;

json exponents_json(const std::optional<Exponents>& e) {
  if (!e) return nullptr;
  return {{"n", e->n}, {"d", e->d}, {"epsilon", e->epsilon}};
}

json settings_json(const Fields& fields) {
  json out = json::array();
  for (const Field& f : fields) {
    json row{{"name", f.name}, {"default", f.get()}, {"range", f.range}, {"meaning", f.meaning}};
    if (!f.choices.empty()) row["choices"] = f.choices;
    out.push_back(std::move(row));
  }
  return out;
}

json algorithms() {
  json rows = json::array();
  for (const AlgorithmEntry& entry : algorithm_registry()) {
    const auto algorithm = entry.create();
    const AlgorithmCard& c = algorithm->card();
    rows.push_back(
        {{"name", c.key},
         {"title", c.title},
         {"paper", c.paper},
         {"place", c.place},
         {"source", to_string(c.source)},
         {"guarantee", c.guarantee},
         {"metric", to_string(c.metric)},
         {"statistic", c.statistic},
         {"rate", c.rate},
         {"empirical", exponents_json(c.empirical)},
         {"population", exponents_json(c.population)},
         {"sampling", c.sampling ? json(*c.sampling) : json()},
         {"operations", c.operations},
         {"output", c.output_rule},
         {"private", c.is_private()},
         {"privacy", to_string(c.privacy)},
         {"utility", to_string(c.utility)},
         {"needs_dual", c.needs_dual},
         {"same_without_noise", c.same_without_noise},
         {"line", fmt::format("{}\n    {}; {}; {}", c.title, c.paper, c.guarantee, c.rate)},
         {"settings", settings_json(algorithm->fields())}});
  }
  return rows;
}

/// Sizes, domain, and "G 3.16228 proved (tight)" for every constant.
std::string facts_text(const PublicFacts& facts) {
  std::string text;
  for (const auto& [name, c] : facts.constants.all()) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {:.6g} {}", name, c.value, to_string(c.origin));
    if (c.origin == Origin::proved) text += c.tight() ? " (tight)" : " (loose)";
  }
  return fmt::format("d = {}, {}\n    {}", facts.dimension, to_string(facts.domain),
                     text.empty() ? "no constants" : text);
}

json problems() {
  json rows = json::array();
  for (const ProblemEntry& entry : problem_registry()) {
    const auto family = entry.create();
    const std::optional<PublicFacts> facts = family->known_facts({.records = 100});
    json constants = json::object();
    const Constants known = facts ? facts->constants : Constants();
    for (const auto& [name, c] : known.all()) {
      constants[name] = {{"value", c.value}, {"origin", to_string(c.origin)}, {"region", c.region}};
      if (c.origin == Origin::proved) {
        constants[name]["bound"] = c.tight() ? "tight" : "loose";
        constants[name]["attained"] = c.attained;
        constants[name]["proof"] = c.proof;
      }
    }
    const ProblemNotes notes = family->notes();
    rows.push_back({{"name", entry.name},
                    {"line", fmt::format("{}\n    {}; {}", family->summary(), notes.group,
                                         facts ? facts_text(*facts) : family->missing())},
                    {"summary", family->summary()},
                    {"family", notes.group},
                    {"formula", notes.formula},
                    {"source", notes.source},
                    {"critical_points", notes.critical_points},
                    {"dimension", facts ? json(facts->dimension) : json()},
                    {"domain", facts ? json(to_string(facts->domain)) : json()},
                    {"dual", facts ? json(to_string(facts->dual_kind)) : json()},
                    {"default_records", family->default_records()},
                    {"missing", family->missing()},
                    {"constants_at_100_records", std::move(constants)},
                    {"settings", settings_json(family->fields())}});
  }
  return rows;
}

json exhibits() {
  json rows = json::array();
  for (const ExhibitEntry& e : reproductions().catalogue.exhibits)
    rows.push_back({{"name", e.id}, {"line", fmt::format("{}; {}", e.title, e.paper)}});
  return rows;
}

json sweeps() {
  json rows = json::array();
  for (const BuiltInSweep& s : reproductions().catalogue.sweeps) {
    const Sweep sweep = Study{reproductions().catalogue, Scale::quick}.sweep(s.name);
    rows.push_back({{"name", s.name}, {"title", sweep.title}, {"line", sweep.title}});
  }
  return rows;
}

/// Each run once.
std::vector<Job> unique_jobs(const std::vector<Job>& jobs) {
  std::vector<Job> unique;
  std::set<std::string> seen;
  for (const Job& job : jobs)
    if (seen.insert(job.hash()).second) unique.push_back(job);
  return unique;
}

/// The findings from a store's runs; none, and a line on stderr, if runs are missing.
std::optional<std::vector<Finding>> findings_in(const std::filesystem::path& file, Scale scale,
                                                const ProgressLine& progress) {
  const Store store(file, Store::Access::read_only);
  Study study{.catalogue = reproductions().catalogue, .scale = scale, .store = &store};
  std::vector<Job> jobs;
  std::vector<StoredRun> runs;
  do {
    jobs = unique_jobs(claim_jobs(reproductions().claims, study));
    runs = runs_in(store, jobs);
  } while (runs.size() == jobs.size() && study.add_seeds(Runs(runs)));
  if (runs.size() == jobs.size()) return find_claims(reproductions().claims, Runs(runs), study);
  progress.say(fmt::format(
      "list: no verdicts: {} lacks {} of the {} runs of the claims at scale {}; dpsosp reproduce "
      "claims computes them",
      file.string(), jobs.size() - runs.size(), jobs.size(), to_string(scale)));
  return {};
}

/// "3 as claimed, 2 holds", in the order of first occurrence.
std::string counts_text(const std::vector<std::string>& all) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& word : all) {
    auto found = std::ranges::find(counts, word, &std::pair<std::string, int>::first);
    if (found == counts.end()) found = counts.insert(found, {word, 0});
    ++found->second;
  }
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) parts.push_back(fmt::format("{} {}", count, word));
  return fmt::format("{}", fmt::join(parts, ", "));
}

int list_claims(const po::variables_map& map) {
  const Scale scale = from_word<Scale>(map["scale"].as<std::string>());
  std::optional<std::vector<Finding>> findings;
  if (map.count("out") != 0) {
    const ProgressLine line("list", map.count("quiet") != 0, look_at_work("the verdicts"));
    findings = findings_in(out_folder(map, "list") / "store.sqlite", scale, line);
  }
  const json rows = claims_json(reproductions().claims, findings ? &*findings : nullptr);
  if (map.count("json") != 0) {
    std::cout << rows.dump(2) << '\n';
    return 0;
  }
  const char* word = findings ? "headline" : "kind";
  std::vector<std::string> words;
  for (const json& row : rows) words.push_back(row.at(word));
  fmt::print("{} claims: {}\n", rows.size(), counts_text(words));
  std::size_t width = 0;
  for (const json& row : rows)
    width = std::max(width, row.at("id").get_ref<const std::string&>().size());
  for (const json& row : rows) {
    const std::string measured = row.value("measured", "");
    fmt::print("{:<{}}  {:<24}  {}{}\n", row.at("id").get<std::string>(), width,
               row.at(word).get<std::string>(), row.at("reading").get<std::string>(),
               measured.empty() ? "" : " | " + measured);
  }
  return 0;
}

/// The full name of the one that is to be shown.
std::string the_one(const std::string& what, const std::string& word) {
  if (what == "algorithms") return the_algorithm(word);
  if (what == "problems") return the_problem(word);
  if (what == "sweeps") return the_sweep(word);
  if (what != "exhibits")
    throw InputError(fmt::format("list: {} '{}', expected no second word", what, word));
  const std::string name = the_exhibit(word);
  const auto& all = reproductions().catalogue.exhibits;
  if (std::ranges::find(all, name, &ExhibitEntry::id) == all.end())
    throw InputError(fmt::format("list: '{}' stands for several exhibits, expected one", word));
  return name;
}

}  // namespace

const Description& list_description() {
  static const Description description{
      .name = "list",
      .summary = "algorithms, problems, exhibits, sweeps or claims, one line each",
      .usage = {"algorithms|problems [NAME] [--settings] [--json] [--document FOLDER]",
                "exhibits|sweeps [NAME] [--json]", "protocol|findings [--document FOLDER]",
                "claims [--json] [--out FOLDER [--scale SCALE]]"},
      .examples = {{"dpsosp list algorithms", "keys, titles, papers and claimed rates"},
                   {"dpsosp list problems --settings", "also what --set problem.NAME=VALUE takes"},
                   {"dpsosp list claims --out out",
                    "claims with their verdicts, from the runs that "
                    "`dpsosp reproduce claims` stored"}},
      .groups = {{"what is shown",
                  {{.name = "settings",
                    .meaning = "also every setting: its default, what it may be, and its meaning"},
                   {.name = "document",
                    .value = "FOLDER",
                    .meaning = "write findings.md, or the table algorithms.md, problems.md or "
                               "protocol.md and its long page in reference/, into this folder",
                    .offers = {.files = true}}}},
                 {"verdicts of claims",
                  {{.name = "out",
                    .value = "FOLDER",
                    .meaning = "of a store, from which claims get their verdicts",
                    .offers = {.files = true}},
                   scale_option()}},
                 {"output",
                  {{.name = "json", .meaning = "print JSON, with settings and constants"},
                   quiet_option(),
                   help_option()}}},
      .words = "what",
      .word_offers = {.words = {{"algorithms"},
                                {"problems"},
                                {"exhibits"},
                                {"sweeps"},
                                {"claims"},
                                {"protocol"},
                                {"findings"}}}};
  return description;
}

int list_command(const Arguments& arguments) {
  const auto map = parse_options(list_description(), arguments);
  const std::vector<std::string> kinds{"algorithms", "problems", "exhibits", "sweeps",
                                       "claims",     "protocol", "findings"};
  const auto given = map.count("what") == 0 ? std::vector<std::string>()
                                            : map["what"].as<std::vector<std::string>>();
  if (given.empty() || given.size() > 2)
    throw InputError(
        "list: expected one of algorithms, problems, exhibits, sweeps, claims, protocol, findings, "
        "and at most a name of the first four");
  const std::string what = given.front();
  if (std::ranges::find(kinds, what) == kinds.end()) reject_unknown("kind of name", what, kinds);
  const std::string one = given.size() == 2 ? the_one(what, given.back()) : "";
  if (what != "claims" && (map.count("out") != 0 || !map["scale"].defaulted()))
    throw InputError("list: --out and --scale go with claims");
  const std::string page = what == "protocol"   ? wire::protocol_page()
                           : what == "findings" ? report::findings_page()
                                                : "";
  if (map.count("document") != 0) {
    if (what != "problems" && what != "algorithms" && page.empty())
      throw InputError("list: --document goes with algorithms, problems, protocol or findings");
    const auto folder = map["document"].as<std::string>();
    if (!page.empty()) {
      const auto file = std::filesystem::path(folder) / (what + ".md");
      ensure_writable_folder(folder);
      write_file(file, what == "protocol" ? wire::protocol_table() : page);
      fmt::print("{}\n", file.string());
      if (what == "protocol") {
        const auto reference = std::filesystem::path(folder) / "reference";
        ensure_writable_folder(reference);
        write_file(reference / "protocol.md", page);
        fmt::print("{}\n", (reference / "protocol.md").string());
      }
      return 0;
    }
    for (const auto& file :
         what == "problems" ? write_problem_page(folder) : write_algorithm_page(folder))
      fmt::print("{}\n", file.string());
    return 0;
  }
  if (what == "claims") return list_claims(map);
  if (!page.empty()) {
    std::cout << page;
    return 0;
  }
  json rows;
  if (what == "algorithms")
    rows = algorithms();
  else if (what == "problems")
    rows = problems();
  else if (what == "exhibits")
    rows = exhibits();
  else
    rows = sweeps();
  if (!one.empty())
    rows = json::array({*std::ranges::find_if(
        rows, [&](const json& row) { return row.at("name").get<std::string>() == one; })});
  if (map.count("json") != 0) {
    for (json& row : rows) row.erase("line");
    std::cout << rows.dump(2) << '\n';
    return 0;
  }
  for (const json& row : rows) {
    fmt::print("{:<36} {}\n", row.at("name").get<std::string>(), row.at("line").get<std::string>());
    if (map.count("settings") == 0 || !row.contains("settings")) continue;
    for (const json& s : row.at("settings"))
      fmt::print("    {:<24} {:<16} {:<20} {}\n", s.at("name").get<std::string>(),
                 s.at("default").get<std::string>(), s.at("range").get<std::string>(),
                 s.at("meaning").get<std::string>());
  }
  return 0;
}

}  // namespace dpsosp
