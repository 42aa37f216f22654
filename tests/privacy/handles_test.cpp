// SPDX-License-Identifier: Apache-2.0
// Several curators of one run: labels, exchanges, handles that change places, and who watches.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../core/stream_words.hpp"
#include "dpsosp/privacy/audited_curator.hpp"
#include "dpsosp/privacy/release_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "every_query.hpp"

namespace dpsosp::handles_test {
namespace {

constexpr Index n = 12;

using namespace testing;

// --- one label for a run

TEST(Label, IsConditionalForAllCuratorsOfARunThatRestsOnAnAssumption) {
  const Problem problem = find_problem("cosine-saddle")->make({.records = n, .dimension = d});
  const PublicFacts facts = sine_facts(d, n);
  for (const AnyQuery& query : every_query())
    for (std::size_t asked = 0; asked < 4; ++asked) {
      Curator root(facts, *problem.records, wide_rule(), {.seed = 1});
      Curator child = root.child({.name = "child", .share = 0.4});
      Curator grandchild = child.child({.name = "grandchild", .share = 0.5});
      Curator sibling = root.child({.name = "sibling", .share = 0.4, .range = RecordRange{0, 6}});
      const std::array<Curator*, 4> all{&root, &child, &grandchild, &sibling};
      for (Curator* each : all) EXPECT_EQ(each->label(), PrivacyLabel::enforced);
      query.ask(*all[asked], BatchPolicy::all());
      const PrivacyLabel expected = query.name == "gibbs draw by stochastic steps"
                                        ? PrivacyLabel::conditional
                                        : PrivacyLabel::enforced;
      for (Curator* each : all) EXPECT_EQ(each->label(), expected) << query.name;
      EXPECT_EQ(grandchild.child({.name = "later", .share = 0.5}).label(), expected);
    }
}

// --- a part is exchanged for nothing beyond the budget

/// Asks until every question is refused.
void spend(Curator& curator) {
  const Vector x = Vector::Ones(d);
  Vector out(d);
  for (const double size : {3.0, 1.0, 0.5, 0.25, 0.1, 0.03, 0.01}) {
    const auto until_refused = [&](const auto& ask) {
      try {
        for (int k = 0; k < 200; ++k) ask();
        ADD_FAILURE() << "200 questions of size " << size << " are granted";
      } catch (const BudgetExhausted&) {
      }
    };
    until_refused([&] {
      ExponentialMechanism(curator, curator.draw(BatchPolicy::all()))
          .choose_l1_vertex(1.0, x, 1.0, size);
    });
    until_refused([&] {
      curator.gradient(Point(x), curator.draw(BatchPolicy::all()),
                       {1.0, Noise::sensitivity_ratio(1 / size)}, out);
    });
    until_refused([&] {
      GibbsSampler(curator, curator.draw(BatchPolicy::all()),
                   {.inverse_temperature = size * static_cast<double>(n) / 4,
                    .regularizer = 1.0,
                    .lipschitz = 1.0,
                    .domain = Domain::ball(1.0),
                    .method = GibbsMethod::stochastic,
                    .step = 0.1,
                    .rounds = 1,
                    .sampling_error = 1e-8})
          .sample(out);
    });
  }
}

TEST(Exchange, OfAnyPartStaysWithinTheBudget) {
  constexpr PrivacyBudget budget{1.5, 1e-6};
  int exchanged = 0;
  for (const double pure_epsilon : {0.0, 0.5})
    for (const double delta_extra : {0.0, 2e-7})
      for (const double share : {0.0, 0.5, 1.0})
        for (const double pure_share : {0.0, 0.5, 1.0})
          for (const double delta_share : {0.0, 0.5, 1.0})
            for (const bool again : {false, true}) {
              if (share == 0 && pure_share == 0) continue;  // refused
              SineHouse house(n,
                              filter_rule(budget, Calibrator::cks, {}, pure_epsilon, delta_extra));
              Curator child = house.curator.child({.name = "part",
                                                   .share = share,
                                                   .pure_share = pure_share,
                                                   .delta_extra_share = delta_share});
              std::optional<Curator> whole, pure;
              Curator* parent = &child;
              if (again) parent = &whole.emplace(child.child({.name = "all of it"}));
              try {
                pure.emplace(parent->child({.name = "exchanged", .pure = true}));
                ++exchanged;
                spend(*pure);
              } catch (const InputError&) {  // nothing to exchange
              }
              spend(child);
              if (whole) spend(*whole);
              spend(house.curator);
              EXPECT_LE(house.curator.ledger().spent(budget.delta).epsilon,
                        budget.epsilon * (1 + 1e-9))
                  << pure_epsilon << ' ' << delta_extra << ' ' << share << ' ' << pure_share << ' '
                  << delta_share;
            }
  EXPECT_GT(exchanged, 0);
}

// --- a handle of one curator in the place of another's

static_assert(!std::is_copy_constructible_v<Curator> && !std::is_move_assignable_v<Curator>);
static_assert(!std::is_copy_assignable_v<TreeStream> && !std::is_move_assignable_v<TreeStream>);
static_assert(!std::is_copy_assignable_v<LineSearch> && !std::is_move_assignable_v<LineSearch>);
static_assert(!std::is_copy_assignable_v<StationarityTest> &&
              !std::is_move_assignable_v<StationarityTest>);
static_assert(!std::is_copy_assignable_v<ExponentialMechanism> &&
              !std::is_copy_assignable_v<GibbsSampler>);

/// Two curators of disjoint records, and a budget for two questions each.
struct TwoHouses {
  SineHouse house{n, [] {
                    FilterRule rule = zcdp_rule(4.0);
                    rule.delta_extra = 1e-3;
                    return rule;
                  }()};
  Curator first = house.curator.child({.name = "first", .share = 1.0, .range = RecordRange{0, 6}});
  Curator second =
      house.curator.child({.name = "second", .share = 1.0, .range = RecordRange{6, 12}});

  /// Asks until it is refused; then nobody has paid more than the budget, and all who were read
  /// have paid.
  template <class Ask>
  void expect_paid(const char* what, const Ask& ask) {
    int granted = 0;
    try {
      for (; granted < 1000; ++granted) ask();
      ADD_FAILURE() << what << ": 1000 questions are granted";
    } catch (const BudgetExhausted&) {
      EXPECT_GT(granted, 0) << what;
    } catch (const InputError&) {  // another curator's
    }
    const Ledger ledger = house.curator.ledger();
    std::array<double, n> spent{};
    for (const LedgerEntry& e : ledger.entries())
      for (Index i = e.charged.begin; i < e.charged.end; ++i)
        spent.at(static_cast<std::size_t>(i)) +=
            zcdp_rule(1).charge(*e.event) * static_cast<double>(e.count);
    for (const double rho : spent) EXPECT_LE(rho, 4.0 * (1 + 1e-9)) << what;
    const std::set<Index> charged = charged_by(ledger);
    EXPECT_TRUE(std::ranges::includes(charged, house.records.read)) << what;
    // What a curator's filter says is gone is what its records have paid.
    EXPECT_NEAR(4.0 * spent_share(first), *std::max_element(spent.begin(), spent.begin() + 6), 1e-9)
        << what;
    EXPECT_NEAR(4.0 * spent_share(second), *std::max_element(spent.begin() + 6, spent.end()), 1e-9)
        << what;
  }
};

TEST(Handles, OfAHessianStreamKeepTheirCurator) {
  const Vector x{{0.7, -0.4, 1.1}}, v = Vector::Ones(d);
  for (const HessianMode mode : {HessianMode::lazy, HessianMode::dense})
    for (const bool moved : {false, true})
      for (const bool used : {false, true}) {
        TwoHouses both;
        HessianStream of_first(both.first, mode), of_second(both.second, mode);
        of_first.refresh(Point(x), both.first.draw(BatchPolicy::all()), 1.0);
        if (used) of_second.refresh(Point(x), both.second.draw(BatchPolicy::all()), 1.0);
        both.house.records.read.clear();
        if (moved)
          of_second = std::move(of_first);
        else
          of_second = of_first;
        Vector out(d);
        both.expect_paid("hessian stream", [&] { of_second.product(v, 0.5, out); });
      }
}

TEST(Handles, OfMechanismsKeepTheirCurator) {
  const Vector x = Vector::Ones(d);
  Vector out(d);
  {
    TwoHouses both;
    ExponentialMechanism one(both.first, both.first.draw(BatchPolicy::all()));
    ExponentialMechanism other(both.second, both.second.draw(BatchPolicy::all()));
    other = std::move(one);
    both.expect_paid("exponential mechanism", [&] { other.choose_l1_vertex(1.0, x, 1.0, 2.0); });
  }
  {
    TwoHouses both;
    const GibbsSpec spec{.inverse_temperature = 1.0,
                         .regularizer = 1.0,
                         .lipschitz = 1.0,
                         .domain = Domain::ball(1.0)};
    GibbsSampler one(both.first, both.first.draw(BatchPolicy::all()), spec);
    GibbsSampler other(both.second, both.second.draw(BatchPolicy::all()), spec);
    other = std::move(one);
    both.expect_paid("gibbs sampler", [&] { other.sample(out); });
  }
  {
    TwoHouses both;
    Batch batch = both.second.draw(BatchPolicy::all());
    batch = both.first.draw(BatchPolicy::all());
    both.expect_paid("batch", [&] {
      both.second.gradient(Point(x), batch, {1.0, Noise::sensitivity_ratio(1.0)}, out);
    });
  }
}

/// Whatever is drawn, or comes into the place of the caller's handle, before they are asked.
TEST(Handles, OfMechanismsKeepTheirBatch) {
  const Vector x = Vector::Ones(d);
  Vector out(d);
  const SelectionForm form = SelectionForm::scalar;
  using Ask = std::function<void()>;
  using Open = std::function<Ask(Curator&, const Batch&)>;
  const std::vector<std::pair<std::string, Open>> all{
      {"exponential mechanism",
       [&](Curator& c, const Batch& batch) -> Ask {
         auto m = std::make_shared<ExponentialMechanism>(c, batch);
         return [m, &x] { m->choose_l1_vertex(1.0, x, 1.0, 0.1); };
       }},
      {"gibbs sampler",
       [&](Curator& c, const Batch& batch) -> Ask {
         auto m = std::make_shared<GibbsSampler>(c, batch,
                                                 GibbsSpec{.inverse_temperature = 0.1,
                                                           .regularizer = 1.0,
                                                           .lipschitz = 1.0,
                                                           .domain = Domain::ball(1.0)});
         return [m, &out] { m->sample(out); };
       }},
      {"line search",
       [&](Curator& c, const Batch& batch) -> Ask {
         auto m = std::make_shared<LineSearch>(
             c, batch, x, LineSearchSpec{.epsilon = 0.1, .loss_limit = 1.0, .reach = 2.0});
         return [m, &x] { m->decreases(2 * x, 0.1); };
       }},
      {"stationarity test",
       [&](Curator& c, const Batch& batch) -> Ask {
         auto m = std::make_shared<StationarityTest>(c, batch,
                                                     StationaritySpec{.epsilon = 0.1,
                                                                      .gradient_scale = 1.0,
                                                                      .curvature_scale = 1.0,
                                                                      .gradient_limit = 1.0,
                                                                      .hessian_limit = 1.0,
                                                                      .form = form});
         return [m, &x] { m->accepts(x); };
       }},
      {"hessian stream", [&](Curator& c, const Batch& batch) -> Ask {
         auto m = std::make_shared<HessianStream>(c);
         m->refresh(Point(x), batch, 1.0);
         return [m, &x, &out] { m->product(x, 1.0, out); };
       }}};
  for (const auto& [name, open] : all)
    for (const bool in_its_place : {false, true}) {
      SineHouse house(n, wide_rule(1e6));
      Batch batch = house.curator.draw(BatchPolicy::fresh(3));
      const Ask ask = open(house.curator, batch);
      Batch later = house.curator.draw(BatchPolicy::fresh(5));
      if (in_its_place)
        batch = later;
      else
        batch = Batch{};
      house.curator.draw(BatchPolicy::fresh(2));
      house.records.read.clear();
      ask();
      EXPECT_EQ(house.records.read, (std::set<Index>{0, 1, 2})) << name;
      EXPECT_EQ(charged_by(house.curator.ledger()), (std::set<Index>{0, 1, 2})) << name;
    }
}

// --- a curator that nobody watches answers as one that is watched

class Silent final : public Auditor {
 public:
  void charged(const LedgerEntry&) override {}
  void answer(const AuditedAnswer&, VectorRef) override {}
  void noisy(VectorRef) override {}
};

/// Every query twice, in the root and in a child.
std::vector<Vector> released_by(Curator& curator, bool exact) {
  Curator child = curator.child({.name = "half", .share = 0.5});
  std::vector<Vector> all;
  for (int k = 0; k < 2; ++k)
    for (const AnyQuery& query : every_query())
      for (Curator* asked : {&curator, &child}) {
        if (exact && !query.exact) continue;
        all.push_back(query.ask(*asked, BatchPolicy::all()));
        if (query.secret && !exact) {
          all.push_back(query.ask(*asked, BatchPolicy::sample(4)));
          all.push_back(query.ask(*asked, BatchPolicy::poisson(0.4)));
        }
      }
  return all;
}

TEST(AuditedCurator, ReleasesBitsOfPlainCuratorInEveryQuery) {
  const SineRecords records(d, n);
  const PublicFacts facts = sine_facts(d, n);
  const StreamKey key{.seed = 5};
  Silent auditor;
  ClipLog log, other_log;
  AuditedCurator audited(facts, records, wide_rule(), key, auditor, log);
  Curator plain(facts, records, wide_rule(), key);
  Curator logged(facts, records, wide_rule(), key, &other_log);
  const std::vector<Vector> expected = released_by(audited, false);
  EXPECT_GT(expected.size(), 80U);
  for (Curator* each : {&plain, &logged}) {
    const std::vector<Vector> released = released_by(*each, false);
    ASSERT_EQ(released.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_TRUE(same_bits(released[k], expected[k])) << "release " << k;
    EXPECT_EQ(each->ledger().queries(), audited.ledger().queries());
    EXPECT_EQ(each->remaining().share, audited.remaining().share);
  }
}

TEST(AuditedCurator, ReleasesBitsOfReleaseCuratorInEveryQuery) {
  const SineRecords records(d, n);
  const PublicFacts facts = sine_facts(d, n);
  const StreamKey key{.seed = 5};
  Silent auditor;
  ClipLog log;
  AuditedCurator audited(facts, records, wide_rule(), key, auditor, log,
                         std::make_unique<StreamWords>(3));
  ReleaseCurator plain(facts, records, wide_rule(), key, std::make_unique<StreamWords>(3));
  const std::vector<Vector> expected = released_by(audited, true);
  const std::vector<Vector> released = released_by(plain, true);
  ASSERT_EQ(released.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_TRUE(same_bits(released[k], expected[k])) << "release " << k;
}

}  // namespace
}  // namespace dpsosp::handles_test
