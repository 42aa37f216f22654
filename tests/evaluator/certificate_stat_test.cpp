// SPDX-License-Identifier: Apache-2.0
// How often the probabilistic lower bounds fail, over starts from fixed streams. Counts are judged
// at a false-alarm rate of 1e-6 had the seeds been drawn at random.
#include <cmath>
#include <cstdint>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/evaluator/hessian_operator.hpp"
#include "dpsosp/evaluator/lanczos.hpp"
#include "test_objectives.hpp"

namespace dpsosp::certificate_stat_test {
namespace {

using testing::Quadratic;

constexpr double p = 0.2;
constexpr int runs = 4000;
constexpr double normal_1e6 = 4.9;

/// Failures in `runs` above which a probability of at most p is refuted.
double most_failures() { return runs * p + normal_1e6 * std::sqrt(runs * p * (1 - p)); }

/// λ_min = −1 once; the rest of the spectrum on Chebyshev points of [lowest, 1], the shape that a
/// Krylov space finds hardest to tell from an interval. For lowest = 1 it is the point 1.
Vector hard_spectrum(Index d, double lowest) {
  Vector s(d);
  s[0] = -1;
  for (Index i = 1; i < d; ++i) {
    const double node =
        std::cos(std::numbers::pi * (static_cast<double>(i) - 0.5) / static_cast<double>(d - 1));
    s[i] = 0.5 * (1 + lowest) + 0.5 * (1 - lowest) * node;
  }
  return s;
}

struct Failures {
  int moment = 0;
  int chebyshev = 0;
};
/// `plant` multiplies the start weight that the bounds assume; 1 is the theorem.
Failures count_failures(const Vector& spectrum, Index steps, double plant) {
  const Index d = spectrum.size();
  const Quadratic f(spectrum);
  const double weight = plant * start_weight(d, p);
  Failures failures;
  Vector start(d);
  for (std::uint32_t run = 0; run < runs; ++run) {
    Stream({.seed = 1, .run = run, .purpose = Purpose::evaluation}).fill_normal(1.0, start);
    HessianOperator hessian(f, Vector::Zero(d));
    const LanczosFactorization l = lanczos(hessian, start, steps);
    const double theta = extreme_ritz(l).smallest;
    failures.moment += moment_lower_bound(l, weight) > -1 + 1e-12;
    failures.chebyshev += theta - (1 - theta) * chebyshev_gap(weight, steps) > -1 + 1e-12;
  }
  return failures;
}

TEST(FailureProbability, StartWeightFailsAtMostAsStated) {
  for (const Index d : {2, 3, 10, 300}) {
    const auto misses = [&](double plant) {
      const double weight = plant * start_weight(d, p);
      int count = 0;
      Vector g(d);
      for (std::uint32_t run = 0; run < runs; ++run) {
        Stream({.seed = 2, .run = run, .purpose = Purpose::evaluation}).fill_normal(1.0, g);
        count += g[0] * g[0] <= weight * weight * g.tail(d - 1).squaredNorm();
      }
      return count;
    };
    EXPECT_LE(misses(1), most_failures()) << d;
    EXPECT_GT(misses(1), 0.7 * p * runs) << d;   // not too loose
    EXPECT_GT(misses(2), most_failures()) << d;  // half the theorem's constant is caught
  }
}

TEST(FailureProbability, BothBoundsFailAtMostAsStatedWhereTheyAreTight) {
  const Vector spectrum =
      hard_spectrum(300, 1.0);  // one step, two atoms: both bounds are equalities
  const Failures stated = count_failures(spectrum, 1, 1);
  EXPECT_LE(stated.moment, most_failures());
  EXPECT_LE(stated.chebyshev, most_failures());
  EXPECT_GT(stated.moment, 0.9 * p * runs);
  EXPECT_GT(stated.chebyshev, 0.9 * p * runs);
  const Failures planted = count_failures(spectrum, 1, 2);  // half the theorem's constant
  EXPECT_GT(planted.moment, most_failures());
  EXPECT_GT(planted.chebyshev, most_failures());
}

TEST(FailureProbability, BothBoundsFailAtMostAsStatedOnHardSpectrum) {
  for (const Index k : {2, 4, 8}) {
    const Failures stated = count_failures(hard_spectrum(300, -0.9), k, 1);
    EXPECT_LE(stated.moment, most_failures()) << k;
    EXPECT_LE(stated.chebyshev, most_failures()) << k;
  }
}

TEST(FailureProbability, CertificatesFailAtMostAsStated) {
  const Index d = 300;
  const Quadratic f(hard_spectrum(d, 1.0));
  const auto failures = [&](double stated, double smoothness) {
    int count = 0;
    for (std::uint32_t run = 0; run < runs; ++run) {
      const Certificate c = certify(f, Vector::Zero(d),
                                    {.hessian_lipschitz = 1.0,
                                     .smoothness = smoothness,
                                     .failure_probability = stated,
                                     .steps = 1,
                                     .dense_limit = 0,
                                     .key{.seed = 3, .run = run, .purpose = Purpose::evaluation}});
      count += c.lambda_min_lower > -1;
      // the level's upper bound fails together with the eigenvalue's lower bound, never alone
      EXPECT_EQ(*c.sosp_level_upper<1, c.lambda_min_lower> - 1);
    }
    return count;
  };
  EXPECT_LE(failures(p, 1.0), most_failures());
  EXPECT_GT(failures(2 * p, 1.0), most_failures());
}

}  // namespace
}  // namespace dpsosp::certificate_stat_test
