// SPDX-License-Identifier: Apache-2.0
#include "minimax.hpp"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <glpk.h>

// GLPK solves the programme: HiGHS is packaged by fewer systems, and both give the same 7 digits.

namespace dpsosp::lower_bounds {
namespace {

/// Rows of a linear programme, gathered before they are handed over.
struct Rows {
  std::vector<int> row{0}, column{0};  // GLPK counts from 1
  std::vector<double> value{0};

  void add(int r, int c, double v) {
    row.push_back(r);
    column.push_back(c);
    value.push_back(v);
  }
};

}  // namespace

double exact_minimax(int records, double epsilon, double delta) {
  const int n = records, middle = n / 2;
  const std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> program(glp_create_prob(),
                                                                      &glp_delete_prob);
  glp_prob* p = program.get();
  glp_set_obj_dir(p, GLP_MIN);

  // q(o | k): the law of the output (2o − n)R/n where k records are +R. Reflecting records and
  // output changes nothing, so that q(o | k) = q(n − o | n − k), and k <= n/2 suffices.
  glp_add_cols(p, (middle + 1) * (n + 1));
  const auto q = [&](int o, int k) {
    return k <= middle ? 1 + k * (n + 1) + o : 1 + (n - k) * (n + 1) + (n - o);
  };
  for (int k = 0; k <= middle; ++k)
    for (int o = 0; o <= n; ++o) glp_set_col_bnds(p, q(o, k), GLP_LO, 0, 0);
  const int worst = glp_add_cols(p, 1);
  glp_set_col_bnds(p, worst, GLP_FR, 0, 0);
  glp_set_obj_coef(p, worst, 1);

  Rows rows;
  for (int k = 0; k <= middle; ++k) {
    const int law = glp_add_rows(p, 2), risk = law + 1;
    glp_set_row_bnds(p, law, GLP_FX, 1, 1);
    glp_set_row_bnds(p, risk, GLP_UP, 0, 0);
    for (int o = 0; o <= n; ++o) {
      // |∇F| = |x − mean|/(2R)
      rows.add(law, q(o, k), 1);
      if (o != k) rows.add(risk, q(o, k), std::abs(o - k) / static_cast<double>(n));
    }
    rows.add(risk, worst, -1);
  }
  // Σ_o (q(o | k) − e^ε q(o | l))₊ <= δ for data sets one record apart.
  const auto close = [&](int k, int l) {
    const int first = delta > 0 ? glp_add_cols(p, n + 1) : 0;
    const int row = glp_add_rows(p, delta > 0 ? n + 2 : n + 1);
    for (int o = 0; o <= n; ++o) {
      glp_set_row_bnds(p, row + o, GLP_UP, 0, 0);
      rows.add(row + o, q(o, k), 1);
      rows.add(row + o, q(o, l), -std::exp(epsilon));
      if (delta > 0) {
        glp_set_col_bnds(p, first + o, GLP_LO, 0, 0);
        rows.add(row + o, first + o, -1);
        rows.add(row + n + 1, first + o, 1);
      }
    }
    if (delta > 0) glp_set_row_bnds(p, row + n + 1, GLP_UP, 0, delta);
  };
  for (int k = 0; k <= middle; ++k) {
    close(k, k + 1);
    close(k + 1, k);
  }
  glp_load_matrix(p, static_cast<int>(rows.value.size()) - 1, rows.row.data(), rows.column.data(),
                  rows.value.data());

  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.meth = GLP_DUALP;
  options.presolve = GLP_ON;
  const int failed = glp_simplex(p, &options);
  if (failed != 0 || glp_get_status(p) != GLP_OPT)
    throw std::runtime_error(fmt::format(
        "no optimum of the linear programme at n = {}, epsilon = {}", records, epsilon));
  return glp_get_obj_val(p);
}

}  // namespace dpsosp::lower_bounds
