// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/words.hpp"
#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp::xu_2026_exhibit {

/// The three settings shown side by side.
enum class Setting { as_published, ledgered, where_it_works };
inline constexpr std::array settings{Setting::as_published, Setting::ledgered,
                                     Setting::where_it_works};
constexpr auto words_of(Setting) {
  using enum Setting;
  return word_list<Setting>(
      "setting",
      {{as_published, "as-published"}, {ledgered, "ledgered"}, {where_it_works, "where-it-works"}});
}
inline std::string_view to_string(Setting setting) { return word_of(setting); }

/// Value, gradient norm and λ_min of Φ at t = 399, as printed.
struct Published {
  double value;
  double gradient_norm;
  double lambda_min;
};

/// A row of the table and a curve of the figure.
struct Method {
  std::string label;
  std::string algorithm;
  Variant variant;
  std::map<std::string, std::string> settings;  ///< beside batches and steps
  std::optional<Published> published;           ///< one run, seed 0
  bool clips_batch_mean = false;                ///< Algorithm 3 to the letter; not private
  bool one_setting = false;                     ///< as-published alone, no ε = ∞, no noise alone
  std::map<std::string, std::string> problem{};  ///< beside the exhibits': replaces their settings
  std::uint64_t seeds = 0;                       ///< of every control; 0: those of the exhibits
};
const std::vector<Method>& methods();
/// The method of that label, one of methods().
const Method& labelled(std::string_view label);
const Method& printed_rgda();
const Method& repaired_rgda();
const Method& sto_spider();
const Method& ada_dp_spider();
const Method& after_start_rgda();  ///< as printed_rgda, with k = 1..K−1
/// DP-RGDA (printed) with another range of the argmin of Algorithm 3, line 18.
Method with_selection(std::string_view selection);
bool is_private(const Method& method);

/// What is varied about a method's run to see what it does.
enum class Control {
  none,
  no_noise,  ///< epsilon = infinity
  no_data,   ///< noise only
  swapped,   ///< the whole data set exchanged; noise, start and batches as before
};

/// One a seed: 0, 1, …; none where the combination is not run.
std::vector<RunDescription> runs_of(const Method& method, Setting setting, Control control,
                                    const Study& study);

/// How many seeds a cell has.
std::uint64_t seeds(Setting setting, Control control, const Method& method, const Study& study);
/// Whether the combination is run at all.
bool is_run(Setting setting, Control control, const Method& method);
Index steps(const Study& study);

}  // namespace dpsosp::xu_2026_exhibit
