// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "dpsosp/algorithms/registry.hpp"
#include "stored.hpp"

namespace dpsosp::report {
namespace {

/// "first order, empirical": what the levels of a slope are levels of.
std::string quantity_of(const Rate& r, const Claim& claim, const Stored& stored) {
  std::string order = "second order";
  if (r.metric.find("gradient") != std::string::npos) order = "first order";
  if (r.metric.find("risk") != std::string::npos) order = "excess risk";
  bool population = r.metric.find("population") != std::string::npos ||
                    claim.reading.find("population") != std::string::npos;
  if (const Arm* arm = stored.arm_of(r.sweep, r.arm)) {
    const auto sampling = arm->spec.problem_settings.find("sampling");
    population = population ||
                 (sampling != arm->spec.problem_settings.end() && sampling->second == "stream");
  }
  order += population ? ", population" : ", empirical";
  switch (claim.of) {
    case ClaimOf::paper:
      return order;
    case ClaimOf::suite:
      return order + "; not printed: repairs and derivations of this suite";
    case ClaimOf::cited:
      return order + "; of work that the paper cites";
    case ClaimOf::script:
      return order + "; of published code";
  }
  return order;
}

std::string method_of(const Rate& r, bool several_arms) {
  std::string title = r.algorithm;
  for (const AlgorithmEntry& e : algorithm_registry())
    if (e.key == r.algorithm) title = e.create()->card().title;
  if (!several_arms || r.arm == title) return title;
  return fmt::format("{} · {}", r.arm, title);
}

std::string slope_key(const Rate& r) {
  return fmt::format("{}|{}|{}|{}|{}|{:.3f}", r.sweep, r.part, r.arm, r.axis, r.metric,
                     r.claimed_high);
}

std::string worst_of(const std::vector<Rate>& rates) {
  std::vector<std::string> words;
  for (const Rate& r : rates) words.push_back(r.word);
  const std::string worst = worst_word(words);
  return worst.empty() ? "open" : worst;
}

/// The column that an axis stands in: a rank or another setting stands for d.
std::string column_of(const std::string& axis) { return axis == "n" || axis == "ε" ? axis : "d"; }

}  // namespace

std::vector<ForestGroup> forest_of(const Stored& stored) {
  std::vector<ForestGroup> groups;
  std::size_t placed = 0, all = 0;
  std::map<std::string, std::pair<std::size_t, std::size_t>> row_of_slopes;
  for (std::size_t k = 0; k < stored.findings().size(); ++k) {
    const Claim& claim = stored.claims().claims[k];
    const std::vector<Rate> rates = stored.rates_of(k);
    all += rates.size();
    if (rates.empty()) continue;
    // Rows of a claim: one an arm, and another where an axis comes twice.
    std::vector<std::vector<Rate>> rows;
    for (const Rate& r : rates) {
      const auto fits = std::ranges::find_if(rows, [&](const std::vector<Rate>& row) {
        return row.front().arm == r.arm && std::ranges::none_of(row, [&](const Rate& other) {
                 return column_of(other.axis) == column_of(r.axis);
               });
      });
      if (fits == rows.end())
        rows.push_back({r});
      else
        fits->push_back(r);
    }
    const bool several_arms =
        std::ranges::any_of(rates, [&](const Rate& r) { return r.arm != rates.front().arm; });
    for (std::vector<Rate>& row : rows) {
      placed += row.size();
      std::string key;
      for (const Rate& r : row) key += slope_key(r) + ";";
      if (const auto same = row_of_slopes.find(key); same != row_of_slopes.end()) {
        groups[same->second.first].rows[same->second.second].also.push_back(claim.id);
        continue;
      }
      const std::string paper = paper_of(claim.id);
      const std::string quantity = quantity_of(row.front(), claim, stored);
      auto group = std::ranges::find_if(
          groups, [&](const ForestGroup& g) { return g.paper == paper && g.quantity == quantity; });
      if (group == groups.end()) {
        groups.push_back(
            {.paper = paper, .quantity = quantity, .printed = claim.of == ClaimOf::paper});
        group = groups.end() - 1;
      }
      row_of_slopes[key] = {static_cast<std::size_t>(group - groups.begin()), group->rows.size()};
      group->rows.push_back({.claim = claim.id,
                             .method = method_of(row.front(), several_arms),
                             .algorithm = row.front().algorithm,
                             .paper = paper,
                             .word = worst_of(row),
                             .rates = std::move(row)});
    }
  }
  if (placed != all) throw std::logic_error("forest: a slope has fallen out");
  std::ranges::stable_sort(groups, {},
                           [](const ForestGroup& g) { return std::pair(g.paper, g.quantity); });
  for (ForestGroup& g : groups)
    std::ranges::stable_sort(g.rows, {},
                             [](const ForestRow& r) { return r.rates.front().claimed_high; });
  return groups;
}

}  // namespace dpsosp::report
