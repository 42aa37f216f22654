// SPDX-License-Identifier: Apache-2.0
#include "exhibits.hpp"
#include "xu_2026_matrix_sensing.hpp"

namespace dpsosp {

std::vector<ExhibitEntry> xu_2026_exhibits() {
  return {
      {"xu-2026/table-2",
       "Matrix sensing: final values",
       "Xu et al. 2026",
       xu_2026_jobs,
       xu_2026_table_2},
      {"xu-2026/figure-1",
       "Matrix sensing: along the run",
       "Xu et al. 2026",
       xu_2026_jobs,
       xu_2026_figure_1},
  };
}

}  // namespace dpsosp
