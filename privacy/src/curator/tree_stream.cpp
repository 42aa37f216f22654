// SPDX-License-Identifier: Apache-2.0
#include "tree_stream.hpp"

#include <bit>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "curator_exact.hpp"
#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "sensitivity_steps.hpp"

namespace dpsosp::door {

/// The prefix sum and the noise of the active nodes, on one lattice.
struct TreeStream::ExactSums {
  LatticeVector sum;
  std::vector<std::optional<LatticeVector>> nodes;
};

TreeStream::~TreeStream() = default;

TreeStream::TreeStream(Curator& curator, double sigma, std::int64_t max_leaves)
    : curator_(&curator), sigma_(sigma), max_leaves_(max_leaves) {
  if (!(sigma > 0 && std::isfinite(sigma))) reject("tree stream", "sigma", sigma, "finite and > 0");
  if (max_leaves < 1) reject("tree stream", "max_leaves", static_cast<double>(max_leaves), ">= 1");
}

void TreeStream::restart() {
  leaves_ = 0;
  entries_ = 0;
  exact_.reset();
  sum_.resize(0);
  nodes_.clear();
  history_.clear();
}

void TreeStream::push(const Point& point, const Point* previous, const Batch& batch,
                      const GradientQuery& query, VectorRef out) {
  Curator& curator = *curator_;
  Curator::Own& own = *curator.own_;
  curator.check_query(point, previous, batch, query.block, out.size());
  if (leaves_ > 0 && out.size() != entries_)
    reject("tree stream", "out", static_cast<double>(out.size()),
           fmt::format("{} entries, as in the first leaf", entries_));
  if (batch.secret())
    throw InputError("tree stream: a batch with secret membership is not amplified");
  if (leaves_ == max_leaves_)
    reject("tree stream", "leaf", static_cast<double>(leaves_ + 1),
           fmt::format("<= max_leaves = {}; restart the tree", max_leaves_));
  const Departures& departures = curator.shared_->departures;
  const GaussianPlan plan = plan_gaussian(batch.policy, batch.use, own.facts.records, query.limit,
                                          Noise::standard_deviation(sigma_));
  const Leaf leaf{batch.range, departures.clip_batch_mean ? 2.0 * query.limit : plan.sensitivity};

  // TREE, step 1: the node created at leaf t covers (t − 2^k, t], k the number of trailing zeros.
  const std::int64_t t = leaves_ + 1;
  const auto level = static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(t)));
  const std::size_t covered = std::size_t{1} << level;
  SensitivitySteps sensitivities;
  sensitivities.add(leaf.range, leaf.sensitivity);
  for (std::size_t k = history_.size() - (covered - 1); k < history_.size(); ++k)
    sensitivities.add(history_[k].range, history_[k].sensitivity);
  std::vector<RangeFilter::Charge> charges;
  std::vector<LedgerEntry> entries;
  for (const auto& [range, total] : sensitivities.steps()) {
    const Event event = curator.shared_->as_drawn(GaussianEvent{sigma_ / total});
    charges.push_back({range, own.rule.charge(event)});
    entries.push_back(
        {own.scope, "tree_stream", batch.policy, event, range, total, total, sigma_, sigma_, 1});
  }
  if (!departures.no_filter && !own.filter.try_charge(charges))
    throw BudgetExhausted("tree_stream refused: its charge exceeds the privacy budget");

  if (departures.no_noise)
    entries = {{own.scope, "tree_stream", batch.policy, {}, batch.range, leaf.sensitivity}};
  for (LedgerEntry& entry : entries) curator.shared_->list(std::move(entry));

  entries_ = out.size();
  const Summand summand = Summand::gradient(point, query.block, previous);
  if (curator.shared_->words)
    push_exactly(summand, batch, query.limit, plan.divisor, level, out);
  else
    push_seeded(summand, batch, query.limit, plan.divisor, level, out);
  ++leaves_;
  history_.push_back(leaf);
}

void TreeStream::push_seeded(const Summand& summand, const Batch& batch, double limit,
                             double divisor, std::size_t level, VectorRef out) {
  Curator& curator = *curator_;
  Curator::Own& own = *curator.own_;
  own.work.setZero(out.size());
  curator.read_mean(summand, batch, limit, divisor);
  if (sum_.size() == 0) sum_.setZero(out.size());
  sum_ += own.work;
  if (nodes_.size() <= level) nodes_.resize(level + 1);
  for (std::size_t k = 0; k < level; ++k) nodes_[k].resize(0);  // TREE, step 2
  nodes_[level].setZero(out.size());                            // TREE, step 3
  if (!curator.shared_->departures.no_noise) own.noise.add_normal(sigma_, nodes_[level]);

  out = sum_;
  curator.shared_->audit({.kind = AuditedAnswer::Kind::prefix,
                          .deviation = sigma_,
                          .session = this,
                          .index = leaves_ + 1,
                          .path = own.key.path},
                         out);
  for (const Vector& node : nodes_)  // TREE, step 4
    if (node.size() > 0) out += node;
  curator.shared_->audit_noisy(out);
}

void TreeStream::push_exactly(const Summand& summand, const Batch& batch, double limit,
                              double divisor, std::size_t level, VectorRef out) {
  const LatticeVector zero(sigma_, entries_);
  LatticeVector sum = exact_ ? exact_->sum : zero;
  curator_->read_exactly(summand, batch, limit, 1.0 / divisor, sum);
  if (!exact_) exact_.reset(new ExactSums{zero, {}});  // after the records, which may throw
  exact_->sum = sum;
  const Curator::Shared& shared = *curator_->shared_;
  shared.audit_exact({.kind = AuditedAnswer::Kind::prefix,
                      .deviation = sigma_,
                      .session = this,
                      .index = leaves_ + 1,
                      .path = curator_->own_->key.path},
                     sum);
  auto& nodes = exact_->nodes;
  if (nodes.size() <= level) nodes.resize(level + 1);
  for (std::size_t k = 0; k < level; ++k) nodes[k].reset();  // TREE, step 2
  nodes[level].emplace(zero).add_noise(*shared.words);       // TREE, step 3
  for (const auto& node : nodes)                             // TREE, step 4
    if (node) sum.add(*node);
  sum.write(out);
  shared.audit_noisy(out);
}

}  // namespace dpsosp::door
