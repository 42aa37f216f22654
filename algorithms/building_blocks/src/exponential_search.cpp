// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/exponential_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void ExponentialSearch::add_fields(Fields& fields) {
  using namespace range;
  fields.push_back(
      field("candidates", candidates, "points of a net, or the product grid of a separable loss"));
  fields.push_back(
      field("net_radius", net_radius, positive, "rad, covering radius of the candidates"));
  fields.push_back(field("inverse_temperature", inverse_temperature, positive, "lambda"));
  fields.push_back(field("lipschitz", lipschitz, positive, "L, per-record clamp of losses"));
  fields.push_back(
      field("domain_radius", domain_radius, positive, "of the search set where the domain is R^d"));
  fields.push_back(field("largest_net", largest_net, positive, "points that may be enumerated"));
}

void ExponentialSearch::check(std::string_view owner, const PublicFacts& facts) const {
  if (candidates == CandidateSet::product) {
    if (!facts.separable || set(facts).kind != Domain::Kind::box)
      reject(
          owner, "candidates", "product",
          fmt::format("net: the loss of {} is no sum over like coordinates on a box", facts.name));
    return;
  }
  const double log_most = std::log(static_cast<double>(largest_net));
  if (log_size(facts) > log_most * (1 + 1e-12))
    reject(owner, "net_radius", net_radius,
           fmt::format("a net of at most largest_net = {} points, here exp({:.4g})", largest_net,
                       log_size(facts)));
}

Domain ExponentialSearch::set(const PublicFacts& facts) const {
  if (facts.domain.kind != Domain::Kind::everywhere) return facts.domain;
  return facts.separable ? Domain::box(domain_radius) : Domain::ball(domain_radius);
}

Net ExponentialSearch::net(const PublicFacts& facts) const {
  return Net::of(set(facts), facts.dimension, net_radius);
}

ProductGrid ExponentialSearch::grid(const PublicFacts& facts) const {
  return {Vector::Zero(facts.dimension), set(facts).radius, net(facts).per_axis()};
}

double ExponentialSearch::log_size(const PublicFacts& facts) const { return net(facts).log_size(); }

double ExponentialSearch::epsilon(const PublicFacts& facts) const {
  return 2.0 * inverse_temperature * lipschitz * diameter(facts) /
         static_cast<double>(facts.records);
}

void ExponentialSearch::choose_candidates(const PublicFacts& facts) {
  const bool box = set(facts).kind == Domain::Kind::box;
  candidates = facts.separable && box ? CandidateSet::product : CandidateSet::net;
}

bool ExponentialSearch::set_radius(double radius, const PublicFacts& facts) {
  const double reach = 0.5 * diameter(facts);
  net_radius = std::min(radius, reach);
  if (candidates == CandidateSet::product) return false;
  const double log_most = std::log(static_cast<double>(largest_net));
  if (log_size(facts) <= log_most) return false;
  double low = std::log(net_radius), high = std::log(2.0 * reach);
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    net_radius = std::exp(middle);
    (log_size(facts) <= log_most ? high : low) = middle;
  }
  net_radius = std::exp(high);
  return true;
}

Outcome ExponentialSearch::run(Curator& curator, Observer& observer) const {
  const PublicFacts& facts = curator.facts();
  Vector w = facts.initial_point;
  observer.iterate(0, w);
  ExponentialMechanism mechanism(curator, curator.draw(BatchPolicy::all()));
  // N itself where a double holds it, else its order of magnitude.
  const std::optional<Index> size = net(facts).size();
  std::map<std::string, std::int64_t> counts;
  if (size)
    counts["candidates"] = *size;
  else
    counts["candidates_log2"] = static_cast<std::int64_t>(log_size(facts) / std::numbers::ln2);
  try {
    if (candidates == CandidateSet::product) {
      // facts.separable states |f_j'| <= L/sqrt(d)
      const double root_d = std::sqrt(static_cast<double>(facts.dimension));
      mechanism.choose(grid(facts), lipschitz / root_d, epsilon(facts), w);
    } else {
      mechanism.choose(net(facts), lipschitz, epsilon(facts), w);
    }
  } catch (const Refused& refusal) {
    return {w, status_of(refusal), 0, {}};
  }
  return {w, Status::steps_done, 1, counts};
}

void refuse_any_dual(const AlgorithmCard& card, const PublicFacts& facts) {
  if (facts.dual_kind != DualKind::none)
    throw InputError(
        fmt::format("{}: {} has a dual, and its records answer no losses; choose a "
                    "minimisation problem",
                    card.key, facts.name));
}

}  // namespace dpsosp
