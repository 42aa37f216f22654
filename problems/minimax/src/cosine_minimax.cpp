// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/cosine_minimax.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/elementary.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/fixed_dimension.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "dpsosp/trusted/clip.hpp"

namespace dpsosp {
namespace {

class CosineMinimaxValue final : public DiagonalObjective {
 public:
  CosineMinimaxValue(Vector c, double mu, double gamma, Vector mean_dual, Vector mean_primal)
      : c_(std::move(c)),
        mu_(mu),
        gamma_(gamma),
        mean_dual_(std::move(mean_dual)),
        mean_primal_(std::move(mean_primal)) {}

  Index dimension() const override { return mean_primal_.size(); }
  double value(ConstVectorRef x) const override {
    return inner(x).squaredNorm() / (2.0 * mu_) + gamma_ * cosines(x).array().sum() +
           mean_primal_.dot(x);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = mean_primal_.array() - gamma_ * sines(x).array();
    out.head(c_.size()) += c_.cwiseProduct(inner(x)) / mu_;
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    out = -gamma_ * cosines(x).array();
    out.head(c_.size()) += c_.cwiseAbs2() / mu_;
  }

 private:
  Vector inner(ConstVectorRef x) const { return c_.cwiseProduct(x.head(c_.size())) + mean_dual_; }

  Vector c_;
  double mu_;
  double gamma_;
  Vector mean_dual_;
  Vector mean_primal_;
};

/// c, μ and γ, and d = m + k.
struct CosineTerms {
  Vector c;
  double mu, gamma;
  Index d;

  /// The blocks of ∇f that are asked for, without the record's own s and e, less those at
  /// `previous` unless it is null.
  Vector common(const Point& point, const Point* previous, Block block) const {
    if (!point.has_dual())
      throw InputError("cosine-minimax: its dual is shared by all records, so a query needs y");
    const Index m = c.size();
    Vector made((block == Block::y ? 0 : d) + (block == Block::x ? 0 : m));
    if (block != Block::y) {
      made.head(d) = -gamma * sines(point.x).array();
      made.head(m) += c.cwiseProduct(point.y);
    }
    if (block != Block::x) made.tail(m) = c.cwiseProduct(point.x.head(m)) - mu * point.y;
    if (previous != nullptr) made -= common(*previous, nullptr, block);
    return made;
  }
};

/// A record is (s, e). Differences between two points are the same for all.
struct CosineMinimaxLoss {
  static constexpr std::string_view problem = "cosine-minimax";
  static constexpr DenseDual dual = DenseDual::shared;
  static constexpr DenseLength length = DenseLength::by_block;
  using Facts = CosineTerms;
  struct Gradients {
    Gradients(const Facts& facts, const Point& point, const Point* previous, Block block)
        : common(facts.common(point, previous, block)), from(block == Block::y ? facts.d : 0) {}
    Vector common;
    Index from;  // of the record's entries
  };
  static Index dimension(const Facts& facts) { return facts.d; }
  static Index dual_dimension(const Facts& facts) { return facts.c.size(); }
  static bool reads_record(Block, bool difference) { return !difference; }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    v = at.common + z.column.segment(at.from, v.size());
    return {};
  }
};

std::unique_ptr<const AnyRecords> cosine_minimax_records(CosineTerms terms, const Matrix& e,
                                                         const Matrix& s) {
  RecordColumns data{Matrix(s.rows() + e.rows(), e.cols()), Vector::Zero(e.cols())};
  data.features << s, e;
  return admit<CosineMinimaxLoss>(std::move(terms), RecordTable(std::move(data)));
}

/// e ∈ {±1}^m/√m and s ∈ {±1}^d/√d: Σ of a range is 2 Bin(size, ½) − size in every coordinate.
class SimulatedTerms final : public SimulatedSums {
 public:
  SimulatedTerms(CosineTerms terms, RecordSampling sampling, const InstanceSpec& spec)
      : terms_(std::move(terms)), sampling_(sampling), spec_(spec) {}

  Index size() const override { return spec_.records; }

  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    check_simulated_batch("cosine-minimax", sampling_, batch, spec_.records);
    if (s.kind != Summand::Kind::gradient) refuse(s);
    const Vector common = terms_.common(s.point, s.before(), s.block);
    ClipReport report;
    if (s.previous) {  // the records cancel: every record's difference is the same vector
      out += clip_weight(report, common.norm(), limit, batch.size()) * common;
      return report;
    }
    const auto drawn = sums(batch.begin(), batch.size());
    const auto count = static_cast<double>(batch.size());
    double squared_bound = 0;
    if (s.block != Block::y) {
      squared_bound += std::pow(common.head(terms_.d).norm() + 1, 2);
      out.head(terms_.d) += count * common.head(terms_.d) + drawn->second;
    }
    if (s.block != Block::x) {
      const Index m = terms_.c.size();
      squared_bound += std::pow(common.tail(m).norm() + 1, 2);
      out.tail(m) += count * common.tail(m) + drawn->first;
    }
    check_simulated_limit("cosine-minimax", std::sqrt(squared_bound), limit);
    return report;
  }

  /// Σ e and Σ s of records [begin, begin + size).
  std::shared_ptr<const std::pair<Vector, Vector>> sums(Index begin, Index size) const {
    return drawn_.of(RangeKey(begin, size), [&] {
      const Stream range = range_stream(spec_.data_seed, begin, size);
      const auto draw = [size](Index dimension, Stream stream) {
        Vector sum(dimension);
        for (double& entry : sum)
          entry = static_cast<double>(2 * stream.binomial(size, 0.5) - size) /
                  std::sqrt(static_cast<double>(dimension));
        return sum;
      };
      return std::pair(draw(terms_.c.size(), range.child(0)), draw(terms_.d, range.child(1)));
    });
  }

 private:
  CosineTerms terms_;
  RecordSampling sampling_;
  InstanceSpec spec_;
  Last<RangeKey, std::pair<Vector, Vector>> drawn_;
};

/// Columns uniform in the unit ball, then centred and scaled so that all stay inside it.
Matrix centred_ball_points(Index dimension, Index count, Stream stream) {
  Matrix points(dimension, count);
  for (Index i = 0; i < count; ++i) stream.fill_ball(1.0, points.col(i));
  points.colwise() -= points.rowwise().mean().eval();
  points /= std::max(1.0, points.colwise().norm().maxCoeff());
  return points;
}

/// Columns in {±1}^dimension/√dimension.
Matrix sign_points(Index dimension, Index count, Stream stream) {
  Matrix points(dimension, count);
  const double entry = 1 / std::sqrt(static_cast<double>(dimension));
  for (double& p : points.reshaped()) p = stream.bernoulli(0.5) ? entry : -entry;
  return points;
}

/// Unit vectors: equal entries, alternating ones, and an axis, each with both signs.
Matrix corner_points(Index dimension) {
  Matrix points(dimension, 6);
  const double entry = 1 / std::sqrt(static_cast<double>(dimension));
  for (Index j = 0; j < dimension; ++j)
    points.row(j).head(3) << entry, j % 2 == 0 ? entry : -entry, j == 0 ? 1.0 : 0.0;
  points.rightCols(3) = -points.leftCols(3);
  return points;
}

/// sup of ‖∇f‖ over |x_j| ≤ h, |y_j| ≤ η, ‖e‖, ‖s‖ ≤ 1, for h ≥ π/2, where sin reaches 1.
double largest_gradient(const Vector& c, double mu, double gamma, Index free, double h,
                        double dual) {
  const auto sizes = c.array().abs();
  const double x_part =
      std::sqrt((sizes * dual + gamma).square().sum() + gamma * gamma * static_cast<double>(free));
  const double y_part = (sizes * h + mu * dual).matrix().norm();
  return hypotenuse(x_part + 1, y_part + 1);
}

}  // namespace

std::unique_ptr<const DiagonalObjective> cosine_minimax_value(Vector coupling,
                                                              double strong_concavity, double gamma,
                                                              Vector mean_dual,
                                                              Vector mean_primal) {
  return std::make_unique<CosineMinimaxValue>(std::move(coupling), strong_concavity, gamma,
                                              std::move(mean_dual), std::move(mean_primal));
}

std::string_view CosineMinimax::summary() const {
  return "y.(c x_{1..m} + e) - mu|y|^2/2 + gamma sum cos x_j + s.x; shared dual, lambda_min known";
}

ProblemNotes CosineMinimax::notes() const {
  return {
      .group = "Minimax",
      .formula =
          "f(x, y; e, s) = yᵀ(c ∘ x_{1..m} + e) − (μ/2)‖y‖² + γ Σ_j cos x_j + sᵀx with "
          "‖e‖, ‖s‖ ≤ 1. y*(x) = (c ∘ x_{1..m} + ē)/μ and "
          "Φ(x) = ‖c ∘ x_{1..m} + ē‖²/(2μ) + γ Σ_j cos x_j + s̄ᵀx; population ē = s̄ = 0. "
          "`balanced`: e, s uniform in unit balls, then centred, so Φ is the population's. "
          "Otherwise e ∈ {±1}^m/√m, s ∈ {±1}^{m+k}/√(m+k): sums are binomials.",
      .source = "xu-2026 notes, 8.3",
      .critical_points =
          "The Hessian of Φ is diagonal, c_j²/μ − γ cos x_j for j ≤ m and −γ cos x_j beyond. With "
          "ē = s̄ = 0 and c_j²/μ > γ the origin is a strict saddle with λ_min = −γ and the minima "
          "are x_j = 0 (j ≤ m), ±π (j > m); every point with x_j = 0 (j ≤ m) and x_j ∈ πZ beyond "
          "is critical, and a strict saddle if one of these is an even multiple."};
}

Fields CosineMinimax::fields() {
  using namespace range;
  Fields fields{
      field("coupled", coupled, at_least(1), "m = d2"),
      field("free", free, not_negative, "k; d = m + k"),
      field("coupling", coupling, finite, "c_1"),
      field("coupling_ratio", coupling_ratio, positive, "c_m / c_1; c is geometric between"),
      field("strong_concavity", strong_concavity, positive, "mu"),
      field("gamma", gamma, positive, "gamma"),
      field("clip", clip, positive_or_infinite, "limit for per-record gradients without a box"),
      field("half_width", half_width, not_negative, "h >= pi of the box |x_j| <= h; 0: no box")};
  fields.push_back(sampling_field(sampling, {RecordSampling::balanced, RecordSampling::independent,
                                             RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

Vector CosineMinimax::couplings() const {
  Vector c(coupled);
  for (Index j = 0; j < coupled; ++j)
    c[j] = coupling *
           portable_pow(coupling_ratio, static_cast<double>(j) /
                                            static_cast<double>(std::max<Index>(1, coupled - 1)));
  return c;
}

Index CosineMinimax::dimension(const InstanceSpec& spec) const {
  const double least = couplings().cwiseAbs().minCoeff();
  if (!(least * least / strong_concavity > gamma))
    reject(name(), "coupling", least, "coupling^2 / strong_concavity > gamma for every coupling");
  if (half_width != 0 && !(half_width >= std::numbers::pi))
    reject(name(), "half_width", half_width, "0, or >= pi");
  const Index d = coupled + free;
  return check_fixed_dimension(
      name(), spec, d, fmt::format("coupled + free = {}; set problem.coupled and problem.free", d));
}

void CosineMinimax::settle(const Stream& random, PublicFacts& facts) const {
  const Index d = facts.dimension;
  set_dual(facts, DualKind::shared, Vector::Zero(coupled));
  if (half_width > 0) {
    const double largest = couplings().cwiseAbs().maxCoeff();
    facts.domain = Domain::box(half_width);
    facts.dual_domain = Domain::box((largest * half_width + 1) / strong_concavity);
  }
  facts.initial_point =
      start.pick(facts,
                 {.standard = Vector::Zero(d),
                  .saddle = free > 0 ? std::optional<Vector>(Vector::Zero(d)) : std::nullopt,
                  .random_spread = std::numbers::pi,
                  .far_radius = 10 * std::numbers::pi},
                 random);
}

Constants CosineMinimax::constants(const PublicFacts& facts) const {
  const Vector c = couplings();
  const double largest = c.cwiseAbs().maxCoeff();
  Constants made;
  if (half_width > 0) {
    made.set(constant::lipschitz,
             proved(largest_gradient(c, strong_concavity, gamma, free, half_width,
                                     facts.dual_domain.radius),
                    "the domain and |y_j| <= η = (max c h + 1)/mu",
                    "‖∇ₓf‖ ≤ ‖(c_j η + γ)_{j≤m}, (γ)_{j>m}‖ + ‖s‖ and ‖∇_yf‖ ≤ ‖(c_j h + μη)_j‖ + "
                    "‖e‖, ‖e‖, ‖s‖ ≤ 1. Every maximiser y* is in that range.",
                    0.96));
  } else {
    made.set(constant::lipschitz, {clip, Origin::clipped});
  }
  made.set(constant::smoothness,
           proved(largest * largest / strong_concavity + gamma, "everywhere",
                  "Φ's Hessian is diagonal with entries in [−γ, max c²/μ + γ]."));
  made.set(
      constant::hessian_lipschitz,
      proved(gamma, "everywhere", "Each of those entries is γ-Lipschitz in its own coordinate."));
  made.set(constant::joint_smoothness,
           proved(largest + std::max(gamma, strong_concavity), "everywhere",
                  "∇f is affine in (x, y) plus −γ sin x: a pair (x_j, y_j) sees [[−γ cos, c_j], "
                  "[c_j, −μ]], of norm at most c_j + max(γ, μ).",
                  0.92));
  made.set(constant::strong_concavity, proved(strong_concavity, "everywhere", "∇²_yy f = −μI."));
  const double at_start = cosine_minimax_value(c, strong_concavity, gamma, Vector::Zero(coupled),
                                               Vector::Zero(facts.dimension))
                              ->value(facts.initial_point);
  made.set(
      constant::suboptimality,
      suboptimality_by_mean(
          std::max(0.0, at_start - gamma * static_cast<double>(coupled - free)),
          (largest / strong_concavity + 1) * facts.domain.diameter(facts.dimension), sampling,
          "The records' means are 0, and min Φ = γ(m − k): x_j = 0 for j ≤ m, where c_j²/μ > γ "
          "makes the coordinate convex, and ±π beyond.",
          "The population's gap; means ē, s̄ of length at most 1 move a difference of two values of "
          "Φ by at most (max c/μ + 1)·diam."));
  return made;
}

void CosineMinimax::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const Vector c = couplings();
  const CosineTerms terms{c, strong_concavity, gamma, d};
  const auto value = [&](Vector mean_dual, Vector mean_primal) {
    return cosine_minimax_value(c, strong_concavity, gamma, std::move(mean_dual),
                                std::move(mean_primal));
  };
  problem.population = value(Vector::Zero(coupled), Vector::Zero(d));
  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  if (simulated(sampling)) {
    auto sums = std::make_unique<SimulatedTerms>(terms, sampling, spec);
    if (sampling == RecordSampling::whole) {
      const auto drawn = sums->sums(0, spec.records);
      const auto& [e, s] = *drawn;
      const auto n = static_cast<double>(spec.records);
      problem.empirical = value(e / n, s / n);
    }
    problem.simulated = std::move(sums);
  } else {
    const auto points = sampling == RecordSampling::balanced ? centred_ball_points : sign_points;
    Matrix e = points(coupled, spec.records, Stream(key.child(0)));
    Matrix s = points(d, spec.records, Stream(key.child(1)));
    problem.empirical = value(e.rowwise().mean(), s.rowwise().mean());
    problem.records = cosine_minimax_records(terms, e, s);
  }
  problem.extremes = cosine_minimax_records(terms, corner_points(coupled), corner_points(d));

  Vector minimiser = Vector::Zero(d);
  minimiser.tail(free).setConstant(std::numbers::pi);
  if (free > 0)
    problem.landmarks.push_back(
        {"origin", Landmark::Kind::strict_saddle, Landmark::Of::population, Vector::Zero(d)});
  problem.landmarks.push_back({"free coordinates at π", Landmark::Kind::minimiser,
                               Landmark::Of::population, std::move(minimiser)});
  if (sampling == RecordSampling::balanced) share_landmarks(problem.landmarks);
  if (free > 0)
    problem.slice = Slice{"Φ over a coupled and a free coordinate: saddle between two minima",
                          Vector::Zero(d),
                          Vector::Unit(d, 0),
                          Vector::Unit(d, coupled),
                          -2.0,
                          2.0,
                          -5.0,
                          5.0};
}

}  // namespace dpsosp
