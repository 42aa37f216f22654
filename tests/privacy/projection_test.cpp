// SPDX-License-Identifier: Apache-2.0
// Curators of projected features: what they know, what they answer, and that every map is private.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::projection_test {
namespace {

constexpr Index d = 6;
constexpr Index n = 40;

Matrix normals(Index rows, Index columns, std::uint64_t seed, double deviation = 1.0) {
  Matrix m(rows, columns);
  Stream({.seed = seed}).fill_normal(deviation, m.reshaped());
  return m;
}

Matrix orthogonal(std::uint64_t seed) { return full_qr(normals(d, d, seed)).q; }

/// ‖x_i‖ ≤ 1, y_i ∈ {0, 1}.
std::shared_ptr<GlmData> data(std::uint64_t seed) {
  auto made = std::make_shared<GlmData>();
  made->features = normals(d, n, seed);
  made->features.colwise().normalize();
  made->labels.resize(n);
  for (Index i = 0; i < n; ++i) made->labels[i] = static_cast<double>(i % 2);
  return made;
}

std::unique_ptr<const AnyRecords> logistic(std::shared_ptr<const GlmData> records,
                                           double regulariser = 0) {
  return glm_records({"logistic", logistic_loss(), regulariser}, std::move(records));
}

PublicFacts facts() {
  PublicFacts f;
  f.name = "logistic";
  f.dimension = d;
  f.records = n;
  f.feature_bound = 1;
  f.domain = Domain::ball(3);
  f.initial_point = Vector::Zero(d);
  f.constants = glm_constants(*logistic_loss(), {}, d);
  f.constants.set(constant::suboptimality, {0.7, Origin::proved});
  f.constants.set(constant::quasar_convexity, {0.5, Origin::proved});
  return f;
}

ChildSpec child(Matrix map, double cap = 2) {
  ChildSpec spec{"projected", 1.0};
  spec.projection = Projection{std::move(map), cap};
  return spec;
}

Vector mean_gradient(Curator& curator, ConstVectorRef w, double limit) {
  Vector out(w.size());
  curator.gradient(Point(w), curator.draw(BatchPolicy::all()),
                   {limit, Noise::sensitivity_ratio(1.0), Block::x}, out);
  return out;
}

TEST(Projection, OrthogonalMapRotatesParameters) {
  const Matrix rotation = orthogonal(1);
  const auto records = logistic(data(2));
  const auto turned = records->projected(rotation, 2.0);
  const Vector w = normals(d, 1, 3), v = normals(d, 1, 4), u = normals(d, 1, 5);
  const Vector tw = rotation * w, tv = rotation * v, tu = rotation * u;
  const BatchView all(0, n);
  for (const double limit : {0.3, 10.0}) {
    Vector a = Vector::Zero(d), b = a;
    records->add_gradients(Point(w), Block::x, all, limit, a);
    turned->add_gradients(Point(tw), Block::x, all, limit, b);
    EXPECT_LE((rotation * a - b).norm(), 1e-12);
    a.setZero(), b.setZero();
    records->add_gradient_differences(Point(w), Point(v), Block::x, all, limit, a);
    turned->add_gradient_differences(Point(tw), Point(tv), Block::x, all, limit, b);
    EXPECT_LE((rotation * a - b).norm(), 1e-12);
    a.setZero(), b.setZero();
    records->add_hessian_products(Point(w), u, all, limit, a);
    turned->add_hessian_products(Point(tw), tu, all, limit, b);
    EXPECT_LE((rotation * a - b).norm(), 1e-12);
    double on = 0, off = 0;
    records->add_loss_differences(Point(w), Point(v), all, limit, on);
    turned->add_loss_differences(Point(tw), Point(tv), all, limit, off);
    EXPECT_NEAR(on, off, 1e-12);
  }
}

TEST(Projection, KeepsGradientsWhenNothingIsCapped) {
  const Matrix map = normals(3, d, 7, 0.3);
  const auto records = data(2);
  ASSERT_LE((map * records->features).colwise().norm().maxCoeff(), 2.0);
  const auto one = logistic(records);
  const auto two = one->projected(map, 2.0);
  const Vector w = normals(3, 1, 8);
  const Vector back = map.transpose() * w;
  Vector a = Vector::Zero(d), b = Vector::Zero(3);
  one->add_gradients(Point(back), Block::x, {0, n}, 1e9, a);
  two->add_gradients(Point(w), Block::x, {0, n}, 1e9, b);
  EXPECT_LE((map * a - b).norm(), 1e-12);
}

TEST(Projection, ProjectsAtomsOfSimulatedRecords) {
  const auto atoms = data(5);
  const GlmModel model{"logistic", logistic_loss()};
  const Matrix map = normals(4, d, 6, 3.0);
  const auto simulated = glm_atom_sums(model, atoms, {1000000, RecordSampling::whole, 9});
  const auto projected = simulated->projected(map, 1.5);
  EXPECT_EQ(projected->size(), 1000000);
  const auto counts = atom_counts(n, 9, 0, 1000000);
  const auto atom_records = logistic(atoms)->projected(map, 1.5);
  const Vector w = normals(4, 1, 8);
  Vector sum = Vector::Zero(4), expected = sum;
  projected->add_gradients(Point(w), Block::x, {0, 1000000}, 0.4, sum);
  for (Index k = 0; k < n; ++k) {
    Vector one = Vector::Zero(4);
    atom_records->add_gradients(Point(w), Block::x, {k, k + 1}, 0.4, one);
    expected += static_cast<double>(counts[static_cast<std::size_t>(k)]) * one;
  }
  EXPECT_LE((sum - expected).norm(), 1e-9 * expected.norm());
}

/// A cap is a multiple of the bound of the features, and so are the constants.
TEST(Projection, CapIsInUnitsOfTheFeatureBound) {
  PublicFacts longer = facts();
  longer.feature_bound = 2.5;
  EXPECT_EQ(projected_facts(facts(), 3, 2.0).feature_bound, 2.0);
  EXPECT_EQ(projected_facts(longer, 3, 2.0).feature_bound, 5.0);
}

// Maps that stretch a thousandfold, records far beyond their bound: a release moves by at most
// twice the limit over n, and the search comes near it; a record's own share is capped.
TEST(Projection, KeepsSensitivityBoundForEveryMap) {
  const UnsoundCurator::Departures no_noise{.no_noise = true};
  const UnsoundCurator::Departures exact{.no_noise = true, .no_clipping = true};
  const PublicFacts f = facts();
  for (const double stretch : {1e-3, 1.0, 1e3})
    for (const Index k : {1, 3, 20}) {
      const Matrix map = normals(k, d, 11, stretch);
      const double cap = 2;
      const double limit = projected_facts(f, k, cap).constants[constant::lipschitz];
      EXPECT_DOUBLE_EQ(limit, 2 * f.constants[constant::lipschitz]);
      double largest = 0, unclipped = 0;
      for (std::uint64_t trial = 0; trial < 60; ++trial) {
        const auto a = data(2);
        auto b = std::make_shared<GlmData>(*a);
        const double scale = std::pow(10.0, static_cast<double>(trial % 5) - 2.0);
        a->features.col(0) = scale * normals(d, 1, 100 + trial);
        b->features.col(0) = trial % 2 == 0 ? Vector(-a->features.col(0))
                                            : Vector(scale * normals(d, 1, 500 + trial));
        a->labels[0] = 0;
        b->labels[0] = trial % 3 == 0 ? 1 : 0;
        const Vector w = Vector::Zero(k);
        const auto released = [&](const std::shared_ptr<GlmData>& of,
                                  const UnsoundCurator::Departures& how) {
          const auto records = logistic(of);
          UnsoundCurator parent(f, *records, {.seed = 1}, how);
          Curator projected = parent.child(child(map, cap));
          return mean_gradient(projected, w, limit);
        };
        const double moved = (released(a, no_noise) - released(b, no_noise)).norm();
        EXPECT_LE(moved, 2 * limit / n * (1 + 1e-12)) << stretch << ' ' << k << ' ' << trial;
        largest = std::max(largest, moved);
        unclipped = std::max(unclipped, (released(a, exact) - released(b, exact)).norm());
        // the features are capped, so even without a clip no record contributes more
        EXPECT_LE(unclipped, 2 * limit / n * (1 + 1e-12));
      }
      EXPECT_GE(largest, stretch >= 1 ? 0.45 * 2 * limit / n : 0.0);
    }
}

TEST(Projection, SharesLedgerBudgetAndRangesWithParent) {
  const PublicFacts f = facts();
  const auto records = logistic(data(2));
  const FilterRule rule{Calibrator::cks, {}, 1.0};
  Curator parent(f, *records, rule, {.seed = 1});
  ChildSpec spec = child(normals(3, d, 1));
  spec.share = 0.5;
  spec.range = RecordRange{10, 20};
  Curator projected = parent.child(spec);
  EXPECT_EQ(projected.facts().dimension, 3);
  EXPECT_EQ(projected.facts().records, 10);
  EXPECT_EQ(projected.facts().initial_point, Vector::Zero(3));
  mean_gradient(projected, Vector::Ones(3), 1.0);
  EXPECT_THROW(mean_gradient(projected, Vector::Ones(3), 1.0), BudgetExhausted);
  ASSERT_EQ(parent.ledger().entries().size(), 1U);
  const LedgerEntry e = parent.ledger().entries().front();
  EXPECT_EQ(e.scope, "/projected/");
  EXPECT_EQ(e.charged, (RecordRange{10, 20}));
  EXPECT_DOUBLE_EQ(e.sensitivity_high, 2.0 / 10);
}

/// What records of unknown sums say of their projection is unknown, too.
class Foreign final : public UncheckedRecords {
 public:
  Index size() const override { return n; }
  ClipReport add(const Summand&, const BatchView&, double, VectorRef) const override { return {}; }
  std::unique_ptr<const AnyRecords> projected(const Matrix& map, double cap) const override {
    return logistic(data(2))->projected(map, cap);
  }
};

TEST(Projection, OfUncheckedRecordsStaysConditional) {
  const auto checked = logistic(data(2));
  Curator enforced(facts(), *checked, filter_rule({1.0, 1e-6}, Calibrator::cks), {.seed = 1});
  EXPECT_EQ(enforced.child(child(normals(3, d, 4))).label(), PrivacyLabel::enforced);
  const Foreign foreign;
  Curator conditional(facts(), foreign, filter_rule({1.0, 1e-6}, Calibrator::cks), {.seed = 1});
  EXPECT_EQ(conditional.child(child(normals(3, d, 4))).label(), PrivacyLabel::conditional);
}

TEST(Projection, ComposesWithAnotherProjection) {
  const PublicFacts f = facts();
  const auto records = logistic(data(2));
  UnsoundCurator parent(f, *records, {.seed = 1}, {.no_noise = true});
  const Matrix first = normals(4, d, 1, 0.2), second = normals(2, 4, 2, 0.2);
  Curator inner = parent.child(child(first));
  Curator twice = inner.child(child(second));
  Curator once = parent.child(child(second * first));
  const Vector w = normals(2, 1, 3);
  EXPECT_LE((mean_gradient(twice, w, 9) - mean_gradient(once, w, 9)).norm(), 1e-14);
  Curator same = inner.child({"slice", 1.0});
  const Vector v = normals(4, 1, 3);
  EXPECT_EQ(mean_gradient(inner, v, 9), mean_gradient(same, v, 9));
}

TEST(Projection, ScalesPublicFacts) {
  PublicFacts f = facts();
  const PublicFacts p = projected_facts(f, 3, 2.0);
  const Constants &a = f.constants, &b = p.constants;
  EXPECT_DOUBLE_EQ(b[constant::lipschitz], 2 * a[constant::lipschitz]);
  // lowy-2024, Lemma 8.1 prints 2βx_max (docs/errata.md, W18); β(cap·x_max)² is attained.
  EXPECT_DOUBLE_EQ(b[constant::smoothness], 4 * a[constant::smoothness]);
  EXPECT_DOUBLE_EQ(b[constant::hessian_lipschitz], 8 * a[constant::hessian_lipschitz]);
  EXPECT_EQ(b[constant::suboptimality], 0.7);
  EXPECT_EQ(b.at(constant::suboptimality).origin, Origin::estimated);
  EXPECT_EQ(p.domain.radius, 6);
  EXPECT_EQ(p.feature_bound, 2);
  f.initial_point = Vector::Unit(d, 0);
  EXPECT_DOUBLE_EQ(projected_facts(f, 3, 2.0).constants[constant::suboptimality],
                   0.7 + a[constant::lipschitz]);
}

// The smoothness of projected records reaches M·cap², so 2M·x_max would be too small.
TEST(Projection, SmoothnessGrowsWithSquareOfCap) {
  const PublicFacts f = facts();
  auto one = std::make_shared<GlmData>();
  one->features = Vector::Unit(d, 0);
  one->labels = Vector::Zero(1);
  const auto projected = logistic(one)->projected(100 * Matrix::Identity(d, d), 2.0);
  const Vector e = Vector::Unit(d, 0);
  Vector curvature = Vector::Zero(d);
  projected->add_hessian_products(Point(Vector::Zero(d)), e, {0, 1}, 1e9, curvature);
  const double M = f.constants[constant::smoothness];
  EXPECT_NEAR(curvature[0], 4 * M, 1e-12);
  EXPECT_GT(curvature[0], 1.9 * 2 * M);
}

TEST(Projection, RejectsInvalidMapsAndUnsupportedRecords) {
  const PublicFacts f = facts();
  const auto records = logistic(data(2));
  Curator parent(f, *records, {Calibrator::cks, {}, 1.0}, {.seed = 1});
  EXPECT_THROW(parent.child(child(normals(3, d + 1, 1))), InputError);
  EXPECT_THROW(parent.child(child(Matrix(0, d))), InputError);
  EXPECT_THROW(parent.child(child(normals(3, d, 1), 0.0)), InputError);
  EXPECT_THROW(parent.child(child(normals(3, d, 1) * std::nan(""))), InputError);
  EXPECT_EQ(parent.remaining().share, 1.0) << "a refused child costs nothing";
  EXPECT_THROW(logistic(data(2), 0.1)->projected(normals(3, d, 1), 2.0), InputError);
  const Problem other =
      find_problem("double-well")->make({.records = 10, .dimension = 4, .seed = 1});
  EXPECT_EQ(other.facts.feature_bound, 0.0);
  EXPECT_THROW(projected_facts(other.facts, 2, 2.0), InputError);
  EXPECT_THROW(other.records->projected(normals(2, 4, 1), 2.0), InputError);
}

// ε for pure mechanisms in place of (ε, δ): for records that answer nothing else.
TEST(PureChild, TakesWholeBudgetOfItsRecordsOrNone) {
  const PublicFacts f = facts();
  const auto records = logistic(data(2));
  Curator parent(f, *records, filter_rule({1.5, 1e-6}, Calibrator::cks), {.seed = 1});
  ChildSpec spec{"pure", 1.0, RecordRange{0, 20}};
  spec.pure = true;
  Curator pure = parent.child(spec);
  EXPECT_DOUBLE_EQ(pure.remaining().pure_share, 1.0);
  EXPECT_THROW(mean_gradient(pure, Vector::Ones(d), 1.0), BudgetExhausted);
  EXPECT_THROW(parent.child({"again", 1e-6, RecordRange{19, 21}}), BudgetExhausted);
  EXPECT_NO_THROW(parent.child({"other", 0.5, RecordRange{20, 40}}));
  spec.range = RecordRange{20, 40};
  EXPECT_THROW(parent.child(spec), BudgetExhausted) << "half of it is reserved";
  spec.share = 0.5;
  EXPECT_THROW(parent.child(spec), InputError);

  // a slice of a budget does not know what it is worth by itself
  Curator fresh(f, *records, filter_rule({1.5, 1e-6}, Calibrator::cks), {.seed = 1});
  Curator half = fresh.child({"half", 0.5});
  spec = {"pure", 1.0};
  spec.pure = true;
  Curator nothing = half.child(spec);
  EXPECT_EQ(nothing.remaining().pure_share, 0.0);
}

TEST(Projection, GlmFamiliesStateFeatureBound) {
  const InstanceSpec spec{.records = 20, .dimension = 6, .seed = 1};
  for (const std::string name : {"glm-sigmoid", "glm-welsch", "glm-tukey"})
    EXPECT_EQ(find_problem(name)->make(spec).facts.feature_bound, 1.0) << name;
  const auto regularised = find_problem("glm-logistic");
  EXPECT_EQ(regularised->make(spec).facts.feature_bound, 0.0);
  Fields fields = regularised->fields();
  set_field(fields, "glm-logistic", "regulariser", "0");
  EXPECT_EQ(regularised->make(spec).facts.feature_bound, 1.0);
}

}  // namespace
}  // namespace dpsosp::projection_test
