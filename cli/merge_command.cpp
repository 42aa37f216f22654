// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/journal.hpp"
#include "dpsosp/experiments/plan.hpp"
#include "dpsosp/experiments/plan_status.hpp"
#include "dpsosp/experiments/store.hpp"
#include "options.hpp"

namespace dpsosp {

const Description& merge_description() {
  static const Description description{
      .name = "merge",
      .summary = "stores and journals into one store",
      .usage = {"STORE|JOURNAL|FOLDER... [--into STORE]"},
      .examples = {{"dpsosp merge out/plans/0001", "all runs of a plan into out/store.sqlite"},
                   {"dpsosp merge other/store.sqlite --into mine/store.sqlite",
                    "runs of another machine beside one's own"}},
      .groups = {{"stores",
                  {{.name = "into",
                    .value = "STORE",
                    .meaning = "the store that takes them in",
                    .standard = "out/store.sqlite",
                    .offers = {.files = true}},
                   {.name = "partial",
                    .meaning = "take in what a plan has, where some of its runs are missing"}}},
                 {"output", {help_option()}}},
      .words = "store",
      .word_offers = {.files = true}};
  return description;
}

namespace {

/// \throws InputError where a journal holds no run
void require_runs_in(const std::filesystem::path& journal) {
  bool any = false;
  read_journal(journal, {}, [&](const JournalRow&) { any = true; }, {});
  if (!any) throw InputError(fmt::format("merge: {} holds no whole run", journal.string()));
}

}  // namespace

int merge_command(const Arguments& arguments) {
  const auto map = parse_options(merge_description(), arguments);
  if (map.count("store") == 0)
    throw InputError("merge: expected stores, journals or plans to take in, as out/plans/0001");
  // Everything is looked at before anything is stored.
  std::vector<std::filesystem::path> stores, journals;
  for (const std::string& name : map["store"].as<std::vector<std::string>>()) {
    const std::filesystem::path path(name);
    if (is_plan(path) && map.count("partial") == 0)
      require_complete(path, plan_status(path, read_plan(path)));
    if (std::filesystem::is_directory(path)) {
      const auto found = journals_in(path);
      if (found.empty()) throw InputError(fmt::format("merge: {} holds no journals", name));
      journals.insert(journals.end(), found.begin(), found.end());
    } else if (is_journal(path)) {
      require_runs_in(path);
      journals.push_back(path);
    } else {
      const RunCounts runs = Store(path, Store::Access::read_only).counts();
      if (runs.finished + runs.failed == 0)
        throw InputError(fmt::format("merge: {} holds no runs", name));
      stores.push_back(path);
    }
  }
  Store into(map["into"].as<std::string>());
  Origins origins;
  const auto report = [&](const std::string& what, const MergeReport& merged) {
    std::cout << fmt::format("{}: {} runs added, {} already stored\n", what, merged.added,
                             merged.identical);
    origins = merged.origins;
  };
  for (const auto& store : stores)
    report(store.string(), into.merge(Store(store, Store::Access::read_only)));
  if (!journals.empty())
    report(fmt::format("{} journals", journals.size()),
           into.merge(journals,
                      [](const std::string& what) { std::cerr << "merge: " << what << '\n'; }));
  if (origins.builds.size() > 1)
    std::cerr << fmt::format(
        "merge: the store now has runs of {} different builds, whose bits may differ\n",
        origins.builds.size());
  if (origins.processors.size() > 1)
    std::cerr << fmt::format(
        "merge: the store now has runs of {} different processors; the last digits of calibrated "
        "noise may differ between them\n",
        origins.processors.size());
  return 0;
}

}  // namespace dpsosp
