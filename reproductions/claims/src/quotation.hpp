// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dpsosp {

/// A quotation with its formulas, LaTeX between `$`, as text with the markup of plots: "α ≤
/// √(d)/(nε)" with scripts. A command that is not known stands as its name.
std::string readable(std::string_view quotation);

}  // namespace dpsosp
