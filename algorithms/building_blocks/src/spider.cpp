// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/spider.hpp"

#include <limits>
#include <optional>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/finite.hpp"
#include "dpsosp/privacy/tree_stream.hpp"

namespace dpsosp {
namespace {

/// The noisy estimate of ∇F along the run: ∇_t of the papers.
class Estimate {
 public:
  Estimate(const SpiderParameters& p, Curator& curator)
      : p_(p),
        curator_(curator),
        g(Vector::Zero(curator.facts().dimension)),
        increment_(curator.facts().dimension) {
    if (p.noise == SpiderNoise::tree) tree_.emplace(curator, p.tree_deviation, most_leaves());
  }

  Index most_leaves() const { return p_.max_leaves > 0 ? p_.max_leaves : p_.steps; }
  bool full() const { return leaves_ == most_leaves(); }
  Index increment_batch(double move) const {
    return p_.batch == SpiderBatch::fixed ? p_.oracle.increment_batch
                                          : adaptive_batch(p_.batch_rate, move);
  }

  void refresh(const Vector& x) {
    leaves_ = 1;
    if (p_.noise == SpiderNoise::gaussian_proportional)
      return p_.oracle.refresh(curator_, Point(x), Block::x, g);
    const Batch batch = curator_.draw(p_.oracle.refresh_policy(curator_.facts().records));
    GradientQuery query{.limit = p_.oracle.clip_refresh, .noise = {}, .block = Block::x};
    if (tree_) {
      tree_->restart();
      return tree_->push_gradient(Point(x), batch, query, g);
    }
    query.noise = Noise::standard_deviation(p_.refresh_deviation);
    curator_.gradient(Point(x), batch, query, g);
  }

  void increment(const Vector& x, const Vector& x_prev) {
    ++leaves_;
    if (p_.noise == SpiderNoise::gaussian_proportional && p_.batch == SpiderBatch::fixed) {
      p_.oracle.increment(curator_, Point(x), Point(x_prev), Block::x, increment_);
      g += increment_;
      return;
    }
    const BatchPolicy policy = p_.batch == SpiderBatch::fixed
                                   ? p_.oracle.increment_policy(curator_.facts().records)
                                   : BatchPolicy::fresh(increment_batch((x - x_prev).norm()));
    const Batch batch = curator_.draw(policy);
    GradientQuery query{.limit = p_.oracle.increment_limit(Point(x), Point(x_prev)),
                        .noise = Noise::sensitivity_ratio(p_.oracle.increment_noise),
                        .block = Block::x};
    if (tree_) return tree_->push_difference(Point(x), Point(x_prev), batch, query, g);
    if (p_.noise == SpiderNoise::gaussian_fixed)
      query.noise = Noise::standard_deviation(p_.increment_deviation);
    curator_.gradient_difference(Point(x), Point(x_prev), batch, query, increment_);
    g += increment_;
  }

 private:
  const SpiderParameters& p_;
  Curator& curator_;
  std::optional<TreeStream> tree_;
  Index leaves_ = 0;

 public:
  Vector g;

 private:
  Vector increment_;
};

}  // namespace

// The loop of ganesh-2023, Algorithm 1 and of liu-talwar-2025, Algorithm 3. G and L before a number
// say whose line it is; the listings of our notes (2.1 and 2.4) have the repairs.
Outcome run_spider(const SpiderParameters& p, Curator& curator, Stream& stream, Observer& observer,
                   Candidates* candidates) {
  Vector x = curator.facts().initial_point;  // x_t
  Vector x_prev = x;
  Vector step(x.size());
  OutputKeeper output(p.output, p.steps, stream);
  Estimate estimate(p, curator);
  const auto escape = make_escape(p.escape, curator);
  double drift = std::numeric_limits<double>::infinity();  // G 4, L 2
  std::int64_t refreshes = 0;
  const auto outcome = [&](Status status, Index steps) {
    if (candidates != nullptr) candidates->add_likely(escape->held_anchors());
    const Vector& point = status == Status::not_finite ? x : output.point(x);
    return Outcome{
        point, status, steps, {{"refreshes", refreshes}, {"escapes", escape->escapes()}}};
  };
  const bool one_pass = p.oracle.sampling == Sampling::fresh;
  const auto short_of = [&](Index records) {
    return one_pass && curator.fresh_records() < records;
  };

  for (Index t = 0; t < p.steps; ++t) {  // G 5, L 3. dev: T steps, not T + 1 (docs/errata.md, G9)
    observer.iterate(t, x);
    if (candidates != nullptr) candidates->visit(t, x);
    escape->begin(t, estimate.g);  // G 6
    // dev: drift up to x_t; printed: drift_{t−1} (docs/errata.md, G1)
    const bool due = p.refresh == RefreshTrigger::always ||
                     (p.refresh == RefreshTrigger::period && t % p.period == 0) ||
                     (p.refresh == RefreshTrigger::drift && drift >= p.drift_threshold);
    try {
      if (due || t == 0 || estimate.full() || escape->wants_refresh()) {  // G 9, L 5
        // dev: the visited points, not arbitrary ones (docs/errata.md, G3)
        if (p.refresh_cap > 0 && refreshes == p.refresh_cap) return outcome(Status::cap, t);
        // Both batches or neither: an escape needs gradient and Hessian of the same point.
        if (short_of(p.oracle.refresh_batch + escape->refresh_records()))
          return outcome(Status::data, t);
        estimate.refresh(x);  // G 10, L 6 and 7
        escape->refresh(x);
        ++refreshes;
        drift = 0.0;
      } else {
        const double move = (x - x_prev).norm();
        if (short_of(estimate.increment_batch(move) + escape->increment_records(move)))
          return outcome(Status::data, t);
        estimate.increment(x, x_prev);  // G 12, L 9 and 10
        escape->increment(x, x_prev);
      }
      observer.estimate(t, x, estimate.g);
      output.visit(t, x, estimate.g);
      escape->step(x, estimate.g, stream, step);  // G 7 and 8, L 13 to 20
    } catch (const Refused& refusal) {
      return outcome(status_of(refusal), t);
    }
    x_prev = x;
    x -= p.step_size * step;  // G 14, L 21
    if (!all_finite(x)) return outcome(Status::not_finite, t + 1);
    drift += p.drift_kind == DriftKind::quadratic ? (x - x_prev).squaredNorm()
                                                  : p.oracle.clip_increment * (x - x_prev).norm();
    escape->moved(x);
  }
  return outcome(Status::steps_done, p.steps);
}

void SpiderParameters::check(std::string_view owner, Index records) const {
  if (batch == SpiderBatch::adaptive && oracle.sampling != Sampling::fresh)
    throw InputError(std::string(owner) +
                     ": adaptive batches are drawn fresh; set sampling = fresh");
  if (noise == SpiderNoise::tree &&
      (oracle.sampling == Sampling::sample || oracle.sampling == Sampling::poisson))
    throw InputError(
        std::string(owner) +
        ": a tree does not amplify; set sampling = fresh or all, or noise = gaussian_*");
  if (escape.kind == EscapeKind::hessian_power && oracle.sampling != Sampling::fresh)
    throw InputError(std::string(owner) +
                     ": escape = hessian_power reads fresh batches; set sampling = fresh");
  escape.check(owner, records);
  oracle.check(owner, records);
}

}  // namespace dpsosp
