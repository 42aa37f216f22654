// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/ripple_location.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/coordinate_sum.hpp"
#include "dpsosp/problems/last.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "ripple_objective.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view family_name = "ripple-location";

/// A function of √d x_j − z_j for each value of z_j, 3 × d: all that is needed of a point.
struct RippleTables {
  Ripple ripple;
  Index d;

  Matrix loss_differences(ConstVectorRef x, ConstVectorRef centre) const {
    return (table(x, &Ripple::values) - table(centre, &Ripple::values)) / static_cast<double>(d);
  }
  /// Entries of a gradient, less those at `previous` unless it is null.
  Matrix slopes(ConstVectorRef x, const Point* previous) const {
    const double root_d = std::sqrt(static_cast<double>(d));
    const Matrix here = table(x, &Ripple::slopes) / root_d;
    if (previous == nullptr) return here;
    return here - table(previous->x, &Ripple::slopes) / root_d;
  }
  /// Entries of a Hessian's diagonal, likewise.
  Matrix curvatures(ConstVectorRef x, const Point* previous) const {
    const Matrix here = table(x, &Ripple::curvatures);
    return previous == nullptr ? here : Matrix(here - table(previous->x, &Ripple::curvatures));
  }
  /// The change of a coordinate's term for each of the values, where z_j is z.
  Vector term(ConstVectorRef values, double centre, double z) const {
    const double root_d = std::sqrt(static_cast<double>(d));
    const Vector t = root_d * values.array() - z;
    return (ripple.values(t).array() - ripple.value(root_d * centre - z)) / static_cast<double>(d);
  }

 private:
  Matrix table(ConstVectorRef x, Vector (Ripple::*function)(ConstVectorRef) const) const {
    const double root_d = std::sqrt(static_cast<double>(x.size()));
    Matrix t(3, x.size());
    for (Index k = 0; k < 3; ++k)
      t.row(k) = (root_d * x.array() - static_cast<double>(k - 1)).transpose();
    return (ripple.*function)(t.reshaped()).reshaped(3, x.size());
  }
};

/// A record is z ∈ {−1, 0, 1}^d, and contributes the entries table(z_j + 1, j).
struct RippleLoss {
  static constexpr std::string_view problem = family_name;
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = RippleTables;
  struct Table {
    Matrix entries;
    double of(const DenseRecord& z, Index j) const { return entries(row(z.column[j]), j); }
    static Index row(double z) { return z < 0 ? 0 : (z > 0 ? 2 : 1); }
  };
  struct Gradients : Table {
    Gradients(const Facts& facts, const Point& point, const Point* previous, Block /*block*/)
        : Table{facts.slopes(point.x, previous)} {}
  };
  struct Losses : Table {
    Losses(const Facts& facts, const Point& point, const Point& centre)
        : Table{facts.loss_differences(point.x, centre.x)} {}
  };
  struct Products : Table {
    Products(const Facts& facts, const Point& point, const Point* previous, ConstVectorRef v)
        : Table{facts.curvatures(point.x, previous)}, along(v) {}
    Vector along;
  };
  struct Coordinates {
    Coordinates(const Facts& facts, Index /*j*/, ConstVectorRef values, double centre)
        : changes(3, values.size()) {
      for (Index k = 0; k < 3; ++k)
        changes.row(k) = facts.term(values, centre, static_cast<double>(k - 1)).transpose();
    }
    Matrix changes;
  };

  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    for (Index j = 0; j < v.size(); ++j) v[j] = at.of(z, j);
    return {};
  }
  static double loss(const Losses& at, const DenseRecord& z, double*) {
    double loss = 0;
    for (Index j = 0; j < z.column.size(); ++j) loss += at.of(z, j);
    return loss;
  }
  static double product(const Products& at, const DenseRecord& z, double*, VectorRef v) {
    double bound = 0;
    for (Index j = 0; j < v.size(); ++j) {
      const double entry = at.of(z, j);
      bound = std::max(bound, std::abs(entry));
      v[j] = entry * at.along[j];
    }
    return bound;
  }
  static double coordinate_loss(const Coordinates& at, double z, Index k) {
    return at.changes(Table::row(z), k);
  }
};

/// Counts of the three values in a range are trinomial, independent over the coordinates.
class SimulatedRipples final : public SimulatedSums {
 public:
  SimulatedRipples(const RippleTables& tables, Matrix law, RecordSampling sampling,
                   const InstanceSpec& spec)
      : tables_(tables), law_(std::move(law)), sampling_(sampling), spec_(spec) {}

  Index size() const override { return spec_.records; }
  bool separable() const override { return true; }
  bool has_second_order() const override { return true; }

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

  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    check_minimisation(family_name, s.block);
    check_simulated_batch(family_name, sampling_, batch, spec_.records);
    const auto drawn = counts(batch.begin(), batch.size());
    const Matrix& count = *drawn;
    /// Σ_i of the records' entries of the table, where no contribution exceeds `bound`.
    const auto totals = [&](const Matrix& table, double bound) -> Vector {
      constexpr double rounding_scale = 8;  // above the gradient's and the Hessian's entries
      const double weight = check_simulated_limit(family_name, bound, limit, rounding_scale);
      return weight * table.cwiseProduct(count).colwise().sum();
    };
    switch (s.kind) {
      case Summand::Kind::gradient: {
        const Matrix slopes = tables_.slopes(s.point.x, s.before());
        out += totals(slopes, slopes.cwiseAbs().colwise().maxCoeff().norm());
        return {};
      }
      case Summand::Kind::loss: {
        const Matrix table = tables_.loss_differences(s.point.x, s.previous->x);
        const double bound =
            std::max(table.colwise().maxCoeff().sum(), -table.colwise().minCoeff().sum());
        out[0] += totals(table, bound).sum();
        return {};
      }
      case Summand::Kind::coordinate_loss: {
        std::array<CountedValue, 3> records;
        for (Index k = 0; k < 3; ++k)
          records[static_cast<std::size_t>(k)] = {static_cast<double>(k - 1),
                                                  static_cast<Index>(count(k, s.coordinate))};
        return clamped_coordinate_sum(records, s.v, s.centre, limit, out,
                                      [&](double z) { return tables_.term(s.v, s.centre, z); });
      }
      case Summand::Kind::hessian_product:
        break;
    }
    const Matrix curvatures = tables_.curvatures(s.point.x, s.before());
    out += totals(curvatures, curvatures.cwiseAbs().maxCoeff()).cwiseProduct(s.v);
    return {};
  }

 private:
  RippleTables tables_;
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

/// d × n.
Matrix draw_values(const Matrix& law, const InstanceSpec& spec) {
  Stream stream({.seed = spec.data_seed, .purpose = Purpose::data});
  Matrix values(law.cols(), spec.records);
  for (double& z : values.reshaped()) z = stream.uniform();
  for (Index j = 0; j < law.cols(); ++j)
    for (double& z : values.row(j)) z = z < law(2, j) ? 1 : (z < law(2, j) + law(0, j) ? -1 : 0);
  return values;
}

/// Shares of the three values, 3 × d.
Matrix shares_of(const Matrix& values) {
  Matrix counts = Matrix::Zero(3, values.rows());
  for (const auto& z : values.colwise())
    for (Index j = 0; j < z.size(); ++j) counts(RippleLoss::Table::row(z[j]), j) += 1;
  return counts / static_cast<double>(values.cols());
}

/// All equal to one value, and one of all three in turn.
Matrix corner_values(Index d) {
  Matrix corners(d, 4);
  for (Index j = 0; j < d; ++j) corners.row(j) << -1, 0, 1, static_cast<double>(j % 3 - 1);
  return corners;
}

std::unique_ptr<const AnyRecords> ripple_records(const RippleTables& tables, Matrix values) {
  const Vector labels = Vector::Zero(values.cols());
  return admit<RippleLoss>(tables, RecordTable({std::move(values), labels}));
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
        name(), "half_width", half_width,
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
      proved(1 + amplitude * frequency, "everywhere",
             "‖∇f‖² = (1/d) Σ_j φ′(√d x_j − z_j)² and |φ′| = |t/√(1+t²) + Aω sin ωt| < 1 + Aω, "
             "approached far outside the box; inside, at the defaults, the maximum is 1.5422.",
             0.866));
  made.set(constant::smoothness,
           proved(ripple.curvature_bound(), "everywhere",
                  "The Hessian is diagonal with entries φ″(√d x_j − z_j), φ″ = (1+t²)^{−3/2} + Aω² "
                  "cos ωt ∈ [−Aω², 1 + Aω²], the upper end at t = 0."));
  made.set(constant::hessian_lipschitz,
           proved(root_d * ripple.third_bound(), "everywhere",
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
      proved(farthest / static_cast<double>(facts.dimension), "initial point",
             "In every coordinate F(x₀) − min F is convex in the frequencies of the three values "
             "(linear less a minimum of linear functions), so it is largest where all records "
             "agree; then the minimum is 0, and what is left is max_k φ(√d x₀_j − k)."));
  return made;
}

void RippleLocation::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index d = problem.facts.dimension;
  const Ripple ripple{amplitude, frequency};
  const RippleTables tables{ripple, d};
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
    auto sums = std::make_unique<SimulatedRipples>(tables, law, sampling, spec);
    if (sampling == RecordSampling::whole)
      use_objective(*sums->counts(0, spec.records) / static_cast<double>(spec.records),
                    Landmark::Of::empirical);
    problem.simulated = std::move(sums);
  } else {
    Matrix values = draw_values(law, spec);
    use_objective(shares_of(values), Landmark::Of::empirical);
    problem.records = ripple_records(tables, std::move(values));
  }
  problem.extremes = ripple_records(tables, corner_values(d));
  for (Index value = 0; value < 3; ++value) {  // where all records agree
    Matrix agreed = Matrix::Zero(3, d);
    agreed.row(value).setOnes();
    problem.extreme_objectives.push_back(std::make_unique<RippleObjective>(ripple, agreed));
  }
  problem.slice = first_two_coordinates(
      "F over (x₁, x₂), the others at the minimum: a ripple over a bowl",
      problem.landmarks.front().point, -problem.facts.domain.radius, problem.facts.domain.radius);
}

}  // namespace dpsosp
