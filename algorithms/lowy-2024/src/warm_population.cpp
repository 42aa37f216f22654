// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lowy_2024/warm_population.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/stages.hpp"
#include "dpsosp/baselines/tree_spider.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"

namespace dpsosp::lowy_2024 {

WarmPopulation::WarmPopulation()
    : first_(std::make_unique<ExponentialWarmStart>()),
      tree_(std::make_unique<baselines::TreeSpider>()),
      adaptive_(std::make_unique<liu_talwar_2025::AdaptiveSpider>()) {
  auto sosp = std::make_unique<ganesh_2023::StochasticSpider>();
  sosp->parameters.target = ganesh_2023::Target::population;
  SpiderOracleParameters& oracle = sosp->parameters.spider.oracle;
  oracle.sampling = Sampling::fresh;
  oracle.refresh_batch = oracle.increment_batch = 1;
  sosp_ = std::move(sosp);
}

Algorithm& WarmPopulation::second() const {
  switch (parameters.finder) {
    case PopulationFinder::tree_spider:
      return *tree_;
    case PopulationFinder::stochastic_spider:
      return *sosp_;
    case PopulationFinder::adaptive_spider:
      break;
  }
  return *adaptive_;
}

Metric WarmPopulation::promised() const {
  return parameters.finder == PopulationFinder::adaptive_spider ? second().card().metric
                                                                : card().metric;
}

double population_excess(double log_net, double inverse_temperature, double net_error, double L,
                         double D, double n1, double failure) {
  // dev: a union bound over the net puts ln N under the root (docs/errata.md, W6)
  const double deviation = L * D * std::sqrt(2.0 * (std::log(8.0 / failure) + log_net) / n1);
  return (log_net + std::log(2.0 / failure)) / inverse_temperature + net_error + 2.0 * deviation;
}

RecordRange WarmPopulation::half(const PublicFacts& facts, int k) const {
  const Index middle = facts.records / 2;
  if (parameters.reuse) return {0, facts.records};
  return k == 0 ? RecordRange{0, middle} : RecordRange{middle, facts.records};
}

// Steps of lowy-2024 notes, 2.7.
Outcome WarmPopulation::run(Curator& curator, Stream stream, Observer& observer) const {
  const WarmPopulationParameters& p = parameters;
  Outcome outcome;
  ChildSpec spec{"first", p.reuse ? 0.0 : 1.0};
  // step 1. dev: halves, so that B's samples are independent of w₀ (docs/errata.md, W7)
  spec.range = half(curator.facts(), 0);
  spec.pure = !p.reuse;
  if (p.reuse) spec.pure_share = 1.0;
  try {
    Curator first = curator.child(spec);
    // step 2: w₀ ← exponential mechanism on X₁
    outcome = first_->run(first, stream.child(0), observer);
  } catch (const Refused& refusal) {
    return {curator.facts().initial_point, status_of(refusal), 0, {}};
  }
  Outcome whole{outcome.point, outcome.status, outcome.steps, {}};
  if (outcome.status == Status::not_finite) return whole;
  spec = {"second", p.second_slice};
  spec.range = half(curator.facts(), 1);
  if (p.reuse) spec.pure_share = 0.0;
  spec.initial_point = outcome.point;
  spec.suboptimality = p.warm_excess;
  // step 3: w_priv ← B on X₂ from w₀, given ψ
  run_last_stage(whole, "second", second(), curator, spec, stream.child(1), observer);
  return whole;  // step 4
}

Scheduled WarmPopulation::schedule(Schedule kind, const PublicFacts& facts,
                                   const PrivacyBudget& budget, Calibrator calibrator) {
  WarmPopulationParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  if (facts.records < 4)
    throw InputError(
        fmt::format("{}: {} records are too few for one pass", card().key, facts.records));
  const double part = p.reuse ? 0.5 : 1.0;
  Scheduled s{.rule = filter_rule(budget, calibrator, {}, p.reuse ? 0.5 * budget.epsilon : 0.0)};
  const auto facts_of = [&](int k) {
    PublicFacts half_facts = facts;
    const RecordRange range = half(facts, k);
    half_facts.records = range.end - range.begin;
    return half_facts;
  };
  const PublicFacts one = facts_of(0);
  const Scheduled a =
      first_->schedule(kind, one, {part * budget.epsilon, budget.delta}, calibrator);
  const ExponentialSearch& search = first_->parameters.search;
  const double L = facts.constants[constant::lipschitz];
  const double psi =
      population_excess(search.log_size(one), search.inverse_temperature, L * search.net_radius, L,
                        search.diameter(one), static_cast<double>(one.records), p.failure);
  p.warm_excess = psi;
  PublicFacts two = facts_of(1);
  two.constants.set(constant::suboptimality, {p.warm_excess, Origin::estimated, "warm start"});
  const PrivacyBudget rest{part * budget.epsilon, budget.delta};
  const Scheduled b = second().schedule(kind, two, rest, calibrator);
  p.second_slice = std::min(1.0, b.rule.capacity / s.rule.capacity);
  s.alpha = b.alpha;
  s.utility = std::max(a.utility, b.utility);
  s.add_note(a.note);
  s.add_note(b.note);
  if (p.reuse) {
    s.utility = std::max(s.utility, Utility::disputed);
    s.add_note("both stages read the same records: the second stage's analysis does not hold");
  }
  return s;
}

const AlgorithmCard& WarmPopulation::card() const {
  static const AlgorithmCard card{
      .key = "lowy-2024/warm-population",
      .title = "Warm start by an exponential mechanism, population",
      .paper = "Lowy, Ullman, Wright 2024",
      .place = "Algorithm 4, Corollary 7.1, with tree-SPIDER",
      .guarantee =
          "FOSP, population; SOSP with finder = adaptive_spider (Liu, Talwar 2025, "
          "Footnote 1) or stochastic_spider, disputed",
      .metric = Metric::gradient_norm,
      .rate = "(zeta/n)^(1/3) + (sqrt(d) zeta/(n eps))^(1/2), zeta = d/(n eps) + sqrt(d/n)",
      .empirical = {},
      .population = {},
      .sampling = -0.5,
      .operations = "losses, gradient and gradient difference",
      .output_rule = "of the second stage",
      .printed = "both stages read all records, at half of epsilon each",
      .single_pass = true};
  return card;
}

Fields WarmPopulation::fields() {
  WarmPopulationParameters& p = parameters;
  Fields f{
      field("finder", p.finder,
            "B: settings second.* belong to tree_spider, sosp.* to stochastic_spider, "
            "adaptive.* to adaptive_spider"),
      field("reuse", p.reuse, "both stages read all records, at half of epsilon each"),
      field("failure", p.failure, range::open_unit, "zeta: probability that psi does not hold"),
      field("warm_excess", p.warm_excess, range::positive, "psi: suboptimality that B is told"),
      field("second_slice", p.second_slice, range::unit_without_0, "B's share of the capacity")};
  add_stage_fields(f, "first", *first_);
  add_stage_fields(f, "second", *tree_);
  add_stage_fields(f, "sosp", *sosp_);
  add_stage_fields(f, "adaptive", *adaptive_);
  return f;
}

void WarmPopulation::set_variant(Variant variant) {
  parameters.reuse = variant == Variant::printed;
  first_->set_variant(variant);
  tree_->set_variant(variant);
  sosp_->set_variant(variant);
  // The printed noise is not private: errors of that paper, not of this one.
  adaptive_->set_variant(Variant::repaired);
}

void WarmPopulation::check_settings(const PublicFacts& facts) const {
  const std::string& key = card().key;
  refuse_shared_dual(card(), facts);
  check_stage(key, "first", *first_, facts);
  check_stage(key, "second", *tree_, facts);
  check_stage(key, "sosp", *sosp_, facts);
  check_stage(key, "adaptive", *adaptive_, facts);
}

}  // namespace dpsosp::lowy_2024
