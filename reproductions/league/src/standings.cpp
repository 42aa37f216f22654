// SPDX-License-Identifier: Apache-2.0
#include "standings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dpsosp::league {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

double median_or_none(const std::vector<double>& levels) {
  if (levels.empty()) return none;
  const double m = median(levels);
  return std::isfinite(m) ? m : none;
}

}  // namespace

double level_at(const Contender& c, std::size_t place) { return median_or_none(c.levels[place]); }

std::vector<double> best_levels(const std::vector<Contender>& contenders) {
  std::vector<double> best(contenders.front().levels.size(), none);
  for (const Contender& c : contenders)
    for (std::size_t p = 0; p < best.size(); ++p) best[p] = std::min(best[p], level_at(c, p));
  return best;
}

std::vector<Standing> standings(const std::vector<Contender>& contenders, const Contender& start) {
  const std::vector<double> best = best_levels(contenders);
  std::vector<Standing> list;
  for (std::size_t k = 0; k < contenders.size(); ++k) {
    Standing s{.contender = k, .against_leader = {}};
    double sum = 0;
    std::size_t places = 0;
    for (std::size_t p = 0; p < best.size(); ++p) {
      const double level = level_at(contenders[k], p), nothing = level_at(start, p);
      s.wins += std::isfinite(level) && level == best[p];
      s.useless += std::isfinite(level) && level >= share_of_start * nothing;
      s.absent += !std::isfinite(level);
      const double counted = std::min(level, nothing), least = std::min(best[p], nothing);
      if (!(least > 0 && std::isfinite(best[p]))) continue;
      sum += std::log(counted / least);
      ++places;
    }
    if (places > 0) s.ratio = std::exp(sum / static_cast<double>(places));
    list.push_back(s);
  }
  std::ranges::stable_sort(list, {}, &Standing::ratio);

  const Contender& leader = contenders[list.front().contender];
  std::vector<PairedComparison> comparisons;
  std::vector<std::size_t> compared;
  for (std::size_t k = 1; k < list.size(); ++k) {
    const Contender& other = contenders[list[k].contender];
    std::vector<double> of_other, of_leader;
    for (std::size_t p = 0; p < best.size(); ++p) {
      const std::size_t seeds = std::min(other.levels[p].size(), leader.levels[p].size());
      for (std::size_t s = 0; s < seeds; ++s) {
        of_other.push_back(other.levels[p][s]);
        of_leader.push_back(leader.levels[p][s]);
      }
    }
    PairedComparison c = compare(other.name, of_other, of_leader);
    if (c.pairs == 0) continue;
    comparisons.push_back(std::move(c));
    compared.push_back(k);
  }
  adjust(comparisons);
  for (std::size_t k = 0; k < compared.size(); ++k)
    list[compared[k]].against_leader = comparisons[k];
  return list;
}

std::vector<std::pair<double, double>> profile(const std::vector<Contender>& contenders,
                                               std::size_t contender,
                                               double largest) {
  const std::vector<double> best = best_levels(contenders);
  std::vector<double> ratios;
  for (std::size_t p = 0; p < best.size(); ++p)
    if (const double level = level_at(contenders[contender], p);
        std::isfinite(level) && best[p] > 0)
      ratios.push_back(level / best[p]);
  std::ranges::sort(ratios);
  const auto share = [&](std::size_t within) {
    return static_cast<double>(within) / static_cast<double>(best.size());
  };
  std::vector<std::pair<double, double>> steps;
  std::size_t within = 0;
  while (within < ratios.size() && ratios[within] <= 1.0) ++within;
  steps.emplace_back(1.0, share(within));
  for (; within < ratios.size() && ratios[within] <= largest; ++within) {
    steps.emplace_back(ratios[within], share(within));
    steps.emplace_back(ratios[within], share(within + 1));
  }
  steps.emplace_back(largest, share(within));
  return steps;
}

std::size_t choose(const std::vector<std::vector<double>>& levels) {
  std::size_t chosen = 0;
  for (std::size_t k = 1; k < levels.size(); ++k)
    if (median_or_none(levels[k]) < median_or_none(levels[chosen])) chosen = k;
  return chosen;
}

}  // namespace dpsosp::league
