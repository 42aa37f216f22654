// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/xu_2026/dp_rgda.hpp"

#include <cmath>
#include <utility>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::xu_2026 {
namespace {

/// The variables of xu-2026 notes, 2.1 and 2.2.
struct State {
  explicit State(const PublicFacts& facts)
      : x(facts.initial_point),
        x_prev(x),
        y(facts.initial_dual),
        y_at(y),
        v(Vector::Zero(x.size())),
        u(Vector::Zero(y.size())) {}

  Vector x, x_prev;
  Vector y;     // y_t
  Vector y_at;  // the dual at which v and u are estimates; y_{K−1} with Selection::ascended
  Vector v, u;  // estimates of ∇_x f, ∇_y f
  bool escaping = false;
  Index m = -1;  // step at which the last escape began, −1: none
  Vector anchor;
  double S = 0.0;      // Σ η_j² ‖v_j‖² of this escape
  double sum_v = 0.0;  // Σ ‖v_j‖² of this escape, for BreakRule::printed
  Index count = 0;
  Index refreshes = 0, escapes = 0, breaks = 0, kept_first = 0;
};

/// The queries of the inner updater, for every DualRelease and Streams.
class Queries {
 public:
  Queries(const DpRgdaParameters& p, Curator& curator)
      : p_(p),
        curator_(curator),
        joint_(curator.facts().dimension + curator.facts().dual_dimension) {}

  bool local() const { return p_.dual_release == DualRelease::local; }

  /// v, u = noisy clipped gradients at (x, y); with a local dual v alone, at (x, y*(x)).
  void refresh(const Vector& x, const Vector& y, Vector& v, Vector& u) {
    const SpiderOracleParameters& o = p_.oracle;
    if (local()) return o.refresh(curator_, Point(x), Block::x, v);
    const Point at(x, y);
    if (p_.streams == Streams::joint) {
      o.refresh(curator_, at, Block::joint, joint_);
      v = joint_.head(v.size());
      u = joint_.tail(u.size());
      return;
    }
    const Batch batch =
        curator_.draw(o.refresh_policy(curator_.facts().records), BatchUse::several_queries);
    GradientQuery query{o.clip_refresh, Noise::sensitivity_ratio(o.refresh_noise), Block::x};
    curator_.gradient(at, batch, query, v);
    query.block = Block::y;
    curator_.gradient(at, batch, query, u);
  }

  /// v, u += noisy clipped differences between (x, y) and (xa, ya); with a local dual v alone.
  void increment(const Vector& x, const Vector& y, const Vector& xa, const Vector& ya, Vector& v,
                 Vector& u) {
    const SpiderOracleParameters& o = p_.oracle;
    if (local()) {
      o.increment(curator_, Point(x), Point(xa), Block::x, joint_.head(v.size()));
      v += joint_.head(v.size());
      return;
    }
    const Point at(x, y);
    const Point from(xa, ya);
    if (p_.streams == Streams::joint) {
      o.increment(curator_, at, from, Block::joint, joint_);
    } else {
      const Batch batch =
          curator_.draw(o.increment_policy(curator_.facts().records), BatchUse::several_queries);
      GradientQuery query{o.increment_limit(at, from), Noise::sensitivity_ratio(o.increment_noise),
                          Block::x};
      curator_.gradient_difference(at, from, batch, query, joint_.head(v.size()));
      query.block = Block::y;
      curator_.gradient_difference(at, from, batch, query, joint_.tail(u.size()));
    }
    v += joint_.head(v.size());
    u += joint_.tail(u.size());
  }

 private:
  const DpRgdaParameters& p_;
  Curator& curator_;
  Vector joint_;
};

/// xu-2026, Algorithm 3, with its line numbers. On return (y, v, u) are those of the selected inner
/// step.
void inner(const DpRgdaParameters& p, const Domain& dual_domain, Index t, Queries& queries,
           State& s) {
  const bool refresh = t % p.period == 0;
  if (refresh) {  // l. 4 to 8
    queries.refresh(s.x, s.y, s.v, s.u);
    ++s.refreshes;
  }
  // l. 3. dev: the printed first increment starts at x_{t−1} at refreshes too (docs/errata.md, X1).
  const bool at_anchor = refresh && p.refresh_rule == RefreshRule::repaired;
  if (queries.local()) {  // dev: record i keeps y_i*(x); no u, K or λ (docs/errata.md, X3)
    if (!at_anchor) queries.increment(s.x, s.y, s.x_prev, s.y, s.v, s.u);
    return;
  }
  Vector xa = at_anchor ? s.x : s.x_prev;
  Vector ya = at_anchor ? s.y : s.y_at;
  const bool beyond = p.selection == Selection::last || p.selection == Selection::argmin_of_proof;
  const Index candidates = beyond ? p.inner_steps + 1 : p.inner_steps;
  const bool argmin = p.selection != Selection::last && p.selection != Selection::ascended;
  const Index first = p.selection == Selection::argmin_from_start ? 0 : 1;
  const auto ascended = [&](const Vector& y, const Vector& u) {
    Vector moved = y + p.ascent_step * u;
    dual_domain.project(moved);
    return moved;
  };
  Vector y_k = s.y, v_k = s.v, u_k = s.u;  // l. 3, 10
  double least = 0.0;
  Index selected = 0;
  for (Index k = 0; k < candidates; ++k) {  // l. 12
    // l. 13 to 15. dev: with RefreshRule::repaired the increment of k = 0 is from (x_t, y_0) to
    // itself and is left out.
    if (!(at_anchor && k == 0)) queries.increment(s.x, y_k, xa, ya, v_k, u_k);
    const Vector y_next = ascended(y_k, u_k);  // l. 16
    const double size = dual_domain.kind == Domain::Kind::everywhere
                            ? u_k.norm()  // G_k = −u_k
                            : (y_k - y_next).norm() / p.ascent_step;
    const bool take = argmin ? k == first || (k > first && size < least) : k == candidates - 1;
    if (take) {  // l. 18: s_t = argmin_k ‖G_k‖
      least = size;
      selected = k;
      s.y = s.y_at = y_k;
      s.v = v_k;
      s.u = u_k;
    }
    xa = s.x;  // l. 3: x_{t,k−1} = x_t
    ya = y_k;
    if (k < p.inner_steps) y_k = y_next;
  }
  if (p.selection == Selection::ascended)
    s.y = y_k;
  else if (selected == 0)
    ++s.kept_first;
}

/// xu-2026, Algorithm 2 after the inner updater, l. 4 to 21.
/// \return whether the anchor is certified
bool outer(const DpRgdaParameters& p, Index t, Stream& stream, State& s) {
  const double norm = s.v.norm();
  if (!s.escaping) {
    if (norm >= p.alpha) {  // l. 5, 6: descend
      s.x -= (p.descent_rule == DescentRule::normalised ? p.descent_step / norm : p.descent_step) *
             s.v;
      return false;
    }
    s.m = t;  // l. 8: begin an escape
    s.anchor = s.x;
    s.escaping = true;
    s.S = s.sum_v = 0.0;
    s.count = 0;
    ++s.escapes;
    Vector kick(s.x.size());  // l. 9
    stream.fill_ball(p.perturb_radius, kick);
    s.x += kick;
    return false;
  }
  const auto k = static_cast<double>(t - s.m);  // l. 12
  const double next = s.S + p.escape_step * p.escape_step * norm * norm;
  const double allowed = k * p.escape_mean_sq_move;
  s.sum_v += norm * norm;
  if (next > allowed) {  // l. 13 to 15: far enough from the anchor, descend again
    // dev: the repaired rule shortens this step alone (docs/errata.md, X4)
    const double length = p.break_rule == BreakRule::printed ? std::sqrt(allowed / s.sum_v)
                                                             : std::sqrt(allowed - s.S) / norm;
    s.x -= length * s.v;
    s.escaping = false;
    ++s.breaks;
    return false;
  }
  s.S = next;  // l. 17, 18
  s.x -= p.escape_step * s.v;
  ++s.count;
  return s.count == p.escape_steps;  // l. 19: it stayed, so λ_min(∇²Φ(anchor)) ≥ −α_H w.h.p.
}

}  // namespace

/// xu-2026, Algorithm 2, with its line numbers.
Outcome DpRgda::run(Curator& curator, Stream stream, Observer& observer) const {
  const DpRgdaParameters& p = parameters;
  State s(curator.facts());
  Queries queries(p, curator);
  const auto outcome = [&](Vector point, Status status, Index steps) {
    return Outcome{std::move(point),
                   status,
                   steps,
                   {{"refreshes", s.refreshes},
                    {"escapes", s.escapes},
                    {"breaks", s.breaks},
                    {"dual_kept", s.kept_first}}};
  };
  // the last line. dev: the paper's x_{m_s} is undefined if no escape began (docs/errata.md, X5).
  const auto at_horizon = [&] {
    return p.horizon_rule == HorizonRule::anchor && s.m >= 0 ? s.anchor : s.x;
  };
  for (Index t = 0; t < p.steps; ++t) {  // l. 2
    observer.iterate(t, s.x);
    try {
      inner(p, curator.facts().dual_domain, t, queries, s);  // l. 3
    } catch (const Refused& refusal) {
      return outcome(at_horizon(), status_of(refusal), t);
    }
    if (!s.v.allFinite() || !s.y.allFinite()) return outcome(s.x, Status::not_finite, t);
    observer.estimate(t, s.x, s.v);
    const Vector x_cur = s.x;
    if (outer(p, t, stream, s)) return outcome(s.anchor, Status::certified, t + 1);
    s.x_prev = x_cur;
    if (!s.x.allFinite()) return outcome(s.x, Status::not_finite, t + 1);
  }
  return outcome(at_horizon(), Status::steps_done, p.steps);
}

const AlgorithmCard& DpRgda::card() const {
  static const AlgorithmCard card{
      .key = "xu-2026/dp-rgda",
      .title = "DP-RGDA",
      .paper = "Xu, Tao, Ding, Fan, Wang 2026",
      .place = "Algorithms 2 and 3, Theorems 1 and 2",
      .guarantee = "SOSP of the value function, empirical or population; Y convex",
      .rate = "(sqrt(d)/(n eps))^(2/3) empirical; n^(-1/3) + (sqrt(d)/(n eps))^(1/2) population",
      .empirical = Exponents{-2.0 / 3, 1.0 / 3, -2.0 / 3},
      .population = Exponents{-0.5, 0.25, -0.5},
      .sampling = -1.0 / 3,
      .operations = "gradient and gradient difference in x and y",
      .output_rule = "anchor of the certified escape; at the horizon the last anchor",
      .printed =
          "the argmin with y_0 among its candidates (one reading), the double count at refreshes, "
          "the released dual, one break step for the whole sum",
      .utility = Utility::heuristic,
      .needs_dual = true,
      .numbers_version = 2};
  static const AlgorithmCard with_printed_noise = [] {
    AlgorithmCard same = card;
    same.printed_privacy = PrivacyLabel::violated;
    return same;
  }();
  return parameters.release == Release::printed ? with_printed_noise : card;
}

Fields DpRgda::fields() {
  using namespace range;
  DpRgdaParameters& p = parameters;
  Fields f{
      field("steps", p.steps, positive, "T"),
      field("alpha", p.alpha, positive, "alpha: descend while |v| >= alpha"),
      field("descent_step", p.descent_step, positive, "eta"),
      field("escape_step", p.escape_step, positive, "eta_H"),
      field("perturb_radius", p.perturb_radius, positive, "r"),
      field("escape_steps", p.escape_steps, positive, "t_thres"),
      field("escape_mean_sq_move", p.escape_mean_sq_move, positive, "D-bar"),
      field("period", p.period, positive, "q"),
      field("inner_steps", p.inner_steps, positive, "K"),
      field("ascent_step", p.ascent_step, positive, "lambda"),
      field("descent_rule", p.descent_rule, "x - eta v/|v| or x - eta v"),
      field("refresh_rule", p.refresh_rule, "first increment after a refresh"),
      field("selection", p.selection, "which inner step is returned"),
      field("dual_release", p.dual_release, "y public, or y_i with record i"),
      field("streams", p.streams, "two queries or one of (x, y)"),
      field("break_rule", p.break_rule, "length of the step that ends an escape"),
      field("horizon_rule", p.horizon_rule, "output at the horizon"),
      field("objective", p.objective,
            "what a schedule plans for: full batches, or one pass over disjoint ones"),
      field("deviation", p.deviation, not_negative,
            "sigma of a record's gradient, for the population schedule; 0 = the gradient bound"),
      field("release", p.release,
            "noise of schedule = paper: the accountant's, or as printed, which is not private"),
  };
  p.oracle.add_fields(f);
  return f;
}

void DpRgda::set_variant(Variant variant) {
  DpRgdaParameters& p = parameters;
  const bool printed = variant == Variant::printed;
  p.refresh_rule = printed ? RefreshRule::printed : RefreshRule::repaired;
  p.selection = printed ? Selection::argmin_from_start : Selection::last;
  p.dual_release = printed ? DualRelease::released : DualRelease::local;
  p.streams = printed ? Streams::separate : Streams::joint;
  p.break_rule = printed ? BreakRule::printed : BreakRule::repaired;
}

void DpRgda::set_common_noise(double sensitivity_ratio) {
  parameters.oracle.refresh_noise = parameters.oracle.increment_noise = sensitivity_ratio;
}

std::vector<PlannedQuery> DpRgda::plan(const PublicFacts& facts) const {
  const DpRgdaParameters& p = parameters;
  const bool local = p.dual_release == DualRelease::local;
  const bool separate = !local && p.streams == Streams::separate;
  const Index blocks = separate ? 2 : 1;
  const BatchUse use = separate ? BatchUse::several_queries : BatchUse::one_query;
  const Index refreshes = (p.steps + p.period - 1) / p.period;
  const bool beyond = p.selection == Selection::last || p.selection == Selection::argmin_of_proof;
  Index increments = p.steps * (local ? 1 : p.inner_steps + (beyond ? 1 : 0));
  if (p.refresh_rule == RefreshRule::repaired) increments -= refreshes;
  return {{p.oracle.refresh_policy(facts.records), blocks * refreshes, use},
          {p.oracle.increment_policy(facts.records), blocks * increments, use}};
}

void DpRgda::check_settings(const PublicFacts& facts) const {
  const DpRgdaParameters& p = parameters;
  const std::string& key = card().key;
  require_dual(card(), facts);
  if (p.selection == Selection::argmin_after_start && p.inner_steps < 2)
    reject(key, "inner_steps", static_cast<double>(p.inner_steps),
           "at least 2, for a candidate after y_0");
  if (p.dual_release == DualRelease::local && facts.dual_kind != DualKind::per_record)
    reject(key, "dual_release", "local",
           "released: the dual of this problem is shared by its records");
  p.oracle.check(key, facts.records);
}

}  // namespace dpsosp::xu_2026
