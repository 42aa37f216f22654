// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "choices.hpp"
#include "cluster_work.hpp"
#include "commands.hpp"
#include "dpsosp/claims/claim_exhibit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/costs.hpp"
#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/exhibit_jobs.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/progress.hpp"
#include "dpsosp/experiments/reference.hpp"
#include "dpsosp/report/contents.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "names.hpp"
#include "options.hpp"

namespace dpsosp {
namespace {

namespace po = boost::program_options;

bool is_store(std::string_view word) { return word.ends_with(".sqlite"); }

bool is_claim(std::string_view word) {
  return claim_exhibit(reproductions().claims, word).has_value();
}

OptionText add_option() {
  return {.name = "add",
          .value = "CARD",
          .meaning = "a program that stands among the algorithms of the league",
          .offers = {.files = true},
          .repeatable = true};
}

ReproduceOptions read(const po::variables_map& map, std::string_view command) {
  ReproduceOptions o;
  if (map.count("add") != 0)
    for (const std::string& card : map["add"].as<std::vector<std::string>>())
      register_program(card);
  if (map.count("exhibit") != 0)
    for (const std::string& word : map["exhibit"].as<std::vector<std::string>>())
      o.exhibits.push_back(is_store(word) || is_claim(word) ? word : the_exhibit(word));
  o.scale = from_word<Scale>(map["scale"].as<std::string>());
  o.out = out_folder(map, command);
  use_program_secret_of(o.out, command == "reproduce" && map.count("dry-run") == 0);
  o.quiet = map.count("quiet") != 0;
  return o;
}

/// The catalogue, with an exhibit for each claim among these names.
Catalogue with_claims(const std::vector<std::string>& names) {
  Catalogue catalogue = reproductions().catalogue;
  for (const std::string& name : names)
    if (std::ranges::find(catalogue.exhibits, name, &ExhibitEntry::id) == catalogue.exhibits.end())
      if (auto claim = claim_exhibit(reproductions().claims, name))
        catalogue.exhibits.push_back(std::move(*claim));
  return catalogue;
}

/// The exhibits of a report, by folder, that a reference holds and those that it does not.
struct Checkable {
  std::vector<std::string> held, lacking;
};

/// \throws InputError if the reference lacks an exhibit that is named by its id, or holds none
Checkable checkable(const std::filesystem::path& reference, const Catalogue& catalogue,
                    const std::vector<std::string>& ids) {
  const std::vector<std::string> folders = reference_exhibits(reference);
  const auto refuse = [&](std::string_view what) {
    throw InputError(fmt::format("reproduce: {} holds no tables of {}, expected some of {}",
                                 reference.string(), what, fmt::join(folders, ", ")));
  };
  Checkable c;
  for (const ExhibitEntry* e : chosen_exhibits(catalogue, ids)) {
    std::string folder = e->id;
    std::ranges::replace(folder, '/', '-');
    const bool held = std::ranges::find(folders, folder) != folders.end();
    if (!held && std::ranges::find(ids, e->id) != ids.end()) refuse(folder);
    (held ? c.held : c.lacking).push_back(std::move(folder));
  }
  if (c.held.empty()) refuse("any exhibit");
  return c;
}

/// Prints a line for each difference, then a summary. \return 1 if anything differs
int print_check(const std::filesystem::path& reference, const std::filesystem::path& report,
                const Checkable& exhibits) {
  const ReferenceCheck check = check_reference(reference, report, exhibits.held);
  for (const std::string& difference : check.differences) std::cout << difference << '\n';
  std::cout << fmt::format("{} difference{} from {} in {} tables", check.differences.size(),
                           check.differences.size() == 1 ? "" : "s", reference.string(),
                           check.compared.size());
  if (!exhibits.lacking.empty())
    std::cout << fmt::format("; it holds no tables of {}", fmt::join(exhibits.lacking, ", "));
  std::cout << '\n';
  return check.differences.empty() ? 0 : 1;
}

/// Prints runs, processor time and disk of each exhibit, as far as they are still to come.
int print_plan(const Catalogue& catalogue, const ReproduceOptions& options) {
  const std::filesystem::path file = options.out / "store.sqlite";
  std::optional<Store> store;
  if (std::filesystem::exists(file)) store.emplace(file, Store::Access::read_only);
  const auto costs = planned_costs(catalogue, options, store ? &*store : nullptr);
  std::cout << fmt::format("{:<28}{:>8}{:>8}{:>12}{:>10}\n", "exhibit", "runs", "stored", "CPU",
                           "disk");
  for (const ExhibitCost& c : costs)
    std::cout << fmt::format("{:<28}{:>8}{:>8}{:>12}{:>10}\n", c.exhibit, c.runs, c.stored,
                             c.cpu_seconds > 0 ? duration_text(c.cpu_seconds) : "-",
                             c.cpu_seconds > 0 ? fmt::format("{:.1f} MB", c.megabytes) : "-");
  std::cout << "A run that several exhibits need counts in each of them, and once in all.\n";
  std::vector<std::string> waiting;
  const auto chosen = chosen_exhibits(catalogue, options.exhibits);
  for (std::size_t k = 0; k < chosen.size(); ++k)
    if (options.exhibits.empty() && chosen[k]->on_request && costs[k].runs == 0)
      waiting.push_back(chosen[k]->id);
  if (!waiting.empty())
    std::cout << fmt::format("Computed only where they are named: {}.\n", fmt::join(waiting, ", "));
  if (options.scale == Scale::full)
    std::cout << "Times at full are those of runs at quick; larger cells cost more.\n";
  return 0;
}

/// How pages are written: with figures as PDF, too, where `--print` asks for it.
report::WriteOptions pages_of(const po::variables_map& map) {
  std::vector<std::string> formats{"svg"};
  if (map.count("print") != 0) formats.emplace_back("pdf");
  return {.formats = std::move(formats),
          .notice = [](const std::string& line) { std::cerr << line << '\n'; }};
}

WriteReport writer(const po::variables_map& map) {
  return [map](const Reproduced& reproduced) {
    return report::write_report(reproduced, reproductions(), pages_of(map));
  };
}

/// Takes the stores from among the names of exhibits.
std::vector<std::filesystem::path> taken_stores(std::vector<std::string>& names) {
  const auto first = std::stable_partition(names.begin(), names.end(),
                                           [](const std::string& name) { return !is_store(name); });
  std::vector<std::filesystem::path> stores(first, names.end());
  names.erase(first, names.end());
  return stores;
}

OptionText print_option() {
  return {.name = "print", .meaning = "figures as PDF, too, for papers; takes minutes"};
}

/// Says on standard error of how many exhibits runs are missing.
void note_unfinished(const Reproduced& reproduced) {
  const std::size_t lacking = reproduced.unfinished.size();
  if (lacking == 0) return;
  std::cerr << fmt::format(
      "report: {} of {} exhibits lack runs; the page has the command that computes each\n", lacking,
      lacking + reproduced.entries.size());
}

/// Prints the path of the report that was written.
int print_place(const std::filesystem::path& report) {
  std::cout << "report: " << report.string() << '\n';
  return 0;
}

ClusterWork cluster_work_of(const Catalogue& catalogue, const ReproduceOptions& o,
                            const po::variables_map& map, const Arguments& arguments) {
  std::vector<std::string> plain{"reproduce"};
  plain.insert(plain.end(), o.exhibits.begin(), o.exhibits.end());
  plain.insert(plain.end(), {"--scale", std::string(to_string(o.scale)), "--out", o.out.string()});
  if (map.count("add") != 0)
    for (const std::string& card : map["add"].as<std::vector<std::string>>())
      plain.insert(plain.end(), {"--add", card});
  return {.command = "reproduce",
          .arguments = arguments,
          .plain = plain,
          .out = o.out,
          .jobs = [catalogue, o](const Store* store) {
            return jobs_to_reproduce(catalogue, o, store);
          }};
}

}  // namespace

const Description& reproduce_description() {
  static const Description description{
      .name = "reproduce",
      .summary =
          "regenerate tables and figures: compute the runs that are missing, write the report",
      .usage = {"[EXHIBIT|PAPER|CLAIM...] [OPTIONS]"},
      .examples = {{"dpsosp reproduce xu-2026/table-1 --check results",
                    "one exhibit, compared with the committed tables"},
                   {"dpsosp reproduce lowy-2024 --scale smoke",
                    "all exhibits of a paper, in seconds; the numbers mean nothing"}},
      .groups =
          {{"the runs",
            {scale_option(),
             add_option(),
             threads_option(),
             {.name = "dry-run",
              .meaning = "print runs, processor time and disk of each exhibit; compute nothing"},
             {.name = "retry-failed", .meaning = "compute failed runs again"}}},
           {"output",
            {{.name = "out",
              .value = "FOLDER",
              .meaning = "of the store and the report",
              .standard = "out",
              .offers = {.files = true}},
             {.name = "check",
              .value = "FOLDER",
              .meaning = "of tables, such as results, that the new ones are compared with",
              .offers = {.files = true}},
             {.name = "refresh",
              .value = "SECONDS",
              .meaning = "that the report is left as it is, at least, while runs are computed",
              .standard = "120"},
             print_option(),
             quiet_option(),
             help_option()}},
           cluster_options()},
      .words = "exhibit",
      .word_offers = {.names = exhibit_names},
      .notes = {"Without a name: every exhibit. dpsosp list exhibits lists them."}};
  return description;
}

const Description& report_description() {
  static const Description description{
      .name = "report",
      .summary = "write the report again from stored runs; compute nothing",
      .usage = {"[STORE.sqlite...] [EXHIBIT|PAPER|CLAIM...] [OPTIONS]"},
      .examples = {{"dpsosp report", "of every exhibit, into out/report/"},
                   {"dpsosp report before.sqlite after.sqlite league --out try",
                    "of a group, from the last store, with what moved since the other"}},
      .groups = {{"the runs", {scale_option(), add_option()}},
                 {"output",
                  {{.name = "out",
                    .value = "FOLDER",
                    .meaning = "of the store and the report",
                    .standard = "out",
                    .offers = {.files = true}},
                   {.name = "paper",
                    .value = "FOLDER",
                    .meaning = "for tables as LaTeX, figures as PDF and paper.tex with all of them",
                    .offers = {.files = true}},
                   print_option(),
                   quiet_option(),
                   help_option()}}},
      .words = "exhibit",
      .word_offers = {.names = exhibit_names, .files = true}};
  return description;
}

int reproduce_command(const Arguments& arguments) {
  const auto map = parse_options(reproduce_description(), arguments);
  ReproduceOptions o = read(map, "reproduce");
  o.retry_failed = map.count("retry-failed") != 0;
  o.refresh_seconds = static_cast<double>(integer(map, "reproduce", "refresh", 1));
  o.threads = threads_here(map, "reproduce");
  const Catalogue catalogue = with_claims(o.exhibits);
  if (map.count("dry-run") != 0) return print_plan(catalogue, o);
  if (asks_for_cluster(map) && !on_cluster(map, cluster_work_of(catalogue, o, map, arguments)))
    return 0;
  const WriteReport write = writer(map);
  if (map.count("check") == 0) return print_place(reproduce(catalogue, o, write));
  const std::filesystem::path reference = map["check"].as<std::string>();
  const Checkable exhibits = checkable(reference, catalogue, o.exhibits);  // before any work
  const std::filesystem::path page = reproduce(catalogue, o, write);
  const int code = print_check(reference, page.parent_path(), exhibits);
  print_place(page);
  return code;
}

int report_command(const Arguments& arguments) {
  const auto map = parse_options(report_description(), arguments);
  ReproduceOptions o = read(map, "report");
  o.from_store = true;
  const std::vector<std::filesystem::path> stores = taken_stores(o.exhibits);
  const Catalogue catalogue = with_claims(o.exhibits);
  std::vector<report::Compared> earlier;
  for (std::size_t k = 0; k + 1 < stores.size(); ++k) {
    o.store = stores[k];
    reproduce(catalogue, o, [&](const Reproduced& r) {
      earlier.push_back(report::compared_of(stores[k].string(), r, reproductions()));
      return stores[k];
    });
  }
  if (!stores.empty()) o.store = stores.back();
  return print_place(reproduce(catalogue, o, [&](const Reproduced& r) {
    if (map.count("quiet") == 0) note_unfinished(r);
    const report::WriteOptions pages = pages_of(map);
    if (map.count("paper") != 0)
      return report::write_paper(report::site_of(r, reproductions()),
                                 map["paper"].as<std::string>(), pages);
    return report::write_report(r, reproductions(), pages, o.store.string(), earlier);
  }));
}

}  // namespace dpsosp
