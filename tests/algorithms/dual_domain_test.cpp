// SPDX-License-Identifier: Apache-2.0
// Minimax methods whose dual ranges over a convex set: they are compared, without noise, with
// bodies that share no code with them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/baselines/gradient_descent_ascent.hpp"
#include "dpsosp/baselines/private_diff.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/group_dro.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"
#include "runs.hpp"

namespace dpsosp::dual_domain_test {
namespace {

using test::Ran;
using xu_2026::DpRgda;
using xu_2026::DpRgdaParameters;
using xu_2026::RefreshRule;
using xu_2026::Selection;
using xu_2026::Streams;

constexpr double mu = 0.4;
const Matrix centres{{1.5, -0.5, 0.2}, {0.3, 1.0, -1.2}};

/// f(x, y) = Σ_g y_g |x − c_g|²/2 − (μ/2)‖y‖² on the simplex of R³.
Vector grad_x(const Vector& x, const Vector& y) { return y.sum() * x - centres * y; }
Vector grad_y(const Vector& x, const Vector& y) {
  return 0.5 * (centres.colwise() - x).colwise().squaredNorm().transpose() - mu * y;
}

/// The projection onto the simplex, by leaving out the least entry until none is negative.
Vector onto_simplex(const Vector& point) {
  std::vector<bool> kept(static_cast<std::size_t>(point.size()), true);
  while (true) {
    double sum = 0, count = 0;
    for (Index j = 0; j < point.size(); ++j)
      if (kept[static_cast<std::size_t>(j)]) {
        sum += point[j];
        ++count;
      }
    Vector y = Vector::Zero(point.size());
    Index least = -1;
    for (Index j = 0; j < point.size(); ++j) {
      if (!kept[static_cast<std::size_t>(j)]) continue;
      y[j] = point[j] - (sum - 1) / count;
      if (y[j] < 0 && (least < 0 || y[j] < y[least])) least = j;
    }
    if (least < 0) return y;
    kept[static_cast<std::size_t>(least)] = false;
  }
}

/// Every record has the loss f, so that every batch answers alike.
class EqualRecords final : public test::WrittenRecords {
 public:
  using WrittenRecords::WrittenRecords;

 private:
  Vector of(Index, const Summand& s) const override {
    const Vector g = gradient(s.point, s.block);
    return s.previous ? Vector(g - gradient(*s.previous, s.block)) : g;
  }
  static Vector gradient(const Point& point, Block block) {
    const Vector x = point.x, y = point.y;
    if (block == Block::x) return grad_x(x, y);
    if (block == Block::y) return grad_y(x, y);
    Vector both(5);
    both << grad_x(x, y), grad_y(x, y);
    return both;
  }
};

PublicFacts facts(Index records) {
  PublicFacts f;
  f.name = "three-centres";
  f.dimension = 2;
  f.dual_dimension = 3;
  f.records = records;
  f.dual_kind = DualKind::shared;
  f.dual_domain = Domain::simplex();
  f.initial_point = Vector{{2.0, 2.0}};
  f.initial_dual = Vector{{0.2, 0.5, 0.3}};
  return f;
}

struct Body {
  std::vector<Vector> x;          // x_0, x_1, …
  bool by_slope_differs = false;  // some step would select another k by ‖u_k‖ than by ‖G_k‖
};

/// Algorithm 3 with exact estimates, x moving by −η v.
Body projected_descent_ascent(Selection selection, Index K, Index steps, double eta, double step) {
  Body body{{facts(1).initial_point}};
  Vector y = facts(1).initial_dual, y_at = y;
  for (Index t = 0; t < steps; ++t) {
    const Vector x = body.x.back();
    std::vector<Vector> ys{y};
    std::vector<double> mapping, slope;
    for (Index k = 0; k <= K; ++k) {
      const Vector u = grad_y(x, ys.back());
      const Vector next = onto_simplex(ys.back() + step * u);
      mapping.push_back((ys.back() - next).norm() / step);
      slope.push_back(u.norm());
      ys.push_back(next);
    }
    const auto pick = [&](Index first, Index last) {
      const auto least = [&](const std::vector<double>& sizes) {
        return std::ranges::min_element(sizes.begin() + first, sizes.begin() + last + 1) -
               sizes.begin();
      };
      body.by_slope_differs = body.by_slope_differs || least(mapping) != least(slope);
      return static_cast<std::size_t>(least(mapping));
    };
    switch (selection) {
      case Selection::argmin_from_start:
        y = y_at = ys[pick(0, K - 1)];
        break;
      case Selection::argmin_after_start:
        y = y_at = ys[pick(1, K - 1)];
        break;
      case Selection::argmin_of_proof:
        y = y_at = ys[pick(1, K)];
        break;
      case Selection::last:
        y = y_at = ys[static_cast<std::size_t>(K)];
        break;
      case Selection::ascended:
        y = ys[static_cast<std::size_t>(K)];
        y_at = ys[static_cast<std::size_t>(K - 1)];
        break;
    }
    body.x.emplace_back(x - eta * grad_x(x, y_at));
  }
  return body;
}

constexpr std::array selections{Selection::argmin_from_start, Selection::argmin_after_start,
                                Selection::argmin_of_proof, Selection::last, Selection::ascended};

DpRgda without_escapes(Selection selection) {
  DpRgda algorithm;
  DpRgdaParameters& p = algorithm.parameters;
  p.steps = 30;
  p.alpha = 1e-300;
  p.descent_rule = xu_2026::DescentRule::plain;
  p.descent_step = 0.15;
  p.ascent_step = 1.5;
  p.inner_steps = 4;
  p.period = 7;
  p.dual_release = xu_2026::DualRelease::released;
  p.refresh_rule = RefreshRule::repaired;
  p.selection = selection;
  return algorithm;
}

TEST(DualDomain, DpRgdaWithoutNoiseIsProjectedDescentAscent) {
  for (const Selection selection : selections)
    for (const Streams streams : {Streams::joint, Streams::separate})
      for (const Sampling sampling : {Sampling::all, Sampling::fresh}) {
        DpRgda algorithm = without_escapes(selection);
        DpRgdaParameters& p = algorithm.parameters;
        p.streams = streams;
        p.oracle.sampling = sampling;
        p.oracle.refresh_batch = 3;
        p.oracle.increment_batch = 2;
        const EqualRecords records(1000);
        const Ran ran = test::run_unsound(algorithm, facts(records.size()), records, test::exact);
        const Body body = projected_descent_ascent(selection, p.inner_steps, p.steps,
                                                   p.descent_step, p.ascent_step);
        ASSERT_EQ(ran.iterates.size(), 30);
        for (std::size_t t = 0; t < 30; ++t)
          ASSERT_LT((ran.iterates[t] - body.x[t]).norm(), 1e-12)
              << "step " << t << ", selection " << static_cast<int>(selection);
      }
}

TEST(DualDomain, SelectionByGradientMappingIsNotThatBySlope) {
  // what makes the test above see which of both selects
  for (const Selection selection :
       {Selection::argmin_from_start, Selection::argmin_after_start, Selection::argmin_of_proof})
    EXPECT_TRUE(projected_descent_ascent(selection, 4, 30, 0.15, 1.5).by_slope_differs);
}

TEST(DualDomain, GradientDescentAscentProjectsItsDual) {
  baselines::GradientDescentAscent algorithm;
  algorithm.parameters = {.steps = 40, .step_size = 0.15, .ascent_step = 0.6, .local_dual = false};
  const EqualRecords records(1);
  const Ran ran = test::run_unsound(algorithm, facts(1), records, test::exact);
  Vector x = facts(1).initial_point, y = facts(1).initial_dual;
  for (const Vector& seen : ran.iterates) {
    ASSERT_LT((seen - x).norm(), 1e-12);
    const Vector g = grad_x(x, y), u = grad_y(x, y);
    x -= 0.15 * g;
    y = onto_simplex(y + 0.6 * u);
  }
}

TEST(DualDomain, PrivateDiffProjectsEveryAscent) {
  baselines::PrivateDiff algorithm;
  baselines::PrivateDiffParameters& p = algorithm.parameters;
  p.steps = 40;
  p.period = 6;
  p.step_size = 0.15;
  p.ascent = baselines::AscentRule::queried;
  p.ascent_steps = 2;
  p.ascent_step = 0.6;
  const EqualRecords records(1);
  const Ran ran = test::run_unsound(algorithm, facts(1), records, test::exact);
  Vector x = facts(1).initial_point, y = facts(1).initial_dual;
  for (const Vector& seen : ran.iterates) {
    ASSERT_LT((seen - x).norm(), 1e-12);
    for (int k = 0; k < 2; ++k) y = onto_simplex(y + 0.6 * grad_y(x, y));
    x -= 0.15 * grad_x(x, y);
  }
}

/// On the problems that state a dual domain: a method asks at duals of it alone, or it is refused
/// in a line that names it.
TEST(DualDomain, EveryMethodStaysInDomainOrIsRefusedByName) {
  GroupDro family;
  family.dual = GroupDual::simplex;
  family.strong_concavity = 0.05;
  const std::vector<Problem> problems = [&] {
    std::vector<Problem> all;
    all.push_back(family.make({.records = 500, .dimension = 4, .seed = 1, .data_seed = 1}));
    all.push_back(find_problem("auc")->make({.records = 500, .seed = 1, .data_seed = 1}));
    return all;
  }();
  int ran = 0;
  for (const Problem& problem : problems)
    for (const auto& entry : algorithm_registry()) {
      const auto algorithm = entry.create();
      const test::SpyRecords spy(*problem.records);
      try {
        const Scheduled s =
            algorithm->schedule(Schedule::practical, problem.facts, {2, 1e-6}, Calibrator::cks);
        algorithm->check(problem.facts);
        for (const Field& f : algorithm->fields())
          if (f.name == "steps" && std::stoll(f.get()) > 50) f.set("50");
        if (algorithm->card().is_private())
          test::run_enforced(*algorithm, problem.facts, spy, s.rule);
        else
          test::run_unsound(*algorithm, problem.facts, spy, test::exact);
      } catch (const InputError& refusal) {
        EXPECT_FALSE(algorithm->card().needs_dual) << refusal.what();
        EXPECT_NE(std::string(refusal.what()).find(entry.key), std::string::npos) << refusal.what();
        continue;
      }
      ++ran;
      EXPECT_TRUE(algorithm->card().needs_dual) << entry.key;
      for (const test::Asked& a : spy.asked)
        ASSERT_TRUE(problem.facts.dual_domain.contains(a.y))
            << entry.key << " on " << problem.facts.name << " at y = " << a.y.transpose();
    }
  EXPECT_EQ(ran, 8);  // four methods on both
}

}  // namespace
}  // namespace dpsosp::dual_domain_test
