// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dpsosp/plots/table.hpp"

namespace dpsosp::plots {

/// A <span> whose class is the label's tone.
std::string label_html(const Label& label);

}  // namespace dpsosp::plots
