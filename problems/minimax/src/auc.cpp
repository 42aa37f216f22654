// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/auc.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include "certified_maximum.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/finite_records.hpp"

namespace dpsosp {
namespace {

double sigmoid(double u) { return 1 / (1 + std::exp(-u)); }

/// Weight of a label's terms: 1 − p for +, p for −.
double class_weight(double prior, double label) { return label > 0 ? 1 - prior : prior; }

struct AucLoss {
  static constexpr std::string_view problem = "auc";
  static constexpr DenseDual dual = DenseDual::shared;
  struct Facts {
    Index features;
    double prior;
  };
  using Gradients = DenseQuery<Facts>;

  static Index dimension(const Facts& facts) { return facts.features + 2; }
  static Index dual_dimension(const Facts&) { return 1; }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    add(at, at.x, at.y[0], z, 1.0, v);
    if (at.difference) add(at, at.x_before, at.y_before[0], z, -1.0, v);
    return {};
  }

 private:
  static void add(const Gradients& at, const Vector& x, double y, const DenseRecord& z, double sign,
                  VectorRef out) {
    const Index k = at.facts.features;
    const double label = z.label, p = at.facts.prior;
    const double weight = class_weight(p, label);
    const double h = sigmoid(z.column.dot(x.head(k)));
    const Index threshold = label > 0 ? k : k + 1;
    const double gap = h - x[threshold];
    if (at.block != Block::y) {
      out.head(k) += (sign * 2 * weight * (gap - label * (1 + y)) * h * (1 - h)) * z.column;
      out[threshold] -= sign * 2 * weight * gap;
    }
    if (at.block != Block::x)
      out[out.size() - 1] += sign * (-2 * label * weight * h - 2 * p * (1 - p) * y);
  }
};

class AucValue final : public Objective {
 public:
  AucValue(std::shared_ptr<const AucData> data, Vector shares)
      : data_(std::move(data)), weights_(std::move(shares)) {
    for (Index v = 0; v < weights_.size(); ++v)
      weights_[v] *= class_weight(data_->prior, data_->labels[v]);
    positive_ = (data_->labels.array() > 0).cast<double>();
  }

  Index dimension() const override { return data_->features.rows() + 2; }

  double value(ConstVectorRef x) const override {
    const State at(*this, x);
    return weights_.dot(at.gap.cwiseAbs2()) + 2 * at.mean + at.mean * at.mean / scale();
  }

  void gradient(ConstVectorRef x, VectorRef out) const override {
    const State at(*this, x);
    const Vector slope = h1(at.h);
    out.head(features()) =
        data_->features * (2 * weights_.array() * slope.array() *
                           (at.gap.array() - (1 + at.mean / scale()) * data_->labels.array()))
                              .matrix();
    add_thresholds(-2 * weights_.cwiseProduct(at.gap), out);
  }

  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    const State at(*this, x);
    const Vector slope = h1(at.h);
    const Vector along = data_->features.transpose() * v.head(features());
    const Vector moved = slope.cwiseProduct(along) - thresholds(v);  // of h − a, or h − b
    const double mean_moved = -weights_.dot(data_->labels.cwiseProduct(slope.cwiseProduct(along)));
    const auto bend = slope.array() * (1 - 2 * at.h.array());
    out.head(features()) =
        data_->features *
        (2 * weights_.array() *
         (slope.array() * (moved.array() - mean_moved / scale() * data_->labels.array()) +
          bend * along.array() *
              (at.gap.array() - (1 + at.mean / scale()) * data_->labels.array())))
            .matrix();
    add_thresholds(-2 * weights_.cwiseProduct(moved), out);
  }

 private:
  struct State {
    State(const AucValue& f, ConstVectorRef x)
        : h((1 + (-(f.data_->features.transpose() * x.head(f.features())).array()).exp())
                .inverse()),
          gap(h - f.thresholds(x)),
          mean(-f.weights_.dot(f.data_->labels.cwiseProduct(h))) {}
    Vector h;
    Vector gap;   // h − a, or h − b
    double mean;  // D
  };

  Index features() const { return data_->features.rows(); }
  double scale() const { return data_->prior * (1 - data_->prior); }
  static Vector h1(const Vector& h) { return h.array() * (1 - h.array()); }
  Vector thresholds(ConstVectorRef x) const {
    return x[features()] * positive_.array() + x[features() + 1] * (1 - positive_.array());
  }
  void add_thresholds(const Vector& terms, VectorRef out) const {
    out[features()] = terms.dot(positive_);
    out[features() + 1] = terms.sum() - out[features()];
  }

  std::shared_ptr<const AucData> data_;
  Vector weights_;   // share times class weight
  Vector positive_;  // 1 for label +
};

/// Bounds for all records on |a|, |b| ≤ 1 and |y| ≤ 1/min(p, 1−p), for Φ y* ∈ [−1/p, 1/(1−p)]. In h
/// = sigmoid: q = h′ = h(1−h), h″ = q(1−2h), h‴ = q(1−6q). By the map h → 1 − h the label − has the
/// form of + with p and 1 − p exchanged, so `gap` = h − a − (1 + y), or h − b + 1 + y.
class AucBounds {
 public:
  explicit AucBounds(double prior) : p_(prior) {}

  double dual_radius() const { return 1 / std::min(p_, 1 - p_); }

  double gradient() const {
    return over_labels([&](double label, double weight) {
      const double other = 1 - weight;
      const double slope =
          4 * weight * weight * (2 * reach_ * (0.0625 + 0.0963 * reach_) + 6 + 2 * dual_radius());
      double squared = 0;
      for (const double threshold : {-1.0, 1.0})
        for (const double y : {-dual_radius(), dual_radius()})
          squared =
              std::max(squared, certified_maximum(0, 1, 4000, slope, [&](double h) {
                         const double in_w = (h - threshold - label * (1 + y)) * h * (1 - h);
                         const double in_y = h + label * other * y;
                         return 4 * weight * weight *
                                (in_w * in_w + (h - threshold) * (h - threshold) + in_y * in_y);
                       }));
      return std::sqrt(squared);
    });
  }

  double joint_hessian() const {
    return over_gaps(
        -dual_radius(), dual_radius(), [&](double label, double weight, double gap_less_h) {
          return certified_maximum(0, 1, 500, matrix_slope(weight), [&](double h) {
            const double q = h * (1 - h);
            const double uu = q * q + (h + gap_less_h) * q * (1 - 2 * h);
            Eigen::Matrix3d A;
            A << uu, -q, -label * q, -q, 1, 0, -label * q, 0, -(1 - weight);
            const Eigen::Vector3d spectrum = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>()
                                                 .computeDirect(A, Eigen::EigenvaluesOnly)
                                                 .eigenvalues();
            return 2 * weight * spectrum.cwiseAbs().maxCoeff();
          });
        });
  }

  double value_hessian() const {
    return over_gaps(-1 / p_, 1 / (1 - p_), [&](double, double weight, double gap_less_h) {
      return certified_maximum(0, 1, 500, matrix_slope(weight), [&](double h) {
        const double q = h * (1 - h);
        const double uu = q * q + (h + gap_less_h) * q * (1 - 2 * h);
        const auto eigenvalue = [&](double corner, double sign) {
          return 0.5 * (corner + 1) + sign * hypotenuse(0.5 * (corner - 1), q);
        };
        // the outer product of ∇D adds to the positive side alone
        return 2 * weight *
               std::max(eigenvalue(uu + q * q / (1 - weight), 1.0), -eigenvalue(uu, -1.0));
      });
    });
  }

  double value_third() const {
    const double m = std::max(p_, 1 - p_);
    const double coupling = 6 * m * m / (p_ * (1 - p_)) / (25 * std::sqrt(5.0));
    return over_gaps(-1 / p_, 1 / (1 - p_), [&](double, double weight, double gap_less_h) {
      return certified_maximum(0, 1, 2000, weight * (10 + 2 * reach_), [&](double h) {
        const double q = h * (1 - h);
        const double bend = q * (1 - 2 * h);
        // max of A s³ + B s² t over s² + t² = 1
        const double A =
            weight * std::abs(6 * q * bend + 2 * (h + gap_less_h) * q * (1 - 6 * q)) + coupling;
        const double B = weight * std::abs(6 * bend);
        const double tangent = B > 0 ? 2 * B / (3 * A + std::sqrt(9 * A * A + 8 * B * B)) : 0.0;
        const double squared = 1 + tangent * tangent;
        return (A + B * tangent) / (squared * std::sqrt(squared));
      });
    });
  }

 private:
  template <class Bound>
  double over_labels(const Bound& bound) const {
    return std::max(bound(1.0, 1 - p_), bound(-1.0, p_));
  }
  /// Over the ends of gap − h for y in the interval: everything is convex in it.
  template <class Bound>
  double over_gaps(double least_dual, double largest_dual, const Bound& bound) const {
    return over_labels([&](double label, double weight) {
      const double one = -label * (1 + least_dual), other = -label * (1 + largest_dual);
      return std::max(bound(label, weight, std::min(one, other) - 1),
                      bound(label, weight, std::max(one, other) + 1));
    });
  }
  /// Slope of the matrices' norms in h.
  double matrix_slope(double weight) const {
    return 2 * weight * (hypotenuse(0.3 + reach_, 2.0) + 0.2 * dual_radius());
  }

  double p_;
  double reach_ = 3 + dual_radius();  // |gap| is at most this
};

/// sup over data sets of Φ(x₀) + p(1−p): convex in the share of every value, so largest for equal
/// records, and convex in h.
double highest_value(double p, ConstVectorRef x) {
  const Index k = x.size() - 2;
  double largest = 0;
  for (const double sign : {-1.0, 1.0}) {
    const double h = sigmoid(sign * x.head(k).norm());
    const double scale = p * (1 - p);
    for (const double label : {-1.0, 1.0}) {
      const double weight = class_weight(p, label);
      const double gap = h - x[label > 0 ? k : k + 1];
      const double mean = scale - label * weight * h;
      largest = std::max(largest, weight * gap * gap + mean * mean / scale);
    }
  }
  return largest;
}

/// Points of the two classes around ±c, ‖c‖ = separation, in the unit ball; + first.
std::shared_ptr<const AucData> draw_auc_points(const Auc& family, Index features, StreamKey key) {
  AucData data;
  data.prior = family.prior;
  data.features.resize(features, 2 * family.points);
  data.labels.resize(2 * family.points);
  Vector centre(features);
  Stream stream(key);
  stream.fill_normal(1.0, centre);
  centre *= family.separation / centre.norm();
  for (Index v = 0; v < data.labels.size(); ++v) {
    data.labels[v] = v < family.points ? 1.0 : -1.0;
    stream.fill_ball(1 - family.separation, data.features.col(v));
    data.features.col(v) += data.labels[v] * centre;
  }
  return std::make_shared<const AucData>(std::move(data));
}

/// Features on the unit sphere, with both labels.
std::shared_ptr<const AucData> auc_corners(double prior, Index features) {
  AucData data;
  data.prior = prior;
  data.features.resize(features, 4);
  data.features.col(0).setConstant(1 / std::sqrt(static_cast<double>(features)));
  data.features.col(1) = Vector::Unit(features, 0);
  data.features.rightCols(2) = -data.features.leftCols(2).eval();
  data.features = data.features.replicate(1, 2).eval();
  data.labels = Vector::Ones(8);
  data.labels.tail(4).setConstant(-1);
  return std::make_shared<const AucData>(std::move(data));
}

}  // namespace

std::unique_ptr<const Objective> auc_value(std::shared_ptr<const AucData> data, Vector shares) {
  return std::make_unique<AucValue>(std::move(data), std::move(shares));
}

std::unique_ptr<const AnyRecords> auc_records(std::shared_ptr<const AucData> data) {
  return admit<AucLoss>({data->features.rows(), data->prior},
                        RecordTable(std::shared_ptr<const RecordColumns>(data)));
}

std::string_view Auc::summary() const {
  return "min over (w,a,b) max over y of a regularised AUC loss of sigmoid(w.z); shared dual, d2 = "
         "1";
}

ProblemNotes Auc::notes() const {
  return {
      .group = "Minimax",
      .formula =
          "x = (w, a, b), h = sigmoid(w·z), ‖z‖ ≤ 1, prior p: f = (1−p)(h−a)² 1₊ + p(h−b)² 1₋ + "
          "2(1+y)(p h 1₋ − (1−p) h 1₊) − p(1−p) y². D = mean of p h 1₋ − (1−p) h 1₊, y* = "
          "D/(p(1−p)), Φ = mean of the squares + 2D + D²/(p(1−p)). The label is + with "
          "probability p, the feature uniform on as many hidden points a class as `points` says, "
          "drawn around ±c in the unit ball: the population objective is exact.",
      .source = "xu-2026 notes, 8.2",
      .critical_points =
          "Not known in closed form. Given w the best a and b are the classes' means of h, in (0, "
          "1)."};
}

Fields Auc::fields() {
  Fields fields{
      field("prior", prior, range::between(0.05, 0.95), "p, public share of the label +"),
      field("separation", separation, range::between(0, 1), "length of the class centres +-c"),
      field("points", points, range::between(1, 1000000),
            "points of each class on which the features lie")};
  fields.push_back(field("radius", radius, range::positive_or_infinite,
                         "of the domain |x| <= radius; inf for all of R^d"));
  fields.push_back(sampling_field(
      sampling, {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

void Auc::settle(const Stream& random, PublicFacts& facts) const {
  set_dual(facts, DualKind::shared, Vector::Zero(1), Domain::box(AucBounds(prior).dual_radius()));
  if (std::isfinite(radius)) facts.domain = Domain::ball(radius);
  facts.initial_point = start.pick(facts,
                                   {.standard = Vector::Zero(facts.dimension),
                                    .saddle = {},
                                    .random_spread = 1.0,
                                    .far_radius = 10.0},
                                   random);
  constexpr double widest = 0.9;  // of far and random starts, inside the region
  for (double& threshold : facts.initial_point.tail(2))
    threshold = std::clamp(threshold, -widest, widest);
}

Constants Auc::constants(const PublicFacts& facts) const {
  const AucBounds bounds(prior);
  const std::string region = fmt::format("|a|, |b| <= 1, |y| <= {:.4g}", bounds.dual_radius());
  const std::string region_x = "|a|, |b| <= 1";
  Constants c;
  c.set(constant::strong_concavity,
        proved(2 * prior * (1 - prior), "everywhere", "∂²f/∂y² = −2p(1−p)."));
  c.set(
      constant::lipschitz,
      proved(bounds.gradient(), region,
             "For the label + ‖∇f‖² ≤ 4(1−p)²[(h−a−1−y)²h′² + (h−a)² + (h+py)²]; for − with p and "
             "h−b+1+y, h−b, h−(1−p)y. Convex in the threshold and in y: their ends, then a maximum "
             "over h ∈ [0, 1] on a grid with the slope's remainder. ‖z‖ = 1 is the worst."));
  c.set(constant::joint_smoothness,
        proved(bounds.joint_hessian(), region,
               "Along z the Hessian is 2(1−p)·[[h′² + (h−a−1−y)h″, −h′, −h′], [−h′, 1, 0], [−h′, "
               "0, −p]] for +, and alike for −; ‖z‖ < 1 shrinks it. Its norm is convex in a + y: "
               "the ends, then a grid in h with the slope's remainder."));
  c.set(
      constant::smoothness,
      proved(bounds.value_hessian(), region_x,
             "∇²Φ = mean ∇²ₓₓf(x, y*) + 2∇D∇Dᵀ/(p(1−p)) ≼ mean of [∇²ₓₓf + 2∇D_i∇D_iᵀ/(p(1−p))] "
             "(convexity of v ↦ vvᵀ) and ≽ mean ∇²ₓₓf. Each record's matrix is 2 × 2, convex in a "
             "+ y*, y* ∈ [−1/p, 1/(1−p)]: the ends, then a grid in h with the slope's remainder."));
  c.set(constant::hessian_lipschitz,
        proved(bounds.value_third(), region_x,
               "Along v, s = ‖v_w‖, t = the threshold's part: Φ‴ = mean[6g′g″ + 2(g ∓ 1 ∓ "
               "y*)h‴s³]·weight + 6D′D″/(p(1−p)), g = h − a or h − b. |D′D″| ≤ max(p, 1−p)² "
               "s³/(25√5): (|D′|, |D″|) is in the hull of (q, q√(1−4q)), where the product peaks "
               "at q = 1/5. The rest is at most A s³ + B s²t, maximised in closed form, over the "
               "ends of a + y* and a grid in h.",
               0.755));
  c.set(
      constant::suboptimality,
      proved(highest_value(prior, facts.initial_point), "initial point",
             "Φ = mean of squares + (D + p(1−p))²/(p(1−p)) − p(1−p) ≥ −p(1−p); Φ(x₀) is convex in "
             "the records' shares and in h, so largest for equal records with w₀ ∥ z, ‖z‖ = 1.",
             0.775));
  return c;
}

void Auc::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  const auto data = draw_auc_points(*this, d - 2, key.child(1));
  FiniteLaw law{.probabilities = Vector(2 * points)};
  law.probabilities.head(points).setConstant(prior / static_cast<double>(points));
  law.probabilities.tail(points).setConstant((1 - prior) / static_cast<double>(points));

  problem.region = [d](ConstVectorRef x) {
    return std::abs(x[d - 2]) <= 1 && std::abs(x[d - 1]) <= 1;
  };

  DrawnValues drawn = draw_values(std::string(name()), law, spec.records, sampling, spec.data_seed);
  if (sampling != RecordSampling::stream)
    problem.empirical = auc_value(data, shares(drawn.counts, spec.records));
  problem.population = auc_value(data, law.probabilities);
  const auto corners = auc_corners(prior, d - 2);
  problem.extremes = auc_records(corners);
  for (const Index v : {0, 4})  // all records alike, of either label
    problem.extreme_objectives.push_back(auc_value(corners, Vector::Unit(8, v)));
  set_records<AucLoss>({d - 2, prior}, data, std::move(drawn), problem);
}

}  // namespace dpsosp
