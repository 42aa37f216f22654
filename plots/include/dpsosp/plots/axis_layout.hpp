// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dpsosp/plots/figure.hpp"

namespace dpsosp::plots {

struct Tick {
  double value = 0;
  std::string label{};  ///< markup; empty: a minor tick
};

/// Where an axis begins and ends and what is written along it.
struct AxisLayout {
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks{};
};

/// The given range, or all data of the panel with a margin of a few per cent.
AxisLayout layout_x(const Panel& panel);
AxisLayout layout_y(const Panel& panel);

}  // namespace dpsosp::plots
