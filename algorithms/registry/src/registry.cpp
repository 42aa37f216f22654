// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/registry.hpp"

#include <algorithm>

#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/baselines/ada_dp_spider.hpp"
#include "dpsosp/baselines/dp_sgda.hpp"
#include "dpsosp/baselines/gradient_descent_ascent.hpp"
#include "dpsosp/baselines/private_diff.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"

namespace dpsosp {
namespace {

template <class Type>
AlgorithmEntry entry() {
  return {Type().card().key,
          []() -> std::unique_ptr<Algorithm> { return std::make_unique<Type>(); }};
}

}  // namespace

const std::vector<AlgorithmEntry>& algorithm_registry() {
  static const std::vector<AlgorithmEntry> entries{
      entry<xu_2026::DpRgda>(),
      entry<ganesh_2023::StochasticSpider>(),
      entry<avdiukhin_2024::DpSgd>(),
      entry<avdiukhin_2024::NoisySgd>(),
      entry<baselines::AdaDpSpider>(),
      entry<baselines::PrivateDiff>(),
      entry<baselines::DpSgda>(),
      entry<baselines::GradientDescentAscent>(),
  };
  return entries;
}

std::unique_ptr<Algorithm> find_algorithm(std::string_view key) {
  const auto& entries = algorithm_registry();
  const auto found = std::ranges::find(entries, key, &AlgorithmEntry::key);
  if (found != entries.end()) return found->create();
  std::vector<std::string> keys;
  for (const auto& e : entries) keys.push_back(e.key);
  reject_unknown("algorithm", key, keys);
}

}  // namespace dpsosp
