// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/group_dro.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "counts.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::group_dro_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Two groups in R², three values each.
std::shared_ptr<const GroupDroData> small_data() {
  GroupDroData data;
  data.groups = 2;
  data.strong_concavity = 1.5;
  data.features.resize(2, 6);
  data.features << 1, 0.6, 0, 0.3, -0.8, 0,  //
      0, 0.8, 0, -0.4, 0.1, 1;               // the third has no features
  data.labels = Vector{{0.5, -1, 2, 0, 1, -0.3}};
  data.add_groups();
  return std::make_shared<const GroupDroData>(data);
}

double welsch(double r) { return 1 - std::exp(-0.5 * r * r); }

/// l_g of records with the given values, i of group i mod 2.
Vector group_losses(const GroupDroData& data, const std::vector<std::int32_t>& values,
                    const Vector& x) {
  Vector sum = Vector::Zero(2), size = Vector::Zero(2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Index v = values[i];
    sum[static_cast<Index>(i % 2)] += welsch(data.points().col(v).dot(x) - data.labels[v]);
    size[static_cast<Index>(i % 2)] += 1;
  }
  return sum.cwiseQuotient(size);
}

TEST(GroupDro, ValueMatchesClosedForm) {
  const auto data = small_data();
  const std::vector<std::int32_t> values{0, 3, 1, 4, 2, 5};
  const auto phi = group_dro_value(data, Vector::Constant(6, 1.0 / 3));
  const Vector x{{0.4, -0.7}};
  const Vector l = group_losses(*data, values, x);
  EXPECT_NEAR(phi->value(x), l.mean() + l.squaredNorm() / 3, 1e-15);
}

TEST(GroupDro, UnevenGroupRecordsAverageToObjective) {
  const auto data = small_data();
  const std::vector<std::int32_t> values{0, 3, 1, 4, 0};  // groups of 3 and 2
  const auto records = group_dro_records(data, values);
  const auto phi = group_dro_value(data, Vector{{2.0 / 3, 1.0 / 3, 0, 0.5, 0.5, 0}});
  const Vector x{{0.4, -0.7}};
  const Vector l = group_losses(*data, values, x);
  Vector slope = Vector::Zero(2);
  records->add_gradients(Point(x, Vector::Zero(2)), Block::y, BatchView(0, 5), unlimited, slope);
  EXPECT_LT((slope / 5 - l).norm(), 1e-15);
  const Vector y = l / 1.5;
  Vector joint = Vector::Zero(4), expected(2);
  records->add_gradients(Point(x, y), Block::joint, BatchView(0, 5), unlimited, joint);
  phi->gradient(x, expected);
  EXPECT_LT((joint.head(2) / 5 - expected).norm(), 1e-15);
  EXPECT_LT(joint.tail(2).norm(), 1e-14);  // y is the maximiser
}

TEST(GroupDro, RecordGradientsMatchLoss) {
  const auto data = small_data();
  const std::vector<std::int32_t> values{0, 3, 2, 4, 1};
  const auto records = group_dro_records(data, values);
  const Vector z{{0.4, -0.7, 0.3, 0.2}};  // (x, y)
  for (Index i = 0; i < 5; ++i) {
    const Index v = values[static_cast<std::size_t>(i)];
    const double weight = i % 2 == 0 ? 5.0 / 3 : 5.0 / 2;
    const auto f = [&](const Vector& at) {
      const double r = data->points().col(v).dot(at.head(2)) - data->labels[v];
      return weight * (0.5 + at[2 + i % 2]) * welsch(r) - 0.75 * at.tail(2).squaredNorm();
    };
    Vector g = Vector::Zero(4), measured(4);
    records->add_gradients(Point(z.head(2), z.tail(2)), Block::joint, BatchView(i, i + 1),
                           unlimited, g);
    const double h = 1e-5;
    for (Index j = 0; j < 4; ++j)
      measured[j] = (f(z + h * Vector::Unit(4, j)) - f(z - h * Vector::Unit(4, j))) / (2 * h);
    EXPECT_LT((g - measured).norm(), 1e-9);
  }
}

TEST(GroupDro, ProofInequalitiesHold) {
  for (double r = 0; r < 12; r += 1e-5) {
    const double e = std::exp(-0.5 * r * r);
    const double third = std::abs((r * r * r - 3 * r) * e);
    ASSERT_LE(third, std::min(1.3802, 1.63 - 0.9 * (1 - e))) << r;
    ASSERT_LE(r * e * std::abs(1 - r * r) * e, 0.2942) << r;
    ASSERT_GE((1 - r * r) * e, -2 * std::exp(-1.5) - 1e-15) << r;
  }
}

/// One group, so k = 1/μ, with data on a line: three residuals with random shares.
TEST(GroupDro, ValueConstantsHoldForRandomDataSets) {
  for (const double mu : {0.4, 1.0, 3.0}) {
    GroupDro family;
    family.groups = 1;
    family.strong_concavity = mu;
    const Constants c = family.make({.records = 4, .dimension = 1}).facts.constants;
    Stream stream({.seed = 3});
    double curvature = 0, third = 0;
    for (int k = 0; k < 40000; ++k) {
      GroupDroData data{{Matrix(1, 3), Vector(3)}, 1, mu};
      stream.fill_normal(1.3, data.labels);
      if (k % 4 == 0) data.labels[2] = 20;
      if (k % 8 == 0) data.labels[0] = data.labels[1];
      for (double& a : data.features.reshaped()) a = stream.bernoulli(0.5) ? 1 : -1;
      data.add_groups();
      Vector shares{{stream.uniform(), stream.uniform(), k % 3 == 0 ? 0.0 : stream.uniform()}};
      shares /= shares.sum();
      const auto phi = group_dro_value(std::make_shared<const GroupDroData>(data), shares);
      const Vector x = Vector::Zero(1), one = Vector::Ones(1);
      Vector at(1), ahead(1), behind(1);
      phi->hessian_product(x, one, at);
      const double h = 1e-4;
      phi->hessian_product(x + h * one, one, ahead);
      phi->hessian_product(x - h * one, one, behind);
      curvature = std::max(curvature, std::abs(at[0]));
      third = std::max(third, std::abs(ahead[0] - behind[0]) / (2 * h));
    }
    EXPECT_LE(curvature, c[constant::smoothness] * (1 + 1e-9)) << mu;
    EXPECT_LE(third, c[constant::hessian_lipschitz]) << mu;
    EXPECT_GE(curvature, (mu >= 1 ? 0.95 : 0.55) * c[constant::smoothness]) << mu;
    EXPECT_GE(third, 0.55 * c[constant::hessian_lipschitz]) << mu;
  }
}

TEST(GroupDro, OriginIsStrictSaddleOfPopulation) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem p = GroupDro().make({.records = 4, .data_seed = seed});
    Vector g(10);
    p.population->gradient(Vector::Zero(10), g);
    EXPECT_LT(g.norm(), 1e-15);
    ASSERT_EQ(p.landmarks.size(), 1U) << seed;
    Matrix H(10, 10);
    for (Index j = 0; j < 10; ++j)
      p.population->hessian_product(Vector::Zero(10), Vector::Unit(10, j), H.col(j));
    EXPECT_LT(symmetric_eigen(H).values[0], -1e-3) << seed;
  }
}

/// Three groups in R², two values each; at x = 0.3 e₁ one group's loss is far above the others'.
std::shared_ptr<const GroupDroData> three_groups(double mu) {
  GroupDroData data;
  data.groups = 3;
  data.strong_concavity = mu;
  data.dual = GroupDual::simplex;
  data.features.resize(2, 6);
  data.features << 1, 0.6, 0, 0.3, -0.8, 0,  //
      0, 0.8, 0, -0.4, 0.1, 1;
  data.labels = Vector{{0.5, -1, 0.4, 0.2, 2.5, -0.3}};
  data.add_groups();
  return std::make_shared<const GroupDroData>(data);
}

/// f(x, y) of equal shares of a group's values.
double simplex_objective(const GroupDroData& data, const Vector& x, const Vector& y) {
  double f = 0;
  for (Index v = 0; v < 6; ++v)
    f += y[v / 2] * 0.5 * welsch(data.points().col(v).dot(x) - data.labels[v]);
  return f - 0.5 * data.strong_concavity * (y.array() - 1.0 / 3).matrix().squaredNorm();
}

TEST(GroupDroSimplex, ValueIsMaximumOverSimplexByBruteForce) {
  int on_boundary = 0;
  for (const double mu : {0.05, 0.3, 2.0}) {
    const auto data = three_groups(mu);
    const auto phi = group_dro_value(data, Vector::Constant(6, 0.5));
    for (const Vector& x : {Vector{{0.3, 0}}, Vector{{-1, 0.4}}, Vector{{2, -2}}}) {
      // a grid, then the best of ever finer ones around it
      Vector best{{1, 0, 0}};
      double largest = -unlimited, reach = 1;
      for (int level = 0; level < 12; ++level, reach *= 0.25) {
        const Vector centre = best;
        for (int i = -20; i <= 20; ++i)
          for (int j = -20; j <= 20; ++j) {
            Vector y{{centre[0] + reach * i / 20, centre[1] + reach * j / 20, 0}};
            y[2] = 1 - y[0] - y[1];
            if (y.minCoeff() < 0) continue;
            const double f = simplex_objective(*data, x, y);
            if (f > largest) {
              largest = f;
              best = y;
            }
          }
      }
      on_boundary += best.minCoeff() < 1e-9;
      EXPECT_NEAR(phi->value(x), largest, 1e-12);
      Vector g(2), expected = Vector::Zero(2);
      phi->gradient(x, g);
      for (Index v = 0; v < 6; ++v) {
        const double r = data->points().col(v).dot(x) - data->labels[v];
        expected += best[v / 2] * 0.5 * r * std::exp(-0.5 * r * r) * data->points().col(v);
      }
      EXPECT_LT((g - expected).norm(), 1e-5);  // ∇Φ = ∇_x f at the maximiser (Danskin)
    }
  }
  EXPECT_GE(on_boundary, 3);
}

TEST(GroupDroSimplex, HessianIsThatOfGradientAwayFromKinks) {
  for (const double mu : {0.05, 0.3, 2.0}) {
    const auto phi = group_dro_value(three_groups(mu), Vector::Constant(6, 0.5));
    const double h = 1e-6;
    Vector ahead(2), behind(2), product(2);
    for (const Vector& x : {Vector{{0.3, 0}}, Vector{{-1, 0.4}}, Vector{{2, -2}}})
      for (const Vector& v : {Vector{{1, 0}}, Vector{{0.6, -0.8}}}) {
        phi->gradient(x + h * v, ahead);
        phi->gradient(x - h * v, behind);
        phi->hessian_product(x, v, product);
        EXPECT_LT((product - (ahead - behind) / (2 * h)).norm(), 1e-8 * (1 + 1 / mu));
      }
  }
}

TEST(GroupDroSimplex, HessianJumpsWhereWeightBecomesZero) {
  const auto phi = group_dro_value(three_groups(0.3), Vector::Constant(6, 0.5));
  double largest = 0;
  Vector here(2), there(2);
  const Vector v{{1, 0}};
  for (double t = -3; t < 3; t += 1e-4) {
    phi->hessian_product(t * v, v, here);
    phi->hessian_product((t + 1e-4) * v, v, there);
    largest = std::max(largest, std::abs(here[0] - there[0]));
  }
  EXPECT_GT(largest, 0.05);  // 1e-4 times any constant of the pieces is far less
}

TEST(GroupDroSimplex, RecordsAverageToGradientOfLoss) {
  const auto data = three_groups(0.3);
  const auto records = group_dro_records(data, {0, 2, 4, 1, 3, 5});
  const Vector z{{0.4, -0.7, 0.2, 0.5, 0.3}};  // (x, y)
  Vector g = Vector::Zero(5), measured(5);
  records->add_gradients(Point(z.head(2), z.tail(3)), Block::joint, BatchView(0, 6), unlimited, g);
  const double h = 1e-5;
  const auto f = [&](const Vector& at) { return simplex_objective(*data, at.head(2), at.tail(3)); };
  for (Index j = 0; j < 5; ++j)
    measured[j] = (f(z + h * Vector::Unit(5, j)) - f(z - h * Vector::Unit(5, j))) / (2 * h);
  EXPECT_LT((g / 6 - measured).norm(), 1e-9);
}

TEST(GroupDroSimplex, RecordsAverageToGradientAtMaximiser) {
  GroupDro family;
  family.dual = GroupDual::simplex;
  family.strong_concavity = 0.2;
  const Problem p = family.make({.records = 40, .dimension = 3, .data_seed = 2});
  const Vector x{{0.4, -0.7, 0.2}};
  Vector slope = Vector::Zero(4), g = Vector::Zero(3), expected(3);
  p.sums().add_gradients(Point(x, Vector::Zero(4)), Block::y, BatchView(0, 40), unlimited, slope);
  Vector y = slope / 40 / 0.2;
  p.facts.dual_domain.project(y);
  EXPECT_TRUE(p.facts.dual_domain.contains(y));
  EXPECT_TRUE(p.facts.dual_domain.contains(p.facts.initial_dual));
  p.sums().add_gradients(Point(x, y), Block::x, BatchView(0, 40), unlimited, g);
  p.empirical->gradient(x, expected);
  EXPECT_LT((g / 40 - expected).norm(), 1e-14);
}

// `dpsosp check` cannot see this one: its secants leave the simplex, which has no interior.
TEST(GroupDroSimplex, JointSmoothnessIsReachedAtCornersAndNotExceeded) {
  for (const double mu : {0.3, 4.0}) {
    GroupDro family;
    family.dual = GroupDual::simplex;
    family.strong_concavity = mu;
    const Problem p = family.make({.records = 40, .dimension = 1});
    const double bound = p.facts.constants[constant::joint_smoothness], h = 1e-5;
    double largest = 0;
    for (double x = -4; x <= 4; x += 0.02)
      for (Index corner = 0; corner < 4; ++corner) {
        Vector z(5);
        z << x, Vector::Unit(4, corner);
        const auto gradient = [&](const Vector& at) {
          Vector g = Vector::Zero(5);
          p.extremes->add_gradients(Point(at.head(1), at.tail(4)), Block::joint, BatchView(0, 1),
                                    unlimited, g);
          return g;
        };
        Matrix hessian(5, 5);
        for (Index j = 0; j < 5; ++j)
          hessian.col(j) =
              (gradient(z + h * Vector::Unit(5, j)) - gradient(z - h * Vector::Unit(5, j))) /
              (2 * h);
        const Vector values = symmetric_eigen(0.5 * (hessian + hessian.transpose())).values;
        largest = std::max(largest, values.cwiseAbs().maxCoeff());
      }
    EXPECT_LE(largest, bound * (1 + 1e-6)) << mu;
    EXPECT_GE(largest, 0.95 * bound) << mu;
  }
}

TEST(GroupDro, RequiresSharedDual) {
  const Problem p = GroupDro().make({.records = 3});
  Vector g = Vector::Zero(10);
  EXPECT_THROW(
      p.sums().add_gradients(Point(p.facts.initial_point), Block::x, BatchView(0, 3), unlimited, g),
      InputError);
}

TEST(GroupDro, RejectsInvalidSettings) {
  const auto refused = [](auto change) {
    GroupDro family;
    change(family);
    EXPECT_THROW(family.make({.records = 3}), InputError);
  };
  refused([](GroupDro& f) { f.groups = 0; });
  refused([](GroupDro& f) { f.points = 0; });
  refused([](GroupDro& f) { f.strong_concavity = 0; });
  refused([](GroupDro& f) { f.signal = -1; });
  refused([](GroupDro& f) { f.disagreement = unlimited; });
}

TEST(GroupDro, GroupSignsAreFairForEverySampling) {
  for (const RecordSampling sampling :
       {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}) {
    constexpr Index n = 25;
    // records of the second of two groups with the sign of θ, from the gradient at the origin
    const auto count = [&](std::uint64_t seed, Index begin, Index end) {
      GroupDro family;
      family.groups = 2;
      family.points = 1;
      family.sampling = sampling;
      const Problem p = family.make({.records = n, .dimension = 3, .data_seed = seed});
      const Vector x = Vector::Zero(3);
      const Vector y{{-0.5, 0.5}};  // the first group has weight 1/G + y = 0
      Vector g = Vector::Zero(3), one = Vector::Zero(3);
      p.sums().add_gradients(Point(x, y), Block::x, BatchView(begin, end), unlimited, g);
      const Index size = end / 2 - begin / 2;  // of odd records
      family.sampling = RecordSampling::independent;
      const Problem stored = family.make({.records = n, .dimension = 3, .data_seed = seed});
      stored.records->add_gradients(Point(x, y), Block::x, BatchView(1, 2), unlimited, one);
      const double difference = std::abs(g.dot(one)) / one.squaredNorm();  // |2 count − size|
      return (size + std::lround(difference)) / 2;
    };
    // |2c − size| has the law of the larger of c and size − c
    std::vector<Index> larger;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) larger.push_back(count(seed, 0, n));
    for (Index k = 6; k <= 12; ++k) {
      const double q = k == 6 ? testing_support::binomial_pmf(12, 6, 0.5)
                              : 2 * testing_support::binomial_pmf(12, k, 0.5);
      EXPECT_NEAR(static_cast<double>(std::ranges::count(larger, k)), 2000 * q,
                  6.5 * std::sqrt(2000 * q) + 8);
    }
  }
}

}  // namespace
}  // namespace dpsosp::group_dro_test
