// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/used.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/registry.hpp"

namespace dpsosp {
namespace {

using ParameterTexts = std::map<std::string, std::string>;

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<double> number_at(const ParameterTexts& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::nullopt : number_in(found->second);
}

/// The last part of a setting's name, without its stage.
std::string_view own_name(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// Quantity clipped by a setting called `clip`, `clip_REST` or `REST_clip`.
std::optional<std::string_view> clipped_by(std::string_view name) {
  if (name == "clip") return "";
  if (name.starts_with("clip_")) return name.substr(5);
  if (name.ends_with("_clip")) return name.substr(0, name.size() - 5);
  return {};
}

/// Steps sized by a setting called `step_size`, `REST_step_size` or `REST_step`.
std::optional<std::string_view> stepped_by(std::string_view name) {
  if (name == "step_size") return "";
  for (const std::string_view end : {"_step_size", "_step"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return {};
}

/// The numbers among the settings that `kind` knows, by their stage and what it says.
template <class Kind>
UsedNumbers numbers_of(const ParameterTexts& parameters, const Kind& kind) {
  UsedNumbers numbers;
  for (const auto& [name, text] : parameters) {
    const auto rest = kind(own_name(name));
    const auto value = number_in(text);
    if (!rest || !value) continue;
    const std::string stage = name.substr(0, name.rfind('.') + 1);
    numbers[fmt::format("{}{}", stage, *rest)] = *value;
  }
  return numbers;
}

/// The rule in force, where a setting says; else what the card says.
std::string output_of(const std::string& algorithm, const ParameterTexts& parameters) {
  if (algorithm.starts_with("program:")) return "–";
  const AlgorithmCard card = find_algorithm(algorithm)->card();
  if (card.is_program()) return card.output_rule;
  const auto positive = [&](const char* name) {
    return number_at(parameters, name).value_or(0) > 0;
  };
  const auto is = [&](const char* name, std::string_view word) {
    const auto found = parameters.find(name);
    return found != parameters.end() && found->second == word;
  };
  if (is("boosted", "true")) return "one of several runs, selected privately";
  if ((positive("selection_epsilon") && !is("boosted", "false")) || positive("power_products")) {
    constexpr std::string_view without = "last iterate, or ";
    return card.output_rule.substr(card.output_rule.starts_with(without) ? without.size() : 0);
  }
  if (is("average", "true")) return "mean of all iterates";
  if (is("random_output", "true")) return "uniform iterate";
  if (is("average", "false") || is("random_output", "false")) return "last iterate";
  if (is("horizon_rule", "last"))
    return "anchor of the certified escape; at the horizon the last iterate";
  if (positive("tail_average"))
    return fmt::format("mean of the last {:.3g} %", 100 * *number_at(parameters, "tail_average"));
  static const std::map<std::string, std::string> rules{
      {"last", "last iterate"},
      {"uniform", "uniform iterate"},
      {"min_estimate", "iterate of the shortest estimate"}};
  std::set<std::string> chosen;
  for (const auto& [name, text] : parameters)
    if (const auto rule = rules.find(text); own_name(name) == "output" && rule != rules.end())
      chosen.insert(rule->second);
  return chosen.size() == 1 ? *chosen.begin() : card.output_rule;
}

}  // namespace

Used used_by(const std::string& algorithm, const RunResult& result) {
  const ParameterTexts& parameters = result.algorithm.parameters;
  return {.clips = numbers_of(parameters, clipped_by),
          .step_sizes = numbers_of(parameters, stepped_by),
          .output = output_of(algorithm, parameters)};
}

std::optional<double> clipped_share(const RunResult& result) {
  const EvaluationLog& log = result.evaluation_log;
  if (log.unclipped || !(log.contributions > 0)) return {};
  return static_cast<double>(log.clipped) / log.contributions;
}

std::string to_text(std::span<const UsedNumbers> runs) {
  std::map<std::string, std::pair<double, double>> ranges;
  for (const UsedNumbers& run : runs)
    for (const auto& [name, value] : run) {
      const auto at = ranges.emplace(name, std::pair(value, value)).first;
      at->second = {std::min(at->second.first, value), std::max(at->second.second, value)};
    }
  std::vector<std::string> words;
  for (const auto& [key, range] : ranges) {
    const std::string_view name =
        key.ends_with('.') ? std::string_view(key).substr(0, key.size() - 1) : key;
    const auto low = fmt::format("{:.3g}", range.first), high = fmt::format("{:.3g}", range.second);
    words.push_back(fmt::format("{}{}{}{}", name, name.empty() ? "" : " ", low,
                                low == high ? "" : " to " + high));
  }
  return words.empty() ? "–" : fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace dpsosp
