// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// The files of assets/, as they are built in.
namespace dpsosp::report {

std::string_view style_css();
std::string_view report_js();
std::string_view theme_js();
/// Style of a drawing in a file of its own.
std::string_view drawing_style();

}  // namespace dpsosp::report
