// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/escape.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

class NoEscape final : public Escape {
 public:
  void begin(Index, const Vector&) override {}
  void step(const Vector&, Vector& g, Stream&, Vector& out) override { out = g; }
};

/// The kick of ganesh-2023, Algorithm 1, whose lines are cited.
class IsotropicKick final : public Escape {
 public:
  explicit IsotropicKick(const EscapeParameters& p) : p_(p) {}

  void begin(Index t, const Vector& g) override {  // line 6
    kick_ = t > 0 && frozen_ == 0 && p_.threshold > 0 && g.norm() <= p_.threshold;
  }
  // dev: the printed kick asks O₁ again at the escape (line 8)
  bool wants_refresh() const override { return kick_ && p_.kind == EscapeKind::isotropic_fresh; }
  void step(const Vector& x, Vector& g, Stream& stream, Vector& out) override {
    out = g;
    if (!kick_) {
      frozen_ = std::max<Index>(0, frozen_ - 1);  // lines 10 and 12
      return;
    }
    out_of_ball_ = false;
    anchor_ = x;
    stream.add_normal(p_.kick_deviation, out);  // line 8
    frozen_ = p_.steps;                         // line 7
    ++escapes_;
    if (p_.carry_kick) g = out;  // as printed: ∇_t keeps the kick
  }
  void moved(const Vector& x) override {
    if (anchor_.size() == 0) return;
    out_of_ball_ = out_of_ball_ || (x - anchor_).norm() >= p_.radius;
    if (frozen_ > 0) return;
    if (!out_of_ball_) hold(anchor_);
    anchor_.resize(0);
  }

 private:
  const EscapeParameters& p_;
  Vector anchor_;
  bool out_of_ball_ = false;
  bool kick_ = false;
  Index frozen_ = 1;
};

/// The escape of liu-talwar-2025, Algorithm 3, whose lines are cited; its step is line 5 of
/// liu-talwar-2025, Algorithm 2.
class HessianPower final : public Escape {
 public:
  HessianPower(const EscapeParameters& p, Curator& curator)
      : p_(p),
        hessian_(curator, p.hessian_mode),
        frozen_hessian_(curator, p.hessian_mode),
        curator_(curator) {}

  void begin(Index, const Vector&) override {}
  bool wants_refresh() const override { return count_ >= p_.escapes_per_refresh; }  // line 5
  Index refresh_records() const override { return p_.hessian_batch; }
  Index increment_records(double move) const override {
    return adaptive_batch(p_.hessian_batch_rate, move);
  }
  void refresh(const Vector& x) override {
    hessian_.refresh(Point(x), curator_.draw(BatchPolicy::fresh(p_.hessian_batch)),
                     p_.hessian_clip);
    count_ = 0;
  }
  void increment(const Vector& x, const Vector& x_prev) override {
    const double move = (x - x_prev).norm();
    hessian_.add(Point(x), Point(x_prev),
                 curator_.draw(BatchPolicy::fresh(increment_records(move))),
                 std::min(p_.hessian_lipschitz * move, 2.0 * p_.hessian_clip));
  }
  void step(const Vector& x, Vector& g, Stream&, Vector& out) override {
    if (!escaping_ && frozen_ == 0 && p_.threshold > 0 && g.norm() <= p_.threshold) {  // line 13
      escaping_ = true;
      frozen_ = p_.steps;
      anchor_ = x;  // line 14: copies, so that a refresh during the escape changes nothing
      anchor_gradient_ = g;
      frozen_hessian_ = hessian_;
      ++count_;
      ++escapes_;
    }
    out = g;
    if (!escaping_) return;
    // line 17: g + H(x − x_anchor) + N(0, σ_t²I); the curator adds the noise
    out.resize(x.size());
    frozen_hessian_.product(x - anchor_, p_.deviation, out);
    out += anchor_gradient_;
  }
  void moved(const Vector& x) override {
    if (frozen_ > 0) --frozen_;
    if (!escaping_) return;
    const bool left = (x - anchor_).norm() >= p_.radius;
    if (!left && frozen_ > 0) return;  // line 22
    escaping_ = false;
    if (!left) hold(anchor_);
    if (left && p_.cooldown == Cooldown::immediate) frozen_ = 0;
  }

 private:
  const EscapeParameters& p_;
  HessianStream hessian_, frozen_hessian_;
  Curator& curator_;
  Vector anchor_, anchor_gradient_;
  Index count_ = 0;
  Index frozen_ = 0;
  bool escaping_ = false;
};

}  // namespace

Index Escape::increment_records(double) const { return 0; }
void Escape::refresh(const Vector&) {}
void Escape::increment(const Vector&, const Vector&) {}
void Escape::moved(const Vector&) {}

void Escape::hold(const Vector& anchor) {
  if (held_.size() == kept_anchors) held_.erase(held_.begin());
  held_.push_back(anchor);
}

std::unique_ptr<Escape> make_escape(const EscapeParameters& parameters, Curator& curator) {
  switch (parameters.kind) {
    case EscapeKind::hessian_power:
      return std::make_unique<HessianPower>(parameters, curator);
    case EscapeKind::isotropic_fresh:
    case EscapeKind::isotropic_reuse:
      return std::make_unique<IsotropicKick>(parameters);
    case EscapeKind::none:
      break;
  }
  return std::make_unique<NoEscape>();
}

void EscapeParameters::add_isotropic_fields(Fields& fields) {
  using namespace range;
  fields.push_back(field("escape_threshold", threshold, not_negative,
                         "escape when |g| is no larger; 0 = never"));
  fields.push_back(field("kick_deviation", kick_deviation, not_negative,
                         "std of the kick per coordinate; 0 = no kick"));
  fields.push_back(field("escape_steps", steps, positive, "Gamma"));
  fields.push_back(field("carry_kick", carry_kick, "the kick stays in the estimate"));
  fields.push_back(
      field("escape_radius", radius, positive, "Xi: farther from its anchor an escape is over"));
}

void EscapeParameters::add_hessian_fields(Fields& fields) {
  using namespace range;
  fields.push_back(field("escapes_per_refresh", escapes_per_refresh, positive,
                         "tau: escapes that one refresh serves"));
  fields.push_back(field("escape_deviation", deviation, positive,
                         "sigma_t: noise of a Hessian product per coordinate"));
  fields.push_back(
      field("hessian_clip", hessian_clip, positive, "M: per-record bound of Hessians"));
  fields.push_back(field("hessian_lipschitz", hessian_lipschitz, positive,
                         "rho: per-record bound of Hessian differences / move"));
  fields.push_back(
      field("hessian_batch", hessian_batch, positive, "b_O3: records in a Hessian refresh"));
  fields.push_back(field("hessian_batch_rate", hessian_batch_rate, positive,
                         "records in a Hessian difference / move"));
  fields.push_back(
      field("hessian_mode", hessian_mode, "a d x d sum, or products of all groups when asked"));
  fields.push_back(field("cooldown", cooldown, "when the next escape may start"));
}

void EscapeParameters::check(std::string_view owner, Index records) const {
  if (kind == EscapeKind::hessian_power && hessian_batch > records)
    reject(owner, "hessian_batch", static_cast<double>(hessian_batch),
           fmt::format("in [1, records] with records = {}", records));
}

}  // namespace dpsosp
