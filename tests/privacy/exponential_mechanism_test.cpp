// SPDX-License-Identifier: Apache-2.0
// The exponential mechanism: its law, its sensitivity under attack, its charge.
#include "dpsosp/privacy/exponential_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/math/distributions/chi_squared.hpp>

#include "../trusted/written_records.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::exponential_mechanism_test {
namespace {

/// Record i has the loss `loss(w, i)` and the gradient `slope.col(i)`; keeps every sum it gave.
class ScoredRecords final : public test::WrittenRecords {
 public:
  using Loss = std::function<double(ConstVectorRef w, Index i)>;
  ScoredRecords(Index n, Loss loss) : WrittenRecords(n), loss_(std::move(loss)) {}

  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    const ClipReport report = WrittenRecords::add(s, batch, limit, out);
    if (batch.size() == size()) {
      sums.emplace_back(out);
      return report;
    }
    // one by one, after a sum that is not finite: what is finite adds up
    if (batch[0] == 0) sums.back().setZero();
    if (out.allFinite()) sums.back() += out;
    return report;
  }

  Matrix slope;
  mutable std::vector<Vector> sums;

 private:
  Vector of(Index i, const Summand& s) const override {
    if (s.kind == Summand::Kind::gradient) return slope.col(i);
    return Vector::Constant(1, loss_(s.point.x, i) - loss_(s.previous->x, i));
  }

  Loss loss_;
};

PublicFacts facts_of(Index d, Index n) {
  PublicFacts facts;
  facts.name = "scored";
  facts.dimension = d;
  facts.records = n;
  facts.initial_point = Vector::Zero(d);
  return facts;
}

struct Lab {
  Lab(Index d, Index n, ScoredRecords::Loss loss, FilterRule rule = {Calibrator::cks, {}, 1e9})
      : facts(facts_of(d, n)),
        records(n, std::move(loss)),
        curator(facts, records, rule, {.seed = 5}),
        mechanism(curator, curator.draw(BatchPolicy::all())) {}
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  PublicFacts facts;
  ScoredRecords records;
  Curator curator;
  ExponentialMechanism mechanism;
};

/// exp(−λ score)/Σ.
Vector softmin(const Vector& scores, double lambda) {
  const Vector w = (-lambda * (scores.array() - scores.minCoeff())).exp();
  return w / w.sum();
}

/// P of a chi-square at least as large, frequencies of `draw` against `law`; small cells pooled.
double fit(const Vector& law, Index draws, const std::function<Index()>& draw) {
  Vector counts = Vector::Zero(law.size());
  for (Index k = 0; k < draws; ++k) counts[draw()] += 1;
  double statistic = 0, pooled = 0, pooled_expected = 0;
  int cells = 0;
  for (Index k = 0; k < law.size(); ++k) {
    const double expected = law[k] * static_cast<double>(draws);
    if (expected < 10) {
      pooled += counts[k];
      pooled_expected += expected;
      continue;
    }
    statistic += (counts[k] - expected) * (counts[k] - expected) / expected;
    ++cells;
  }
  if (pooled_expected >= 5) {
    statistic += (pooled - pooled_expected) * (pooled - pooled_expected) / pooled_expected;
    ++cells;
  }
  return cdf(complement(boost::math::chi_squared(cells - 1), statistic));
}

/// Five points on the unit circle around 0, with the scores of lowy-2024 notes, 8.
Matrix circle(Index count) {
  Matrix points(2, count);
  for (Index k = 0; k < count; ++k)
    points.col(k) << std::cos(static_cast<double>(k)), std::sin(static_cast<double>(k));
  return points;
}
double circle_loss(ConstVectorRef w) {
  static const std::vector<double> scores{0, 0.1, 0.2, 0.5, 1.0};
  if (w.norm() == 0) return 0.0;
  for (std::size_t k = 0; k < scores.size(); ++k)
    if (std::abs(w[0] - std::cos(static_cast<double>(k))) < 1e-9) return scores[k];
  return 0.0;
}

TEST(ExponentialMechanism, DrawsFromPublishedDistribution) {
  Lab lab(2, 40, [](ConstVectorRef w, Index) { return circle_loss(w); });
  EXPECT_DOUBLE_EQ(lab.mechanism.range(1.0, 1.0), 0.1);  // 2LD/n with LD = 2
  const Vector paper{{.4846762, .2939710, .1783024, .0397846, .0032657}};
  const Vector tight{{.6622525, .2436291, .0896261, .0044622, .0000301}};
  const Vector scores{{0, 0.1, 0.2, 0.5, 1.0}};
  EXPECT_LT((softmin(scores, 5) - paper).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LT((softmin(scores, 10) - tight).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_NEAR(paper.dot(scores), .08821563, 1e-7);
  EXPECT_NEAR(tight.dot(scores), .04454931, 1e-7);
  const Matrix points = circle(5);
  for (const auto& [law, epsilon] : {std::pair{paper, 0.5}, std::pair{tight, 1.0}})
    EXPECT_GT(
        fit(law, 100000,
            [&, e = epsilon] { return lab.mechanism.choose(points, Vector::Zero(2), 1.0, e); }),
        1e-4);
  EXPECT_EQ(lab.curator.ledger().entries().size(), 2U);
  EXPECT_EQ(lab.curator.ledger().entries()[1].event, Event{ExponentialEvent{1.0}});
}

/// Log-probabilities of a net from the sums that the records were asked for.
Vector log_law(const std::vector<Vector>& sums, Index n, double lambda) {
  Vector scores(std::ssize(sums));
  for (std::size_t k = 0; k < sums.size(); ++k)
    scores[static_cast<Index>(k)] = sums[k][0] / static_cast<double>(n);
  return softmin(scores, lambda).array().log();
}

TEST(ExponentialMechanism, MatchesLogRatiosOfTwoPointExample) {
  constexpr Index n = 10;
  Vector x = Vector::Ones(n);
  const auto loss = [&](ConstVectorRef w, Index i) { return x[i] * w[0]; };
  std::vector<Vector> laws;
  for (const double last : {1.0, -1.0}) {
    x[n - 1] = last;
    Lab lab(1, n, loss);
    EXPECT_DOUBLE_EQ(1.0 / lab.mechanism.range(1.0, 1.0), 2.5);
    // 0 is the centre: its score is 0 and the records are not asked
    lab.mechanism.choose(Matrix{{-1.0, 1.0}}, Vector::Zero(1), 1.0, 1.0);
    auto sums = lab.records.sums;
    sums.insert(sums.begin() + 1, Vector::Zero(1));
    laws.push_back(log_law(sums, n, 2.5));
  }
  EXPECT_LT((laws[0].array().exp().matrix() - Vector{{.9184230, .0753887, .0061883}}).norm(), 1e-7);
  EXPECT_LT((laws[1].array().exp().matrix() - Vector{{.8668133, .1173104, .0158762}}).norm(), 1e-7);
  const Vector ratios = laws[0] - laws[1];
  EXPECT_LT((ratios - Vector{{.0578344, -.4421656, -.9421656}}).norm(), 1e-7);
  EXPECT_NEAR(ratios.maxCoeff() - ratios.minCoeff(), 1.0, 1e-12);
}

/// Exchanges one record; its losses at the points may be anything. Largest |log-ratio| and range.
struct Attack {
  double largest = 0, range = 0;
};
Attack exchange(const Matrix& points, const Matrix& losses, const Vector& other, double epsilon) {
  const Index n = losses.cols();
  std::vector<Vector> laws;
  for (const bool exchanged : {false, true}) {
    const auto loss = [&](ConstVectorRef w, Index i) {
      if (w.norm() == 0) return 0.0;
      for (Index k = 0; k < points.cols(); ++k)
        if ((points.col(k) - w).norm() == 0) return i == 0 && exchanged ? other[k] : losses(k, i);
      return 0.0;
    };
    Lab lab(points.rows(), n, loss);
    lab.mechanism.choose(points, Vector::Zero(points.rows()), 1.5, epsilon);
    const double reach = std::sqrt(points.colwise().squaredNorm().maxCoeff());
    laws.push_back(log_law(lab.records.sums, n, epsilon / lab.mechanism.range(1.5, reach)));
  }
  const Vector ratios = laws[0] - laws[1];
  return {ratios.cwiseAbs().maxCoeff(), ratios.maxCoeff() - ratios.minCoeff()};
}

TEST(ExponentialMechanism, BoundsLogRatiosOfNeighboursByEpsilon) {
  constexpr Index n = 7, count = 6;
  constexpr double epsilon = 0.8;
  Stream stream({.seed = 3});
  double worst_range = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Matrix points(2, count), losses(count, n);
    for (double& p : points.reshaped()) p = stream.normal();
    const auto any_loss = [&] {  // up to 100 times beyond the limit, or not a number
      if (stream.bernoulli(0.02)) return std::numeric_limits<double>::quiet_NaN();
      return stream.normal() * std::pow(10.0, 4.0 * stream.uniform() - 2.0);
    };
    for (double& l : losses.reshaped()) l = any_loss();
    Vector other(count);
    for (double& l : other) l = any_loss();
    const Attack random = exchange(points, losses, other, epsilon);
    EXPECT_LE(random.largest, epsilon * (1 + 1e-12));
    EXPECT_LE(random.range, epsilon * (1 + 1e-12));
    // The worst pair: opposite extremes, one point set against the others, tried for every point.
    for (Index k = 0; k < count; ++k) {
      losses.col(0).setConstant(-1e6);
      losses(k, 0) = 1e6;
      const Attack found = exchange(points, losses, -losses.col(0), epsilon);
      EXPECT_LE(found.largest, epsilon * (1 + 1e-12));
      worst_range = std::max(worst_range, found.range);
    }
    // on a circle the range is attained
    losses.col(0).setConstant(-1e6);
    losses(2, 0) = 1e6;
    EXPECT_NEAR(exchange(circle(count), losses, -losses.col(0), epsilon).range, epsilon, 1e-9);
  }
  EXPECT_GT(worst_range, 0.9 * epsilon);
}

TEST(ExponentialMechanism, ChargesAttainedRangeForVertices) {
  constexpr Index n = 5;
  constexpr double epsilon = 0.6, G = 0.7, radius = 2.0;
  Stream stream({.seed = 4});
  double worst = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Vector> laws;
    Matrix slopes(3, n);
    for (double& s : slopes.reshaped()) s = stream.normal() * std::pow(10.0, 2 * stream.uniform());
    for (const double sign : {1.0, -1.0}) {
      if (trial % 2 == 0) slopes.col(0) = sign * 100.0 * Vector::Unit(3, trial % 3);
      if (trial % 2 == 1) stream.fill_normal(10.0, slopes.col(0));
      Lab lab(3, n, [](ConstVectorRef, Index) { return 0.0; });
      lab.records.slope = slopes;
      lab.mechanism.choose_l1_vertex(radius, Vector::Zero(3), G, epsilon);
      const Vector g = lab.records.sums.back() / static_cast<double>(n);
      Vector scores(6);
      for (Index k = 0; k < 6; ++k) scores[k] = (k % 2 == 0 ? radius : -radius) * g[k / 2];
      laws.push_back(
          softmin(scores, epsilon / lab.mechanism.vertex_range(G, 2 * radius)).array().log());
    }
    const Vector ratios = laws[0] - laws[1];
    EXPECT_LE(ratios.maxCoeff() - ratios.minCoeff(), epsilon * (1 + 1e-12));
    worst = std::max(worst, ratios.maxCoeff() - ratios.minCoeff());
  }
  EXPECT_NEAR(worst, epsilon, 1e-9);  // attained by opposite axes
}

TEST(ExponentialMechanism, DrawsVerticesFromTheirDistributionInBothForms) {
  constexpr Index n = 5;
  Lab lab(2, n, [](ConstVectorRef, Index) { return 0.0; });
  lab.records.slope = Matrix{{0.1, 0.3, -0.2, 0.4, 0.1}, {0.5, 0.1, 0.3, -0.2, 0.0}};
  const Vector g = lab.records.slope.rowwise().mean();
  const Matrix vertices{{1.5, -1.5, 0, 0}, {0, 0, 1.5, -1.5}};
  EXPECT_DOUBLE_EQ(lab.mechanism.vertex_range(1.0, 3.0), 2.0 * 3.0 / 5.0);
  const double lambda = 0.9 / lab.mechanism.vertex_range(1.0, 3.0);
  const Vector law = softmin(vertices.transpose() * g, lambda);
  const Vector at = Vector::Zero(2);
  EXPECT_GT(fit(law, 40000, [&] { return lab.mechanism.choose_vertex(vertices, at, 1, 0.9); }),
            1e-4);
  EXPECT_GT(fit(law, 40000, [&] { return lab.mechanism.choose_l1_vertex(1.5, at, 1, 0.9); }), 1e-4);
}

TEST(ExponentialMechanism, DrawsFarVerticesFromTheirDistribution) {
  // At 2^53 a score A g is rounded to whole numbers: its low bits are those of the gradient.
  constexpr double far = 0x1p53;
  const Matrix vertices{{far, far + 2}};
  for (const double g : {0.51, 0.53, 0.57, 0.59, 0.61}) {
    Lab lab(1, 5, [](ConstVectorRef, Index) { return 0.0; });
    lab.records.slope = Matrix::Constant(1, 5, g);
    const double range = lab.mechanism.vertex_range(1.0, 4.0);  // the middle is rounded, too
    const Vector law = softmin(Vector{{0.0, 2 * g}}, 1.0);
    EXPECT_GT(fit(law, 20000,
                  [&] { return lab.mechanism.choose_vertex(vertices, Vector::Zero(1), 1, range); }),
              1e-4)
        << g;
  }
}

/// Keeps the largest clamp that it was given.
class Clamps final : public UncheckedRecords {
 public:
  Index size() const override { return 4; }
  bool separable() const override { return true; }
  ClipReport add(const Summand& s, const BatchView&, double limit, VectorRef) const override {
    const bool grid = s.kind == Summand::Kind::coordinate_loss;
    largest = std::max(largest, grid ? limit * (s.v.array() - s.centre).abs().maxCoeff() : limit);
    return {};
  }
  mutable double largest = 0;
};

TEST(ExponentialMechanism, ProductGridClampsWithinChargedWidthFarFromOrigin) {
  const Clamps records;
  for (const double centre : {0.0, 1.0, 1e9, 1e16, 3e16}) {
    records.largest = 0;
    Curator curator(facts_of(1, 4), records, {Calibrator::cks, {}, 1e9}, {.seed = 8});
    ExponentialMechanism mechanism(curator, curator.draw(BatchPolicy::all()));
    Vector out(1);
    mechanism.choose(ProductGrid{Vector::Constant(1, centre), 1.5, 8}, 2.0, 1.0, out);
    EXPECT_LE(records.largest, 2.0 * 1.5 * (1 + 1e-15)) << centre;
    // Doubles near 3e16 are 4 apart: there every value of the grid rounds to the centre.
    if (centre <= 1e16) {
      EXPECT_GT(records.largest, 2.0) << centre;
    }
  }
}

/// Far from the origin rounding moves the points of a net; what their scores may move is charged
/// for all the same.
TEST(ExponentialMechanism, NetsClampWithinChargedReachFarFromOrigin) {
  const Clamps records;
  for (const Index d : {1, 3})
    for (const double centre : {0.0, 1.0, 1e9, 1e15, 1e16, 3e16})
      for (const double radius : {1.01, 1.5, 2.9})
        for (const bool ball : {false, true}) {
          records.largest = 0;
          const Vector middle = Vector::Constant(d, centre);
          const Net net = ball ? Net::ball(middle, radius, 0.8) : Net::box(middle, radius, 0.8);
          Curator curator(facts_of(d, 4), records, {Calibrator::cks, {}, 1e9}, {.seed = 8});
          ExponentialMechanism mechanism(curator, curator.draw(BatchPolicy::all()));
          Vector out(d);
          mechanism.choose(net, 2.0, 1.0, out);
          EXPECT_LE(records.largest, 2.0 * net.reach() * (1 + 1e-12)) << centre << ' ' << radius;
          if (centre <= 1e9) {
            EXPECT_GT(records.largest, 0.99 * net.reach()) << centre << ' ' << radius;
          }
        }
}

TEST(ExponentialMechanism, ProductGridMatchesEnumeratedNet) {
  const auto family = find_problem("ripple-location");
  const Problem problem = family->make({.records = 60, .dimension = 2});
  const PublicFacts& facts = problem.facts;
  Curator curator(facts, *problem.records, {Calibrator::cks, {}, 1e12}, {.seed = 8});
  ExponentialMechanism mechanism(curator, curator.draw(BatchPolicy::all()));
  const double L = facts.constants[constant::lipschitz];
  const Net net = Net::of(facts.domain, 2, 0.6);
  const Index m = net.per_axis();
  ASSERT_EQ(m, 4);  // half width 2/sqrt(2), radius 0.6
  const ProductGrid grid{Vector::Zero(2), facts.domain.radius, m};
  EXPECT_NEAR(grid.log_size(), net.log_size(), 1e-12);
  Vector scores(m * m), point(2);
  for (Index k = 0; k < m * m; ++k) {
    ASSERT_TRUE(net.point(k, point));
    EXPECT_NEAR(grid.value(0, k % m), point[0], 1e-14);
    EXPECT_NEAR(grid.value(1, k / m), point[1], 1e-14);
    scores[k] = problem.empirical->value(point) - problem.empirical->value(Vector::Zero(2));
  }
  constexpr double lambda = 6.0;
  const Vector law = softmin(scores, lambda);
  const double of_net = lambda * mechanism.range(L, net.reach());
  EXPECT_GT(fit(law, 30000, [&] { return mechanism.choose(net, L, of_net, point); }), 1e-4);
  const double L_j = L / std::sqrt(2.0);
  const double of_grid = lambda * mechanism.range(grid, L_j);
  EXPECT_NEAR(of_grid, of_net, 1e-9 * of_net);  // (2/n) Σ L_j side_j = 2LD/n on a cube
  EXPECT_GT(
      fit(law, 30000,
          [&] {
            mechanism.choose(grid, L_j, of_grid, point);
            const auto cell = [&](double v) {
              return static_cast<Index>((v / grid.half_width + 1) / 2 * static_cast<double>(m));
            };
            return cell(point[0]) + m * cell(point[1]);
          }),
      1e-4);
}

TEST(ExponentialMechanism, ProductGridChargeCoversAnyOneRecord) {
  const Problem problem = find_problem("separable-pl")->make({.records = 50, .dimension = 3});
  const AnyRecords& records = *problem.extremes;
  PublicFacts facts = problem.facts;
  facts.records = records.size();
  Curator curator(facts, records, {Calibrator::cks, {}, 1e9}, {.seed = 8});
  const ExponentialMechanism mechanism(curator, curator.draw(BatchPolicy::all()));
  const auto n = static_cast<double>(facts.records);
  for (const double half_width : {0.05, 0.7})
    for (const double limit : {0.01, 1.0}) {  // far below the true slope, and about it
      const ProductGrid grid{Vector::Zero(3), half_width, 5};
      std::vector<Matrix> scores;
      for (Index i = 0; i < records.size(); ++i) {
        scores.emplace_back(Matrix::Zero(5, 3));
        for (Index j = 0; j < 3; ++j) {
          Vector values(5);
          for (Index k = 0; k < 5; ++k) values[k] = grid.value(j, k);
          records.add_coordinate_loss_differences(j, values, 0.0, BatchView(i, i + 1), limit,
                                                  scores.back().col(j));
        }
      }
      double worst = 0;
      for (const Matrix& one : scores)
        for (const Matrix& other : scores) {
          const Matrix moved = (one - other) / n;
          worst = std::max(worst, (moved.colwise().maxCoeff() - moved.colwise().minCoeff()).sum());
        }
      EXPECT_LE(worst, mechanism.range(grid, limit));
      if (half_width == 0.05 && limit == 0.01) {  // but for the outermost half cells
        EXPECT_NEAR(worst, 0.8 * mechanism.range(grid, limit), 1e-12);
      }
    }
}

/// Not refused as too dear, which a larger budget would mend.
TEST(ExponentialMechanism, IsUnsupportedWhereTheFilterHasNoProofForIt) {
  Lab gaussian(2, 40, [](ConstVectorRef w, Index) { return circle_loss(w); },
               {Calibrator::exact_gaussian, {}, 1.0});
  EXPECT_THROW(gaussian.mechanism.choose(circle(5), Vector::Zero(2), 5.0, 0.1), UnsupportedError);
  Lab pure(
      2, 40, [](ConstVectorRef w, Index) { return circle_loss(w); },
      filter_rule({1.0, 1e-6}, Calibrator::exact_gaussian, {}, 0.25));
  EXPECT_NO_THROW(pure.mechanism.choose(circle(5), Vector::Zero(2), 5.0, 0.25));
  EXPECT_THROW(pure.mechanism.choose(circle(5), Vector::Zero(2), 5.0, 0.1), BudgetExhausted);
}

TEST(ExponentialMechanism, ChoosesBestWithoutNoiseAndUniformlyWithoutData) {
  const PublicFacts facts = facts_of(2, 40);
  const auto loss = [](ConstVectorRef w, Index) { return 1.0 - circle_loss(w); };
  const ScoredRecords records(40, loss);
  UnsoundCurator exact(facts, records, {.seed = 1}, {.no_noise = true});
  ExponentialMechanism best(exact, exact.draw(BatchPolicy::all()));
  for (int k = 0; k < 5; ++k) EXPECT_EQ(best.choose(circle(5), Vector::Zero(2), 5.0, 0.1), 4);
  EXPECT_EQ(exact.ledger().spent(1e-6).epsilon, HUGE_VAL);
  UnsoundCurator blind(facts, records, {.seed = 1}, {.no_data = true});
  ExponentialMechanism any(blind, blind.draw(BatchPolicy::all()));
  const Vector uniform = Vector::Constant(5, 0.2);
  EXPECT_GT(fit(uniform, 20000, [&] { return any.choose(circle(5), Vector::Zero(2), 5.0, 50.0); }),
            1e-4);
  // a clamped mean is as sensitive as a single record
  UnsoundCurator mean(facts, records, {.seed = 1}, {.clip_batch_mean = true});
  ExponentialMechanism clamped(mean, mean.draw(BatchPolicy::all()));
  clamped.choose(circle(5), Vector::Zero(2), 5.0, 0.5);
  EXPECT_EQ(mean.ledger().entries().back().event, Event{ExponentialEvent{20.0}});
}

TEST(ExponentialMechanism, ChargesNothingForPointsAtCentre) {
  Lab lab(2, 10, [](ConstVectorRef, Index) { return 1.0; });
  const Matrix same = Matrix::Ones(2, 3);
  EXPECT_GT(fit(Vector::Constant(3, 1.0 / 3), 9000,
                [&] { return lab.mechanism.choose(same, Vector::Ones(2), 1.0, 1.0); }),
            1e-4);
  EXPECT_EQ(lab.curator.ledger().queries(), 0);
  EXPECT_TRUE(lab.records.sums.empty());
}

TEST(ExponentialMechanism, ChargesPureAccountFirstThenBoundedRange) {
  const FilterRule rule{Calibrator::cks, {}, 0.5 * 0.5 / 8, 0.7};
  Lab lab(
      2, 40, [](ConstVectorRef w, Index) { return circle_loss(w); }, rule);
  const auto choose = [&] { return lab.mechanism.choose(circle(5), Vector::Zero(2), 1.0, 0.5); };
  choose();
  EXPECT_NEAR(lab.curator.remaining().pure_share, 0.2 / 0.7, 1e-12);
  EXPECT_EQ(lab.curator.remaining().share, 1.0);
  choose();
  EXPECT_NEAR(lab.curator.remaining().share, 0.0, 1e-12);
  EXPECT_THROW(choose(), BudgetExhausted);
  ASSERT_EQ(lab.curator.ledger().entries().size(), 2U);
  EXPECT_TRUE(lab.curator.ledger().entries()[0].pure);
  EXPECT_FALSE(lab.curator.ledger().entries()[1].pure);
}

TEST(ExponentialMechanism, RefusalLeavesNoTrace) {
  const auto loss = [](ConstVectorRef w, Index) { return circle_loss(w); };
  const FilterRule rule{Calibrator::cks, {}, 0.0, 10.0};
  std::vector<std::vector<Index>> chosen;
  for (const bool refused : {false, true}) {
    Lab lab(2, 40, loss, rule);
    std::vector<Index> all;
    for (int k = 0; k < 30; ++k) {
      if (refused) {
        const auto asked = lab.records.sums.size();
        EXPECT_THROW(lab.mechanism.choose(circle(5), Vector::Zero(2), 1.0, 50), BudgetExhausted);
        EXPECT_EQ(lab.records.sums.size(), asked);
      }
      all.push_back(lab.mechanism.choose(circle(5), Vector::Zero(2), 1.0, 0.1));
    }
    chosen.push_back(all);
    EXPECT_EQ(lab.curator.ledger().queries(), 30);
  }
  EXPECT_EQ(chosen[0], chosen[1]);
}

TEST(ExponentialMechanism, TiesNoiseToPointIndex) {
  // A point that cannot win is put in front or taken away at the end: the others keep their noise.
  const auto loss = [](ConstVectorRef w, Index) { return w.norm() > 1.5 ? 1e3 : 0.0; };
  Matrix points(2, 4);
  points << circle(3), Vector::Constant(2, 2.0);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<Index> winners;
    for (const Index count : {3, 4}) {
      const PublicFacts facts = facts_of(2, 40);
      const ScoredRecords records(40, loss);
      Curator curator(facts, records, {Calibrator::cks, {}, 1e9}, {.seed = seed});
      ExponentialMechanism mechanism(curator, curator.draw(BatchPolicy::all()));
      winners.push_back(mechanism.choose(points.leftCols(count), Vector::Zero(2), 1e3, 1e4));
    }
    EXPECT_EQ(winners[0], winners[1]);
  }
}

TEST(ExponentialMechanism, RejectsInvalidArguments) {
  Lab lab(2, 10, [](ConstVectorRef, Index) { return 0.0; });
  const Vector zero = Vector::Zero(2);
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(lab.mechanism.choose(circle(3), zero, bad, 1.0), InputError);
    EXPECT_THROW(lab.mechanism.choose(circle(3), zero, 1.0, bad), InputError);
  }
  EXPECT_THROW(lab.mechanism.choose(Matrix(2, 0), zero, 1.0, 1.0), InputError);
  EXPECT_THROW(lab.mechanism.choose(Matrix::Ones(3, 2), zero, 1.0, 1.0), InputError);
  Matrix hole = circle(3);
  hole(0, 1) = std::nan("");
  EXPECT_THROW(lab.mechanism.choose(hole, zero, 1.0, 1.0), InputError);
  Vector out(2);
  EXPECT_THROW(lab.mechanism.choose(ProductGrid{zero, 1.0, 4}, 1.0, 1.0, out), InputError);
  EXPECT_THROW(Net::of(Domain{}, 2, 0.1), InputError);
  Curator child = lab.curator.child({"c", 0.1});
  EXPECT_THROW(ExponentialMechanism(lab.curator, child.draw(BatchPolicy::all())), InputError);
  EXPECT_THROW(ExponentialMechanism(lab.curator, lab.curator.draw(BatchPolicy::sample(3))),
               InputError);
}

// The printed proof takes losses to lie in [−LD, LD], which no Lipschitz constant gives
// (docs/errata.md, W5): without a centre one record could move every score by anything.
TEST(ExponentialMechanism, IgnoresConstantOffsetsOfLosses) {
  std::vector<std::vector<Index>> chosen;
  for (const double offset : {0.0, 1024.0}) {
    Lab lab(2, 40, [&](ConstVectorRef w, Index i) {
      return 0.5 * std::round(4 * circle_loss(w)) + (i == 3 ? offset : 0.0);
    });
    std::vector<Index> all;
    for (int k = 0; k < 200; ++k)
      all.push_back(lab.mechanism.choose(circle(5), Vector::Zero(2), 1.0, 1.0));
    chosen.push_back(all);
  }
  EXPECT_EQ(chosen[0], chosen[1]);
}

TEST(Gumbel, FollowsItsDistributionWithTwoWordsPerDraw) {
  Stream stream({.seed = 20});
  constexpr Index draws = 200000, cells = 40;
  const Vector law = Vector::Constant(cells, 1.0 / cells);
  EXPECT_GT(fit(law, draws,
                [&] {
                  const double u = std::exp(-std::exp(-stream.gumbel()));
                  return std::min<Index>(cells - 1, static_cast<Index>(u * cells));
                }),
            1e-4);
  EXPECT_EQ(stream.position(), 2 * draws);
  // the upper tail: P(G > 8) = 1 − exp(−e^{−8})
  double beyond = 0;
  for (Index k = 0; k < 2000000; ++k) beyond += stream.gumbel() > 8 ? 1 : 0;
  const double expected = -2e6 * std::expm1(-std::exp(-8.0));
  EXPECT_NEAR(beyond, expected, 5 * std::sqrt(expected));
}

}  // namespace
}  // namespace dpsosp::exponential_mechanism_test
