// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/group_dro.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "certified_maximum.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/finite_records.hpp"

namespace dpsosp {
namespace {

/// A record is (a, its group) with the label b.
struct GroupDroLoss {
  static constexpr std::string_view problem = "group-dro";
  static constexpr DenseDual dual = DenseDual::shared;
  struct Facts {
    Index d;
    Vector group_weights;  // n / n_g
    double base, centre, strong_concavity;
  };
  using Gradients = DenseQuery<Facts>;

  static Index dimension(const Facts& facts) { return facts.d; }
  static Index dual_dimension(const Facts& facts) { return facts.group_weights.size(); }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    add(at, at.x, at.y, z, 1.0, v);
    if (at.difference) add(at, at.x_before, at.y_before, z, -1.0, v);
    return {};
  }

 private:
  static void add(const Gradients& at, const Vector& x, const Vector& y, const DenseRecord& z,
                  double sign, VectorRef out) {
    const Facts& f = at.facts;
    const Index groups = f.group_weights.size();
    const auto group =
        static_cast<Index>(std::clamp(z.column[f.d], 0.0, static_cast<double>(groups - 1)));
    const auto a = z.column.head(f.d);
    const double weight = sign * f.group_weights[group];
    const double r = a.dot(x) - z.label;
    const double decay = std::exp(-0.5 * r * r);
    if (at.block != Block::y) out.head(f.d) += (weight * (f.base + y[group]) * r * decay) * a;
    if (at.block != Block::x) {
      auto dual = out.tail(groups);
      dual -= (sign * f.strong_concavity) * (y.array() - f.centre).matrix();
      dual[group] += weight * (1 - decay);
    }
  }
};

GroupDroLoss::Facts dro_facts(const GroupDroData& data, Index n) {
  Vector weights(data.groups);
  for (Index g = 0; g < data.groups; ++g) {
    const Index size = stratum_size(n, data.groups, g);
    weights[g] = size > 0 ? static_cast<double>(n) / static_cast<double>(size) : 0.0;
  }
  return {data.dimension(), weights, data.base(), data.centre(), data.strong_concavity};
}

class GroupDroValue final : public Objective {
 public:
  GroupDroValue(std::shared_ptr<const GroupDroData> data, Vector shares)
      : data_(std::move(data)), shares_(std::move(shares)) {}

  Index dimension() const override { return data_->dimension(); }

  double value(ConstVectorRef x) const override {
    const State at(*data_, x);
    const Vector l = losses(at);
    if (!data_->on_simplex()) return l.mean() + l.squaredNorm() / (2 * data_->strong_concavity);
    const Vector w = weights(at);
    return w.dot(l) -
           0.5 * data_->strong_concavity * (w.array() - data_->centre()).matrix().squaredNorm();
  }

  void gradient(ConstVectorRef x, VectorRef out) const override {
    const State at(*data_, x);
    out = data_->points() * spread(weights(at)).cwiseProduct(shared(first(at))).matrix();
  }

  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    const State at(*data_, x);
    const Vector along = data_->points().transpose() * v;
    const Vector slope = shared(first(at));
    const Vector bend =
        shared(1 - at.r.array().square()).array() * at.decay.array() * along.array();
    const Vector w = weights(at);
    const Vector moved =
        weights_move(w, by_group(slope.cwiseProduct(along)) / data_->strong_concavity);
    out = data_->points() * (spread(w).cwiseProduct(bend) + spread(moved).cwiseProduct(slope));
  }

 private:
  struct State {
    State(const GroupDroData& data, ConstVectorRef x)
        : r(data.points().transpose() * x - data.labels),
          decay((-0.5 * r.array().square()).exp()) {}
    Vector r;
    Vector decay;
  };

  Vector shared(const Vector& terms) const {
    return shares_.size() == 1 ? shares_[0] * terms : Vector(shares_.cwiseProduct(terms));
  }
  static Vector first(const State& at) { return at.r.cwiseProduct(at.decay); }
  Vector losses(const State& at) const { return by_group(shared(1 - at.decay.array())); }
  /// base + y*_g.
  Vector weights(const State& at) const {
    Vector w =
        1 / static_cast<double>(data_->groups) + losses(at).array() / data_->strong_concavity;
    if (data_->on_simplex()) Domain::simplex().project(w);
    return w;
  }
  /// How the weights move with l/μ: on the simplex the support's alone, at a constant sum.
  Vector weights_move(const Vector& w, Vector move) const {
    if (!data_->on_simplex()) return move;
    const auto support = (w.array() > 0).cast<double>();
    const double mean = (support * move.array()).sum() / support.sum();
    return support * (move.array() - mean);
  }
  Vector by_group(const Vector& terms) const {
    return terms.reshaped(terms.size() / data_->groups, data_->groups).colwise().sum().transpose();
  }
  Vector spread(const Vector& of_groups) const {
    return of_groups.transpose().replicate(data_->labels.size() / data_->groups, 1).reshaped();
  }

  std::shared_ptr<const GroupDroData> data_;
  Vector shares_;  // or one for all values
};

/// Bounds for all records on |y_g| ≤ 1/μ or on the simplex; weight = max n/n_g.
struct GroupDroBounds {
  double groups;
  double mu;
  double weight;
  bool simplex;

  /// Where the convex bounds of a record's group are largest: its weight, what the penalty adds to
  /// the slope in its own y, and the square of what it adds to those of the others.
  struct End {
    double weight, own, others;
  };
  std::array<End, 2> ends() const {
    const double share = 1 / groups;
    if (!simplex)  // the others' (μy)² ≤ 1
      return {{{share + -1 / mu, -1, groups - 1}, {share + 1 / mu, 1, groups - 1}}};
    const double unit = std::pow(mu * share, 2);  // the corner of another group, and the own one
    return {{{0, -mu * share, unit * (std::pow(groups - 1, 2) + std::max(0.0, groups - 2))},
             {1, mu * (1 - share), unit * (groups - 1)}}};
  }

  double gradient() const {
    double squared = 0;
    for (const End& end : ends()) {
      const double factor = weight * end.weight;
      const double slope = 2 * factor * factor + 2 * weight * (weight + std::abs(end.own));
      squared = std::max(squared, certified_maximum(0, 1, 4000, slope, [&](double e) {
                                    const double own = weight * (1 - e) - end.own;
                                    return -2 * factor * factor * e * e * std::log(e) + own * own;
                                  }) + end.others);
    }
    return std::sqrt(squared);
  }

  double joint_hessian() const {
    double largest = mu;
    constexpr double tail = 8;  // beyond it φ′ and |φ″| decrease, and are below 1e-12
    for (const End& end : ends()) {
      const double factor = weight * end.weight;
      const double slope = 1.3802 * std::abs(factor) + weight;
      largest = std::max(largest, certified_maximum(0, tail, 4000, slope, [&](double r) {
                           const double decay = std::exp(-0.5 * r * r);
                           const double corner = factor * (1 - r * r) * decay;
                           const double half = hypotenuse(0.5 * (corner + mu), weight * r * decay);
                           return std::abs(0.5 * (corner - mu)) + half;
                         }));
    }
    return largest;
  }

  double value_hessian() const {
    if (simplex) return 1 + groups / (std::exp(1.0) * mu);
    const double k = groups / mu;
    const double above = k <= 1 ? 1.0 : (1 + k) * (1 + k) / (4 * k) + 2 / std::exp(1.0) * (k - 1);
    return std::max(above, (1 + k) * 2 * std::exp(-1.5));
  }

  double value_third() const {
    if (simplex)
      return 1.3802 + 3 * groups / (4 * mu) * 2 * std::exp(-0.5) * (1 + 2 * std::exp(-1.5));
    const double k = groups / mu;
    // |φ‴| ≤ min(1.3802, 1.63 − 0.9 φ) and φ′|φ″| ≤ 0.2942
    const double at_corner = (1.63 - 1.3802) / 0.9;
    double own = (1 + k * at_corner) * 1.3802;
    const double stationary = (1.63 * k - 0.9) / (1.8 * k);
    if (stationary > at_corner)
      own = (1 + k * std::min(1.0, stationary)) * (1.63 - 0.9 * std::min(1.0, stationary));
    return own + 3 * k * 0.2942;
  }
};

std::shared_ptr<const GroupDroData> draw_group_points(const GroupDro& family, Index d,
                                                      StreamKey key) {
  const Index values = 2 * family.points;
  GroupDroData data;
  data.groups = family.groups;
  data.strong_concavity = family.strong_concavity;
  data.dual = family.dual;
  data.features.resize(d, family.groups * values);
  data.labels.resize(family.groups * values);
  Stream stream(key);
  const auto unit = [&] {
    Vector direction(d);
    stream.fill_normal(1.0, direction);
    return Vector(direction.normalized());
  };
  const Vector common = unit();
  for (Index g = 0; g < family.groups; ++g) {
    const Vector theta = family.signal * (common + family.disagreement * unit()).normalized();
    for (Index k = 0; k < family.points; ++k) {
      const Index v = g * values + 2 * k;
      const double along = family.alignment * stream.normal();
      data.features.col(v) = (along * common + unit()).normalized();
      data.features.col(v + 1) = data.features.col(v);
      data.labels[v] = data.features.col(v).dot(theta);
      data.labels[v + 1] = -data.labels[v];
    }
  }
  data.add_groups();
  return std::make_shared<const GroupDroData>(std::move(data));
}

/// Whether a direction of negative curvature is found at 0 by powers of M I − ∇²F, M ≥ ‖∇²F‖.
bool bends_down_at_origin(const Objective& F, double M, Stream stream) {
  const Vector origin = Vector::Zero(F.dimension());
  Vector v(F.dimension()), bent(F.dimension());
  stream.fill_normal(1.0, v);
  for (int i = 0; i < 200; ++i) {
    v.normalize();
    F.hessian_product(origin, v, bent);
    if (v.dot(bent) < -1e-3) return true;
    v = M * v - bent;
  }
  return false;
}

/// At which φ′, φ″ and φ‴ are extreme.
Vector corner_labels() { return Vector{{0, 1, -1, 0.7420, -0.7420, 1.7321, 3, -3}}; }

/// One unit feature with each of the labels, in every group.
std::shared_ptr<const GroupDroData> group_dro_corners(const GroupDro& family, Index d,
                                                      const Vector& labels) {
  const Vector diagonal = Vector::Constant(d, 1 / std::sqrt(static_cast<double>(d)));
  GroupDroData data;
  data.groups = family.groups;
  data.strong_concavity = family.strong_concavity;
  data.dual = family.dual;
  data.features = diagonal.replicate(1, family.groups * labels.size());
  data.labels = labels.replicate(family.groups, 1);
  data.add_groups();
  return std::make_shared<const GroupDroData>(std::move(data));
}

/// A record of every corner in every group.
std::vector<std::int32_t> corner_groups(Index groups) {
  std::vector<std::int32_t> values;
  const Index per_group = corner_labels().size();
  for (Index k = 0; k < per_group; ++k)
    for (Index g = 0; g < groups; ++g)
      values.push_back(static_cast<std::int32_t>(g * per_group + k));
  return values;
}

}  // namespace

void GroupDroData::add_groups() {
  const Index d = features.rows(), per_group = labels.size() / groups;
  features.conservativeResize(d + 1, Eigen::NoChange);
  for (Index v = 0; v < labels.size(); ++v) features(d, v) = static_cast<double>(v / per_group);
}

std::unique_ptr<const Objective> group_dro_value(std::shared_ptr<const GroupDroData> data,
                                                 Vector shares) {
  return std::make_unique<GroupDroValue>(std::move(data), std::move(shares));
}

std::unique_ptr<const AnyRecords> group_dro_records(std::shared_ptr<const GroupDroData> data,
                                                    std::vector<std::int32_t> values) {
  const Index n = std::ssize(values);
  return admit<GroupDroLoss>(dro_facts(*data, n), RecordTable(data, std::move(values)));
}

std::string_view GroupDro::summary() const {
  return "sum_g (1/G + y_g) l_g(x) - mu|y|^2/2, l_g Welsch regression losses; shared dual, saddle "
         "at 0";
}

ProblemNotes GroupDro::notes() const {
  return {
      .group = "Minimax",
      .formula =
          "f(x, y) = Σ_g (1/G + y_g) l_g(x) − (μ/2)‖y‖², l_g the mean over group g of φ(a·x − b), "
          "φ(r) = 1 − exp(−r²/2); y* = l/μ, Φ = mean l_g + ‖l‖²/(2μ). `dual = simplex`: f = "
          "Σ_g y_g l_g − (μ/2)‖y − 1/G‖² over y ≥ 0, Σ y_g = 1; y* is the projection of 1/G + l/μ, "
          "and ∇²Φ jumps where a weight of y* becomes 0: there is no ρ_Φ, and the stated one is of "
          "the pieces. Record i is of group i mod "
          "G, publicly: adjacency exchanges a record within its group, and its own loss has the "
          "weight n/n_g. Records: a uniform on hidden points of the unit sphere, b = ±a·θ_g with "
          "a fair sign; the population objective is exact, and batch sums depend on multinomials "
          "alone.",
      .source = "xu-2026 notes, 8.2, group-DRO variant",
      .critical_points =
          "The population's origin: every l_g is even in x. Its Hessian there is Σ_g (1/G + "
          "l_g/μ) mean (1 − b²)e^{−b²/2} aaᵀ, negative along directions in which the typical |b| "
          "is beyond 1: a strict saddle at the default settings. Others are not known in closed "
          "form."};
}

Fields GroupDro::fields() {
  using namespace range;
  Fields fields{
      field("groups", groups, between(1, 1000), "G = d2"),
      field("dual", dual, "y in R^G, or weights on the simplex"),
      field("strong_concavity", strong_concavity, positive, "mu"),
      field("signal", signal, not_negative, "|theta_g|, which |b| does not exceed"),
      field("disagreement", disagreement, not_negative, "of the groups' theta_g"),
      field("alignment", alignment, not_negative, "of the features with the common direction"),
      field("points", points, between(1, 100000), "points of each group on the sphere")};
  fields.push_back(field("radius", radius, range::positive_or_infinite,
                         "of the domain |x| <= radius; inf for all of R^d"));
  fields.push_back(sampling_field(
      sampling, {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

void GroupDro::settle(const Stream& random, PublicFacts& facts) const {
  const Index d = facts.dimension;
  if (dual == GroupDual::simplex)
    set_dual(facts, DualKind::shared, Vector::Constant(groups, 1 / static_cast<double>(groups)),
             Domain::simplex());
  else
    set_dual(facts, DualKind::shared, Vector::Zero(groups), Domain::box(1 / strong_concavity));
  if (std::isfinite(radius)) facts.domain = Domain::ball(radius);
  facts.initial_point = start.pick(facts,
                                   {.standard = Vector::Zero(d),
                                    .saddle = Vector::Zero(d),
                                    .random_spread = signal / std::sqrt(static_cast<double>(d)),
                                    .far_radius = 4 * signal},
                                   random);
}

Constants GroupDro::constants(const PublicFacts& facts) const {
  const bool simplex = dual == GroupDual::simplex;
  const auto n = static_cast<double>(facts.records);
  const Index least_size = std::max<Index>(1, facts.records / groups);
  const GroupDroBounds bounds{
      .groups = static_cast<double>(groups),
      .mu = strong_concavity,
      .weight = std::max(n / static_cast<double>(least_size), static_cast<double>(groups)),
      .simplex = simplex};
  const std::string region =
      simplex ? "the simplex" : fmt::format("|y_g| <= {:.4g}", 1 / strong_concavity);
  Constants c;
  c.set(constant::strong_concavity, proved(strong_concavity, "everywhere", "∇²_yy f = −μI."));
  c.set(constant::lipschitz,
        proved(bounds.gradient(), region,
               simplex
                   ? "With e = exp(−r²/2) and ω = max(G, n/n_g): ‖∇f‖² ≤ ω²y_g²·(−2e² ln e) + "
                     "(ω(1−e) − μ(y_g − 1/G))² + Σ_{others} μ²(y − 1/G)², convex in y: the corners "
                     "of the simplex, then a grid in e ∈ [0, 1] with the slope's remainder."
                   : "With e = exp(−r²/2) and ω = max(G, n/n_g): ‖∇f‖² ≤ ω²(1/G + y_g)²·(−2e² ln "
                     "e) + (ω(1−e) − μy_g)² + Σ_{others}(μy)², convex in every y: the ends, then a "
                     "grid in e ∈ [0, 1] with the slope's remainder."));
  c.set(constant::joint_smoothness,
        proved(bounds.joint_hessian(), region,
               "Along a and y_g the Hessian is [[ωwφ″, ωφ′], [ωφ′, −μ]], elsewhere −μ, with w = "
               "1/G + y_g, on the simplex y_g; ‖a‖ < 1 shrinks it. Its norm is convex in w: the "
               "ends, then a grid in r with the slope's remainder."));
  c.set(
      constant::smoothness,
      proved(
          bounds.value_hessian(), "everywhere",
          simplex
              ? "vᵀ∇²Φv is Σ_g y_g* E φ″s², in [−2e^{−3/2}, 1], plus 1/μ times the squared length "
                "of the support's E φ′s less their mean; as |φ′| ≤ e^{−1/2} that is at most G/(eμ)."
              : "k = G/μ. Per group and unit direction, σ = (a·v)² ≤ 1, m = E φ = 1 − E e: vᵀ∇²Φv "
                "≤ E σ[(1 + km)φ″ + kφ′²], as (E φ′s)² ≤ E φ′²s². With φ″ = e(1 + 2 ln e), φ′² = "
                "−2e² ln e this is (1 + km) E σe − 2 E σ(e ln e)(ke − 1 − km) and for k ≤ 1 at "
                "most (1 + k(1 − E e)) E e ≤ 1. Below: −(1 + k)·2e^{−3/2}. For k > 1: (1+k)²/(4k) "
                "+ (2/e)(k − 1)."));
  if (simplex)  // ∇²Φ jumps where a weight becomes 0, so that no bound holds everywhere
    c.set(constant::hessian_lipschitz,
          {bounds.value_third(), Origin::estimated, "where the support of y* does not change"});
  else
    c.set(constant::hessian_lipschitz,
          proved(bounds.value_third(), "everywhere",
                 "k = G/μ. Φ‴ along v is the groups' mean of (1 + km) E φ‴s³ + 3k E[φ′s] E[φ″s²]. "
                 "|φ‴| ≤ min(1.3802, 1.63 − 0.9φ) bounds the first through m = E φ; (|φ′|, |φ″|) "
                 "lies in the hull of (r, |1−r²|)e^{−r²/2}, whose boundary is the curve itself, "
                 "with product ≤ 0.2942.",
                 0.667));
  c.set(constant::suboptimality,
        proved(simplex ? 1 : 1 + 0.5 * static_cast<double>(groups) / strong_concavity, "everywhere",
               simplex ? "0 ≤ l_g < 1, so 0 ≤ Φ ≤ max l_g < 1."
                       : "0 ≤ l_g < 1, so 0 ≤ Φ < 1 + G/(2μ)."));
  return c;
}

void GroupDro::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  const auto data = draw_group_points(*this, d, key.child(1));
  const Index values = 2 * points;
  DrawnValues drawn =
      draw_values(std::string(name()),
                  {.strata = groups,
                   .probabilities = Vector::Constant(values, 1 / static_cast<double>(values))},
                  spec.records, sampling, spec.data_seed);
  problem.population = group_dro_value(data, Vector::Constant(1, 1 / static_cast<double>(values)));
  if (sampling != RecordSampling::stream) {
    Vector counted(data->labels.size());
    for (Index v = 0; v < counted.size(); ++v) {
      const Index size = stratum_size(spec.records, groups, v / values);
      counted[v] = static_cast<double>(drawn.counts[static_cast<std::size_t>(v)]) /
                   static_cast<double>(std::max<Index>(1, size));
    }
    problem.empirical = group_dro_value(data, std::move(counted));
  }
  if (bends_down_at_origin(*problem.population, problem.facts.constants[constant::smoothness],
                           Stream(key.child(2))))
    problem.landmarks.push_back(
        {"origin", Landmark::Kind::strict_saddle, Landmark::Of::population, Vector::Zero(d)});
  problem.extremes =
      group_dro_records(group_dro_corners(*this, d, corner_labels()), corner_groups(groups));
  for (const double label : {0.0, 1.0, 3.0})  // all records alike
    problem.extreme_objectives.push_back(
        group_dro_value(group_dro_corners(*this, d, Vector{{label}}), Vector::Ones(1)));
  set_records<GroupDroLoss>(dro_facts(*data, spec.records), data, std::move(drawn), problem);
}

}  // namespace dpsosp
