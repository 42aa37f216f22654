// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/matrix_completion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "clipped_sum.hpp"
#include "dpsosp/core/errors.hpp"
#include "low_rank.hpp"

namespace dpsosp {
namespace {

using ConstMatrixMap = Eigen::Map<const Matrix>;
using MatrixMap = Eigen::Map<Matrix>;

/// Sizes and weights, and a point seen as (U, V).
struct Shape {
  Index p, q, r;
  double weight, balance;  // w, λ

  Index dimension() const { return (p + q) * r; }
  ConstMatrixMap left(ConstVectorRef x) const { return {x.data(), p, r}; }
  ConstMatrixMap right(ConstVectorRef x) const { return {x.data() + p * r, q, r}; }
  MatrixMap left(Vector& x) const { return {x.data(), p, r}; }
  MatrixMap right(Vector& x) const { return {x.data() + p * r, q, r}; }
};

/// One end of a gradient difference.
struct End {
  End(const Shape& s, ConstVectorRef x) : U(s.left(x)), V(s.right(x)) {}
  double entry(Index a, Index b) const { return U.row(a).dot(V.row(b)); }

  ConstMatrixMap U, V;
};

/// What every record contributes: the gradient of the balancing term, or its difference.
Vector common_part(const Shape& s, ConstVectorRef x, const Point* previous) {
  Vector common = Vector::Zero(s.dimension());
  add_balance_gradient(x, s.p, s.q, s.r, s.balance, common);
  if (previous != nullptr) add_balance_gradient(previous->x, s.p, s.q, s.r, -s.balance, common);
  return common;
}

class CompletionRecords : public Records {
 public:
  explicit CompletionRecords(const Shape& shape) : shape_(shape) {}

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const final {
    check_minimisation("matrix-completion", block);
    return sum(point, nullptr, batch, limit, out);
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const final {
    check_minimisation("matrix-completion", block);
    return sum(point, &previous, batch, limit, out);
  }

 protected:
  const Shape& shape() const { return shape_; }

 private:
  virtual ClipReport sum(const Point& point,
                         const Point* previous,
                         const BatchView& batch,
                         double limit,
                         VectorRef out) const = 0;

  Shape shape_;
};

class StoredEntries final : public CompletionRecords {
 public:
  explicit StoredEntries(CompletionData data)
      : CompletionRecords({data.rows, data.cols, data.rank, data.weight, data.balance}),
        cells_(std::move(data.cells)),
        values_(std::move(data.values)) {}

  Index size() const override { return values_.size(); }

 private:
  ClipReport sum(const Point& point,
                 const Point* previous,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const override {
    const Shape& s = shape();
    const Vector common = common_part(s, point.x, previous);
    const End to(s, point.x), from(s, previous != nullptr ? previous->x : point.x);
    return clipped_sum(batch, limit, out, [&](Index i, Vector& v) {
      const Index cell = cells_[static_cast<std::size_t>(i)];
      const Index a = cell % s.p, b = cell / s.p;
      v = common;
      const auto add = [&](const End& end, double sign) {
        const double c = sign * s.weight * (end.entry(a, b) - values_[i]);
        s.left(v).row(a) += c * end.V.row(b);
        s.right(v).row(b) += c * end.U.row(a);
      };
      add(to, 1.0);
      if (previous != nullptr) add(from, -1.0);
    });
  }

  std::vector<Index> cells_;
  Vector values_;
};

/// What a sum over records depends on: per cell, how many and the sum of their signs.
struct CellSums {
  Matrix counts, signs;  // p × q
};

class SimulatedEntries final : public CompletionRecords {
 public:
  SimulatedEntries(
      const Shape& shape, Matrix planted, double noise, Sampling sampling, const InstanceSpec& spec)
      : CompletionRecords(shape),
        planted_(std::move(planted)),
        noise_(noise),
        sampling_(sampling),
        spec_(spec) {}

  Index size() const override { return spec_.records; }
  bool simulated() const override { return true; }

  CellSums cell_sums(Index begin, Index size) const {
    const Shape& s = shape();
    Stream stream = range_stream(spec_.data_seed, begin, size);
    CellSums sums{Matrix(s.p, s.q), Matrix(s.p, s.q)};
    Index left = size;
    for (Index cell = 0; cell < s.p * s.q; ++cell) {
      const Index count = stream.binomial(left, 1.0 / static_cast<double>(s.p * s.q - cell));
      left -= count;
      sums.counts.reshaped()[cell] = static_cast<double>(count);
      sums.signs.reshaped()[cell] = static_cast<double>(2 * stream.binomial(count, 0.5) - count);
    }
    return sums;
  }

 private:
  ClipReport sum(const Point& point,
                 const Point* previous,
                 const BatchView& batch,
                 double limit,
                 VectorRef out) const override {
    check_simulated_batch("matrix-completion", sampling_, batch, spec_.records);
    const Shape& s = shape();
    const Vector common = common_part(s, point.x, previous);
    check_simulated_limit("matrix-completion", largest_norm(common, point, previous), limit);
    const CellSums sums = cell_sums(batch.begin(), batch.size());
    Vector total = static_cast<double>(batch.size()) * common;
    const auto add = [&](ConstVectorRef x, double sign) {
      const End end(s, x);
      const Matrix G =
          (sign * s.weight) *
          ((end.U * end.V.transpose() - planted_).cwiseProduct(sums.counts) - noise_ * sums.signs);
      s.left(total) += G * end.V;
      s.right(total) += G.transpose() * end.U;
    };
    add(point.x, 1.0);
    if (previous != nullptr) add(previous->x, -1.0);
    out += total;
    return {};
  }

  /// Of any record's contribution, over all cells and signs.
  double largest_norm(ConstVectorRef common, const Point& point, const Point* previous) const {
    const Shape& s = shape();
    const End to(s, point.x), from(s, previous != nullptr ? previous->x : point.x);
    const double kept = previous != nullptr ? 1.0 : 0.0;
    const double common_squared = common.squaredNorm();
    const ConstMatrixMap common_left = s.left(common), common_right = s.right(common);
    double largest = 0;
    for (Index b = 0; b < s.q; ++b)
      for (Index a = 0; a < s.p; ++a)
        for (const double noise : {noise_, -noise_}) {
          const double value = planted_(a, b) + noise;
          const double c = s.weight * (to.entry(a, b) - value);
          const double before = kept * s.weight * (from.entry(a, b) - value);
          const auto in_left = c * to.V.row(b) - before * from.V.row(b);
          const auto in_right = c * to.U.row(a) - before * from.U.row(a);
          const double elsewhere =
              common_squared - common_left.row(a).squaredNorm() - common_right.row(b).squaredNorm();
          largest =
              std::max(largest,
                       std::max(elsewhere, 0.0) + (common_left.row(a) + in_left).squaredNorm() +
                           (common_right.row(b) + in_right).squaredNorm());
        }
    return std::sqrt(largest);
  }

  Matrix planted_;
  double noise_;
  Sampling sampling_;
  InstanceSpec spec_;
};

FactoredForm empirical_form(const CompletionData& data) {
  const auto n = static_cast<double>(data.values.size());
  FactoredForm form{Matrix::Zero(data.rows, data.cols),
                    Matrix::Zero(data.rows, data.cols),
                    data.rank,
                    data.balance,
                    0.0};
  auto means = form.target.reshaped();
  auto counts = form.weights.reshaped();
  for (Index i = 0; i < data.values.size(); ++i) {
    const Index cell = data.cells[static_cast<std::size_t>(i)];
    counts[cell] += 1;
    means[cell] += (data.values[i] - means[cell]) / counts[cell];
  }
  for (Index i = 0; i < data.values.size(); ++i) {
    const double deviation = data.values[i] - means[data.cells[static_cast<std::size_t>(i)]];
    form.offset += 0.5 * data.weight / n * deviation * deviation;
  }
  form.weights *= data.weight / n;
  return form;
}

FactoredForm empirical_form(
    const Shape& s, const Matrix& planted, double noise, const CellSums& sums, double n) {
  const auto counts = sums.counts.array();
  const Matrix mean_sign = (counts > 0).select(sums.signs.array() / counts.max(1.0), 0.0);
  return {.target = planted + noise * mean_sign,
          .weights = s.weight / n * sums.counts,
          .rank = s.r,
          .balance = s.balance,
          .offset = 0.5 * s.weight * noise * noise / n *
                    (counts * (1 - mean_sign.array().square())).sum()};
}

/// Corner cells under the largest values.
CompletionData extreme_data(const Shape& s, double value) {
  const Index last = s.p * s.q - 1;
  return {s.p,
          s.q,
          s.r,
          s.weight,
          s.balance,
          {0, 0, last, last},
          Vector{{value, -value, value, -value}}};
}

Constants proved_constants(const Shape& s, double radius, double value) {
  const double squared = radius * radius;
  const std::string region = "the domain; any cell, |v| ≤ v_max";
  Constants c;
  c.set(constant::lipschitz,
        {s.weight * (squared / 2 + value) * radius + s.balance * squared * radius,
         Origin::proved,
         region,
         "The data part w(t − v)(v_b, u_a) with t = u_aᵀv_b has |t| ≤ (‖u_a‖² + ‖v_b‖²)/2 ≤ R²/2, "
         "|v| ≤ v_max = σ_1 + s and ‖(v_b, u_a)‖ ≤ R, all attained at u_a = v_b. With D = UᵀU − "
         "VᵀV the rest is λ(UD, −VD), ‖D‖₂ ≤ R², so at most λR³.",
         0.98});
  c.set(constant::smoothness,
        {s.weight * (1.5 * squared + value) + 3 * s.balance * squared,
         Origin::proved,
         region,
         "The data part has w(gᵀZ)² + 2w(t − v) z_aᵀz_b with ‖g‖ ≤ R and 2|z_aᵀz_b| ≤ 1: at most "
         "w(R² + R²/2 + v_max), attained at u_a = v_b and Z = g. The rest is (λ/2)‖δD‖_F² + "
         "λ⟨D, Z_UᵀZ_U − Z_VᵀZ_V⟩ with ‖δD‖_F ≤ 2R, so at most 3λR².",
         0.98});
  c.set(constant::hessian_lipschitz,
        {3 * s.weight * radius + 6 * s.balance * radius,
         Origin::proved,
         region,
         "Third derivatives: w(t[Y] t[Z, Z] + 2 t[Z] t[Z, Y]) ≤ 3wR, as |t[Z]| ≤ R and "
         "|t[Z, Y]| ≤ 1, attained at u_a = v_b; and (λ/2)(⟨D[Z, Z], D[Y]⟩ + 2⟨D[Z, Y], D[Z]⟩) ≤ "
         "6λR, as ‖D[Z]‖_F ≤ 2R and ‖D[Z, Y]‖_F ≤ 2.",
         0.98});
  return c;
}

}  // namespace

std::string_view MatrixCompletion::summary() const {
  return "(w/2)((U V')_ab - v)^2 + (l/4)|U'U - V'V|^2; entries of a low-rank matrix, any n";
}

ProblemNotes MatrixCompletion::notes() const {
  return {.group = "Low-rank recovery",
          .formula =
              "x = (U, V), f(x; a, b, v) = (w/2)((UVᵀ)_ab − v)² + (λ/4)‖UᵀU − VᵀV‖_F² with (a, b) "
              "uniform over the cells and v = X*_ab ± s; w = pq (or everything divided by pq: "
              "`record_scale` = unit). Population, a finite sum: "
              "F(x) = ½‖UVᵀ − X*‖_F² + (λ/4)‖UᵀU − VᵀV‖_F² + pq s²/2. Domain ‖x‖ ≤ R.",
          .source = "Ge, Jin and Zheng (2017), balanced asymmetric form",
          .critical_points =
              "Population, σ_1 ≥ σ_2 ≥ … the singular values of X*: the origin is a strict saddle "
              "with λ_min = −σ_1; the balanced truncation at a rank j below min(r, r*) is one with "
              "λ_min = −σ_{j+1}; that at min(r, r*), up to rotations, is the minimiser."};
}

Fields MatrixCompletion::fields() {
  Fields fields{field("rows", rows, "p"),
                field("cols", cols, "q"),
                field("rank", rank, "r, columns of U and V"),
                field("planted_rank", planted_rank, "r*, rank of X*"),
                field("planted_norm", planted_norm, "sigma_1 of X*"),
                field("condition", condition, "sigma_1 over the smallest positive singular value"),
                field("label_noise", label_noise, "s; a value is off by s either way"),
                field("balance", balance, "lambda, weight of the balancing term"),
                field("domain_factor", domain_factor, "radius of the domain over ||(U*, V*)||_F"),
                field("initial_spread", initial_spread, "standard deviation of U0 and V0"),
                record_scale_field(record_scale)};
  fields.push_back(
      sampling_field(sampling, {Sampling::independent, Sampling::whole, Sampling::stream}));
  start.add_fields(fields);
  return fields;
}

Problem MatrixCompletion::make(const InstanceSpec& spec) const {
  check_records(name(), spec.records);
  if (rows < 1) reject(name(), "rows", static_cast<double>(rows), ">= 1");
  if (cols < 1) reject(name(), "cols", static_cast<double>(cols), ">= 1");
  if (rank < 1) reject(name(), "rank", static_cast<double>(rank), ">= 1");
  if (planted_rank < 1 || planted_rank > std::min(rows, cols))
    reject(name(), "planted_rank", static_cast<double>(planted_rank), "in [1, min(rows, cols)]");
  if (!(planted_norm > 0)) reject(name(), "planted_norm", planted_norm, "> 0");
  if (!(condition >= 1)) reject(name(), "condition", condition, ">= 1");
  if (!(label_noise >= 0)) reject(name(), "label_noise", label_noise, ">= 0");
  if (!(balance >= 0)) reject(name(), "balance", balance, ">= 0");
  if (!(domain_factor >= 1))
    reject(name(), "domain_factor", domain_factor, ">= 1, so that the minimisers are inside");
  if (!(initial_spread >= 0)) reject(name(), "initial_spread", initial_spread, ">= 0");
  const auto cells = static_cast<double>(rows * cols);
  const double unit = record_scale == RecordScale::unit ? 1 / cells : 1.0;
  const Shape shape{rows, cols, rank, unit * cells, unit * balance};
  const Index d = shape.dimension();
  if (spec.dimension && *spec.dimension != d)
    reject(name(),
           "dimension",
           static_cast<double>(*spec.dimension),
           fmt::format("(rows + cols) rank = {}; set problem.rows, problem.cols, problem.rank", d));

  const Vector spectrum = geometric_spectrum(planted_rank, planted_norm, condition);
  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  const StreamKey planted_key = key.child(0);
  const Matrix planted =
      random_orthonormal(rows, planted_rank, Stream(planted_key.child(0))) * spectrum.asDiagonal() *
      random_orthonormal(cols, planted_rank, Stream(planted_key.child(1))).transpose();

  Problem problem;
  PublicFacts& facts = problem.facts;
  facts.name = name();
  facts.dimension = d;
  facts.records = spec.records;
  const double radius = domain_factor * std::sqrt(2 * spectrum.sum());
  facts.domain = Domain::ball(radius);
  Starts starts{
      .standard = Vector(d),
      .saddle = Vector::Zero(d),
      .random_spread = std::sqrt(planted_norm / static_cast<double>(std::max(rows, cols))),
      .far_radius = radius};
  Stream({.seed = spec.seed, .purpose = Purpose::initial_point})
      .fill_normal(initial_spread, starts.standard);
  facts.initial_point = start.pick(name(), starts, facts.domain, spec.seed);
  const double largest_value = planted_norm + label_noise;
  facts.constants = proved_constants(shape, radius, largest_value);
  const End at_start(shape, facts.initial_point);
  facts.constants.set(
      constant::suboptimality,
      {unit * (0.5 * std::pow((at_start.U * at_start.V.transpose()).norm() + spectrum.norm(), 2) +
               balance * balance_value(facts.initial_point, rows, cols, rank)),
       Origin::estimated,
       "initial point, of the population (‖UVᵀ − X*‖_F ≤ ‖UVᵀ‖_F + ‖X*‖_F)"});

  problem.population =
      factored_objective({.target = planted,
                          .weights = Matrix::Constant(rows, cols, unit),
                          .rank = rank,
                          .balance = shape.balance,
                          .offset = 0.5 * shape.weight * label_noise * label_noise});
  LowRankPicture picture = factored_picture(planted, rank, Landmark::Of::population);
  problem.landmarks = std::move(picture.landmarks);
  problem.slice = std::move(picture.slice);
  problem.extremes = completion_records(extreme_data(shape, largest_value));
  if (simulated(sampling)) {
    auto records = std::make_unique<SimulatedEntries>(shape, planted, label_noise, sampling, spec);
    if (sampling == Sampling::whole)
      problem.empirical = factored_objective(empirical_form(shape,
                                                            planted,
                                                            label_noise,
                                                            records->cell_sums(0, spec.records),
                                                            static_cast<double>(spec.records)));
    problem.records = std::move(records);
    return problem;
  }
  CompletionData data{rows, cols, rank, shape.weight, shape.balance, {}, Vector(spec.records)};
  Stream stream(key.child(1));
  data.cells.reserve(static_cast<std::size_t>(spec.records));
  for (double& value : data.values) {
    const Index cell = stream.below(rows * cols);
    data.cells.push_back(cell);
    value = planted.reshaped()[cell] + (stream.bernoulli(0.5) ? label_noise : -label_noise);
  }
  problem.empirical = completion_objective(data);
  problem.records = completion_records(std::move(data));
  return problem;
}

std::unique_ptr<const Records> completion_records(CompletionData data) {
  return std::make_unique<StoredEntries>(std::move(data));
}

std::unique_ptr<const Objective> completion_objective(const CompletionData& data) {
  return factored_objective(empirical_form(data));
}

}  // namespace dpsosp
