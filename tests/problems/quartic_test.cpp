// SPDX-License-Identifier: Apache-2.0
// The tensor problems: orthogonal-tensor and tensor-ica.
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "counts.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/orthogonal_tensor.hpp"
#include "dpsosp/problems/tensor_ica.hpp"

namespace dpsosp::quartic_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

Vector spectrum(const Objective& f, const Vector& x) {
  const Index d = f.dimension();
  Matrix H(d, d);
  for (Index j = 0; j < d; ++j) f.hessian_product(x, Vector::Unit(d, j), H.col(j));
  return symmetric_eigen(H).values;
}

Vector gradient(const Objective& f, const Vector& x) {
  Vector g(x.size());
  f.gradient(x, g);
  return g;
}

TEST(OrthogonalTensor, EveryCriticalPointHasStatedSpectrum) {
  constexpr Index d = 4;
  for (const double beta : {1.3, 2.0, 7.0}) {
    OrthogonalTensor family;
    family.penalty = beta;
    const Problem p = family.make({.records = 1, .dimension = d});
    const Objective& F = *p.population;
    int minimisers = 0, saddles = 0;
    for (int code = 0; code < 81; ++code) {
      Vector x(d);
      int rest = code;
      for (double& entry : x) {
        entry = rest % 3 - 1;
        rest /= 3;
      }
      const auto k = x.squaredNorm();
      if (k == 0) continue;
      const double squared = (beta - 1) / (beta * k - 1);
      x *= std::sqrt(squared);
      EXPECT_LT(gradient(F, x).norm(), 1e-14);
      EXPECT_NEAR(F.value(x), -k / 4 * (beta - 1) * (beta - 1) / (beta * k - 1), 1e-14);
      Vector expected(d);
      const auto count = static_cast<Index>(k);
      expected.setConstant(squared);
      expected.head(count - 1).setConstant(-2 * squared);
      expected[d - 1] = 2 * (beta - 1);
      std::ranges::sort(expected);
      EXPECT_LT((spectrum(F, x) - expected).norm(), 1e-12);
      ++(expected[0] > 0 ? minimisers : saddles);
    }
    EXPECT_EQ(minimisers, 2 * d);
    EXPECT_EQ(saddles, 81 - 1 - 2 * d);
    EXPECT_NEAR(spectrum(F, Vector::Zero(d)).maxCoeff(), -(beta - 1), 1e-14);
  }
}

TEST(OrthogonalTensor, RecordGradientsMatchLoss) {
  const Problem p = OrthogonalTensor().make({.records = 1, .dimension = 3});
  const Vector x{{0.5, -0.4, 0.8}};
  for (Index j = 0; j < 3; ++j) {
    const auto f = [j](const Vector& at) {
      return -0.75 * std::pow(at[j], 4) + 0.5 * std::pow(at.squaredNorm(), 2) -
             0.5 * at.squaredNorm();
    };
    Vector g = Vector::Zero(3), measured(3);
    p.extremes->add_gradients(Point(x), Block::x, BatchView(j, j + 1), unlimited, g);
    for (Index k = 0; k < 3; ++k) {
      const Vector step = 1e-5 * Vector::Unit(3, k);
      measured[k] = (f(x + step) - f(x - step)) / 2e-5;
    }
    EXPECT_LT((g - measured).norm(), 1e-9);
  }
}

TEST(OrthogonalTensor, BasisRotationRotatesEverything) {
  OrthogonalTensor rotated;
  rotated.basis = OrthogonalTensor::Basis::rotated;
  rotated.basis_seed = 4;
  const Problem a = OrthogonalTensor().make({.records = 50, .dimension = 5, .data_seed = 1});
  const Problem b = rotated.make({.records = 50, .dimension = 5, .data_seed = 1});
  // the basis, from the records: −d u³ a_j + (β|x|² − β + 1) x at x = 0 shows nothing, so at points
  Vector u(5), x = b.facts.initial_point;
  Stream({.seed = 2}).fill_normal(0.3, u);
  EXPECT_NEAR(a.facts.initial_point.norm(), x.norm(), 1e-15);
  EXPECT_NEAR(a.population->value(a.facts.initial_point), b.population->value(x), 1e-14);
  EXPECT_LT((spectrum(*a.empirical, a.facts.initial_point) - spectrum(*b.empirical, x)).norm(),
            1e-12);
  EXPECT_GT((a.facts.initial_point - x).norm(), 0.1);
  for (const auto& [name, c] : a.facts.constants.all())
    EXPECT_NEAR(c.value, b.facts.constants[name], 1e-12) << name;
  Vector sum_a = Vector::Zero(5), sum_b = sum_a;
  a.records->add_gradients(Point(a.facts.initial_point), Block::x, BatchView(0, 17), 0.3, sum_a);
  b.records->add_gradients(Point(x), Block::x, BatchView(0, 17), 0.3, sum_b);
  EXPECT_NEAR(sum_a.norm(), sum_b.norm(), 1e-13);
}

TEST(OrthogonalTensor, BalancedRecordsMatchPopulation) {
  const Problem p = OrthogonalTensor().make({.records = 70, .dimension = 7, .data_seed = 3});
  Stream stream({.seed = 1});
  Vector x(7);
  stream.fill_normal(0.5, x);
  EXPECT_NEAR(p.empirical->value(x), p.population->value(x), 1e-15);
  // every seven consecutive records hold every component once
  for (Index begin = 0; begin < 70; begin += 7) {
    Vector sum = Vector::Zero(7);
    p.sums().add_gradients(Point(x), Block::x, BatchView(begin, begin + 7), unlimited, sum);
    EXPECT_LT((sum / 7 - gradient(*p.population, x)).norm(), 1e-14);
  }
}

/// Counts of component 0 among records [begin, end), from the gradient along a_0.
Index count_of_first(const Problem& p, Index begin, Index end) {
  const Index d = p.facts.dimension;
  const Vector x = 0.5 * Vector::Unit(d, 0);
  Vector g = Vector::Zero(d);
  p.sums().add_gradients(Point(x), Block::x, BatchView(begin, end), unlimited, g);
  const double common = (2 * 0.25 - 1) * 0.5 * static_cast<double>(end - begin);
  return static_cast<Index>(std::lround((common - g[0]) / (static_cast<double>(d) * 0.125)));
}

TEST(OrthogonalTensor, CountsAreMultinomialForEverySampling) {
  constexpr Index n = 12, d = 3;
  for (const RecordSampling sampling :
       {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}) {
    OrthogonalTensor family;
    family.sampling = sampling;
    std::vector<Index> whole, first, second;
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
      const Problem p = family.make({.records = n, .dimension = d, .data_seed = seed});
      whole.push_back(count_of_first(p, 0, n));
      if (sampling == RecordSampling::whole) continue;
      first.push_back(count_of_first(p, 0, 5));
      second.push_back(count_of_first(p, 5, n));
    }
    testing_support::expect_binomial(whole, n, 1.0 / d);
    if (sampling == RecordSampling::whole) continue;
    testing_support::expect_binomial(first, 5, 1.0 / d);
    testing_support::expect_binomial(second, 7, 1.0 / d);
    testing_support::expect_uncorrelated(first, second);
  }
}

TEST(OrthogonalTensor, RejectsInvalidSettings) {
  const auto refused = [](auto change, Index d = 10) {
    OrthogonalTensor family;
    change(family);
    EXPECT_THROW(family.make({.records = 3, .dimension = d}), InputError);
  };
  refused([](OrthogonalTensor& f) { f.penalty = 1; });
  refused([](OrthogonalTensor& f) { f.radius = 0.99; });
  refused([](OrthogonalTensor& f) { f.saddle_components = 11; });
  refused([](OrthogonalTensor& f) { f.saddle_components = 1; });
  refused([](OrthogonalTensor& f) { f.basis_seed = -1; });
  refused([](OrthogonalTensor&) {}, 1);
}

/// −¼ Σ x_j⁴ + ‖x‖⁴/2 − ‖x‖²/2, the population at the default penalty with A = I.
double ica_population(const Vector& x) {
  return -0.25 * x.array().pow(4).sum() + 0.5 * std::pow(x.squaredNorm(), 2) -
         0.5 * x.squaredNorm();
}

TEST(TensorIca, MeanOverSignVectorsIsPopulation) {
  constexpr Index d = 4;
  auto signs = std::make_shared<Matrix>(d, 16);
  for (Index i = 0; i < 16; ++i)
    for (Index j = 0; j < d; ++j) (*signs)(j, i) = (i >> j) % 2 == 0 ? 1 : -1;
  const auto F = tensor_ica_objective({.excess = 2, .quartic = 2 - 1.5, .gamma = 1}, signs);
  TensorIca family;
  family.mixing = TensorIca::Mixing::identity;
  const Problem p = family.make({.records = 1, .dimension = d});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Vector x(d);
    Stream({.seed = seed}).fill_normal(0.6, x);
    EXPECT_NEAR(F->value(x), ica_population(x), 1e-14);
    EXPECT_NEAR(p.population->value(x), ica_population(x), 1e-14);
    EXPECT_LT((gradient(*F, x) - gradient(*p.population, x)).norm(), 1e-14);
  }
}

TEST(TensorIca, MeanOverUniformSourcesIsPopulation) {
  // Gauss-Legendre with three nodes has the moments up to the fifth; its weights are 5 : 8 : 5
  constexpr Index d = 2;
  const double outer = std::sqrt(3.0) * std::sqrt(0.6);
  std::vector<double> source;
  for (int k = 0; k < 18; ++k) source.push_back(k < 5 ? -outer : k < 13 ? 0 : outer);
  auto observed = std::make_shared<Matrix>(d, 18 * 18);
  for (Index i = 0; i < observed->cols(); ++i)
    observed->col(i) << source[static_cast<std::size_t>(i % 18)],
        source[static_cast<std::size_t>(i / 18)];
  const auto F = tensor_ica_objective({.excess = 1.2, .quartic = 2 - 2.5, .gamma = 1}, observed);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Vector x(d);
    Stream({.seed = seed}).fill_normal(0.6, x);
    EXPECT_NEAR(F->value(x), ica_population(x), 1e-14);
  }
}

TEST(TensorIca, PlantedMixingHasIdentitySpectrum) {
  const Problem p = TensorIca().make({.records = 3, .data_seed = 8});
  std::size_t minimisers = 0;
  for (const Landmark& l : p.landmarks) {
    if (l.of != Landmark::Of::population || l.kind != Landmark::Kind::minimiser) continue;
    ++minimisers;
    EXPECT_NEAR(l.point.norm(), 1, 1e-14);
    EXPECT_NEAR(p.population->value(l.point), -0.25, 1e-14);
    EXPECT_LT((spectrum(*p.population, l.point) - Vector{{1, 1, 1, 1, 1, 2}}).norm(), 1e-12);
    EXPECT_LT(l.point.cwiseAbs().maxCoeff(), 0.999);  // no axis: it is hidden
  }
  EXPECT_EQ(minimisers, 1U);
  EXPECT_EQ(p.facts.initial_point, Vector::Zero(6));
}

TEST(TensorIca, RecordGradientsMatchLoss) {
  const auto observed = std::make_shared<Matrix>(Matrix{{1.0, 0.0}, {-2.0, 0.0}, {0.5, 0.0}});
  const TensorIcaLoss loss{.excess = 1.2, .quartic = -0.5, .gamma = 1};
  const auto records = tensor_ica_records(
      loss, std::make_shared<RecordColumns>(RecordColumns{*observed, Vector::Zero(2)}));
  const Vector x{{0.5, -0.4, 0.8}};
  for (Index i = 0; i < 2; ++i) {  // the second record is 0
    const auto f = [&](const Vector& at) {
      return std::pow(observed->col(i).dot(at), 4) / 4.8 - 0.125 * std::pow(at.squaredNorm(), 2) -
             0.5 * at.squaredNorm();
    };
    Vector g = Vector::Zero(3), measured(3);
    records->add_gradients(Point(x), Block::x, BatchView(i, i + 1), unlimited, g);
    for (Index k = 0; k < 3; ++k) {
      const Vector step = 1e-5 * Vector::Unit(3, k);
      measured[k] = (f(x + step) - f(x - step)) / 2e-5;
    }
    EXPECT_LT((g - measured).norm(), 1e-8);
  }
}

TEST(TensorIca, ObservationsStayWithinProvedLength) {
  for (const auto source : {TensorIca::Source::signs, TensorIca::Source::uniform}) {
    TensorIca family;
    family.source = source;
    const Problem p = family.make({.records = 200, .data_seed = 4});
    // ∇f(x) − its common part along x, at a short x: (y·x)³y/|κ|, so ‖y‖⁴ is at most its ratio
    const double excess = source == TensorIca::Source::signs ? 2 : 1.2;
    const double b = 2 - 3 / excess;
    double longest = 0;
    Stream stream({.seed = 1});
    for (Index i = 0; i < 200; ++i) {
      Vector x(6), g = Vector::Zero(6);
      stream.fill_normal(1.0, x);
      p.sums().add_gradients(Point(x), Block::x, BatchView(i, i + 1), unlimited, g);
      g -= (b * x.squaredNorm() - 1) * x;
      // g = t³y/|κ|: t⁴ = |κ| g·x, so ‖y‖ = |κ|‖g‖/|t|³
      const double t = std::pow(excess * std::abs(g.dot(x)), 0.25);
      longest = std::max(longest, excess * g.norm() / std::pow(t, 3));
      if (source == TensorIca::Source::signs) {
        EXPECT_NEAR(excess * g.norm() / std::pow(t, 3), std::sqrt(6.0), 1e-6);
      }
    }
    EXPECT_LE(longest,
              (source == TensorIca::Source::signs ? std::sqrt(6.0) : std::sqrt(18.0)) + 1e-6);
  }
}

TEST(TensorIca, RejectsInvalidSettings) {
  const auto refused = [](auto change, Index d = 6) {
    TensorIca family;
    change(family);
    EXPECT_THROW(family.make({.records = 3, .dimension = d}), InputError);
  };
  refused([](TensorIca& f) { f.penalty = 0.5; });
  refused([](TensorIca& f) { f.radius = 0; });
  refused([](TensorIca&) {}, 1);
}

}  // namespace
}  // namespace dpsosp::quartic_test
