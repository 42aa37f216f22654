// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/matrix_completion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::matrix_completion_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

Vector normal_vector(Index size, std::uint64_t seed, double spread = 1.0) {
  Vector v(size);
  Stream({.seed = seed}).fill_normal(spread, v);
  return v;
}

double lambda_min(const Objective& f, ConstVectorRef x) {
  const Index d = f.dimension();
  Matrix H(d, d);
  for (Index j = 0; j < d; ++j) f.hessian_product(x, Vector::Unit(d, j), H.col(j));
  return symmetric_eigenvalues(H)[0];
}

/// Five entries of a 3 × 2 matrix, one cell twice.
CompletionData small_data() {
  return {.rows = 3,
          .cols = 2,
          .rank = 2,
          .weight = 1.7,
          .balance = 0.6,
          .cells = {0, 4, 5, 4, 2},
          .values = Vector{{0.3, -1.0, 2.0, 0.5, 0.25}}};
}

double loss(const CompletionData& m, Index i, const Vector& x) {
  const Matrix U = x.head(m.rows * m.rank).reshaped(m.rows, m.rank);
  const Matrix V = x.tail(m.cols * m.rank).reshaped(m.cols, m.rank);
  const Index cell = m.cells[static_cast<std::size_t>(i)];
  const double residual = U.row(cell % m.rows).dot(V.row(cell / m.rows)) - m.values[i];
  return 0.5 * m.weight * residual * residual +
         0.25 * m.balance * (U.transpose() * U - V.transpose() * V).squaredNorm();
}

Vector gradient(const CompletionData& m, Index i, const Vector& x) {
  const Matrix U = x.head(m.rows * m.rank).reshaped(m.rows, m.rank);
  const Matrix V = x.tail(m.cols * m.rank).reshaped(m.cols, m.rank);
  const Index cell = m.cells[static_cast<std::size_t>(i)];
  Matrix E = Matrix::Zero(m.rows, m.cols);
  E(cell % m.rows, cell / m.rows) =
      m.weight * ((U * V.transpose())(cell % m.rows, cell / m.rows) - m.values[i]);
  const Matrix D = U.transpose() * U - V.transpose() * V;
  Vector g(x.size());
  g.head(m.rows * m.rank) = (E * V + m.balance * U * D).reshaped();
  g.tail(m.cols * m.rank) = (E.transpose() * U - m.balance * V * D).reshaped();
  return g;
}

/// Where rows keep their length and entries their size the bound hangs on the signs of both.
TEST(MatrixCompletion, HessianChangesStayWithinTheirWeightWhereEntriesChangeSign) {
  CompletionData m{.rows = 1,
                   .cols = 1,
                   .rank = 1,
                   .weight = 1.7,
                   .balance = 0.0,
                   .cells = {0},
                   .values = Vector{{0.3}}};
  const auto records = completion_records(m);
  Stream stream({.seed = 8});
  for (int trial = 0; trial < 400; ++trial) {
    Vector x(2), y(2);
    stream.fill_normal(1.0, x);
    x[trial % 2] *= 0.1;
    y = x;
    y[trial % 2] *= -1;
    stream.add_normal(0.2 * x.norm(), y);
    Matrix change = Matrix::Zero(2, 2);
    double weight = 0;
    for (Index k = 0; k < 2; ++k)
      weight = records
                   ->add_hessian_difference_products(Point(x), Point(y), Vector::Unit(2, k),
                                                     BatchView(0, 1), unlimited, change.col(k))
                   .largest_norm;
    EXPECT_LE(symmetric_eigenvalues(change).cwiseAbs().maxCoeff(), weight * (1 + 1e-12));
  }
}

TEST(MatrixCompletion, RecordsMatchFormulasWithAndWithoutClipping) {
  const CompletionData m = small_data();
  const auto records = completion_records(m);
  const Vector x = normal_vector(10, 1), x0 = normal_vector(10, 2);
  for (const double limit : {unlimited, 1.5}) {
    Vector sum = Vector::Zero(10), expected = sum, moved = sum, expected_moved = sum;
    records->add_gradients(Point(x), Block::x, BatchView(0, 5), limit, sum);
    records->add_gradient_differences(Point(x), Point(x0), Block::x, BatchView(0, 5), limit, moved);
    for (Index i = 0; i < 5; ++i) {
      const Vector g = gradient(m, i, x), change = g - gradient(m, i, x0);
      expected += g * std::min(1.0, limit / g.norm());
      expected_moved += change * std::min(1.0, limit / change.norm());
    }
    EXPECT_LT((sum - expected).norm(), 1e-12);
    EXPECT_LT((moved - expected_moved).norm(), 1e-12);
  }
  double difference = 0;
  records->add_loss_differences(Point(x), Point(x0), BatchView(1, 4), unlimited, difference);
  double expected = 0;
  for (Index i = 1; i < 4; ++i) expected += loss(m, i, x) - loss(m, i, x0);
  EXPECT_NEAR(difference, expected, 1e-12);
}

TEST(MatrixCompletion, ObjectiveIsMeanLossForRepeatedAndUnseenCells) {
  const CompletionData m = small_data();
  const auto F = completion_objective(m);
  const Vector x = normal_vector(10, 1);
  double mean = 0;
  Vector mean_gradient = Vector::Zero(10), g(10);
  for (Index i = 0; i < 5; ++i) {
    mean += loss(m, i, x) / 5;
    mean_gradient += gradient(m, i, x) / 5;
  }
  EXPECT_NEAR(F->value(x), mean, 1e-13);
  F->gradient(x, g);
  EXPECT_LT((g - mean_gradient).norm(), 1e-13);
}

TEST(MatrixCompletion, PopulationAveragesAllCellsAndSigns) {
  MatrixCompletion family;
  family.rows = 3;
  family.cols = 2;
  family.rank = 2;
  const Problem p = family.make({.records = 4, .data_seed = 5});
  const Vector& planted = p.landmarks.front().point;
  const Matrix X = planted.head(6).reshaped(3, 2) * planted.tail(4).reshaped(2, 2).transpose();
  CompletionData all{3, 2, 2, 6.0, 0.5, {}, Vector(12)};
  for (Index cell = 0; cell < 6; ++cell)
    for (const Index sign : {1, -1}) {
      all.values[static_cast<Index>(all.cells.size())] =
          X.reshaped()[cell] + 0.1 * static_cast<double>(sign);
      all.cells.push_back(cell);
    }
  const auto F = completion_objective(all);
  const Vector x = normal_vector(10, 1);
  Vector g(10), h(10);
  EXPECT_NEAR(p.population->value(x), F->value(x), 1e-13);
  p.population->gradient(x, g);
  F->gradient(x, h);
  EXPECT_LT((g - h).norm(), 1e-13);
}

TEST(MatrixCompletion, PopulationHasStatedSpectrumAndSaddles) {
  for (const RecordScale scale : {RecordScale::unit, RecordScale::isotropic}) {
    MatrixCompletion family;
    family.rows = 5;
    family.cols = 4;
    family.rank = 3;
    family.planted_rank = 3;
    family.planted_norm = 2.0;
    family.condition = 4.0;  // σ = 2, 1, 1/2
    family.record_scale = scale;
    const double unit = scale == RecordScale::unit ? 0.05 : 1.0;
    const Problem p = family.make({.records = 5});
    const double noise = unit * 10 * 0.01;
    ASSERT_EQ(p.landmarks.size(), 3U);
    EXPECT_NEAR(p.population->value(p.landmarks[0].point), noise, 1e-14);
    EXPECT_NEAR(p.population->value(p.landmarks[1].point), unit * 0.5 * 5.25 + noise, 1e-13);
    EXPECT_NEAR(lambda_min(*p.population, p.landmarks[1].point), -2.0 * unit, 1e-12);
    EXPECT_NEAR(p.population->value(p.landmarks[2].point), unit * 0.125 + noise, 1e-13);
    EXPECT_NEAR(lambda_min(*p.population, p.landmarks[2].point), -0.5 * unit, 1e-12);
    EXPECT_TRUE(p.facts.domain.contains(p.landmarks[0].point));
  }
}

TEST(MatrixCompletion, ConstantsAreNearlyAttainedAtEqualFactors) {
  MatrixCompletion family;
  for (const double balance : {0.0, 0.5}) {
    family.balance = balance;
    const Problem p = family.make({.records = 5});
    const double R = p.facts.domain.radius;
    Vector x = Vector::Zero(32);
    x[0] = x[16] = R / std::sqrt(2.0);  // u_1 = v_1 along the first axis
    const Vector u = x / R;
    const Constants& c = p.facts.constants;
    Vector g = Vector::Zero(32), Hu = g, Hu_near = g;
    const BatchView second(1, 2);  // cell (1, 1), v = −v_max
    p.extremes->add_gradients(Point(x), Block::x, second, unlimited, g);
    p.extremes->add_hessian_products(Point(x), u, second, unlimited, Hu);
    const Vector near = x - 1e-5 * R * u;
    p.extremes->add_hessian_products(Point(near), u, second, unlimited, Hu_near);
    const double third = (Hu - Hu_near).norm() / (1e-5 * R);
    const double share = balance > 0 ? 0.98 : 1 - 1e-4;
    for (const auto& [name, reached] :
         {std::pair{constant::lipschitz, g.norm()}, std::pair{constant::smoothness, Hu.norm()},
          std::pair{constant::hessian_lipschitz, third}}) {
      EXPECT_LE(reached, c[name] * (1 + 1e-5)) << name;
      EXPECT_GE(reached, c[name] * share) << name;
    }
  }
}

// Simulated records.

MatrixCompletion small_family(RecordSampling sampling) {
  MatrixCompletion family;
  family.rows = 3;
  family.cols = 2;
  family.rank = 1;
  family.planted_rank = 1;
  family.sampling = sampling;
  return family;
}

TEST(SimulatedCompletion, DifferencesAndProductsMatchGradients) {
  const Problem p = small_family(RecordSampling::stream).make({.records = 1000000});
  const Vector x = normal_vector(5, 1, 0.4), x0 = normal_vector(5, 2, 0.4);
  const Vector v = normal_vector(5, 3).normalized();
  const BatchView batch(200, 700);
  const auto gradient_at = [&](const Vector& at) {
    Vector g = Vector::Zero(5);
    p.sums().add_gradients(Point(at), Block::x, batch, unlimited, g);
    return g;
  };
  Vector moved = Vector::Zero(5), Hv = moved, change = moved, Hv0 = moved;
  p.sums().add_gradient_differences(Point(x), Point(x0), Block::x, batch, unlimited, moved);
  EXPECT_LT((moved - (gradient_at(x) - gradient_at(x0))).norm(), 1e-10 * (1 + moved.norm()));
  const double h = 1e-4;
  p.sums().add_hessian_products(Point(x), v, batch, unlimited, Hv);
  EXPECT_LT(((gradient_at(x + h * v) - gradient_at(x - h * v)) / (2 * h) - Hv).norm(),
            1e-5 * (1 + Hv.norm()));
  p.sums().add_hessian_products(Point(x0), v, batch, unlimited, Hv0);
  p.sums().add_hessian_difference_products(Point(x), Point(x0), v, batch, unlimited, change);
  EXPECT_LT((change - (Hv - Hv0)).norm(), 1e-10 * (1 + Hv.norm()));
  double up = 0;
  p.sums().add_loss_differences(Point(x + h * v), Point(x - h * v), batch, unlimited, up);
  EXPECT_NEAR(up / (2 * h), gradient_at(x).dot(v), 1e-5 * (1 + gradient_at(x).norm()));
}

TEST(SimulatedCompletion, WholeDataSetSumsMatchItsObjective) {
  constexpr Index n = 1'000'000'000'000;
  const Problem p = small_family(RecordSampling::whole).make({.records = n});
  const Vector x = normal_vector(5, 1, 0.4);
  Vector sum = Vector::Zero(5), g(5), population(5);
  p.sums().add_gradients(Point(x), Block::x, BatchView(0, n), unlimited, sum);
  p.empirical->gradient(x, g);
  EXPECT_LT((sum / static_cast<double>(n) - g).norm(), 1e-12 * (1 + g.norm()));
  p.population->gradient(x, population);
  EXPECT_LT((g - population).norm(), 1e-4);  // 1/√n times a few
  EXPECT_GT((g - population).norm(), 1e-9);
  EXPECT_NEAR(p.empirical->value(x), p.population->value(x), 1e-4);
  Vector out = Vector::Zero(5);
  EXPECT_THROW(p.sums().add_gradients(Point(x), Block::x, BatchView(0, 5), unlimited, out),
               InputError);
}

TEST(SimulatedCompletion, RejectsOnlyLimitsThatCouldClip) {
  const Problem p = small_family(RecordSampling::stream).make({.records = 1000});
  const Constants& c = p.facts.constants;
  const BatchView batch(0, 10);
  Vector out = Vector::Zero(5);
  double largest = 0;  // of the records' own norms, at any point tried
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Vector x = normal_vector(5, seed), x0 = x + normal_vector(5, 1000 + seed, 0.01);
    p.facts.domain.project(x);
    p.facts.domain.project(x0);
    EXPECT_NO_THROW(p.sums().add_gradients(Point(x), Block::x, batch, c[constant::lipschitz], out));
    EXPECT_NO_THROW(p.sums().add_gradient_differences(
        Point(x), Point(x0), Block::x, batch, c[constant::smoothness] * (x - x0).norm(), out));
    EXPECT_NO_THROW(
        p.sums().add_hessian_products(Point(x), x, batch, c[constant::smoothness], out));
    // the refusal starts at the largest norm of a real record at that point
    MatrixCompletion real = small_family(RecordSampling::independent);
    const Problem twin = real.make({.records = 300});
    Vector sum = Vector::Zero(5);
    largest = twin.records->add_gradients(Point(x), Block::x, BatchView(0, 300), unlimited, sum)
                  .largest_norm;
    EXPECT_THROW(p.sums().add_gradients(Point(x), Block::x, batch, largest * (1 - 1e-6), out),
                 InputError);
    EXPECT_NO_THROW(p.sums().add_gradients(Point(x), Block::x, batch, largest * (1 + 1e-6), out));
  }
}

/// Two-sample Kolmogorov-Smirnov distance.
double ks_distance(std::vector<double> a, std::vector<double> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  double worst = 0;
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const double at = std::min(a[i], b[j]) + 1e-9;  // values that rounding alone tells apart
    while (i < a.size() && a[i] <= at) ++i;
    while (j < b.size() && b[j] <= at) ++j;
    worst = std::max(worst, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                     static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return worst;
}

/// Gradients and gradient differences of two successive batches, projected in several ways.
std::array<std::vector<double>, 5> projections(const Problem& p, Index batch, Index pairs) {
  const Vector x = normal_vector(5, 1, 0.5), x0 = normal_vector(5, 2, 0.5);
  const Vector u = normal_vector(5, 3), w = normal_vector(5, 4);
  std::array<std::vector<double>, 5> samples;
  for (Index k = 0; k < pairs; ++k) {
    Vector g = Vector::Zero(5), moved = g, next = g;
    const BatchView first(2 * k * batch, (2 * k + 1) * batch);
    const BatchView second((2 * k + 1) * batch, (2 * k + 2) * batch);
    p.sums().add_gradients(Point(x), Block::x, first, unlimited, g);
    p.sums().add_gradient_differences(Point(x), Point(x0), Block::x, first, unlimited, moved);
    p.sums().add_gradients(Point(x), Block::x, second, unlimited, next);
    samples[0].push_back(g.dot(u));
    samples[1].push_back(g.dot(w));
    samples[2].push_back(moved.dot(u));
    samples[3].push_back((g + moved).dot(w));  // joint law within a batch
    samples[4].push_back((g - next).dot(u));   // joint law over two disjoint batches
  }
  return samples;
}

TEST(SimulatedCompletion, BatchSumsMatchLawOfRealRecords) {
  for (const Index batch : {1, 7}) {
    constexpr Index pairs = 5000;
    const Index n = 2 * pairs * batch;
    const Problem real = small_family(RecordSampling::independent).make({.records = n});
    const Problem simulated = small_family(RecordSampling::stream).make({.records = n});
    const auto a = projections(real, batch, pairs);
    const auto b = projections(simulated, batch, pairs);
    // Smirnov: P(D > t) <= 2 exp(−t² m n/(m + n)·2), 1e-8 each
    const double threshold = std::sqrt(std::log(2e8) / static_cast<double>(pairs));
    for (std::size_t k = 0; k < a.size(); ++k)
      EXPECT_LT(ks_distance(a[k], b[k]), threshold) << "batch " << batch << ", projection " << k;
  }
}

TEST(MatrixCompletion, RejectsInvalidSettings) {
  const auto refused = [](auto change) {
    MatrixCompletion family;
    change(family);
    EXPECT_THROW(family.make({.records = 3}), InputError);
  };
  refused([](auto& f) { f.rows = 0; });
  refused([](auto& f) { f.cols = 0; });
  refused([](auto& f) { f.rank = 0; });
  refused([](auto& f) { f.planted_rank = 9; });
  refused([](auto& f) { f.planted_norm = 0; });
  refused([](auto& f) { f.condition = 0.5; });
  refused([](auto& f) { f.label_noise = -1; });
  refused([](auto& f) { f.balance = -1; });
  refused([](auto& f) { f.domain_factor = 0.5; });
  refused([](auto& f) { f.initial_spread = -1; });
  EXPECT_THROW(MatrixCompletion().make({.records = 3, .dimension = 17}), InputError);
}

}  // namespace
}  // namespace dpsosp::matrix_completion_test
