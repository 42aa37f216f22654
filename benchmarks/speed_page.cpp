// SPDX-License-Identifier: Apache-2.0
// speed_page IN OUT: a page of the tables of compare.py's speed.csv and limits.csv in IN.
#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/plots/table.hpp"

namespace dpsosp {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Without the header.
Rows rows_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw InputError(fmt::format("speed_page: there is no file {}", file.string()));
  std::stringstream text;
  text << in.rdbuf();
  const std::string table = text.str();
  Rows rows;
  for (const CsvRow& row : read_csv_text(file.string(), table))
    if (row.line > 1 && row.fields.size() > 1) rows.push_back(row.fields);
  return rows;
}

struct Work {
  std::vector<std::string> who;  // in the order of the file
  std::map<std::string, std::vector<double>> seconds;
};

plots::Table ratios(const Rows& rows) {
  std::vector<std::string> order;
  std::map<std::string, Work> works;
  for (const auto& row : rows) {
    if (std::ranges::find(order, row.at(0)) == order.end()) order.push_back(row[0]);
    Work& work = works[row[0]];
    if (!work.seconds.contains(row.at(1))) work.who.push_back(row[1]);
    work.seconds[row[1]].push_back(std::stod(row.at(3)));
  }
  plots::Table t;
  t.id = "ratios";
  t.title = "Time of others over ours";
  t.caption =
      "CPU time of NumPy, SciPy and PyTorch for the same work over ours, one thread, round by "
      "round "
      "in one run: above 1, ours is faster. Limit: the time of reading as many random rows, in % "
      "of "
      "ours.";
  t.row_header = "Work, against";
  t.column_groups = {{"", {"peer : ours", "% of limit"}}};
  for (const std::string& name : order) {
    const Work& work = works[name];
    const auto over_ours = [&](const std::string& who, double factor) {
      std::vector<double> found;
      const auto &theirs = work.seconds.at(who), &ours = work.seconds.at("ours");
      for (std::size_t k = 0; k < theirs.size(); ++k) found.push_back(factor * theirs[k] / ours[k]);
      return plots::spread_cell(found);
    };
    for (const std::string& who : work.who) {
      if (who == "ours" || who == "limit") continue;
      t.add({.label = fmt::format("{}, {}", name, who),
             .cells = {over_ours(who, 1),
                       work.seconds.contains("limit") ? over_ours("limit", 100) : plots::Cell{}}});
    }
  }
  return t;
}

plots::Table limits(const Rows& rows) {
  plots::Table t;
  t.id = "limits";
  t.title = "The machine, and memory";
  t.row_header = "Probe";
  t.column_groups = {{"", {"value"}}};
  const auto add = [&](std::string label, double value) {
    t.add({.label = std::move(label), .cells = {plots::number_cell(value)}});
  };
  for (const auto& row : rows) {
    const double value = std::stod(row.at(1));
    if (row[0] == "triad") add("a = b + 3c on 480 MB, GB/s", 0.48 / value);
    if (row[0] == "multiply_add")
      add("multiply and add in cache as compiled, GFLOP/s", 128e-6 / value);
    if (row[0] == "memory") add("peak memory over that of the records, n = 10⁵, d = 1000", value);
  }
  return t;
}

int write_page(const std::filesystem::path& in, const std::filesystem::path& out) {
  const Provenance here = provenance();
  const std::string text = fmt::format(
      "# dpsosp: speed\n\nRatios within one run; times of different runs or machines do not "
      "compare. Computed by {} on {}. Cost against size: [scaling.pdf](scaling.pdf).\n\n{}\n{}",
      to_string(here.build), here.cpu, plots::to_markdown(ratios(rows_of(in / "speed.csv"))),
      plots::to_markdown(limits(rows_of(in / "limits.csv"))));
  write_file(out / "speed.md", text);
  std::cout << "page: " << (out / "speed.md").string() << '\n';
  return 0;
}

}  // namespace
}  // namespace dpsosp

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw dpsosp::InputError("usage: speed_page IN OUT");
    return dpsosp::write_page(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
  }
}
