// SPDX-License-Identifier: Apache-2.0
// Weights of Hessian sums hold at every point, close pairs and far points included; settings that
// overflow make no instance.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/covariance_gan.hpp"
#include "dpsosp/problems/group_dro.hpp"
#include "dpsosp/problems/matrix_completion.hpp"
#include "dpsosp/problems/matrix_sensing_symmetric.hpp"
#include "dpsosp/problems/orthogonal_tensor.hpp"
#include "dpsosp/problems/phase_retrieval.hpp"
#include "dpsosp/problems/tensor_ica.hpp"
#include "violation_search.hpp"

namespace dpsosp::weights_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Weighed {
  double norm = 0;    ///< of record 0's Hessian, or of its difference
  double weight = 0;  ///< u, which has to be as large
};

Weighed weighed(const AnyRecords& records, const Vector& x, const Vector* previous) {
  const Index d = x.size();
  Matrix H = Matrix::Zero(d, d);
  Weighed found;
  for (Index j = 0; j < d; ++j) {
    const Vector v = Vector::Unit(d, j);
    const BatchView first(0, 1);
    const ClipReport report =
        previous == nullptr ? records.add_hessian_products(Point(x), v, first, unlimited, H.col(j))
                            : records.add_hessian_difference_products(Point(x), Point(*previous), v,
                                                                      first, unlimited, H.col(j));
    found.weight = report.largest_norm;
  }
  const double size = H.cwiseAbs().maxCoeff();  // so that squares do not overflow
  if (size > 0) found.norm = size * testing_search::operator_norm(H / size);
  return found;
}

/// Points of every size, in general position, on an axis and near a record's own direction.
void expect_weights_hold(const Problem& problem, double smallest, double largest) {
  Stream stream({.purpose = Purpose::test});
  const Index d = problem.facts.dimension;
  for (int k = 0; k < 300; ++k) {
    Vector x(d), step(d), own = Vector::Zero(d);
    stream.fill_normal(1.0, x);
    problem.records->add_gradients(Point(x), Block::x, BatchView(0, 1), unlimited, own);
    if (k % 3 == 1) x = Vector::Unit(d, k % d);
    if (k % 3 == 2) x = own.normalized() + 1e-9 * x;
    x *= smallest * std::pow(largest / smallest, stream.uniform()) / x.norm();
    stream.fill_normal(1.0, step);
    if (k % 2 == 0) step -= (x.dot(step) / x.squaredNorm()) * x;
    const Vector y = x + std::pow(10, -12 * stream.uniform()) * x.norm() * step.normalized();
    for (const Vector* previous : {static_cast<const Vector*>(nullptr), &y}) {
      const Weighed found = weighed(*problem.records, x, previous);
      EXPECT_LE(found.norm, found.weight * (1 + 1e-9))
          << problem.facts.name << (previous != nullptr ? ": a difference" : "")
          << " at ‖x‖ = " << x.norm() << ", ‖x − y‖/‖x‖ = " << (x - y).norm() / x.norm();
    }
  }
}

TEST(HessianWeights, HoldAtClosePairsAndFarPoints) {
  for (const double penalty : {2.0, 15.0}) {
    OrthogonalTensor components;
    components.penalty = penalty;
    expect_weights_hold(components.make({.records = 7}), 1e-10, 1e70);
    TensorIca sources;
    sources.penalty = penalty;
    expect_weights_hold(sources.make({.records = 7}), 1e-10, 1e80);
  }
  expect_weights_hold(MatrixCompletion().make({.records = 7}), 1e-10, 1e60);
  expect_weights_hold(MatrixSensingSymmetric().make({.records = 7}), 1e-10, 1e60);
  expect_weights_hold(PhaseRetrieval().make({.records = 7}), 1e-10, 1e60);
}

TEST(GroupDro, ConstantsCoverGroupsWithoutRecords) {
  GroupDro family;
  family.groups = 3;
  const Problem p = family.make({.records = 1});
  Stream stream({.purpose = Purpose::test});
  double largest = 0;
  for (int k = 0; k < 2000; ++k) {
    Vector x(p.facts.dimension), y(3), g = Vector::Zero(p.facts.dimension + 3);
    stream.fill_normal(1.0, x);
    for (double& e : y) e = (stream.bernoulli(0.5) ? 1 : -1) / family.strong_concavity;
    const Index i = stream.below(p.extremes->size());
    p.extremes->add_gradients(Point(x, y), Block::joint, BatchView(i, i + 1), unlimited, g);
    largest = std::max(largest, g.norm());
  }
  EXPECT_LE(largest, p.facts.constants[constant::lipschitz]);
}

TEST(CovarianceGan, LandmarksLieInsideDomain) {
  CovarianceGan family;
  family.domain_factor = 1;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Problem p = family.make({.records = 1, .data_seed = seed});
    for (const Landmark& mark : p.landmarks)
      EXPECT_TRUE(p.facts.domain.contains(mark.point)) << mark.name << ' ' << seed;
  }
}

TEST(ProblemFamilies, RejectOverflowingSettings) {
  const auto refused = [](auto family, auto setting) {
    for (const double value : {unlimited, 1e200}) {
      family.*setting = value;
      EXPECT_THROW(family.make({.records = 3}), InputError) << family.name() << ' ' << value;
    }
  };
  refused(MatrixCompletion(), &MatrixCompletion::domain_factor);
  refused(MatrixCompletion(), &MatrixCompletion::planted_norm);
  refused(MatrixSensingSymmetric(), &MatrixSensingSymmetric::domain_factor);
  refused(PhaseRetrieval(), &PhaseRetrieval::signal_norm);
  refused(CovarianceGan(), &CovarianceGan::domain_factor);
  refused(OrthogonalTensor(), &OrthogonalTensor::penalty);
  refused(OrthogonalTensor(), &OrthogonalTensor::radius);
  refused(TensorIca(), &TensorIca::radius);
  PhaseRetrieval nowhere;
  nowhere.initial_spread = unlimited;
  EXPECT_THROW(nowhere.make({.records = 3}), InputError);
}

}  // namespace
}  // namespace dpsosp::weights_test
