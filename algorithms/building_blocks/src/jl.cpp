// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/jl.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/stages.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

constexpr double most_entries = 2e8;  // of Φ

/// Shows Φᵀw̃ for w̃.
class Lifted final : public Observer {
 public:
  Lifted(Observer& observer, const Matrix& map) : observer_(observer), map_(map) {}
  void iterate(Index t, ConstVectorRef x) override {
    lifted_.noalias() = map_.transpose() * x;
    observer_.iterate(t, lifted_);
  }

 private:
  Observer& observer_;
  const Matrix& map_;
  Vector lifted_;
};

}  // namespace

double jl_rank_dimension(double rank, double n, double delta, double rank_factor) {
  return std::ceil(rank_factor * rank * std::log(2.0 * n / delta));
}

Index jl_free_dimension(const std::function<double(double)>& bound, double slack, Index low,
                        Index high) {
  const auto value = [&](Index j) {
    const auto k = static_cast<double>(j);
    return bound(k) + slack / std::sqrt(k);
  };
  while (low < high) {  // on which side of the middle the sum falls
    const Index middle = low + (high - low) / 2;
    if (value(middle) > value(middle + 1))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

Matrix draw_projection(Index k, Index d, Stream& stream) {
  Matrix map(k, d);
  stream.fill_normal(1.0 / std::sqrt(static_cast<double>(k)), map.reshaped());
  return map;
}

PublicFacts JlMethod::base_facts(const PublicFacts& facts) const {
  return jl.projected_dimension > 0 ? projected_facts(facts, jl.projected_dimension, jl.cap)
                                    : facts;
}

Outcome JlMethod::run(Curator& curator, Stream stream, Observer& observer) const {
  if (jl.projected_dimension == 0) return base_->run(curator, stream, observer);
  const Index d = curator.facts().dimension;
  ChildSpec spec{"projected", 1.0};
  spec.projection = Projection{draw_projection(jl.projected_dimension, d, stream), jl.cap};
  const Matrix map = spec.projection->map;
  // dev: the data are projected before M, not M's output (docs/errata.md, W19)
  Curator projected = curator.child(spec);
  Lifted lifted(observer, map);
  Outcome outcome = base_->run(projected, stream.child(0), lifted);
  outcome.point = map.transpose() * outcome.point;
  return outcome;
}

Scheduled JlMethod::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                             Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  dpsosp::check(budget);
  const double rank_factor = jl.rank_factor > 0        ? jl.rank_factor
                             : kind == Schedule::paper ? 8.0
                                                       : 1.0;
  const PublicFacts one = projected_facts(facts, 1, jl.cap);  // refuses what is no GLM
  const double n = static_cast<double>(facts.records);
  const double slack = jl.free_factor * one.constants[constant::lipschitz];
  const auto least = static_cast<Index>(std::ceil(std::log(2.0 * n / budget.delta)));
  Index k = jl_free_dimension([&](double j) { return base_bound(one, budget, j); }, slack, least,
                              std::max(least, facts.dimension));
  bool by_rank = false;
  if (jl.rank > 0) {
    const auto rank = static_cast<double>(jl.rank);
    const bool proportional = jl.rank_rule == RankRule::proportional;
    const double wanted = proportional ? std::ceil(rank_factor * rank)
                                       : jl_rank_dimension(rank, n, budget.delta, rank_factor);
    by_rank = wanted < static_cast<double>(k);
    if (by_rank) k = std::max(proportional ? jl.rank : least, static_cast<Index>(wanted));
  }
  jl.projected_dimension = k < facts.dimension ? k : 0;
  Scheduled s = base_->schedule(kind, base_facts(facts), budget, calibrator);
  if (jl.projected_dimension == 0) {
    s.add_note(fmt::format("k = {} is no smaller than d: nothing is projected", k));
    return s;
  }
  if (!by_rank && s.alpha > 0) s.alpha += slack / std::sqrt(static_cast<double>(k));
  s.excess_risk = 0;  // in R^k
  if (s.utility == Utility::proved || s.utility == Utility::repaired)
    s.utility = Utility::heuristic;
  s.add_note("constants of the projection are not the proof's");
  return s;
}

Fields JlMethod::fields() {
  using namespace range;
  Fields fields{
      field("projected_dimension", jl.projected_dimension, not_negative,
            "k of the projection; 0 = no projection"),
      field("cap", jl.cap, positive, "longest projected feature, in units of the feature bound"),
      field("rank", jl.rank, not_negative, "r: public rank of the features; 0 = unknown"),
      field("rank_rule", jl.rank_rule, "k of the rank branch: c_ose r ln(2n/delta), or c_ose r"),
      field("rank_factor", jl.rank_factor, not_negative,
            "c_ose of the rank branch of k; 0 = 1, or 8 under the paper schedule"),
      field("free_factor", jl.free_factor, positive, "c_jl of the free branch of k")};
  for (Field& f : base_->fields()) fields.push_back(std::move(f));
  return fields;
}

void JlMethod::set_variant(Variant variant) { base_->set_variant(variant); }

void JlMethod::set_common_noise(double sensitivity_ratio) {
  base_->set_common_noise(sensitivity_ratio);
}

std::vector<PlannedQuery> JlMethod::plan(const PublicFacts& facts) const {
  return base_->plan(base_facts(facts));
}

void JlMethod::check_settings(const PublicFacts& facts) const {
  const std::string& key = card().key;
  refuse_shared_dual(card(), facts);
  if (static_cast<double>(jl.projected_dimension) * static_cast<double>(facts.dimension) >
      most_entries)
    reject(key, "projected_dimension", static_cast<double>(jl.projected_dimension),
           fmt::format("at most {:.0f}: the map is stored",
                       most_entries / static_cast<double>(facts.dimension)));
  try {
    base_->check(base_facts(facts));
  } catch (const InputError& refusal) {
    const std::string line = refusal.what();
    const std::string theirs = base_->card().key + ": ";
    if (!line.starts_with(theirs)) throw;
    throw InputError(fmt::format("{}: {}", key, line.substr(theirs.size())));
  }
}

}  // namespace dpsosp
