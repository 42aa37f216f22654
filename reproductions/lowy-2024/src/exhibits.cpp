// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "contour.hpp"
#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/printed_table.hpp"
#include "dpsosp/experiments/study.hpp"
#include "parts.hpp"
#include "published.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

const PrintedTable& figure_1() {
  static const PrintedTable t = printed_table_of(lowy_2024_texts(), "Figure 1");
  return t;
}

/// The printed rates without constants and logarithms at one point, every value at most 1.
plots::Table evaluated_rates() {
  constexpr double d = 16, epsilon = 1;
  plots::Table t;
  t.id = "evaluated";
  t.row_header = "class";
  struct Rates {
    const char* name;
    double (*prior)(double n);
    double (*here)(double n);
    double (*lower)(double n);
  };
  static constexpr auto unit = [](double n) { return std::sqrt(d) / (epsilon * n); };
  static constexpr auto prior_erm = [](double n) { return std::pow(unit(n), 2.0 / 3); };
  static constexpr auto zeta = [](double n) {
    return std::min(1.0, d / (epsilon * n) + std::sqrt(d / n));
  };
  const std::array rows{
      Rates{"non-convex ERM", prior_erm,
            [](double n) { return std::min(prior_erm(n), unit(n) * std::pow(d, 1.0 / 6)); }, unit},
      Rates{"quasar-convex ERM", prior_erm, unit, unit}, Rates{"KL* ERM", prior_erm, unit, unit},
      Rates{"population",
            [](double n) { return std::pow(n, -1.0 / 3) + std::pow(unit(n), 3.0 / 7); },
            [](double n) { return std::cbrt(zeta(n) / n) + std::pow(unit(n) * zeta(n), 3.0 / 7); },
            [](double n) { return 1 / std::sqrt(n) + unit(n); }},
      Rates{"generalised linear model of rank r",
            [](double n) {
              return 1 / std::sqrt(n) + std::min(prior_erm(n), std::pow(epsilon * n, -0.4));
            },
            [](double n) {
              return 1 / std::sqrt(n) +
                     std::min(unit(n) * std::pow(d, 1.0 / 6), std::pow(epsilon * n, -3.0 / 7));
            },
            nullptr}};
  for (const double n : {1e4, 1e6, 1e8})
    t.column_groups.push_back(
        {fmt::format("n = {:.0e}", n), {"prior best", "this paper", "lower bound"}});
  for (const Rates& r : rows) {
    plots::Row row{.label = r.name};
    for (const double n : {1e4, 1e6, 1e8})
      for (const auto rate : {r.prior, r.here, r.lower})
        row.cells.push_back(plots::text_cell(
            rate == nullptr ? "–" : fmt::format("{:.3g}", std::min(1.0, rate(n)))));
    t.add(std::move(row));
  }
  return t;
}

std::vector<Job> figure_1_jobs(const Study& study) { return printed_table_jobs(figure_1(), study); }

plots::Exhibit figure_1_exhibit(const Runs& runs, const Study& study) {
  plots::Exhibit e = printed_table_exhibit(runs, study, figure_1(), lowy_2024_texts());
  e.tables.insert(e.tables.begin() + 1, evaluated_rates());
  return e;
}

}  // namespace

std::vector<ExhibitEntry> lowy_2024_exhibits() {
  const Texts& texts = lowy_2024_texts();
  return {exhibit_entry(texts, "lowy-2024/figure-1", figure_1_jobs, figure_1_exhibit),
          exhibit_entry(texts, "lowy-2024/contour", lowy_2024_exhibit::contour_jobs,
                        lowy_2024_exhibit::contour_exhibit),
          exhibit_entry(texts, "lowy-2024/claim-c17", lowy_2024_exhibit::published_jobs,
                        lowy_2024_exhibit::published_exhibit)};
}

}  // namespace dpsosp
