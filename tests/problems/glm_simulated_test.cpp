// SPDX-License-Identifier: Apache-2.0
// Simulated records of generalised linear models against records in memory.
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/glm_logistic.hpp"
#include "dpsosp/problems/glm_sigmoid.hpp"

namespace dpsosp::glm_simulated_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

TEST(AtomCounts, SumToBatchSizeAndRepeat) {
  for (const Index size : {Index{0}, Index{1}, Index{1000}, Index{10'000'000'000'000'000}}) {
    const auto counts = atom_counts(7, 3, 11, size);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), Index{0}), size);
    EXPECT_EQ(counts, atom_counts(7, 3, 11, size));
    for (const Index c : counts) EXPECT_GE(c, 0);
  }
  EXPECT_NE(atom_counts(7, 3, 0, 1000), atom_counts(7, 3, 1000, 1000));
  EXPECT_EQ(atom_counts(1, 3, 0, 9), std::vector<Index>{9});
}

TEST(AtomCounts, HaveMultinomialMoments) {
  constexpr Index atoms = 5, size = 40, repeats = 4000;
  Matrix counts(atoms, repeats), next(atoms, repeats);
  for (Index r = 0; r < repeats; ++r) {
    const auto seed = static_cast<std::uint64_t>(r);
    const auto one = atom_counts(atoms, seed, 0, size), two = atom_counts(atoms, seed, size, size);
    for (Index k = 0; k < atoms; ++k) {
      counts(k, r) = static_cast<double>(one[static_cast<std::size_t>(k)]);
      next(k, r) = static_cast<double>(two[static_cast<std::size_t>(k)]);
    }
  }
  const double mean = static_cast<double>(size) / atoms, root = std::sqrt(repeats);
  const Matrix a = counts.array() - mean, b = next.array() - mean;
  const Matrix within = a * a.transpose() / repeats, across = a * b.transpose() / repeats;
  const double variance = mean * (1 - 1.0 / atoms);
  for (Index j = 0; j < atoms; ++j) {
    EXPECT_LT(std::abs(a.row(j).mean()), 6 * std::sqrt(variance) / root);
    for (Index k = 0; k < atoms; ++k) {
      // a product of two counts deviates by at most about √2 variances
      EXPECT_LT(std::abs(within(j, k) - (j == k ? variance : -mean / atoms)),
                6 * 1.6 * variance / root);
      EXPECT_LT(std::abs(across(j, k)), 6 * 1.1 * variance / root);  // disjoint batches
    }
  }
}

/// Clipped sums of gradients and of differences over two successive batches, stacked; one column
/// for each of `repeats` pairs of batches of one instance.
Matrix sums(RecordSampling sampling, Index repeats) {
  GlmSigmoid family;
  family.sampling = sampling;
  family.support = 12;
  constexpr Index batch = 30;
  const Problem p = family.make({.records = 2 * batch * repeats, .dimension = 3, .data_seed = 4});
  Matrix all = Matrix::Zero(12, repeats);
  const Vector w = Vector::LinSpaced(3, -1, 2), before = Vector::Zero(3);
  for (Index r = 0; r < repeats; ++r)
    for (const Index half : {0, 1}) {
      const Index begin = batch * (2 * r + half);
      const BatchView view(begin, begin + batch);
      p.sums().add_gradients(Point(w), Block::x, view, 0.03, all.col(r).segment(6 * half, 3));
      p.sums().add_gradient_differences(Point(w), Point(before), Block::x, view, 0.02,
                                        all.col(r).segment(6 * half + 3, 3));
    }
  return all;
}

TEST(SimulatedGlm, ClippedSumsMatchLawOfRecordsInMemory) {
  constexpr Index repeats = 2000;
  const Matrix simulated = sums(RecordSampling::stream, repeats);
  const Matrix stored = sums(RecordSampling::independent, repeats);
  const Vector mean_a = simulated.rowwise().mean(), mean_b = stored.rowwise().mean();
  const Matrix a = simulated.colwise() - mean_a, b = stored.colwise() - mean_b;
  const Matrix cov_a = a * a.transpose() / repeats, cov_b = b * b.transpose() / repeats;
  for (Index j = 0; j < 12; ++j) {
    const double deviation = std::sqrt((cov_a(j, j) + cov_b(j, j)) / repeats);
    EXPECT_LT(std::abs(mean_a[j] - mean_b[j]), 6 * deviation) << j;
    for (Index k = 0; k < 12; ++k)
      EXPECT_LT(std::abs(cov_a(j, k) - cov_b(j, k)),
                6 * 2.2 * std::sqrt(cov_b(j, j) * cov_b(k, k) / repeats))
          << j << ' ' << k;
  }
}

TEST(SimulatedGlm, WholeDataSetSumsMatchItsObjective) {
  GlmLogistic family;
  family.sampling = RecordSampling::whole;
  family.support = 50;
  constexpr Index n = 1'000'000'000'000;
  const Problem p = family.make({.records = n, .data_seed = 2});
  const Vector w = Vector::LinSpaced(10, -1, 1), v = Vector::LinSpaced(10, 1, 0);
  Vector sum = Vector::Zero(10), product = sum, expected(10);
  const BatchView all(0, n);
  p.sums().add_gradients(Point(w), Block::x, all, unlimited, sum);
  p.empirical->gradient(w, expected);
  EXPECT_LT((sum / static_cast<double>(n) - expected).norm(), 1e-14);
  p.sums().add_hessian_products(Point(w), v, all, unlimited, product);
  p.empirical->hessian_product(w, v, expected);
  EXPECT_LT((product / static_cast<double>(n) - expected).norm(), 1e-14);
  double loss = 0;
  p.sums().add_loss_differences(Point(w), Point(v), all, unlimited, loss);
  EXPECT_NEAR(loss / static_cast<double>(n), p.empirical->value(w) - p.empirical->value(v), 1e-13);
  // at such n the empirical objective is the population's to 1e-5
  p.population->gradient(w, expected);
  EXPECT_LT((sum / static_cast<double>(n) - expected).norm(), 1e-5);
}

TEST(SimulatedGlm, ClipsAndCountsEveryRecord) {
  GlmSigmoid family;
  family.sampling = RecordSampling::whole;
  family.support = 9;
  constexpr Index n = 1000;
  const Problem p = family.make({.records = n, .dimension = 4, .data_seed = 2});
  const Vector w = Vector::Constant(4, 1.5);
  Vector sum = Vector::Zero(4);
  const ClipReport report = p.sums().add_gradients(Point(w), Block::x, BatchView(0, n), 1e-6, sum);
  EXPECT_EQ(report.clipped, n);
  EXPECT_LE(sum.norm(), 1e-6 * n * (1 + 1e-12));
}

/// Most atoms have no record in a batch of three.
TEST(SimulatedGlm, SumsOverFewAtomsIgnoreWhatWasAskedBefore) {
  GlmLogistic family;
  family.sampling = RecordSampling::stream;
  family.support = 50;
  const Problem p = family.make({.records = 60, .data_seed = 2});
  const Vector w = Vector::LinSpaced(10, -1, 1), v = Vector::LinSpaced(10, 1, 0);
  const auto sum = [&](Index begin, bool product, double scale) {
    Vector out = Vector::Zero(10);
    const BatchView three(begin, begin + 3);
    if (product)
      p.sums().add_hessian_products(Point(scale * w), scale * v, three, unlimited, out);
    else
      p.sums().add_gradients(Point(scale * w), Block::x, three, unlimited, out);
    return out;
  };
  for (const bool product : {false, true}) {
    const Vector first = sum(6, product, 1.0);
    sum(30, product, 50.0);
    sum(30, !product, 7.0);
    EXPECT_EQ(first, sum(6, product, 1.0));
    EXPECT_GT(first.norm(), 0);
  }
}

TEST(SimulatedGlm, RejectsListsAndPartsOfWholeDataSet) {
  GlmSigmoid family;
  family.sampling = RecordSampling::whole;
  EXPECT_THROW(family.make({.records = 100}), InputError);  // a continuous law
  family.support = 6;
  const Problem p = family.make({.records = 100});
  Vector sum = Vector::Zero(10);
  const std::vector<Index> list{1, 5};
  const Vector origin = Vector::Zero(10);
  EXPECT_THROW(p.sums().add_gradients(Point(origin), Block::x, BatchView(list), 1, sum),
               InputError);
  EXPECT_THROW(p.sums().add_gradients(Point(origin), Block::x, BatchView(0, 50), 1, sum),
               InputError);
  EXPECT_THROW(p.sums().add_gradients(Point(origin), Block::y, BatchView(0, 100), 1, sum),
               InputError);
}

}  // namespace
}  // namespace dpsosp::glm_simulated_test
