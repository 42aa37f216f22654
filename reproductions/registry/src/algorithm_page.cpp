// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/algorithm_page.hpp"

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/checks/algorithm_check.hpp"
#include "dpsosp/checks/problem_page.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/reproductions/reproductions.hpp"

namespace dpsosp {
namespace {

std::string runs_text(const TableEntry& entry) {
  if (entry.algorithms.empty()) return entry.remark;
  std::string text;
  for (const std::string& key : entry.algorithms)
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", key);
  for (const auto& [name, value] : entry.settings) text += fmt::format(", `{} = {}`", name, value);
  if (!entry.remark.empty()) text += fmt::format("; {}", entry.remark);
  return text;
}

std::string tables_text() {
  std::string text;
  for (const PrintedTable& table : reproductions().tables) {
    text += fmt::format("\n### {}\n\n| row | column | printed | here |\n|---|---|---|---|\n",
                        table.title());
    for (const TableEntry& entry : table.entries)
      text += fmt::format("| {} | {} | {} | {} |\n", entry.row, entry.column, entry.printed,
                          runs_text(entry));
  }
  return text;
}

/// Settings of stages are those of the methods that they are.
Fields own_fields(Algorithm& algorithm) {
  Fields fields = algorithm.fields();
  std::erase_if(fields, [](const Field& f) { return f.name.find('.') != std::string::npos; });
  return fields;
}

std::string cards_text() {
  std::string text;
  for (const AlgorithmEntry& entry : algorithm_registry()) {
    const auto algorithm = entry.create();
    const AlgorithmCard& c = algorithm->card();
    text += fmt::format("\n### `{}`\n\n{}. {}, {} ({}).\n\n", c.key, c.title, c.paper, c.place,
                        to_string(c.source));
    text += fmt::format("- guarantee: {}; claimed {} of the {}: {}\n", c.guarantee,
                        to_string(c.metric), c.statistic, c.rate);
    text += fmt::format("- needs: {}{}\n", c.operations, c.needs_dual ? "; a minimax problem" : "");
    text += fmt::format("- output: {}\n", c.output_rule);
    text += fmt::format("- `printed` keeps: {}\n",
                        c.printed.empty() ? "nothing; there is one form" : c.printed);
    if (!c.same_without_noise.empty())
      text += fmt::format("- without noise the same as {}\n", c.same_without_noise);
    text += fmt::format(
        "- privacy: {}; utility of the practical schedule where its premises hold: {}\n",
        to_string(c.privacy), to_string(c.utility));
    text += '\n' + settings_table(own_fields(*algorithm));
    const QuickRun& run = quick_run(c.key);
    text += fmt::format("\n    {}\n", command_of(run.spec));
    if (!run.remark.empty()) text += fmt::format("\n{}\n", run.remark);
  }
  return text;
}

}  // namespace

std::string algorithm_table() {
  std::string text =
      "# Algorithms\n\n"
      "Written by `dpsosp list algorithms --document docs` from the code. `./run site` makes a "
      "page "
      "for each, with its card and\nsettings, and one that says which algorithm is which row of "
      "the "
      "papers' tables.\n\n"
      "| algorithm | what it is | claimed rate |\n|---|---|---|\n";
  for (const AlgorithmEntry& entry : algorithm_registry()) {
    const auto algorithm = entry.create();
    const AlgorithmCard& c = algorithm->card();
    text += fmt::format("| `{}` | {} | {} |\n", c.key, c.title, c.rate);
  }
  return text;
}

std::string algorithm_page() {
  std::string text = "# Algorithms\n\n";
  text +=
      "## Which algorithm is which row\n\n"
      "Every entry of the tables that compare rates, with the key of what runs for it, or why "
      "nothing does. Logarithms and\nthe constants of the loss are dropped, as in print.\n";
  text += tables_text();
  text +=
      "\n## Cards\n\n"
      "`full text`: written from the published algorithm; `reconstructed`: from theorem statements "
      "or a secondary account;\n`derived`: from the claimed rate. The command is a run at quick "
      "scale, seconds on one core, whose output is better\nthan its start; `dpsosp check "
      "algorithms` runs all of them. A schedule sets\nmost settings; a table has what they are "
      "before it. A stage's "
      "settings, `first.steps`, are those of the method that it is.\n";
  text += cards_text();
  return text;
}

std::vector<std::filesystem::path> write_algorithm_page(const std::filesystem::path& folder) {
  const auto table = folder / "algorithms.md", page = folder / "reference/algorithms.md";
  ensure_writable_folder(page.parent_path());
  write_file(table, algorithm_table());
  write_file(page, algorithm_page());
  return {table, page};
}

}  // namespace dpsosp
