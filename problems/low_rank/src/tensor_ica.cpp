// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/tensor_ica.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "quartic.hpp"

namespace dpsosp {
namespace {

RadialPart radial_part(const TensorIcaLoss& loss) { return {loss.quartic, loss.gamma}; }

/// A record's own part of f(x; y) = t⁴/(4|κ|) + radial, t = y·x, has the derivatives t³/|κ| y and
/// (3t²/|κ|) yyᵀ.
struct IcaLoss {
  static constexpr std::string_view problem = "tensor-ica";
  static constexpr DenseDual dual = DenseDual::none;
  struct Facts {
    Index d;
    TensorIcaLoss loss;

    double own(double t) const { return t * t * t / loss.excess; }
    double bend(double t) const { return 3 * t * t / loss.excess; }
  };
  struct Gradients : DenseQuery<Facts> {
    Gradients(const Facts& f, const Point& point, const Point* previous, Block asked)
        : DenseQuery(f, point, previous, asked) {
      const RadialPart radial = radial_part(f.loss);
      common = radial.slope(x) * x;
      if (difference) common -= radial.slope(x_before) * x_before;
    }
    Vector common;
  };
  struct Losses : DenseQuery<Facts> {
    Losses(const Facts& f, const Point& point, const Point& centre) : DenseQuery(f, point, centre) {
      const RadialPart radial = radial_part(f.loss);
      common = radial.value(x) - radial.value(x_before);
    }
    double common;
  };
  struct Products : DenseQuery<Facts> {
    Products(const Facts& f, const Point& point, const Point* previous, ConstVectorRef v)
        : DenseQuery(f, point, previous, v) {
      const RadialPart radial = radial_part(f.loss);
      b = radial.b;
      slope = radial.slope(x);
      squared = x.squaredNorm();
      if (difference) {
        const RadialChange change(b, x, x_before);
        common = change.product(v);
        common_norm = change.norm();
      } else {
        common = radial.hessian_product(x, v);
      }
    }
    Vector common;
    double b, slope, squared, common_norm = 0;
  };

  static Index dimension(const Facts& facts) { return facts.d; }

  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    double c = at.facts.own(z.column.dot(at.x));
    if (at.difference) c -= at.facts.own(z.column.dot(at.x_before));
    v = c * z.column + at.common;
    return {};
  }

  static double loss(const Losses& at, const DenseRecord& z, double*) {
    const double t = z.column.dot(at.x), before = z.column.dot(at.x_before);
    return 0.25 * (t * at.facts.own(t) - before * at.facts.own(before)) + at.common;
  }

  /// The bound of a difference is the sum of the norms of the record's own part and of the common
  /// one.
  static double product(const Products& at, const DenseRecord& z, double*, VectorRef v) {
    const double t = z.column.dot(at.x), y_squared = z.column.squaredNorm();
    double beta = at.facts.bend(t);
    if (at.difference) beta -= at.facts.bend(z.column.dot(at.x_before));
    v = (beta * z.column.dot(at.direction)) * z.column + at.common;
    if (at.difference) return std::abs(beta) * y_squared + at.common_norm;
    const double beside = y_squared > 0 ? (at.x - (t / y_squared) * z.column).norm() : 0.0;
    return shifted_norm(at.slope, {.alpha = 2 * at.b,
                                   .p_squared = at.squared,
                                   .beta = beta,
                                   .q_squared = y_squared,
                                   .inner = t,
                                   .across = std::sqrt(y_squared) * beside});
  }
};

class IcaObjective final : public Objective {
 public:
  IcaObjective(TensorIcaLoss loss, std::shared_ptr<const Matrix> observed)
      : excess_(loss.excess), radial_(radial_part(loss)), observed_(std::move(observed)) {}

  Index dimension() const override { return observed_->rows(); }
  double value(ConstVectorRef x) const override {
    const Vector t = observed_->transpose() * x;
    return t.array().square().square().mean() / (4 * excess_) + radial_.value(x);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    const Vector t = observed_->transpose() * x;
    out = radial_.slope(x) * x;
    out += mean(t.array().cube()) / excess_;
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    const Vector t = observed_->transpose() * x;
    const Vector along = observed_->transpose() * v;
    out = radial_.hessian_product(x, v);
    out += mean(t.array().square() * along.array()) * (3 / excess_);
  }

 private:
  /// (1/n) Σ_i weights_i y_i.
  Vector mean(const Vector& weights) const {
    return *observed_ * weights / static_cast<double>(observed_->cols());
  }

  double excess_;
  RadialPart radial_;
  std::shared_ptr<const Matrix> observed_;
};

/// Observations of the greatest length: sources at corners of their cube.
Matrix corner_observations(const Matrix& mixing, Index d, double corner) {
  Matrix sources(d, 4);
  for (Index j = 0; j < d; ++j) {
    const double alternating = j % 2 == 0 ? corner : -corner;
    const double halves = 2 * j < d ? corner : -corner;
    sources.row(j) << corner, alternating, halves, j == 0 ? corner : -corner;
  }
  return mixing.size() == 0 ? sources : Matrix(mixing * sources);
}

TensorIcaLoss loss_of(const TensorIca& f) {
  const double excess = f.source == TensorIca::Source::signs ? 2.0 : 1.2;
  return {.excess = excess, .quartic = f.penalty - 3 / excess, .gamma = f.penalty - 1};
}

/// The largest source.
double corner_of(const TensorIca& f) {
  return f.source == TensorIca::Source::signs ? 1.0 : std::sqrt(3.0);
}

}  // namespace

std::unique_ptr<const AnyRecords> tensor_ica_records(
    TensorIcaLoss loss, std::shared_ptr<const RecordColumns> observed) {
  const Index d = observed->features.rows();
  return admit<IcaLoss>({d, loss}, RecordTable(std::move(observed)));
}

std::unique_ptr<const Objective> tensor_ica_objective(TensorIcaLoss loss,
                                                      std::shared_ptr<const Matrix> observed) {
  return std::make_unique<IcaObjective>(loss, std::move(observed));
}

std::string_view TensorIca::summary() const {
  return "((x.y)^4 - 3|x|^4)/(4|kappa|) + penalty(|x|), y = A s; ICA, hidden components, saddles "
         "known";
}

ProblemNotes TensorIca::notes() const {
  return {
      .group = "Tensor-like saddles",
      .formula =
          "f(x; y) = ((x·y)⁴ − 3‖x‖⁴)/(4|κ|) + (β/4)‖x‖⁴ − ((β−1)/2)‖x‖², y = A s with A "
          "orthogonal and hidden, independent sources s_j uniform on {−1, 1} (κ = −2) or [−√3, "
          "√3] (κ = −6/5). Population: −¼ Σ_j (a_j·x)⁴ + (β/4)‖x‖⁴ − ((β−1)/2)‖x‖².",
      .source = "Ge, Huang, Jin and Yuan (2015), section 4.1, with a penalty for the unit sphere",
      .critical_points =
          "Of the population those of `orthogonal-tensor`: 0 with λ_min = −(β−1), minimisers ±a_j "
          "with F* = −(β−1)/4, and for k ≥ 2 columns with magnitudes m = √((β−1)/(βk−1)) strict "
          "saddles with λ_min = −2m². Sums over a batch do not follow a simple law, so records "
          "are always held."};
}

Fields TensorIca::fields() {
  Fields fields{field("penalty", penalty, quartic_penalties, "beta, weight of |x|^4 / 4"),
                field("radius", radius, range::at_least(1), "R of the domain |x| <= R"),
                field("source", source, "law of the sources, of mean 0 and variance 1"),
                field("mixing", mixing, "A: orthogonal and hidden, or the identity and public")};
  start.add_fields(fields);
  return fields;
}

void TensorIca::settle(const Stream& random, PublicFacts& facts) const {
  const Index d = facts.dimension;
  Vector saddle = Vector::Zero(d);  // of every mixing; with the identity another is public
  if (mixing == Mixing::identity)
    saddle = Quartic(Matrix(), Vector::Ones(d), penalty).critical_point({0, 1});
  settle_at_saddle(start, radius, saddle, random, facts);
}

Constants TensorIca::constants(const PublicFacts& facts) const {
  const auto entries = static_cast<double>(facts.dimension);
  const bool of_signs = source == Source::signs;
  const TensorIcaLoss loss = loss_of(*this);
  const double excess = loss.excess, corner = corner_of(*this);
  Constants made;
  // f(·; y) is a quartic with w = −‖y‖⁴/|κ|, and the bounds are convex in w.
  const double longest = corner * corner * entries;  // ‖y‖²
  const double w = -longest * longest / excess;
  const double shortest_w = of_signs ? w : 0.0;
  const QuarticBounds bounds = either(quartic_bounds(w, loss.quartic, loss.gamma, radius),
                                      quartic_bounds(shortest_w, loss.quartic, loss.gamma, radius));
  made.set(
      constant::lipschitz,
      proved(bounds.gradient, "the domain",
             "f = (W/4)(a·x)⁴ + (b/4)r⁴ − (γ/2)r², a = y/‖y‖, W = ‖y‖⁴/|κ| ≤ B⁴/|κ|, B² = d or 3d, "
             "b = β − 3/|κ|, γ = β − 1, r = ‖x‖. ‖∇f‖ is convex in W, and in (a·x)² its square is "
             "largest at an end of [0, r²]: |br² − γ|r or |(W+b)r² − γ|r, cubics on [0, R]."));
  made.set(constant::smoothness,
           proved(bounds.hessian, "the domain",
                  "vᵀ∇²f v = r²(b + 2bκ² + 3Wm) − γ, κ = cos∠(x, v), m = cos²∠(a, x) cos²∠(a, v) ∈ "
                  "[0, ((1+κ)/2)²]: the extremes of quadratics in κ ∈ [0, 1], largest at x, v, y "
                  "parallel, r = R."));
  made.set(constant::hessian_lipschitz,
           proved(bounds.third, "the domain",
                  "∇³f[v, v, v] = 6 x·(bv + W s³a), s = a·v, at most 6R‖bv + Ws³a‖, whose square "
                  "is largest at an end of s² ∈ [0, 1]: 6R max(|b|, |W + b|)."));
  // No record undercuts (b/4)r⁴ − (γ/2)r², nor exceeds it at x₀ by more than W r⁴/4.
  const RadialPart radial = radial_part(loss);
  double lowest = radial.of_squared(radius * radius);
  if (radial.b > 0) lowest = radial.of_squared(std::min(radius * radius, radial.gamma / radial.b));
  const double squared_start = facts.initial_point.squaredNorm();
  made.set(
      constant::suboptimality,
      proved(radial.of_squared(squared_start) - 0.25 * w * squared_start * squared_start - lowest,
             "the domain, from the initial point",
             "0 ≤ (x·y)⁴ ≤ B⁴r⁴, so g(r) = (b/4)r⁴ − (γ/2)r² ≤ F ≤ g(r) + B⁴r⁴/(4|κ|) for every "
             "data set."));
  return made;
}

void TensorIca::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const TensorIcaLoss loss = loss_of(*this);
  const double corner = corner_of(*this);
  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  const Matrix axes = mixing == Mixing::planted ? random_basis(d, key.child(1)) : Matrix();
  Stream stream(key.child(0));
  auto data = std::make_shared<RecordColumns>(
      RecordColumns{Matrix(d, spec.records), Vector::Zero(spec.records)});
  Matrix& observed = data->features;
  for (double& s : observed.reshaped())
    s = source == Source::signs ? (stream.bernoulli(0.5) ? 1.0 : -1.0)
                                : corner * (2 * stream.uniform() - 1);
  if (mixing == Mixing::planted) observed = axes * observed;

  auto population = std::make_unique<Quartic>(axes, Vector::Ones(d), penalty);
  problem.landmarks = population->landmarks(Landmark::Of::population);
  problem.population = std::move(population);
  problem.landmarks.push_back(
      {"origin", Landmark::Kind::strict_saddle, Landmark::Of::empirical, Vector::Zero(d)});
  const auto corners = std::make_shared<const RecordColumns>(
      RecordColumns{corner_observations(axes, d, corner), Vector::Zero(4)});
  problem.extremes = tensor_ica_records(loss, corners);
  problem.extreme_objectives.push_back(tensor_ica_objective(loss, {corners, &corners->features}));
  problem.empirical = tensor_ica_objective(loss, {data, &data->features});
  problem.records = tensor_ica_records(loss, std::move(data));
  problem.slice = component_slice(
      "F over the plane of two hidden components: four minimisers, four saddles, a maximum", axes,
      d, radius);
}

}  // namespace dpsosp
