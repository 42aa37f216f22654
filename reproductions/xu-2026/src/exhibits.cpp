// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/printed_table.hpp"
#include "dpsosp/experiments/study.hpp"
#include "matrix_sensing.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

const PrintedTable& table_1() {
  static const PrintedTable t = printed_table_of(xu_2026_texts(), "Table 1");
  return t;
}

std::vector<Job> table_1_jobs(const Study& study) { return printed_table_jobs(table_1(), study); }

plots::Exhibit render_table_1(const Runs& runs, const Study& study) {
  return printed_table_exhibit(runs, study, table_1(), xu_2026_texts());
}

}  // namespace

std::vector<ExhibitEntry> xu_2026_exhibits() {
  const Texts& texts = xu_2026_texts();
  return {exhibit_entry(texts, "xu-2026/table-1", table_1_jobs, render_table_1),
          exhibit_entry(texts, "xu-2026/table-2", xu_2026_jobs, xu_2026_table_2),
          exhibit_entry(texts, "xu-2026/figure-1", xu_2026_jobs, xu_2026_figure_1)};
}

}  // namespace dpsosp
