// SPDX-License-Identifier: Apache-2.0
// matrix-sensing, matrix-sensing-symmetric and covariance-gan: populations, landmarks, records.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/covariance_gan.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "dpsosp/problems/matrix_sensing_symmetric.hpp"

namespace dpsosp::low_rank_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

Matrix dense_hessian(const Objective& f, ConstVectorRef x) {
  const Index d = f.dimension();
  Matrix H(d, d);
  for (Index j = 0; j < d; ++j) f.hessian_product(x, Vector::Unit(d, j), H.col(j));
  return H;
}

double lambda_min(const Objective& f, ConstVectorRef x) {
  return symmetric_eigenvalues(dense_hessian(f, x))[0];
}

Vector normal_vector(Index size, std::uint64_t seed, double spread = 1.0) {
  Vector v(size);
  Stream({.seed = seed}).fill_normal(spread, v);
  return v;
}

const Landmark& landmark(const Problem& p, const std::string& name, Landmark::Of of) {
  const auto found = std::ranges::find_if(
      p.landmarks, [&](const Landmark& l) { return l.name == name && l.of == of; });
  EXPECT_NE(found, p.landmarks.end()) << name;
  return *found;
}

constexpr auto population = Landmark::Of::population;

TEST(MatrixSensing, PopulationHasStatedCriticalPoints) {
  MatrixSensing family;
  family.rows = 5;
  family.cols = 4;
  family.rank = 3;
  const Problem p = family.make({.records = 10, .data_seed = 3});
  const Vector& planted = landmark(p, "balanced factors", population).point;
  const Eigen::Map<const Matrix> U(planted.data(), 5, 3), V(planted.data() + 15, 4, 3);
  const Vector sigma = singular_values(U * V.transpose());
  EXPECT_LT((U.transpose() * U - V.transpose() * V).norm(), 1e-13 * sigma[0]);
  EXPECT_NEAR(p.population->value(planted), 0.5 * 0.01 * 0.01, 1e-15);
  EXPECT_NEAR(p.population->value(Vector::Zero(27)), sigma.squaredNorm() / 40 + 0.5 * 0.01 * 0.01,
              1e-13);
  EXPECT_NEAR(lambda_min(*p.population, Vector::Zero(27)), -sigma[0] / 20, 1e-13);
  const Vector& truncated = landmark(p, "truncation at rank 2", population).point;
  EXPECT_NEAR(lambda_min(*p.population, truncated), -sigma[2] / 20, 1e-13);
  EXPECT_NEAR(p.population->value(truncated), sigma[2] * sigma[2] / 40 + 0.5 * 0.01 * 0.01, 1e-13);
}

TEST(MatrixSensing, AcceptsAnyShapeAndRank) {
  for (const auto& [rows, cols, rank] :
       {std::array<Index, 3>{1, 1, 1}, {1, 4, 2}, {3, 1, 5}, {2, 3, 7}})
    for (const Design design : {Design::gaussian, Design::sphere}) {
      MatrixSensing family;
      family.rows = rows;
      family.cols = cols;
      family.rank = rank;
      family.design = design;
      const Problem p = family.make({.records = 1});
      for (const Landmark& l : p.landmarks) {
        Vector g(p.facts.dimension);
        p.population->gradient(l.point, g);
        EXPECT_LT(g.norm(), 1e-12 * (1 + l.point.norm())) << l.name;
      }
    }
}

TEST(MatrixSensing, SphereMeasurementsHaveUnitLength) {
  // at U = u e, V = v e the gradient of record i is y_i (A v, Aᵀ u): with p = q = 1 it is ±y
  MatrixSensing family;
  family.rows = family.cols = family.rank = 1;
  family.design = Design::sphere;
  const Problem p = family.make({.records = 50});
  const Vector x{{1.0, 0.0}}, y = Vector::Ones(50);
  for (Index i = 0; i < 50; ++i) {
    Vector g = Vector::Zero(2);
    p.records->add_gradients(Point(x, y), Block::x, BatchView(i, i + 1), unlimited, g);
    EXPECT_EQ(g[0], 0.0);
    EXPECT_NEAR(std::abs(g[1]), 1.0, 1e-15);
  }
}

TEST(MatrixSensing, StartsMatchTheirNames) {
  MatrixSensing family;
  family.start.kind = StartOption::Kind::saddle;
  EXPECT_EQ(family.make({.records = 2}).facts.initial_point, Vector::Zero(120));
  family.start.kind = StartOption::Kind::near_saddle;
  family.start.near_radius = 0.25;
  EXPECT_NEAR(family.make({.records = 2}).facts.initial_point.norm(), 0.25, 1e-15);
  family.start.kind = StartOption::Kind::standard;
  Vector expected(120);
  Stream({.seed = 7, .purpose = Purpose::initial_point}).fill_normal(0.1, expected);
  EXPECT_EQ(family.make({.records = 2, .seed = 7}).facts.initial_point, expected);
}

/// Symmetric measurements whose gradients are written out.
class SymmetricRecords : public testing::Test {
 protected:
  static constexpr Index p = 4, r = 2, n = 30;
  SymmetricRecords() {
    data.rows = p;
    data.rank = r;
    data.measurements.resize(p * p, n);
    Stream stream({.seed = 5});
    stream.fill_normal(1.0, data.measurements.reshaped());
    for (auto column : data.measurements.colwise()) {
      Eigen::Map<Matrix> A(column.data(), p, p);
      A = (0.5 * (A + A.transpose())).eval();
    }
    data.labels = normal_vector(n, 6);
  }
  Matrix measurement(Index i) const { return data.measurements.col(i).reshaped(p, p); }
  Vector gradient(Index i, const Vector& x) const {
    const Matrix U = x.reshaped(p, r);
    const double residual = (U.transpose() * measurement(i) * U).trace() - data.labels[i];
    return (residual * measurement(i) * U).reshaped();
  }
  SymmetricSensingData data;
};

TEST_F(SymmetricRecords, MatchFormulasWithAndWithoutClipping) {
  const auto records = symmetric_sensing_records(data);
  const Vector x = normal_vector(p * r, 1), x0 = normal_vector(p * r, 2);
  for (const double limit : {unlimited, 2.0}) {
    Vector sum = Vector::Zero(p * r), expected = sum, moved = sum, expected_moved = sum;
    records->add_gradients(Point(x), Block::x, BatchView(3, n), limit, sum);
    records->add_gradient_differences(Point(x), Point(x0), Block::x, BatchView(3, n), limit, moved);
    for (Index i = 3; i < n; ++i) {
      const Vector g = gradient(i, x), change = g - gradient(i, x0);
      expected += g * std::min(1.0, limit / g.norm());
      expected_moved += change * std::min(1.0, limit / change.norm());
    }
    EXPECT_LT((sum - expected).norm(), 1e-12 * (1 + expected.norm()));
    EXPECT_LT((moved - expected_moved).norm(), 1e-12 * (1 + expected_moved.norm()));
  }
}

TEST_F(SymmetricRecords, ObjectiveIsQuarterMeanSquaredResidual) {
  const auto F = symmetric_sensing_objective(data);
  const Vector x = normal_vector(p * r, 1);
  const Matrix U = x.reshaped(p, r);
  double sum = 0;
  Vector mean = Vector::Zero(p * r), g(p * r);
  for (Index i = 0; i < n; ++i) {
    sum += 0.25 * std::pow((U.transpose() * measurement(i) * U).trace() - data.labels[i], 2);
    mean += gradient(i, x) / static_cast<double>(n);
  }
  EXPECT_NEAR(F->value(x), sum / static_cast<double>(n), 1e-12);
  F->gradient(x, g);
  EXPECT_LT((g - mean).norm(), 1e-12);
}

TEST_F(SymmetricRecords, SpectralBoundLiesBetweenNorms) {
  // at U = 0 a record's Hessian is −b A, weighed by |b| times the bound
  const auto records = symmetric_sensing_records(data);
  const Vector zero = Vector::Zero(p * r), v = normal_vector(p * r, 3);
  for (Index i = 0; i < n; ++i) {
    Vector out = zero;
    const ClipReport report =
        records->add_hessian_products(Point(zero), v, BatchView(i, i + 1), unlimited, out);
    const double bound = report.largest_norm / std::abs(data.labels[i]);
    const Vector spectrum = symmetric_eigenvalues(measurement(i));
    EXPECT_GE(bound * (1 + 1e-12), spectrum.cwiseAbs().maxCoeff());
    EXPECT_LE(bound, measurement(i).norm() * (1 + 1e-12));
  }
}

TEST(MatrixSensingSymmetric, PopulationHasStatedSpectrumAndSaddles) {
  MatrixSensingSymmetric family;
  family.rows = 6;
  family.rank = 4;
  family.planted_rank = 3;
  family.planted_norm = 2.0;
  family.condition = 4.0;  // σ = 2, 1, 1/2
  const Problem p = family.make({.records = 5, .data_seed = 9});
  const double noise = 0.25 * 0.1 * 0.1;
  const Vector origin = Vector::Zero(24);
  EXPECT_NEAR(p.population->value(origin), 0.25 * (4 + 1 + 0.25) + noise, 1e-14);
  EXPECT_NEAR(lambda_min(*p.population, origin), -2.0, 1e-13);
  const Vector& truncated = landmark(p, "truncation at rank 2", population).point;
  EXPECT_NEAR(p.population->value(truncated), 0.25 * 0.25 + noise, 1e-14);
  EXPECT_NEAR(lambda_min(*p.population, truncated), -0.5, 1e-13);
  const Vector& planted = landmark(p, "balanced factors", population).point;
  EXPECT_NEAR(p.population->value(planted), noise, 1e-15);
  EXPECT_NEAR(planted.squaredNorm(), 3.5, 1e-13);
  EXPECT_TRUE(p.facts.domain.contains(planted));
}

TEST(MatrixSensingSymmetric, BestTruncationIsMinimiserAtLowerRank) {
  MatrixSensingSymmetric family;
  family.rows = 5;
  family.rank = 1;
  family.planted_rank = 2;
  family.condition = 2.0;  // σ = 1, 1/2
  const Problem p = family.make({.records = 5});
  const Vector& best = landmark(p, "best truncation at the rank", population).point;
  EXPECT_NEAR(p.population->value(best), 0.25 * 0.25 + 0.25 * 0.01, 1e-14);
  EXPECT_NEAR(lambda_min(*p.population, best), 0.5, 1e-13);  // σ_1 − σ_2
}

TEST(MatrixSensingSymmetric, RankOneMeasurementAttainsConstants) {
  for (const RecordScale scale : {RecordScale::unit, RecordScale::isotropic}) {
    MatrixSensingSymmetric family;
    family.record_scale = scale;
    const Problem p = family.make({.records = 5});
    const double R = p.facts.domain.radius;
    const Vector x = R * Vector::Unit(16, 0), u = Vector::Unit(16, 0);
    const Constants& c = p.facts.constants;
    Vector g = Vector::Zero(16), Hu = g, Hu_near = g;
    const BatchView first(0, 1);
    p.extremes->add_gradients(Point(x), Block::x, first, unlimited, g);
    EXPECT_NEAR(g.norm(), c[constant::lipschitz], 1e-12 * g.norm());
    p.extremes->add_hessian_products(Point(x), u, first, unlimited, Hu);
    EXPECT_NEAR(Hu.norm(), c[constant::smoothness], 1e-12 * Hu.norm());
    const Vector near = x - 1e-4 * R * u;
    p.extremes->add_hessian_products(Point(near), u, first, unlimited, Hu_near);
    EXPECT_NEAR((Hu - Hu_near).norm() / (1e-4 * R), c[constant::hessian_lipschitz],
                1e-4 * c[constant::hessian_lipschitz]);
  }
}

TEST(MatrixSensingSymmetric, BoundedDesignLabelsStayInProvedRange) {
  // at U = 0 a record's Hessian is −b A, and its bound |b|‖A‖
  MatrixSensingSymmetric family;
  family.rows = 2;
  family.planted_rank = family.rank = 1;
  const Problem p = family.make({.records = 3000});
  const double bound = 2 * 1.0 + 0.1;
  const Vector zero = Vector::Zero(2), v = Vector::Unit(2, 0);
  double largest = 0;
  for (Index i = 0; i < 3000; ++i) {
    Vector out = zero;
    largest = std::max(
        largest,
        p.records->add_hessian_products(Point(zero), v, BatchView(i, i + 1), unlimited, out)
            .largest_norm);
  }
  EXPECT_LE(largest, bound * 2 * (1 + 1e-12));
  EXPECT_GE(largest, 0.9 * bound * 2);
}

TEST(MatrixSensingSymmetric, RejectsInvalidSettings) {
  const auto refused = [](auto change) {
    MatrixSensingSymmetric family;
    change(family);
    EXPECT_THROW(family.make({.records = 3}), InputError);
  };
  refused([](auto& f) { f.rows = 0; });
  refused([](auto& f) { f.rank = 0; });
  refused([](auto& f) { f.planted_rank = 9; });
  refused([](auto& f) { f.planted_norm = 0; });
  refused([](auto& f) { f.condition = 0.5; });
  refused([](auto& f) { f.label_noise = -1; });
  refused([](auto& f) { f.domain_factor = 0.5; });
  refused([](auto& f) { f.initial_spread = -1; });
  EXPECT_THROW(MatrixSensingSymmetric().make({.records = 3, .dimension = 17}), InputError);
}

TEST(CovarianceGan, ValueGradientAndHessianMatchReference) {  // xu-2026 notes, 9
  const auto phi = covariance_gan_value(Matrix{{2, 0.5}, {0.5, 1}}, 1, 0.5);
  const Vector x{{0.3, -0.4}};
  EXPECT_NEAR(phi->value(x), 5.1225, 1e-13);
  Vector g(2);
  phi->gradient(x, g);
  EXPECT_LT((g - Vector{{-1.3, 0.6}}).norm(), 1e-13);
  const Matrix H = dense_hessian(*phi, x);
  EXPECT_LT((H - Matrix{{-6.28, -2.96}, {-2.96, -1.72}}).norm(), 1e-13);
  EXPECT_LT((symmetric_eigen(H).values - Vector{{-7.7363083385, -0.2636916615}}).norm(), 1e-9);
  EXPECT_NEAR(lambda_min(*phi, Vector::Zero(2)), -8.8284271247, 1e-9);
}

TEST(CovarianceGan, JointRecordGradientsMatchFormulas) {
  constexpr Index p = 3, r = 2, m = 6, n = 20;
  constexpr double mu = 0.7;
  Matrix z(p, n);
  Stream({.seed = 8}).fill_normal(1.0, z.reshaped());
  const auto records = covariance_gan_records(z, r, mu);
  const Vector x = normal_vector(p * r, 1), y = normal_vector(m, 2);
  const Matrix U = x.reshaped(p, r);
  const auto lower = [](const Matrix& Y) {  // (0,0), (1,0), (2,0), (1,1), (2,1), (2,2)
    const double s = std::sqrt(2.0);
    return Vector{{Y(0, 0), s * Y(1, 0), s * Y(2, 0), Y(1, 1), s * Y(2, 1), Y(2, 2)}};
  };
  Matrix Y{{y[0], y[1] / std::sqrt(2.0), y[2] / std::sqrt(2.0)},
           {0, y[3], y[4] / std::sqrt(2.0)},
           {0, 0, y[5]}};
  Y.triangularView<Eigen::StrictlyLower>() = Y.transpose();
  for (const double limit : {unlimited, 1.0}) {
    Vector joint = Vector::Zero(p * r + m), expected = joint;
    records->add_gradients(Point(x, y), Block::joint, BatchView(0, n), limit, joint);
    for (Index i = 0; i < n; ++i) {
      Vector v(p * r + m);
      v.head(p * r) = (-2 * Y * U).reshaped();
      v.tail(m) = lower(z.col(i) * z.col(i).transpose() - U * U.transpose()) - mu * y;
      expected += v * std::min(1.0, limit / v.norm());
    }
    EXPECT_LT((joint - expected).norm(), 1e-12 * (1 + expected.norm()));
  }
}

TEST(CovarianceGan, GradientInXIgnoresRecordsAtFixedDual) {
  const Problem a = CovarianceGan().make({.records = 40, .data_seed = 1});
  const Problem b = CovarianceGan().make({.records = 40, .data_seed = 2});
  const Vector x = normal_vector(12, 1), y = normal_vector(21, 2), x0 = normal_vector(12, 3);
  for (const double limit : {unlimited, 0.1}) {
    Vector first = Vector::Zero(12), second = first, moved = first, moved_again = first;
    const BatchView batch(5, 25);
    a.records->add_gradients(Point(x, y), Block::x, batch, limit, first);
    b.records->add_gradients(Point(x, y), Block::x, batch, limit, second);
    EXPECT_EQ(first, second);
    a.records->add_gradient_differences(Point(x, y), Point(x0, y), Block::x, batch, limit, moved);
    b.records->add_gradient_differences(Point(x, y), Point(x0, y), Block::x, batch, limit,
                                        moved_again);
    EXPECT_EQ(moved, moved_again);
    EXPECT_GT(first.norm(), 0.0);
  }
  Vector out = Vector::Zero(12);
  EXPECT_THROW(a.records->add_gradients(Point(x), Block::x, BatchView(0, 1), 1.0, out), InputError);
}

TEST(CovarianceGan, RecordsAtMaximiserGiveValueGradient) {
  CovarianceGan family;
  family.strong_concavity = 0.3;
  const Problem p = family.make({.records = 25});
  const Vector x = normal_vector(12, 1, 0.5), zero = Vector::Zero(21);
  Vector slope = zero, sum = Vector::Zero(12), expected(12), flat = zero;
  p.records->add_gradients(Point(x, zero), Block::y, BatchView(0, 25), unlimited, slope);
  const Vector y = slope / (25 * 0.3);
  p.records->add_gradients(Point(x, y), Block::x, BatchView(0, 25), unlimited, sum);
  p.empirical->gradient(x, expected);
  EXPECT_LT((sum / 25 - expected).norm(), 1e-12 * (1 + expected.norm()));
  p.records->add_gradients(Point(x, y), Block::y, BatchView(0, 25), unlimited, flat);
  EXPECT_LT(flat.norm(), 1e-11);
  EXPECT_NEAR(p.empirical->value(x), 0.5 * 0.3 * y.squaredNorm(), 1e-12);
}

TEST(CovarianceGan, ValueConstantsAreAttainedAtRankOne) {
  const Problem p = CovarianceGan().make({.records = 3});
  const double R = p.facts.domain.radius;
  const Constants& c = p.facts.constants;
  const auto phi = covariance_gan_value(Matrix::Zero(6, 6), 2, 1.0);  // the data set z = 0
  const Vector u = Vector::Unit(12, 0);
  Vector Hu(12), Hu_near(12);
  phi->hessian_product(R * u, u, Hu);
  EXPECT_NEAR(Hu.norm(), c[constant::smoothness], 1e-12 * Hu.norm());
  phi->hessian_product((1 - 1e-5) * R * u, u, Hu_near);
  EXPECT_NEAR((Hu - Hu_near).norm() / (1e-5 * R), c[constant::hessian_lipschitz],
              1e-4 * c[constant::hessian_lipschitz]);
  CovarianceGan small;  // where −Z² is the larger end
  small.domain_factor = 1.0;
  small.planted_rank = small.rank = 1;
  small.rows = 12;
  const Problem q = small.make({.records = 3});
  const double Z_squared = 12 * 2.0;
  Matrix S = Matrix::Zero(12, 12);
  S(0, 0) = Z_squared;
  EXPECT_NEAR(lambda_min(*covariance_gan_value(S, 1, 1.0), Vector::Zero(12)),
              -q.facts.constants[constant::smoothness], 1e-12 * Z_squared);
}

TEST(CovarianceGan, MinimumIsTailOfSpectrum) {
  CovarianceGan family;
  family.rows = 5;
  family.floor = 0.3;
  const Problem p = family.make({.records = 7});
  const Vector& best = landmark(p, "best truncation at the rank", population).point;
  EXPECT_NEAR(p.population->value(best), 3 * 0.09 / 2, 1e-13);
  EXPECT_NEAR(lambda_min(*p.population, Vector::Zero(10)), -4.0, 1e-12);
  const Vector& truncated = landmark(p, "truncation at rank 1", population).point;
  EXPECT_NEAR(lambda_min(*p.population, truncated), -2 * 2.0 / 1.5, 1e-12);
  Matrix z(2, 1);
  z << 3, 4;  // one record: rank one, fitted exactly
  const auto phi = covariance_gan_value(z * z.transpose(), 1, 1.0);
  EXPECT_NEAR(phi->value(Vector{{3, 4}}), 0.0, 1e-13);
}

}  // namespace
}  // namespace dpsosp::low_rank_test
