// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/registry.hpp"

#include <algorithm>
#include <utility>

#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/baselines/abadi_2016.hpp"
#include "dpsosp/baselines/ada_dp_spider.hpp"
#include "dpsosp/baselines/disk.hpp"
#include "dpsosp/baselines/dp_frank_wolfe.hpp"
#include "dpsosp/baselines/dp_gd.hpp"
#include "dpsosp/baselines/dp_gd_sosp.hpp"
#include "dpsosp/baselines/dp_gld.hpp"
#include "dpsosp/baselines/dp_prox_gd.hpp"
#include "dpsosp/baselines/dp_sgda.hpp"
#include "dpsosp/baselines/dp_spider.hpp"
#include "dpsosp/baselines/dp_srm.hpp"
#include "dpsosp/baselines/dp_storm.hpp"
#include "dpsosp/baselines/dp_svrg.hpp"
#include "dpsosp/baselines/dp_trust_region.hpp"
#include "dpsosp/baselines/gradient_descent_ascent.hpp"
#include "dpsosp/baselines/kl_spider.hpp"
#include "dpsosp/baselines/momentum_aggregation.hpp"
#include "dpsosp/baselines/noisy_newton.hpp"
#include "dpsosp/baselines/private_diff.hpp"
#include "dpsosp/baselines/reference.hpp"
#include "dpsosp/baselines/short_steps.hpp"
#include "dpsosp/baselines/tree_spider.hpp"
#include "dpsosp/baselines/zhou_2020.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/ganesh_2023/discrete_exponential.hpp"
#include "dpsosp/ganesh_2023/exponential_sampler.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"
#include "dpsosp/lowy_2024/exponential_warm_start.hpp"
#include "dpsosp/lowy_2024/published_experiment.hpp"
#include "dpsosp/lowy_2024/quasar_dp_sgd.hpp"
#include "dpsosp/lowy_2024/warm_glm.hpp"
#include "dpsosp/lowy_2024/warm_population.hpp"
#include "dpsosp/lowy_2024/warm_start.hpp"
#include "dpsosp/tracked_descent/tracked_descent.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"

namespace dpsosp {
namespace {

template <class Type>
AlgorithmEntry entry() {
  return {Type().card().key,
          []() -> std::unique_ptr<Algorithm> { return std::make_unique<Type>(); }};
}

std::vector<AlgorithmEntry>& all_entries() {
  static std::vector<AlgorithmEntry> entries{
      entry<xu_2026::DpRgda>(),
      entry<ganesh_2023::StochasticSpider>(),
      entry<ganesh_2023::ExponentialSampler>(),
      entry<ganesh_2023::DiscreteExponential>(),
      entry<liu_talwar_2025::AdaptiveSpider>(),
      entry<lowy_2024::ExponentialWarmStart>(),
      entry<lowy_2024::QuasarDpSgd>(),
      entry<lowy_2024::WarmExponential>(),
      entry<lowy_2024::WarmQuasar>(),
      entry<lowy_2024::WarmKl>(),
      entry<lowy_2024::WarmPopulation>(),
      entry<lowy_2024::WarmGlm>(),
      entry<lowy_2024::WarmGlmExponential>(),
      entry<lowy_2024::PublishedExperiment>(),
      entry<avdiukhin_2024::DpSgd>(),
      entry<avdiukhin_2024::NoisySgd>(),
      entry<baselines::DpGdSosp>(),
      entry<baselines::DpTrustRegion>(),
      entry<baselines::ShortSteps>(),
      entry<baselines::AdaDpSpider>(),
      entry<baselines::DpSpider>(),
      entry<baselines::TreeSpider>(),
      entry<lowy_2024::JlDpSpider>(),
      entry<baselines::DpSrm>(),
      entry<baselines::MomentumAggregation>(),
      entry<baselines::DpGd>(),
      entry<baselines::DpSvrg>(),
      entry<baselines::RrPsgd>(),
      entry<baselines::DpProxGd>(),
      entry<baselines::DpFrankWolfe>(),
      entry<baselines::ZhouSgd>(),
      entry<baselines::ZhouRmsProp>(),
      entry<baselines::ZhouAdam>(),
      entry<baselines::DpGld>(),
      entry<baselines::KlSpider>(),
      entry<baselines::AbadiSgd>(),
      entry<baselines::AbadiAdam>(),
      entry<baselines::PrivateDiff>(),
      entry<baselines::DpSgda>(),
      entry<baselines::DpStorm>(),
      entry<tracked_descent::TrackedDescent>(),
      entry<baselines::Disk>(),
      entry<baselines::NoisyNewton>(),
      entry<baselines::GradientDescentAscent>(),
      entry<baselines::ReferenceSgd>(),
      entry<baselines::ReferenceSpider>(),
      entry<baselines::PerturbedGd>(),
  };
  return entries;
}

}  // namespace

const std::vector<AlgorithmEntry>& algorithm_registry() { return all_entries(); }

void register_algorithm(AlgorithmEntry entry) {
  std::vector<AlgorithmEntry>& entries = all_entries();
  if (std::ranges::find(entries, entry.key, &AlgorithmEntry::key) != entries.end())
    throw InputError("two algorithms have the key " + entry.key);
  entries.push_back(std::move(entry));
}

std::unique_ptr<Algorithm> find_algorithm(std::string_view key) {
  const auto& entries = algorithm_registry();
  const auto found = std::ranges::find(entries, key, &AlgorithmEntry::key);
  if (found != entries.end()) return found->create();
  std::vector<std::string> keys;
  for (const auto& e : entries) keys.push_back(e.key);
  if (nearest(key, keys).empty())
    throw InputError("unknown algorithm '" + std::string(key) + "'; see dpsosp list algorithms");
  reject_unknown("algorithm", key, keys);
}

}  // namespace dpsosp
