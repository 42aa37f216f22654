// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/cosine_saddle.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "dpsosp/core/elementary.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/coordinate_sum.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/trusted/admit.hpp"

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

/// a (1 − cos(x − s z)) = a − a cos s cos x − z a sin s sin x for z = ±1, so that every sum is one
/// of even − z_i ∘ odd. The two functions give these parts of what is asked, less that at
/// `previous` unless it is null.
struct CosineRecord {
  CosineRecord(double amplitude, double spread, Index dimension)
      : a(amplitude), cos_s(portable_cos(spread)), sin_s(portable_sin(spread)), d(dimension) {}
  double a, cos_s, sin_s;
  Index d;

  struct Parts {
    Vector even, odd;
  };
  Parts gradient(ConstVectorRef x) const {
    return {a * cos_s * sines(x).array(), a * sin_s * cosines(x).array()};
  }
  Parts gradient(ConstVectorRef x, ConstVectorRef before) const {
    return {a * cos_s * (sines(x).array() - sines(before).array()),
            a * sin_s * (cosines(x).array() - cosines(before).array())};
  }
  Parts loss(ConstVectorRef x, ConstVectorRef centre) const {
    return {a * cos_s * (cosines(centre).array() - cosines(x).array()),
            a * sin_s * (sines(x).array() - sines(centre).array())};
  }
  Parts diagonal(ConstVectorRef x) const {
    return {a * cos_s * cosines(x).array(), -a * sin_s * sines(x).array()};
  }
  Parts diagonal(ConstVectorRef x, ConstVectorRef before) const {
    return {a * cos_s * (cosines(x).array() - cosines(before).array()),
            a * sin_s * (sines(before).array() - sines(x).array())};
  }
  /// The change of a coordinate's term, even + z odd.
  Parts term(ConstVectorRef values, double centre) const {
    return {a * cos_s * (portable_cos(centre) - cosines(values).array()),
            a * sin_s * (portable_sin(centre) - sines(values).array())};
  }
};

/// A record is z ∈ {±1}^d.
struct CosineSaddleLoss {
  static constexpr std::string_view problem = "cosine-saddle";
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = CosineRecord;
  struct Gradients : CosineRecord::Parts {
    Gradients(const Facts& facts, const Point& point, const Point* previous, Block /*block*/)
        : Parts(previous == nullptr ? facts.gradient(point.x)
                                    : facts.gradient(point.x, previous->x)) {}
  };
  struct Losses {
    Losses(const Facts& facts, const Point& point, const Point& centre) {
      auto [even, odds] = facts.loss(point.x, centre.x);
      sum = even.sum();
      odd = std::move(odds);
    }
    double sum;
    Vector odd;
  };
  struct Products : CosineRecord::Parts {
    Products(const Facts& facts, const Point& point, const Point* previous, ConstVectorRef v)
        : Parts(previous == nullptr ? facts.diagonal(point.x)
                                    : facts.diagonal(point.x, previous->x)),
          along(v) {}
    Vector along;
  };
  struct Coordinates : CosineRecord::Parts {
    Coordinates(const Facts& facts, Index /*j*/, ConstVectorRef values, double centre)
        : Parts(facts.term(values, centre)) {}
  };

  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    v = at.even - z.column.cwiseProduct(at.odd);
    return {};
  }
  static double loss(const Losses& at, const DenseRecord& z, double*) {
    return at.sum - at.odd.dot(z.column);
  }
  static double product(const Products& at, const DenseRecord& z, double*, VectorRef v) {
    v = at.even - z.column.cwiseProduct(at.odd);
    const double bound = v.cwiseAbs().maxCoeff();
    v.array() *= at.along.array();
    return bound;
  }
  static double coordinate_loss(const Coordinates& at, double z, Index k) {
    return at.even[k] + z * at.odd[k];
  }
};

/// Σ_i z_i of a range is 2 Bin(size, ½) − size in every coordinate.
class SimulatedSigns final : public SimulatedSums {
 public:
  SimulatedSigns(const CosineRecord& record, RecordSampling sampling, const InstanceSpec& spec)
      : record_(record), sampling_(sampling), spec_(spec) {}

  Index size() const override { return spec_.records; }
  bool separable() const override { return true; }
  bool has_second_order() const override { return true; }

  std::shared_ptr<const Vector> sum_of_signs(Index begin, Index size) const {
    return drawn_.of(RangeKey(begin, size), [&] {
      Stream stream = range_stream(spec_.data_seed, begin, size);
      Vector signs(record_.d);
      for (double& entry : signs)
        entry = static_cast<double>(2 * stream.binomial(size, 0.5) - size);
      return signs;
    });
  }

  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    check_minimisation("cosine-saddle", s.block);
    check_simulated_batch("cosine-saddle", sampling_, batch, spec_.records);
    const auto drawn = sum_of_signs(batch.begin(), batch.size());
    const Vector& signs = *drawn;
    const auto n = static_cast<double>(batch.size());
    const auto weight = [&](double bound, double rounded) {
      return check_simulated_limit("cosine-saddle", bound, limit, record_.a * rounded);
    };
    switch (s.kind) {
      case Summand::Kind::gradient: {
        const auto [even, odd] =
            s.previous ? record_.gradient(s.point.x, s.previous->x) : record_.gradient(s.point.x);
        const double w = weight((even.cwiseAbs() + odd.cwiseAbs()).norm(),
                                std::sqrt(static_cast<double>(even.size())));
        out += w * (n * even - signs.cwiseProduct(odd));
        return {};
      }
      case Summand::Kind::loss: {
        const auto [evens, odd] = record_.loss(s.point.x, s.previous->x);
        const double even = evens.sum();
        const double w = weight(std::abs(even) + odd.lpNorm<1>(), static_cast<double>(odd.size()));
        out[0] += w * (n * even - odd.dot(signs));
        return {};
      }
      case Summand::Kind::coordinate_loss: {
        const Index plus = (batch.size() + static_cast<Index>(signs[s.coordinate])) / 2;
        const std::array<CountedValue, 2> records{{{-1.0, batch.size() - plus}, {1.0, plus}}};
        const CosineRecord::Parts term = record_.term(s.v, s.centre);
        return clamped_coordinate_sum(records, s.v, s.centre, limit, out,
                                      [&](double z) -> Vector { return term.even + z * term.odd; });
      }
      case Summand::Kind::hessian_product:
        break;
    }
    // Σ of (even − z_i ∘ odd) ∘ v, weighed by the largest entry of the diagonal
    const auto [even, odd] =
        s.previous ? record_.diagonal(s.point.x, s.previous->x) : record_.diagonal(s.point.x);
    const double w = weight((even.cwiseAbs() + odd.cwiseAbs()).maxCoeff(), 1.0);
    out += w * (n * even - signs.cwiseProduct(odd)).cwiseProduct(s.v);
    return {};
  }

 private:
  CosineRecord record_;
  RecordSampling sampling_;
  InstanceSpec spec_;
  Last<RangeKey, Vector> drawn_;
};

std::unique_ptr<const AnyRecords> cosine_saddle_records(const CosineRecord& record, Matrix signs) {
  const Vector labels = Vector::Zero(signs.cols());
  return admit<CosineSaddleLoss>(record, RecordTable({std::move(signs), labels}));
}

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

std::unique_ptr<const DiagonalObjective> cosine_saddle_objective(double amplitude, Vector mean_cos,
                                                                 Vector mean_sin) {
  return std::make_unique<CosineSaddleObjective>(amplitude, std::move(mean_cos),
                                                 std::move(mean_sin));
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
           proved(amplitude * std::sqrt(static_cast<double>(facts.dimension)), "everywhere",
                  "∂_j f = a sin(x_j − s z_j), so ‖∇f‖ ≤ a√d, attained."));
  made.set(
      constant::smoothness,
      proved(amplitude, "everywhere", "The Hessian is diagonal with entries a cos(x_j − s z_j)."));
  made.set(constant::hessian_lipschitz,
           proved(amplitude, "everywhere",
                  "Those entries are a-Lipschitz in their own coordinate, and the operator norm of "
                  "a diagonal matrix is its largest entry."));
  made.set(constant::suboptimality,
           proved(2.0 * amplitude * static_cast<double>(facts.dimension), "initial point",
                  "F(x₀) − min F = Σ_j a R_j (1 − cos(x₀_j − φ_j)) ≤ 2ad, as R_j ≤ 1.", 0.44));
  return made;
}

void CosineSaddle::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const CosineRecord record(amplitude, spread, d);
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
    problem.landmarks.push_back({"x_1 = φ_1 + π, other x_j = φ_j", Landmark::Kind::strict_saddle,
                                 Landmark::Of::empirical, empirical_saddle});
  };
  if (simulated(sampling)) {
    auto sums = std::make_unique<SimulatedSigns>(record, sampling, spec);
    if (sampling == RecordSampling::whole)
      use_means(*sums->sum_of_signs(0, spec.records) / static_cast<double>(spec.records));
    problem.simulated = std::move(sums);
  } else {
    Stream stream({.seed = spec.data_seed, .purpose = Purpose::data});
    Matrix signs(d, spec.records);
    for (double& z : signs.reshaped()) z = stream.bernoulli(0.5) ? 1.0 : -1.0;
    use_means(signs.rowwise().mean());
    problem.records = cosine_saddle_records(record, std::move(signs));
  }
  problem.population = cosine_saddle_objective(amplitude, cos_s, Vector::Zero(d));
  problem.extremes = cosine_saddle_records(record, corner_signs(d));
  problem.landmarks.push_back(
      {"origin", Landmark::Kind::minimiser, Landmark::Of::population, Vector::Zero(d)});
  problem.landmarks.push_back(
      {"half at π", Landmark::Kind::strict_saddle, Landmark::Of::population, half_at_pi(d)});
  problem.landmarks.push_back({"x_1 = π", Landmark::Kind::strict_saddle, Landmark::Of::population,
                               std::numbers::pi * Vector::Unit(d, 0)});
  problem.slice =
      first_two_coordinates("F over (x₁, x₂): minima, saddles and maxima on a grid of step π",
                            Vector::Zero(d), -4.0, 4.0);
}

}  // namespace dpsosp
