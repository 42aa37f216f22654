// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include "dpsosp/experiments/study.hpp"

namespace dpsosp::xu_2026_exhibit {
namespace {

constexpr std::uint64_t swapped_data = 1'000'003;  // added to the seed of the records

bool is_reference(const Method& m) { return m.algorithm == "reference/gradient-descent-ascent"; }
bool is_repaired_rgda(const Method& m) {
  return m.algorithm == "xu-2026/dp-rgda" && m.variant == Variant::repaired;
}

Index records(Setting setting, const Study& study) {
  if (setting != Setting::where_it_works) return 400;
  return study.scale == Scale::smoke ? 1600 : 25600;
}

}  // namespace

// xu-2026 notes, 5: what the paper prints, and the stated guesses where it is silent.
const std::vector<Method>& methods() {
  static const std::map<std::string, std::string> rgda{
      {"alpha", "0.1"},           {"descent_step", "0.2"}, {"escape_step", "0.1"},
      {"perturb_radius", "0.01"}, {"escape_steps", "20"},  {"escape_mean_sq_move", "0.01"},
      {"period", "10"},           {"inner_steps", "5"},    {"ascent_step", "0.8"},
      {"clip_refresh", "1"},      {"clip_increment", "1"}, {"increment_clip", "fixed"}};
  const auto with = [](const char* selection) {
    auto settings = rgda;
    settings["selection"] = selection;
    return settings;
  };
  // The errors of Algorithms 2 and 3 alone (errata X1, X2, X4): two streams and the released dual.
  auto minimal = with("argmin_of_proof");
  minimal.insert({{"refresh_rule", "repaired"}, {"break_rule", "repaired"}});
  const auto periodic = [](const char* step) {
    return std::map<std::string, std::string>{{"step_size", step},     {"refresh", "period"},
                                              {"period", "10"},        {"clip_refresh", "1"},
                                              {"clip_increment", "1"}, {"increment_clip", "fixed"}};
  };
  static const std::vector<Method> all{
      {"DP-RGDA (printed, argmin from k = 0)", "xu-2026/dp-rgda", Variant::printed, rgda,
       Published{0.9119, 0.4251, -4.8504e-2}},
      {"DP-RGDA (repaired)", "xu-2026/dp-rgda", Variant::repaired, rgda, {}},
      {"Sto-SPIDER",
       "ganesh-2023/stochastic-spider",
       Variant::repaired,
       {{"step_size", "0.005"},
        {"refresh", "drift"},
        {"drift_threshold", "0.7"},
        {"clip_refresh", "1"},
        {"clip_increment", "1"},
        {"increment_clip", "fixed"}},
       Published{13.7046, 3.4505, -2.1862e-1}},
      {"Ada-DP-SPIDER",
       "tao-2025/ada-dp-spider",
       Variant::repaired,
       {{"step_size", "0.02"},
        {"drift_threshold", "0.01"},
        {"chi", "0"},
        {"clip_refresh", "1"},
        {"clip_increment", "1"},
        {"increment_clip", "fixed"}},
       Published{8.0751, 2.2753, -1.4378e-1}},
      {"PrivateDiff",
       "zhang-2025/private-diff",
       Variant::repaired,
       {{"step_size", "0.0125"}, {"period", "1"}, {"ascent", "local"}, {"clip_restart", "1"}},
       Published{0.6546, 0.3344, -4.3622e-2}},
      {"PrivateDiff (period 10)",
       "zhang-2025/private-diff",
       Variant::repaired,
       {{"step_size", "0.0125"}, {"period", "10"}, {"ascent", "local"}, {"clip_restart", "1"}},
       {}},
      {"DP-SGDA",
       "yang-2022/dp-sgda",
       Variant::printed,
       {{"step_size", "0.0125"}, {"ascent_step", "0.8"}, {"clip", "1"}},
       {}},
      {"Gradient descent ascent",
       "reference/gradient-descent-ascent",
       Variant::repaired,
       {{"step_size", "0.2"}, {"ascent_step", "0.8"}},
       {}},
      {"DP-RGDA (minimal repair)", "xu-2026/dp-rgda", Variant::printed, minimal, {}},
      {"Sto-SPIDER (period 10)",
       "ganesh-2023/stochastic-spider",
       Variant::repaired,
       periodic("0.005"),
       {},
       false,
       true},
      // Ada-DP-SPIDER's oracle has no period; with plain steps and one batch a query its estimator
      // is that of Sto-SPIDER.
      {"Ada-DP-SPIDER (period 10)",
       "ganesh-2023/stochastic-spider",
       Variant::repaired,
       periodic("0.02"),
       {},
       false,
       true},
      {"DP-RGDA (printed, batch mean clipped)",
       "xu-2026/dp-rgda",
       Variant::printed,
       rgda,
       {},
       true},
      {"DP-RGDA (printed, argmin from k = 1)",
       "xu-2026/dp-rgda",
       Variant::printed,
       with("argmin_after_start"),
       {},
       false,
       true},
  };
  return all;
}

const Method& printed_rgda() { return methods()[0]; }
const Method& repaired_rgda() { return methods()[1]; }
const Method& sto_spider() { return methods()[2]; }
const Method& ada_dp_spider() { return methods()[3]; }
const Method& after_start_rgda() { return methods().back(); }
const Method& labelled(std::string_view label) {
  return *std::ranges::find(methods(), label, &Method::label);
}
Method with_selection(std::string_view selection) {
  Method m = printed_rgda();
  m.label = fmt::format("DP-RGDA ({})", selection);
  m.settings["selection"] = selection;
  m.published.reset();
  m.one_setting = true;
  return m;
}
bool is_private(const Method& method) { return !is_reference(method); }

Index steps(const Study& study) { return study.scale == Scale::smoke ? 20 : 400; }

bool is_run(Setting setting, Control control, const Method& method) {
  if (is_reference(method)) return control == Control::none;
  if (method.clips_batch_mean) return setting == Setting::as_published && control == Control::none;
  if (method.one_setting) {
    const bool every_control = method.seeds > 0;
    return setting == Setting::as_published &&
           (every_control || control == Control::none || control == Control::swapped);
  }
  // At n = 25600 data are exchanged for the method that the setting is about.
  if (setting == Setting::where_it_works && control == Control::swapped)
    return is_repaired_rgda(method);
  return true;
}

std::uint64_t seeds(Setting setting, Control control, const Method& method, const Study& study) {
  if (study.scale == Scale::smoke) return 2;
  if (method.seeds > 0) return method.seeds;
  if (study.scale == Scale::full) return 20;
  if (setting == Setting::where_it_works)  // its runs take longest
    return control == Control::none && is_repaired_rgda(method) ? 20 : 3;
  return control == Control::no_noise || control == Control::no_data ? 5 : 20;
}

namespace {

/// The description that all seeds share.
RunDescription description(const Method& method, Setting setting, Control control,
                           const Study& study) {
  const Index n = records(setting, study);
  RunSpec spec;
  spec.algorithm = method.algorithm;
  spec.variant = method.variant;
  spec.settings = method.settings;
  spec.settings["steps"] = fmt::format("{}", steps(study));
  spec.problem = "matrix-sensing";
  spec.records = n;
  spec.epsilon = 2.0;
  spec.delta = 1e-6;
  spec.schedule = Schedule::none;
  spec.observations = control == Control::none && method.seeds == 0 ? 200 : 2;
  if (!method.problem.empty())
    spec.problem_settings = {method.problem.begin(), method.problem.end()};
  else if (setting != Setting::where_it_works)
    spec.problem_settings = {{"planted_scale", "frobenius"}, {"planted_norm", "1"}};

  if (setting == Setting::where_it_works && method.algorithm == "xu-2026/dp-rgda")
    spec.settings["alpha"] = "0.01";
  if (is_reference(method)) {
    spec.noise = NoiseRule::none;
    return describe(spec);
  }
  // The paper's batches of 200 and 50 out of 400, as rates.
  const std::string refresh = fmt::format("{}", n / 2);
  const std::string increment = fmt::format("{}", n / 8);
  const bool spider =
      method.algorithm != "zhang-2025/private-diff" && method.algorithm != "yang-2022/dp-sgda";
  if (spider) {
    spec.settings["refresh_batch"] = refresh;
    spec.settings["increment_batch"] = increment;
  } else {
    spec.settings["batch"] = refresh;
  }
  if (setting == Setting::as_published) {
    spec.settings["sampling"] = "sample";
    spec.noise = NoiseRule::advanced;
    // 40 refreshes of u and v and 2000 increments of both, as the paper counts oracle calls.
    if (method.algorithm == "xu-2026/dp-rgda" && method.variant == Variant::printed)
      spec.noise_queries = 4080;
  } else {
    spec.settings["sampling"] = "poisson";
    spec.noise = NoiseRule::calibrated;
    spec.calibrator = Calibrator::rdp;
    if (method.variant == Variant::printed && method.algorithm == "xu-2026/dp-rgda")
      spec.settings["streams"] = "joint";  // one query of (u, v), so that sampling amplifies
  }
  if (method.clips_batch_mean) spec.door = Door::batch_mean_clip;
  if (control == Control::no_noise) spec.door = Door::no_noise;
  if (control == Control::no_data) spec.door = Door::no_data;
  return describe(spec);
}

}  // namespace

std::vector<RunDescription> runs_of(const Method& method, Setting setting, Control control,
                                    const Study& study) {
  std::vector<RunDescription> runs;
  if (!is_run(setting, control, method)) return runs;
  RunDescription run = description(method, setting, control, study);
  for (run.seed = 0; run.seed < seeds(setting, control, method, study); ++run.seed) {
    run.data_seed = control == Control::swapped ? run.seed + swapped_data : run.seed;
    runs.push_back(run);
  }
  return runs;
}

}  // namespace dpsosp::xu_2026_exhibit
