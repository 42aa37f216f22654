// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dpsosp/experiments/sweep.hpp"

namespace dpsosp::sweep_test {

inline const std::string head = R"(
title = "A sweep"
metric = "output.sosp_level"
seeds = 3
delta = 1e-5
[[arm]]
name = "first"
algorithm = "arora-2023/dp-spider"
problem = "ripple-location"
)";

inline const std::string second_arm = R"(
[[arm]]
name = "second"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "ripple-location"
delta = 1e-4
settings = { steps = 7 }
)";

inline Sweep parsed(const std::string& rest, Scale scale = Scale::quick) {
  return parse_sweep(head + rest, "test", scale);
}

inline std::string part_with(const std::string& axes) {
  return "[[part]]\nname = \"p\"\naxes = " + axes + "\n";
}

}  // namespace dpsosp::sweep_test
