// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/matrix_completion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/fixed_dimension.hpp"
#include "low_rank.hpp"
#include "matrix_completion_records.hpp"

namespace dpsosp {
namespace {

/// Corner cells under the largest values.
CompletionData extreme_data(const CompletionShape& s, double value) {
  const Index last = s.p * s.q - 1;
  return {s.p,
          s.q,
          s.r,
          s.weight,
          s.balance,
          {0, 0, last, last},
          Vector{{value, -value, value, -value}}};
}

/// The weight of a cell in the population objective.
double unit_of(const MatrixCompletion& f) {
  return f.record_scale == RecordScale::unit ? 1 / static_cast<double>(f.rows * f.cols) : 1.0;
}

CompletionShape shape_of(const MatrixCompletion& f) {
  const auto cells = static_cast<double>(f.rows * f.cols);
  return {f.rows, f.cols, f.rank, unit_of(f) * cells, unit_of(f) * f.balance};
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
  using namespace range;
  Fields fields{
      field("rows", rows, at_least(1), "p"),
      field("cols", cols, at_least(1), "q"),
      field("rank", rank, at_least(1), "r, columns of U and V"),
      field("planted_rank", planted_rank, at_least(1), "r*, rank of X*"),
      field("planted_norm", planted_norm, positive, "sigma_1 of X*"),
      field("condition", condition, at_least(1),
            "sigma_1 over the smallest positive singular value"),
      field("label_noise", label_noise, not_negative, "s; a value is off by s either way"),
      field("balance", balance, not_negative, "lambda, weight of the balancing term"),
      field("domain_factor", domain_factor, at_least(1),
            "radius of the domain over ||(U*, V*)||_F"),
      field("initial_spread", initial_spread, not_negative, "standard deviation of U0 and V0"),
      record_scale_field(record_scale)};
  fields.push_back(sampling_field(
      sampling, {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

Index MatrixCompletion::dimension(const InstanceSpec& spec) const {
  check_planted_rank(name(), planted_rank, std::min(rows, cols), "min(rows, cols)");
  const Index d = shape_of(*this).dimension();
  return check_fixed_dimension(
      name(), spec, d,
      fmt::format("(rows + cols) rank = {}; set problem.rows, problem.cols, problem.rank", d));
}

void MatrixCompletion::settle(const Stream& random, PublicFacts& facts) const {
  const double radius =
      domain_factor *
      std::sqrt(2 * geometric_spectrum(planted_rank, planted_norm, condition).sum());
  settle_in_ball(
      start,
      {.spread = initial_spread,
       .random_spread = std::sqrt(planted_norm / static_cast<double>(std::max(rows, cols))),
       .far_radius = radius},
      random, facts);
}

Constants MatrixCompletion::constants(const PublicFacts& facts) const {
  const CompletionShape s = shape_of(*this);
  const double radius = facts.domain.radius, squared = radius * radius;
  const double value = planted_norm + label_noise;
  const std::string region = "the domain; any cell, |v| ≤ v_max";
  Constants c;
  c.set(constant::lipschitz,
        proved(s.weight * (squared / 2 + value) * radius + s.balance * squared * radius, region,
               "The data part w(t − v)(v_b, u_a) with t = u_aᵀv_b has |t| ≤ (‖u_a‖² + ‖v_b‖²)/2 ≤ "
               "R²/2, |v| ≤ v_max = σ_1 + s and ‖(v_b, u_a)‖ ≤ R, all attained at u_a = v_b. With "
               "D = UᵀU − VᵀV the rest is λ(UD, −VD), ‖D‖₂ ≤ R², so at most λR³.",
               0.98));
  c.set(constant::smoothness,
        proved(s.weight * (1.5 * squared + value) + 3 * s.balance * squared, region,
               "The data part has w(gᵀZ)² + 2w(t − v) z_aᵀz_b with ‖g‖ ≤ R and 2|z_aᵀz_b| ≤ 1: at "
               "most w(R² + R²/2 + v_max), attained at u_a = v_b and Z = g. The rest is "
               "(λ/2)‖δD‖_F² + λ⟨D, Z_UᵀZ_U − Z_VᵀZ_V⟩ with ‖δD‖_F ≤ 2R, so at most 3λR².",
               0.98));
  c.set(constant::hessian_lipschitz,
        proved(3 * s.weight * radius + 6 * s.balance * radius, region,
               "Third derivatives: w(t[Y] t[Z, Z] + 2 t[Z] t[Z, Y]) ≤ 3wR, as |t[Z]| ≤ R and |t[Z, "
               "Y]| ≤ 1, attained at u_a = v_b; and (λ/2)(⟨D[Z, Z], D[Y]⟩ + 2⟨D[Z, Y], D[Z]⟩) ≤ "
               "6λR, as ‖D[Z]‖_F ≤ 2R and ‖D[Z, Y]‖_F ≤ 2.",
               0.98));
  const Vector& x0 = facts.initial_point;
  const double at_start = (s.left(x0) * s.right(x0).transpose()).norm();
  const double planted = geometric_spectrum(planted_rank, planted_norm, condition).norm();
  c.set(constant::suboptimality,
        {0.5 * unit_of(*this) * std::pow(at_start + planted, 2) + s.balance_term().value(x0),
         Origin::estimated, "initial point, of the population (‖UVᵀ − X*‖_F ≤ ‖UVᵀ‖_F + ‖X*‖_F)"});
  return c;
}

void MatrixCompletion::draw(const InstanceSpec& spec, Problem& problem) const {
  const CompletionShape shape = shape_of(*this);
  const Vector spectrum = geometric_spectrum(planted_rank, planted_norm, condition);
  const StreamKey key{.seed = spec.data_seed, .purpose = Purpose::data};
  const StreamKey planted_key = key.child(0);
  const Matrix planted =
      random_orthonormal(rows, planted_rank, Stream(planted_key.child(0))) * spectrum.asDiagonal() *
      random_orthonormal(cols, planted_rank, Stream(planted_key.child(1))).transpose();

  problem.population =
      factored_objective({.target = planted,
                          .weights = Matrix::Constant(rows, cols, unit_of(*this)),
                          .rank = rank,
                          .balance = shape.balance,
                          .offset = 0.5 * shape.weight * label_noise * label_noise});
  add_picture(factored_picture(planted, rank, Landmark::Of::population), problem);
  problem.extremes = completion_records(extreme_data(shape, planted_norm + label_noise));
  if (simulated(sampling)) {
    SimulatedCompletion made = simulated_completion(shape, planted, label_noise, sampling, spec);
    problem.simulated = std::move(made.sums);
    problem.empirical = std::move(made.empirical);
    return;
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
}

}  // namespace dpsosp
