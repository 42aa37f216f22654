// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/cosine_saddle.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "dpsosp/core/elementary.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/clipped_sum.hpp"
#include "dpsosp/problems/last.hpp"

namespace dpsosp {

namespace {

class CosineSaddleObjective final : public DiagonalObjective {
 public:
  CosineSaddleObjective(double amplitude, Vector mean_cos, Vector mean_sin)
      : a_(amplitude), cos_(std::move(mean_cos)), sin_(std::move(mean_sin)) {}

  Index dimension() const override { return cos_.size(); }
  double value(ConstVectorRef x) const override {
    return a_ * (1.0 - (cos_.array() * cosines(x).array() + sin_.array() * sines(x).array())).sum();
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = a_ * (cos_.array() * sines(x).array() - sin_.array() * cosines(x).array());
  }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override {
    out = a_ * (cos_.array() * cosines(x).array() + sin_.array() * sines(x).array());
  }

 private:
  double a_;
  Vector cos_;
  Vector sin_;
};

/// Record i contributes sine − z_i ∘ cosine: a sin(x − s z) expanded for z = ±1.
template <class Sums>
class CosineSaddleSums : public Sums {
 public:
  CosineSaddleSums(double amplitude, double spread)
      : a_(amplitude), cos_s_(portable_cos(spread)), sin_s_(portable_sin(spread)) {}

  double amplitude() const { return a_; }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const final {
    check_minimisation("cosine-saddle", block);
    const Vector sine = a_ * cos_s_ * sines(point.x).array();
    const Vector cosine = a_ * sin_s_ * cosines(point.x).array();
    return sum(sine, cosine, batch, limit, out);
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const final {
    check_minimisation("cosine-saddle", block);
    const Vector sine = a_ * cos_s_ * (sines(point.x).array() - sines(previous.x).array());
    const Vector cosine = a_ * sin_s_ * (cosines(point.x).array() - cosines(previous.x).array());
    return sum(sine, cosine, batch, limit, out);
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const final {
    // a (1 − cos(x − s z)) = a − a cos s cos x − z a sin s sin x
    const Vector even = a_ * cos_s_ * (cosines(centre.x).array() - cosines(point.x).array());
    const Vector odd = a_ * sin_s_ * (sines(point.x).array() - sines(centre.x).array());
    return sum_losses(even.sum(), odd, batch, limit, out);
  }

  bool separable() const final { return true; }

  ClipReport add_coordinate_loss_differences(Index j,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    const Index plus = positive_signs(j, batch);
    const std::array<CountedValue, 2> records{{{-1.0, batch.size() - plus}, {1.0, plus}}};
    const Vector even = a_ * cos_s_ * (portable_cos(centre) - cosines(values).array());
    const Vector odd = a_ * sin_s_ * (portable_sin(centre) - sines(values).array());
    return clamped_coordinate_sum(
        records, values, centre, limit, out, [&](double z) -> Vector { return even + z * odd; });
  }

  bool has_second_order() const final { return true; }

  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const final {
    const Vector even = a_ * cos_s_ * cosines(point.x).array();
    const Vector odd = -a_ * sin_s_ * sines(point.x).array();
    return sum_diagonals(even, odd, v, batch, limit, out);
  }

  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    const Vector even = a_ * cos_s_ * (cosines(point.x).array() - cosines(previous.x).array());
    const Vector odd = a_ * sin_s_ * (sines(previous.x).array() - sines(point.x).array());
    return sum_diagonals(even, odd, v, batch, limit, out);
  }

 private:
  /// How many records of the batch have z_j = 1.
  virtual Index positive_signs(Index j, const BatchView& batch) const = 0;
  /// Σ clamp(even − odd·z_i).
  virtual ClipReport sum_losses(
      double even, const Vector& odd, const BatchView& batch, double limit, double& out) const = 0;
  /// Σ of (even − z_i ∘ odd) ∘ v, weighed by the largest entry of the diagonal.
  virtual ClipReport sum_diagonals(const Vector& even,
                                   const Vector& odd,
                                   ConstVectorRef v,
                                   const BatchView& batch,
                                   double limit,
                                   VectorRef out) const = 0;
  virtual ClipReport sum(const Vector& sine,
                         const Vector& cosine,
                         const BatchView& batch,
                         double limit,
                         VectorRef out) const = 0;

  double a_;
  double cos_s_;
  double sin_s_;
};

class StoredSigns final : public CosineSaddleSums<Records> {
 public:
  StoredSigns(double amplitude, double spread, Matrix signs)
      : CosineSaddleSums(amplitude, spread), signs_(std::move(signs)) {}

  Index size() const override { return signs_.cols(); }

 private:
  Index positive_signs(Index j, const BatchView& batch) const override {
    Index plus = 0;
    for (Index k = 0; k < batch.size(); ++k) plus += signs_(j, batch[k]) > 0 ? 1 : 0;
    return plus;
  }
  ClipReport sum(const Vector& sine,
                 const Vector& cosine,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const override {
    return chunked_sum(batch.size(), out, [&](Index first, Index last, VectorRef partial) {
      ClipReport report;
      for (Index k = first; k < last; ++k) {
        const auto contribution = sine - signs_.col(batch[k]).cwiseProduct(cosine);
        partial += report.weigh(contribution.norm(), limit) * contribution;
      }
      return report;
    });
  }

  ClipReport sum_losses(double even,
                        const Vector& odd,
                        const BatchView& batch,
                        double limit,
                        double& out) const override {
    return clamped_sum(batch, limit, out, [&](Index i) { return even - odd.dot(signs_.col(i)); });
  }

  ClipReport sum_diagonals(const Vector& even,
                           const Vector& odd,
                           ConstVectorRef v,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    return weighed_sum(batch, limit, out, [&](Index i, Vector& product) {
      product = even - signs_.col(i).cwiseProduct(odd);
      const double bound = product.cwiseAbs().maxCoeff();
      product.array() *= v.array();
      return bound;
    });
  }

  Matrix signs_;  // d × n, ±1
};

/// Σ_i z_i of a range is 2 Bin(size, ½) − size in every coordinate.
class SimulatedSigns final : public CosineSaddleSums<SimulatedSums> {
 public:
  SimulatedSigns(const CosineSaddle& family, Index dimension, const InstanceSpec& spec)
      : CosineSaddleSums(family.amplitude, family.spread),
        sampling_(family.sampling),
        d_(dimension),
        spec_(spec) {}

  Index size() const override { return spec_.records; }

  std::shared_ptr<const Vector> sum_of_signs(Index begin, Index size) const {
    return drawn_.of(RangeKey(begin, size), [&] {
      Stream stream = range_stream(spec_.data_seed, begin, size);
      Vector signs(d_);
      for (double& entry : signs)
        entry = static_cast<double>(2 * stream.binomial(size, 0.5) - size);
      return signs;
    });
  }

 private:
  Index positive_signs(Index j, const BatchView& batch) const override {
    check_simulated_batch("cosine-saddle", sampling_, batch, spec_.records);
    const double sum = (*sum_of_signs(batch.begin(), batch.size()))[j];
    return (batch.size() + static_cast<Index>(sum)) / 2;
  }
  ClipReport sum(const Vector& sine,
                 const Vector& cosine,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const override {
    check_simulated_batch("cosine-saddle", sampling_, batch, spec_.records);
    const double weight =
        check_simulated_limit("cosine-saddle",
                              (sine.cwiseAbs() + cosine.cwiseAbs()).norm(),
                              limit,
                              amplitude() * std::sqrt(static_cast<double>(sine.size())));
    out += weight * (static_cast<double>(batch.size()) * sine -
                     sum_of_signs(batch.begin(), batch.size())->cwiseProduct(cosine));
    return {};
  }

  ClipReport sum_losses(double even,
                        const Vector& odd,
                        const BatchView& batch,
                        double limit,
                        double& out) const override {
    check_simulated_batch("cosine-saddle", sampling_, batch, spec_.records);
    const double weight = check_simulated_limit("cosine-saddle",
                                                std::abs(even) + odd.lpNorm<1>(),
                                                limit,
                                                amplitude() * static_cast<double>(odd.size()));
    out += weight * (static_cast<double>(batch.size()) * even -
                     odd.dot(*sum_of_signs(batch.begin(), batch.size())));
    return {};
  }

  ClipReport sum_diagonals(const Vector& even,
                           const Vector& odd,
                           ConstVectorRef v,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    check_simulated_batch("cosine-saddle", sampling_, batch, spec_.records);
    const double weight = check_simulated_limit(
        "cosine-saddle", (even.cwiseAbs() + odd.cwiseAbs()).maxCoeff(), limit, amplitude());
    out += weight * (static_cast<double>(batch.size()) * even -
                     sum_of_signs(batch.begin(), batch.size())->cwiseProduct(odd))
                        .cwiseProduct(v);
    return {};
  }

  RecordSampling sampling_;
  Index d_;
  InstanceSpec spec_;
  Last<RangeKey, Vector> drawn_;
};

Matrix corner_signs(Index d) {
  Matrix corners(d, 4);
  for (Index j = 0; j < d; ++j) {
    const double alternating = j % 2 == 0 ? 1.0 : -1.0;
    corners.row(j) << 1.0, -1.0, alternating, -alternating;
  }
  return corners;
}

/// A strict saddle of the population.
Vector half_at_pi(Index d) {
  Vector point = Vector::Zero(d);
  point.head((d + 1) / 2).setConstant(std::numbers::pi);
  return point;
}

}  // namespace

std::unique_ptr<const DiagonalObjective> cosine_saddle_objective(double amplitude,
                                                                 Vector mean_cos,
                                                                 Vector mean_sin) {
  return std::make_unique<CosineSaddleObjective>(
      amplitude, std::move(mean_cos), std::move(mean_sin));
}

std::string_view CosineSaddle::summary() const {
  return "sum_j a (1 - cos(x_j - s z_j)); strict saddles, lambda_min known everywhere";
}

ProblemNotes CosineSaddle::notes() const {
  return {.group = "Landscapes with known saddles",
          .formula =
              "f(x; z) = Σ_j a (1 − cos(x_j − s z_j)), z ∈ {−1, +1}^d uniform. With R_j e^{iφ_j} "
              "= (1/n) Σ_i e^{i s z_ij}: F(x) = Σ_j a (1 − R_j cos(x_j − φ_j)); population F(x) = "
              "Σ_j a (1 − cos s cos x_j). Batch sums depend on Σ z alone, a binomial a "
              "coordinate.",
          .source = "liu-talwar-2025 notes, 5 (virtual records family)",
          .critical_points =
              "The Hessian is diagonal, a R_j cos(x_j − φ_j), and every critical point has "
              "x_j − φ_j ∈ πZ: minima (all even multiples), maxima, and strict saddles with "
              "λ_min = −a max R_j over the odd ones. The standard start is a strict saddle of the "
              "population: x_j = π in the first half, 0 in the rest."};
}

Fields CosineSaddle::fields() {
  Fields fields{field("amplitude", amplitude, range::positive, "a"),
                field("spread", spread, Range{0, std::numbers::pi / 2, true, false}, "s")};
  fields.push_back(sampling_field(
      sampling, {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

void CosineSaddle::settle(const Stream& random, PublicFacts& facts) const {
  const Index d = facts.dimension;
  facts.separable = true;
  const double far = 10 * std::numbers::pi * std::sqrt(static_cast<double>(d));
  facts.initial_point = start.pick(facts,
                                   {.standard = half_at_pi(d),
                                    .saddle = half_at_pi(d),
                                    .random_spread = std::numbers::pi,
                                    .far_radius = far},
                                   random);
}

Constants CosineSaddle::constants(const PublicFacts& facts) const {
  Constants made;
  made.set(constant::lipschitz,
           proved(amplitude * std::sqrt(static_cast<double>(facts.dimension)),
                  "everywhere",
                  "∂_j f = a sin(x_j − s z_j), so ‖∇f‖ ≤ a√d, attained."));
  made.set(
      constant::smoothness,
      proved(amplitude, "everywhere", "The Hessian is diagonal with entries a cos(x_j − s z_j)."));
  made.set(constant::hessian_lipschitz,
           proved(amplitude,
                  "everywhere",
                  "Those entries are a-Lipschitz in their own coordinate, and the operator norm of "
                  "a diagonal matrix is its largest entry."));
  made.set(constant::suboptimality,
           proved(2.0 * amplitude * static_cast<double>(facts.dimension),
                  "initial point",
                  "F(x₀) − min F = Σ_j a R_j (1 − cos(x₀_j − φ_j)) ≤ 2ad, as R_j ≤ 1.",
                  0.44));
  return made;
}

void CosineSaddle::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const Vector cos_s = Vector::Constant(d, portable_cos(spread));
  const auto use_means = [&](const Vector& mean_sign) {
    const Vector sin_mean = portable_sin(spread) * mean_sign;
    problem.empirical = cosine_saddle_objective(amplitude, cos_s, sin_mean);
    Vector minimiser(d);
    for (Index j = 0; j < d; ++j) minimiser[j] = std::atan2(sin_mean[j], cos_s[j]);
    Vector empirical_saddle = minimiser;
    empirical_saddle[0] += std::numbers::pi;
    problem.landmarks.push_back(
        {"x_j = φ_j", Landmark::Kind::minimiser, Landmark::Of::empirical, minimiser});
    problem.landmarks.push_back({"x_1 = φ_1 + π, other x_j = φ_j",
                                 Landmark::Kind::strict_saddle,
                                 Landmark::Of::empirical,
                                 empirical_saddle});
  };
  if (simulated(sampling)) {
    auto sums = std::make_unique<SimulatedSigns>(*this, d, spec);
    if (sampling == RecordSampling::whole)
      use_means(*sums->sum_of_signs(0, spec.records) / static_cast<double>(spec.records));
    problem.simulated = std::move(sums);
  } else {
    Stream stream({.seed = spec.data_seed, .purpose = Purpose::data});
    Matrix signs(d, spec.records);
    for (double& z : signs.reshaped()) z = stream.bernoulli(0.5) ? 1.0 : -1.0;
    use_means(signs.rowwise().mean());
    problem.records = std::make_unique<StoredSigns>(amplitude, spread, std::move(signs));
  }
  problem.population = cosine_saddle_objective(amplitude, cos_s, Vector::Zero(d));
  problem.extremes = std::make_unique<StoredSigns>(amplitude, spread, corner_signs(d));
  problem.landmarks.push_back(
      {"origin", Landmark::Kind::minimiser, Landmark::Of::population, Vector::Zero(d)});
  problem.landmarks.push_back(
      {"half at π", Landmark::Kind::strict_saddle, Landmark::Of::population, half_at_pi(d)});
  problem.landmarks.push_back({"x_1 = π",
                               Landmark::Kind::strict_saddle,
                               Landmark::Of::population,
                               std::numbers::pi * Vector::Unit(d, 0)});
  problem.slice =
      first_two_coordinates("F over (x₁, x₂): minima, saddles and maxima on a grid of step π",
                            Vector::Zero(d),
                            -4.0,
                            4.0);
}

}  // namespace dpsosp
