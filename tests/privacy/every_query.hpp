// SPDX-License-Identifier: Apache-2.0
// Every kind of query, once, on records that answer all of them and note what is read.
#pragma once

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"
#include "dpsosp/privacy/line_search.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/privacy/tree_stream.hpp"
#include "support.hpp"

namespace dpsosp::testing {

/// f_i(x) = Σ_j sin(x_j + φ_ij): separable, with gradients, Hessians and their differences.
class SineRecords final : public test::WrittenRecords {
 public:
  SineRecords(Index dimension, Index records, std::uint64_t seed = 7)
      : WrittenRecords(records), phases_(dimension, records) {
    Stream stream({.seed = seed});
    for (Index i = 0; i < records; ++i)
      for (Index j = 0; j < dimension; ++j) phases_(j, i) = 6.0 * stream.uniform();
  }

  bool separable() const override { return true; }
  bool has_second_order() const override { return true; }

  mutable std::set<Index> read;  ///< every record that was looked at
  bool throws = false;           ///< every sum fails at its first record

 private:
  Vector of(Index i, const Summand& s) const override {
    read.insert(i);
    if (throws) throw InputError("records: cannot answer");
    const auto loss = [&](const Point& p) { return (p.x + phases_.col(i)).array().sin().sum(); };
    switch (s.kind) {
      case Summand::Kind::gradient: {
        const auto at = [&](const Point& p) -> Vector {
          return (p.x + phases_.col(i)).array().cos().matrix();
        };
        return s.previous ? Vector(at(s.point) - at(*s.previous)) : at(s.point);
      }
      case Summand::Kind::loss:
        return Vector::Constant(1, loss(s.point) - loss(*s.previous));
      case Summand::Kind::coordinate_loss: {
        const double phase = phases_(s.coordinate, i);
        return (s.v.array() + phase).sin() - std::sin(s.centre + phase);
      }
      case Summand::Kind::hessian_product:
        break;
    }
    return hessian(i, s).cwiseProduct(s.v);
  }
  double bound(Index i, const Summand& s) const override {
    return hessian(i, s).cwiseAbs().maxCoeff();
  }
  Vector hessian(Index i, const Summand& s) const {  // its diagonal
    const auto at = [&](const Point& p) -> Vector {
      return -(p.x + phases_.col(i)).array().sin().matrix();
    };
    return s.previous ? Vector(at(s.point) - at(*s.previous)) : at(s.point);
  }

  Matrix phases_;
};

inline PublicFacts sine_facts(Index dimension, Index records) {
  PublicFacts facts;
  facts.name = "sines";
  facts.dimension = dimension;
  facts.records = records;
  facts.initial_point = Vector::Zero(dimension);
  return facts;
}

struct SineHouse : HouseOf<SineRecords> {
  explicit SineHouse(Index n, FilterRule rule = zcdp_rule(1e3), StreamKey key = {.seed = 1})
      : HouseOf(sine_facts(d, n), SineRecords(d, n), rule, key) {}
};

/// One query at two fixed points.
struct AnyQuery {
  std::string name;
  std::function<Vector(Curator&, const BatchPolicy&)> ask;  ///< what is released, as numbers
  std::int64_t listed = 1;                                  ///< queries in the ledger
  bool secret = false;                                      ///< takes batches of secret membership
  bool exact = false;                                       ///< a release answers it
  bool ahead = false;                                       ///< reads before it is charged
};

inline Vector entries_of(const Matrix& m) { return Eigen::Map<const Vector>(m.data(), m.size()); }

/// Every kind of query, where records are read and noise is drawn.
inline const std::vector<AnyQuery>& every_query() {
  static const Vector x{{0.7, -0.4, 1.1}}, before{{0.2, 0.5, -0.3}}, v{{1.0, -2.0, 0.5}};
  static const Noise noise = Noise::sensitivity_ratio(1.0);
  const auto gradient = [](Curator& c, const BatchPolicy& policy) {
    Vector out(d);
    c.gradient(Point(x), c.draw(policy), {1.0, noise}, out);
    return out;
  };
  const auto difference = [](Curator& c, const BatchPolicy& policy) {
    Vector out(d);
    c.gradient_difference(Point(x), Point(before), c.draw(policy), {1.0, noise}, out);
    return out;
  };
  const auto combination = [](Curator& c, const BatchPolicy& policy) {
    Vector out(d);
    c.gradient_combination(0.3, Point(x), Point(before), c.draw(policy), {1.0, 0.5, noise}, out);
    return out;
  };
  const auto hessian = [](Curator& c, const BatchPolicy& policy) {
    Matrix out(d, d);
    c.hessian(Point(x), c.draw(policy), {.limit = 1.0, .noise = noise}, out);
    return entries_of(out);
  };
  const auto product = [](Curator& c, const BatchPolicy& policy) {
    Vector out(d);
    c.hessian_product(Point(x), v, c.draw(policy), {1.0, noise}, out);
    return out;
  };
  const auto tree = [](bool of_differences) {
    return [of_differences](Curator& c, const BatchPolicy& policy) {
      TreeStream stream(c, 0.5, 4);
      Vector out(d);
      if (of_differences)
        stream.push_difference(Point(x), Point(before), c.draw(policy), {.limit = 1.0}, out);
      else
        stream.push_gradient(Point(x), c.draw(policy), {.limit = 1.0}, out);
      return out;
    };
  };
  const auto stream = [](HessianMode mode, bool of_two) {
    return [mode, of_two](Curator& c, const BatchPolicy& policy) {
      HessianStream estimate(c, mode);
      const Batch batch = c.draw(policy);
      estimate.refresh(Point(x), batch, 1.0);
      if (of_two) estimate.add(Point(before), Point(x), batch, 0.5);
      Vector out(d);
      estimate.product(v, 1.0, out);
      return out;
    };
  };
  const auto line_search = [](Curator& c, const BatchPolicy& policy) {
    LineSearch search(c, c.draw(policy), x, {.epsilon = 0.1, .loss_limit = 1.0, .reach = 2.0});
    return Vector(Vector::Constant(1, search.decreases(before, 0.1) ? 1.0 : 0.0));
  };
  const auto stationarity = [](SelectionForm form) {
    return [form](Curator& c, const BatchPolicy& policy) {
      StationarityTest test(c, c.draw(policy),
                            {.epsilon = 0.1,
                             .gradient_scale = 1.0,
                             .curvature_scale = 1.0,
                             .gradient_limit = 1.0,
                             .hessian_limit = 1.0,
                             .form = form});
      return Vector(Vector::Constant(1, test.accepts(x) ? 1.0 : 0.0));
    };
  };
  const auto of_list = [](Curator& c, const BatchPolicy& policy) {
    const Matrix points = Matrix::Identity(d, d);
    ExponentialMechanism mechanism(c, c.draw(policy));
    const Index k = mechanism.choose(points, before, 1.0, 0.5);
    return Vector(Vector::Constant(1, static_cast<double>(k)));
  };
  const auto of_net = [](Curator& c, const BatchPolicy& policy) {
    Vector out(d);
    ExponentialMechanism(c, c.draw(policy))
        .choose(Net::box(Vector::Zero(d), 1.0, 0.9), 1.0, 0.5, out);
    return out;
  };
  const auto of_grid = [](Curator& c, const BatchPolicy& policy) {
    Vector out(d);
    ExponentialMechanism(c, c.draw(policy))
        .choose(ProductGrid{Vector::Zero(d), 1.0, 4}, 1.0, 0.5, out);
    return out;
  };
  const auto of_vertices = [](Curator& c, const BatchPolicy& policy) {
    const Matrix vertices = Matrix::Identity(d, d);
    ExponentialMechanism mechanism(c, c.draw(policy));
    const Index k = mechanism.choose_vertex(vertices, x, 1.0, 0.5);
    return Vector(Vector::Constant(1, static_cast<double>(k)));
  };
  const auto of_l1_ball = [](Curator& c, const BatchPolicy& policy) {
    ExponentialMechanism mechanism(c, c.draw(policy));
    const Index k = mechanism.choose_l1_vertex(1.0, x, 1.0, 0.5);
    return Vector(Vector::Constant(1, static_cast<double>(k)));
  };
  const auto gibbs = [](GibbsMethod method) {
    return [method](Curator& c, const BatchPolicy& policy) {
      GibbsSpec spec{.inverse_temperature = 0.5,
                     .regularizer = 1.0,
                     .lipschitz = 1.0,
                     .domain = Domain::ball(1.0),
                     .method = method};
      if (method != GibbsMethod::rejection) {
        spec.step = 1.0;
        spec.rounds = 200;
        spec.sampling_error = 1e-9;
      }
      Vector out(d);
      GibbsSampler(c, c.draw(policy), spec).sample(out);
      return out;
    };
  };
  static const std::vector<AnyQuery> all{
      {.name = "gradient", .ask = gradient, .secret = true, .exact = true},
      {.name = "gradient difference", .ask = difference, .secret = true, .exact = true},
      {.name = "gradient combination", .ask = combination, .secret = true, .exact = true},
      {.name = "hessian", .ask = hessian, .secret = true, .exact = true},
      {.name = "hessian product", .ask = product, .secret = true, .exact = true},
      {.name = "tree of gradients", .ask = tree(false), .exact = true},
      {.name = "tree of differences", .ask = tree(true), .exact = true},
      {.name = "lazy hessian stream", .ask = stream(HessianMode::lazy, false), .exact = true},
      {.name = "lazy hessian stream of two", .ask = stream(HessianMode::lazy, true), .exact = true},
      {.name = "dense hessian stream",
       .ask = stream(HessianMode::dense, true),
       .exact = true,
       .ahead = true},
      {.name = "line search", .ask = line_search},
      {.name = "stationarity test by a scalar", .ask = stationarity(SelectionForm::scalar)},
      {.name = "stationarity test by two", .ask = stationarity(SelectionForm::two_tests)},
      {.name = "stationarity test anew",
       .ask = stationarity(SelectionForm::independent),
       .listed = 2},
      {.name = "choice of a list", .ask = of_list},
      {.name = "choice of a net", .ask = of_net},
      {.name = "choice of a grid", .ask = of_grid},
      {.name = "choice of vertices", .ask = of_vertices},
      {.name = "choice of the l1 ball", .ask = of_l1_ball},
      {.name = "gibbs draw by rejection", .ask = gibbs(GibbsMethod::rejection)},
      {.name = "gibbs draw by exact steps", .ask = gibbs(GibbsMethod::exact)},
      {.name = "gibbs draw by stochastic steps", .ask = gibbs(GibbsMethod::stochastic)}};
  return all;
}

/// Zero-concentrated where nothing is inexact; with room for inexact draws.
inline FilterRule wide_rule(double capacity = 1e3) {
  FilterRule rule = zcdp_rule(capacity);
  rule.delta_extra = 1e-3;
  return rule;
}

/// The share of a budget that is gone.
inline double spent_share(const Curator& curator) { return 1.0 - curator.remaining().share; }

/// The records that a ledger charges.
inline std::set<Index> charged_by(const Ledger& ledger) {
  std::set<Index> all;
  for (const LedgerEntry& e : ledger.entries())
    for (Index i = e.charged.begin; i < e.charged.end; ++i) all.insert(i);
  return all;
}

}  // namespace dpsosp::testing
