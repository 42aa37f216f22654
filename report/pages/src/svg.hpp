// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "html.hpp"

/// The shapes that drawings are made of.
namespace dpsosp::report {

Html svg_text(double x,
              double y,
              const Html& content,
              std::string_view anchor = "start",
              std::string_view type = {});
/// Text with scripts, as tspans, which SVG has in place of sub and sup.
Html svg_markup(std::string_view markup);
Html line(double x1, double y1, double x2, double y2, std::string_view type);
/// A point of a method; shapes are numbered as in Look.
Html mark(int shape, double x, double y, double r);
/// About how wide a text of a drawing is; scripts are small.
double text_width(std::string_view markup);
/// At most so many characters, then an ellipsis.
std::string cut(std::string_view label, std::size_t most);

}  // namespace dpsosp::report
