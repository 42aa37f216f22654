// SPDX-License-Identifier: Apache-2.0
#include "division.hpp"
#include "dpsosp/algorithms/registry.hpp"

namespace dpsosp::league {
namespace {

Dial steps() { return {"steps", {{"steps"}}, {"10", "30", "100", "300", "1000"}}; }

/// Multiples of 1/M. Beyond 2 a step is too long where the constant is tight; often it is loose.
Dial step_size() {
  return {"step size",
          {{"step_size", Unit::inverse_smoothness}},
          {"0.1", "0.3", "1", "3", "10"},
          {"30", "100"}};
}

/// Of steps that have a length whatever the gradient's is: how far all of them go.
Dial travel(const char* step = "step_size") {
  return {
      "travel", {{step, Unit::length_over_steps}}, {"0.3", "1", "3", "10", "30"}, {"100", "300"}};
}

/// Multiples of the bounds that no record exceeds.
Dial clip(std::vector<Dial::Moved> moved) {
  return {"clip", std::move(moved), {"1"}, {"0.3", "0.1", "0.03", "0.01"}};
}
Dial clip_of_both() {
  return clip({{"clip_refresh", Unit::lipschitz}, {"clip_increment", Unit::smoothness}});
}

/// Shares of the budget for refreshes; 0: one ratio of noise to sensitivity for all queries.
Dial split(std::vector<std::string> values) {
  return {"share of refreshes", {{"refresh_share"}}, std::move(values)};
}
Dial period() { return {"period", {{"period"}}, {"3", "10", "30"}}; }
Dial momentum(std::vector<std::string> values) {
  return {"momentum", {{"momentum"}}, std::move(values)};
}
Dial tail() { return {"averaged tail", {{"tail_average"}}, {"0", "0.5", "0.9"}}; }

/// A method without dials has its defaults at every budget.
const std::vector<Method>& tuned_methods() {
  static const Settings last{{"output", "last"}};
  static const std::vector<Method> list{
      {"abadi-2016/dp-sgd",
       {},
       {steps(),
        step_size(),
        clip({{"clip", Unit::lipschitz}}),
        {"momentum", {{"first_decay"}}, {"0", "0.9"}},
        tail()}},
      {"abadi-2016/dp-adam",
       {},
       {steps(),
        travel(),
        clip({{"clip", Unit::lipschitz}}),
        {"correction", {{"correction"}}, {"start", "noise"}},
        tail()}},
      {"cutkosky-orabona-2019/dp-storm",
       {},
       {steps(), step_size(), clip({{"clip", Unit::lipschitz}, {"smoothness", Unit::smoothness}}),
        momentum({"0.03", "0.1", "0.3"})}},
      {"zhang-bu-2025/disk",
       {},
       {steps(),
        step_size(),
        clip({{"clip", Unit::lipschitz}}),
        {"gain", {{"gain"}}, {"0.01", "0.03", "0.1", "0.3", "0.7"}}}},
      {"arora-2023/dp-spider",
       last,
       {steps(), step_size(), clip_of_both(), period(), split({"0", "0.5", "0.8"})}},
      {"wang-2023/dp-srm",
       {{"output", "last"}, {"step_divisor", "1"}},
       {steps(),
        {"longest step",
         {{"accuracy", Unit::lipschitz}, {"clip_difference", Unit::lipschitz}},
         {"0.01", "0.03", "0.1", "0.3", "1"}},
        clip({{"clip", Unit::lipschitz}}),
        momentum({"0.03", "0.1", "0.3"}),
        {"smoothness", {{"smoothness", Unit::smoothness}}, {"1"}, {"0.1", "0.01"}}}},
      {"tran-cutkosky-2022/momentum-aggregation",
       last,
       {steps(), travel(), clip_of_both(), momentum({"0.1", "0.3", "1"}), split({"0", "0.333"})}},
      {"wang-ye-xu-2017/dp-svrg",
       {},
       {steps(), step_size(), clip_of_both(), period(), split({"0", "0.5", "0.8"})}},
      {"ganesh-2023/stochastic-spider", {}, {steps(), step_size(), clip_of_both()}},
      {"wang-xu-2020/dp-trust-region",
       {},
       {{"steps", {{"steps"}}, {"10", "30", "100", "300"}},
        {"radius", {{"alpha", Unit::lipschitz}}, {"0.003", "0.01", "0.03", "0.1", "0.3", "1"}},
        clip({{"clip", Unit::lipschitz}, {"hessian_limit", Unit::smoothness}})}},
      {"avella-medina-2023/noisy-newton",
       {},
       {{"steps", {{"steps"}}, {"3", "10", "30", "100"}},
        {"radius", {{"radius", Unit::length}}, {"0.03", "0.1", "0.3", "1"}},
        clip({{"clip", Unit::lipschitz}, {"hessian_limit", Unit::smoothness}}),
        {"share of gradients", {{"gradient_share"}}, {"0.5", "0.9"}}}},
      {"tracked-descent/tracked-descent", {}, {}}};
  return list;
}

/// Of y: multiples of 1/L.
Dial ascent_step() {
  return {"ascent step", {{"ascent_step", Unit::inverse_joint}}, {"0.3", "1", "3"}, {"10"}};
}
Dial restarts() { return {"period", {{"period"}}, {"1", "3", "10", "30"}}; }

const std::vector<Method>& minimax_methods() {
  static const std::vector<Method> list{
      {"yang-2022/dp-sgda",
       {},
       {steps(), step_size(), clip({{"clip", Unit::lipschitz}}), ascent_step()}},
      {"zhang-2025/private-diff",
       {{"ascent", "queried"}},
       {steps(),
        step_size(),
        clip({{"clip_restart", Unit::lipschitz},
              {"clip_dual", Unit::lipschitz},
              {"clip_slope", Unit::joint}}),
        ascent_step(),
        restarts(),
        {"ascents", {{"ascent_steps"}}, {"1", "3"}},
        {"clip of differences at rest",
         {{"clip_offset", Unit::lipschitz}},
         {"0.03", "0.1", "0.3"},
         {"0.001", "0.01"}}}},
      {"xu-2026/dp-rgda",
       {{"selection", "ascended"}, {"horizon_rule", "last"}},
       {steps(),
        travel("descent_step"),
        clip({{"clip_refresh", Unit::lipschitz}, {"clip_increment", Unit::joint}}),
        ascent_step(),
        restarts(),
        {"accuracy", {{"alpha", Unit::lipschitz}}, {"0.0003", "0.001", "0.003", "0.01", "0.03"}},
        {"mean square of escapes",
         {{"escape_mean_sq_move", Unit::squared_length}},
         {"1e-6", "1e-5", "1e-4", "1e-3"}}}}};
  return list;
}

}  // namespace

std::vector<Method> methods(Contest contest) {
  const bool minimax = contest == Contest::minimax;
  std::vector<Method> list = minimax ? minimax_methods() : tuned_methods();
  for (const AlgorithmEntry& e : algorithm_registry()) {
    const AlgorithmCard card = e.create()->card();
    if (card.is_program() && card.is_private() && card.needs_dual == minimax)
      list.push_back({.algorithm = e.key, .fixed = {}, .dials = {}});
  }
  return list;
}

}  // namespace dpsosp::league
