// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Files of results/ that are built into the program.
namespace dpsosp::league {

/// results/league-tuning-settings/settings.csv
std::string_view settings_csv();
/// results/league-advice/advice.csv
std::string_view advice_csv();

}  // namespace dpsosp::league
