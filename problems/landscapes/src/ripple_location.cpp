// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/ripple_location.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/clipped_sum.hpp"
#include "dpsosp/problems/last.hpp"
#include "ripple_objective.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view family_name = "ripple-location";

/// z + 1, d × n.
using Values = Eigen::Matrix<std::int8_t, Eigen::Dynamic, Eigen::Dynamic>;

/// Record i contributes table(z_ij + 1, j): what a gradient or a difference is for each value.
template <class Sums>
class RippleSums : public Sums {
 public:
  explicit RippleSums(const Ripple& ripple) : ripple_(ripple) {}

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const final {
    check_minimisation(family_name, block);
    return sum(slopes(point.x), batch, limit, out);
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const final {
    check_minimisation(family_name, block);
    return sum(slopes(point.x) - slopes(previous.x), batch, limit, out);
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const final {
    const double d = static_cast<double>(point.x.size());
    return sum_losses((table(point.x, &Ripple::values) - table(centre.x, &Ripple::values)) / d,
                      batch,
                      limit,
                      out);
  }

  bool separable() const final { return true; }

  ClipReport add_coordinate_loss_differences(Index j,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    const Eigen::Vector3d count = coordinate_counts(j, batch);
    std::array<CountedValue, 3> records;
    for (Index k = 0; k < 3; ++k)
      records[static_cast<std::size_t>(k)] = {static_cast<double>(k - 1),
                                              static_cast<Index>(count[k])};
    const double d = static_cast<double>(dimension()), root_d = std::sqrt(d);
    return clamped_coordinate_sum(records, values, centre, limit, out, [&](double z) -> Vector {
      const Vector t = root_d * values.array() - z;
      return (ripple_.values(t).array() - ripple_.value(root_d * centre - z)) / d;
    });
  }

  bool has_second_order() const final { return true; }

  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const final {
    return sum_diagonals(table(point.x, &Ripple::curvatures), v, batch, limit, out);
  }
  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    return sum_diagonals(
        table(point.x, &Ripple::curvatures) - table(previous.x, &Ripple::curvatures),
        v,
        batch,
        limit,
        out);
  }

 private:
  /// d.
  virtual Index dimension() const = 0;
  /// How many records of the batch have z_j = −1, 0, 1.
  virtual Eigen::Vector3d coordinate_counts(Index j, const BatchView& batch) const = 0;
  virtual ClipReport sum(const Matrix& table,
                         const BatchView& batch,
                         double limit,
                         VectorRef out) const = 0;
  /// Record i's number is the sum of its entries of the table.
  virtual ClipReport sum_losses(const Matrix& table,
                                const BatchView& batch,
                                double limit,
                                double& out) const = 0;
  /// Record i's entries of the table are a diagonal, weighed by the largest and applied to v.
  virtual ClipReport sum_diagonals(const Matrix& table,
                                   ConstVectorRef v,
                                   const BatchView& batch,
                                   double limit,
                                   VectorRef out) const = 0;

  /// A function of √d x_j − z_j for each value of z_j, 3 × d.
  Matrix table(ConstVectorRef x, Vector (Ripple::*function)(ConstVectorRef) const) const {
    const double root_d = std::sqrt(static_cast<double>(x.size()));
    Matrix t(3, x.size());
    for (Index k = 0; k < 3; ++k)
      t.row(k) = (root_d * x.array() - static_cast<double>(k - 1)).transpose();
    return (ripple_.*function)(t.reshaped()).reshaped(3, x.size());
  }
  Matrix slopes(ConstVectorRef x) const {
    return table(x, &Ripple::slopes) / std::sqrt(static_cast<double>(x.size()));
  }

  Ripple ripple_;
};

class StoredRipples final : public RippleSums<Records> {
 public:
  StoredRipples(const Ripple& ripple, Values values)
      : RippleSums(ripple), values_(std::move(values)) {}

  Index size() const override { return values_.cols(); }
  Matrix weights() const {
    Matrix counts = Matrix::Zero(3, values_.rows());
    for (Index i = 0; i < values_.cols(); ++i)
      for (Index j = 0; j < values_.rows(); ++j) counts(values_(j, i), j) += 1;
    return counts / static_cast<double>(values_.cols());
  }

 private:
  Index dimension() const override { return values_.rows(); }
  Eigen::Vector3d coordinate_counts(Index j, const BatchView& batch) const override {
    Eigen::Vector3d count = Eigen::Vector3d::Zero();
    for (Index k = 0; k < batch.size(); ++k) count[values_(j, batch[k])] += 1;
    return count;
  }
  ClipReport sum(const Matrix& table,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const override {
    return clipped_sum(batch, limit, out, [&](Index i, Vector& v) {
      for (Index j = 0; j < v.size(); ++j) v[j] = table(values_(j, i), j);
    });
  }

  ClipReport sum_losses(const Matrix& table,
                        const BatchView& batch,
                        double limit,
                        double& out) const override {
    return clamped_sum(batch, limit, out, [&](Index i) {
      double loss = 0;
      for (Index j = 0; j < table.cols(); ++j) loss += table(values_(j, i), j);
      return loss;
    });
  }

  ClipReport sum_diagonals(const Matrix& table,
                           ConstVectorRef v,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    return weighed_sum(batch, limit, out, [&](Index i, Vector& product) {
      double bound = 0;
      for (Index j = 0; j < v.size(); ++j) {
        const double entry = table(values_(j, i), j);
        bound = std::max(bound, std::abs(entry));
        product[j] = entry * v[j];
      }
      return bound;
    });
  }

  Values values_;
};

/// Counts of the three values in a range are trinomial, independent over the coordinates.
class SimulatedRipples final : public RippleSums<SimulatedSums> {
 public:
  SimulatedRipples(const Ripple& ripple,
                   Matrix law,
                   RecordSampling sampling,
                   const InstanceSpec& spec)
      : RippleSums(ripple), law_(std::move(law)), sampling_(sampling), spec_(spec) {}

  Index size() const override { return spec_.records; }

  /// 3 × d.
  std::shared_ptr<const Matrix> counts(Index begin, Index size) const {
    return drawn_.of(RangeKey(begin, size), [&] {
      Stream stream = range_stream(spec_.data_seed, begin, size);
      Matrix counts(3, law_.cols());
      for (Index j = 0; j < law_.cols(); ++j) {
        const Index plus = stream.binomial(size, law_(2, j));
        const Index minus = stream.binomial(size - plus, law_(0, j) / (1 - law_(2, j)));
        counts.col(j) << static_cast<double>(minus), static_cast<double>(size - plus - minus),
            static_cast<double>(plus);
      }
      return counts;
    });
  }

 private:
  Index dimension() const override { return law_.cols(); }
  Eigen::Vector3d coordinate_counts(Index j, const BatchView& batch) const override {
    check_simulated_batch(family_name, sampling_, batch, spec_.records);
    return counts(batch.begin(), batch.size())->col(j);
  }
  ClipReport sum(const Matrix& table,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const override {
    out += totals(table, batch, table.cwiseAbs().colwise().maxCoeff().norm(), limit);
    return {};
  }

  ClipReport sum_losses(const Matrix& table,
                        const BatchView& batch,
                        double limit,
                        double& out) const override {
    const double bound =
        std::max(table.colwise().maxCoeff().sum(), -table.colwise().minCoeff().sum());
    out += totals(table, batch, bound, limit).sum();
    return {};
  }

  ClipReport sum_diagonals(const Matrix& table,
                           ConstVectorRef v,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    out += totals(table, batch, table.cwiseAbs().maxCoeff(), limit).cwiseProduct(v);
    return {};
  }

  static constexpr double rounding_scale = 8;  // above the gradient's and the Hessian's entries

  /// Σ_i of the records' entries of the table, where no record's contribution exceeds `bound`.
  Vector totals(const Matrix& table, const BatchView& batch, double bound, double limit) const {
    check_simulated_batch(family_name, sampling_, batch, spec_.records);
    const double weight = check_simulated_limit(family_name, bound, limit, rounding_scale);
    return weight * table.cwiseProduct(*counts(batch.begin(), batch.size())).colwise().sum();
  }

  Matrix law_;
  RecordSampling sampling_;
  InstanceSpec spec_;
  Last<RangeKey, Matrix> drawn_;
};

/// P(z_j = k − 1), 3 × d.
Matrix public_law(Index law_seed, Index d) {
  const StreamKey root{.seed = static_cast<std::uint64_t>(law_seed), .purpose = Purpose::data};
  Stream stream(root.child(0));
  Matrix law(3, d);
  for (Index j = 0; j < d; ++j) {
    const double plus = 0.2 + 0.3 * stream.uniform();
    const double minus = 0.1 + 0.2 * stream.uniform();
    law.col(j) << minus, 1 - plus - minus, plus;
  }
  return law;
}

Values draw_values(const Matrix& law, const InstanceSpec& spec) {
  Stream stream({.seed = spec.data_seed, .purpose = Purpose::data});
  Values values(law.cols(), spec.records);
  for (Index i = 0; i < spec.records; ++i)
    for (Index j = 0; j < law.cols(); ++j) {
      const double u = stream.uniform();
      const int value = u < law(2, j) ? 2 : (u < law(2, j) + law(0, j) ? 0 : 1);
      values(j, i) = static_cast<std::int8_t>(value);
    }
  return values;
}

/// All equal to one value, and one of all three in turn.
Values corner_values(Index d) {
  Values corners(d, 4);
  for (Index j = 0; j < d; ++j)
    corners.row(j) << std::int8_t{0}, std::int8_t{1}, std::int8_t{2},
        static_cast<std::int8_t>(j % 3);
  return corners;
}

}  // namespace

std::string_view RippleLocation::summary() const {
  return "(1/d) sum_j phi(sqrt(d) x_j - z_j), phi = sqrt(1+t^2)-1 + A(1-cos wt); exact global "
         "minima";
}

ProblemNotes RippleLocation::notes() const {
  return {
      .group = "Families of Lowy, Ullman and Wright",
      .formula =
          "f(x; z) = (1/d) Σ_j φ(√d x_j − z_j), φ(t) = √(1 + t²) − 1 + A (1 − cos ωt), on the box "
          "|√d x_j| ≤ s₀. z ∈ {−1, 0, 1}^d with independent coordinates, P(z_j = 1) drawn "
          "uniformly from [0.2, 0.5] and P(z_j = −1) from [0.1, 0.3] by the public setting "
          "`law_seed`: the law is public, the records are not. F(x) = (1/d) Σ_j Σ_k p_jk φ(√d x_j "
          "− k) with the records' frequencies p_jk, the population objective with the law's. Batch "
          "sums depend on the counts of the three values alone, trinomial in every coordinate. "
          "Lipschitz constant, smoothness and diameter do not depend on d.",
      .source = "lowy-2024 notes, 6, Z1",
      .critical_points =
          "Every coordinate has a local minimum and maximum in most periods of the ripple. The "
          "global minimum is found a coordinate at a time by branch and bound; a saddle moves the "
          "first coordinate from there to the next local maximum. The standard start is √d x_j = "
          "0.95 s₀."};
}

Fields RippleLocation::fields() {
  using namespace range;
  Fields fields{
      field("amplitude", amplitude, not_negative, "A"),
      // branch and bound covers a period
      field("frequency", frequency, between(0.01, 1e3), "omega"),
      field("half_width", half_width, positive, "s0, of the box in sqrt(d) x"),
      field("law_seed", law_seed, not_negative, "draws the public probabilities of the values")};
  fields.push_back(sampling_field(
      sampling, {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

void RippleLocation::check_settings(Index) const {
  const double least_width = 1 + Ripple{amplitude, frequency}.period();
  if (!(half_width >= least_width))
    reject(
        name(),
        "half_width",
        half_width,
        fmt::format(">= {:.6g} = 1 + 2 pi/frequency, so that it holds the minimiser", least_width));
}

void RippleLocation::settle(const Stream& random, PublicFacts& facts) const {
  const Index d = facts.dimension;
  const RippleObjective population({amplitude, frequency}, public_law(law_seed, d));
  const double root_d = std::sqrt(static_cast<double>(d));
  facts.separable = true;
  facts.domain = Domain::box(half_width / root_d);
  facts.initial_point = start.pick(facts,
                                   {.standard = Vector::Constant(d, 0.95 * half_width / root_d),
                                    .saddle = population.saddle(population.minimiser()),
                                    .random_spread = 1 / root_d,
                                    .far_radius = 10 * half_width},
                                   random);
}

Constants RippleLocation::constants(const PublicFacts& facts) const {
  const Ripple ripple{amplitude, frequency};
  const double root_d = std::sqrt(static_cast<double>(facts.dimension));
  Constants made;
  made.set(
      constant::lipschitz,
      proved(1 + amplitude * frequency,
             "everywhere",
             "‖∇f‖² = (1/d) Σ_j φ′(√d x_j − z_j)² and |φ′| = |t/√(1+t²) + Aω sin ωt| < 1 + Aω, "
             "approached far outside the box; inside, at the defaults, the maximum is 1.5422.",
             0.866));
  made.set(constant::smoothness,
           proved(ripple.curvature_bound(),
                  "everywhere",
                  "The Hessian is diagonal with entries φ″(√d x_j − z_j), φ″ = (1+t²)^{−3/2} + Aω² "
                  "cos ωt ∈ [−Aω², 1 + Aω²], the upper end at t = 0."));
  made.set(constant::hessian_lipschitz,
           proved(root_d * ripple.third_bound(),
                  "everywhere",
                  "A diagonal Hessian whose entries depend on their own coordinate alone moves by "
                  "the largest √d |φ‴| a unit. −φ‴ = s(t) + Aω³ sin ωt is odd, s = 3t(1+t²)^{−5/2} "
                  "≥ 0 for t ≥ 0, falling for t ≥ ½. Where it is negative at t ≥ 0, |φ‴| ≤ Aω³ "
                  "|sin ωt|; half a period away the sine is positive and the sum at least that. A "
                  "positive value at t > ½ + 2π/ω does not fall when t is moved down by whole "
                  "periods into [½, ½ + 2π/ω]. So sup |φ‴| is the maximum of s + Aω³ sin ωt on [0, "
                  "½ + 2π/ω], found by branch and bound to a relative 10⁻¹¹."));
  double farthest = 0;
  for (const double x : facts.initial_point)
    farthest += std::max(
        {ripple.value(root_d * x - 1), ripple.value(root_d * x), ripple.value(root_d * x + 1)});
  made.set(
      constant::suboptimality,
      proved(farthest / static_cast<double>(facts.dimension),
             "initial point",
             "In every coordinate F(x₀) − min F is convex in the frequencies of the three values "
             "(linear less a minimum of linear functions), so it is largest where all records "
             "agree; then the minimum is 0, and what is left is max_k φ(√d x₀_j − k)."));
  return made;
}

void RippleLocation::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const Ripple ripple{amplitude, frequency};
  const Matrix law = public_law(law_seed, d);
  const auto use_objective = [&](const Matrix& weights, Landmark::Of of) {
    auto objective = std::make_unique<RippleObjective>(ripple, weights);
    const Vector minimiser = objective->minimiser();
    problem.landmarks.push_back(
        {"global minimum by branch and bound", Landmark::Kind::minimiser, of, minimiser});
    if (const auto saddle = objective->saddle(minimiser))
      problem.landmarks.push_back(
          {"first coordinate at a local maximum", Landmark::Kind::strict_saddle, of, *saddle});
    (of == Landmark::Of::empirical ? problem.empirical : problem.population) = std::move(objective);
  };
  use_objective(law, Landmark::Of::population);
  if (simulated(sampling)) {
    auto sums = std::make_unique<SimulatedRipples>(ripple, law, sampling, spec);
    if (sampling == RecordSampling::whole)
      use_objective(*sums->counts(0, spec.records) / static_cast<double>(spec.records),
                    Landmark::Of::empirical);
    problem.simulated = std::move(sums);
  } else {
    auto records = std::make_unique<StoredRipples>(ripple, draw_values(law, spec));
    use_objective(records->weights(), Landmark::Of::empirical);
    problem.records = std::move(records);
  }
  problem.extremes = std::make_unique<StoredRipples>(ripple, corner_values(d));
  for (Index value = 0; value < 3; ++value) {  // where all records agree
    Matrix agreed = Matrix::Zero(3, d);
    agreed.row(value).setOnes();
    problem.extreme_objectives.push_back(std::make_unique<RippleObjective>(ripple, agreed));
  }
  problem.slice =
      first_two_coordinates("F over (x₁, x₂), the others at the minimum: a ripple over a bowl",
                            problem.landmarks.front().point,
                            -problem.facts.domain.radius,
                            problem.facts.domain.radius);
}

}  // namespace dpsosp
