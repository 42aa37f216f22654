// SPDX-License-Identifier: Apache-2.0
#include "contract.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/own_glm.hpp"
#include "second_order.hpp"
#include "test_points.hpp"
#include "worst.hpp"

namespace dpsosp {
namespace {

struct NamedObjective {
  std::string_view name;
  const Objective* objective;
};
std::vector<NamedObjective> objectives(const Problem& p) {
  std::vector<NamedObjective> all;
  if (p.empirical) all.push_back({"empirical", p.empirical.get()});
  if (p.population) all.push_back({"population", p.population.get()});
  return all;
}

/// Instances of the family under check.
class Maker {
 public:
  Maker(const ProblemFamily& family, const CheckOptions& options)
      : family_(family), options_(options) {}
  Problem operator()(Index n, std::uint64_t data_seed = 1) const {
    return family_.make(spec(n, data_seed));
  }
  PublicFacts facts(Index n) const { return family_.facts(spec(n, 1)); }

 private:
  InstanceSpec spec(Index n, std::uint64_t data_seed) const {
    return {.records = std::min(n, most_records(family_)),
            .dimension = options_.dimension,
            .seed = options_.seed,
            .data_seed = data_seed + options_.seed};
  }

  const ProblemFamily& family_;
  const CheckOptions& options_;
};

/// Whether the problem bounds how fast its Hessian changes. Without ρ the Hessian may jump.
bool bounds_third_derivative(const Problem& p) {
  return p.facts.constants.contains(constant::hessian_lipschitz);
}

CheckLine check_gradients(const Problem& p, std::uint64_t seed) {
  Worst worst;
  const double h = 1e-4 * natural_length(p.facts.constants);
  const bool may_jump =
      !bounds_third_derivative(p) && p.facts.constants.contains(constant::smoothness);
  const double jump = may_jump ? h * p.facts.constants[constant::smoothness] : 0;
  for (const auto& [name, F] : objectives(p)) {
    Vector g(F->dimension());
    for (const Vector& x : probe_points(p, seed, 12)) {
      F->gradient(x, g);
      const double scale = 1 + g.norm() + std::abs(F->value(x)) * 1e-12 / h;
      for (std::uint64_t k = 0; k < 3; ++k) {
        const Vector v =
            k == 0 && g.norm() > 0 ? Vector(g.normalized()) : random_direction(x.size(), seed + k);
        // fourth order, so that steep and flat problems meet one tolerance
        const auto difference = [&, F = F](double step) {
          return (F->value(x + step * v) - F->value(x - step * v)) / (2 * step);
        };
        const double slope = (4 * difference(h) - difference(2 * h)) / 3;
        worst.see(std::abs(slope - g.dot(v)), 1e-6 * scale + jump, name);
      }
    }
  }
  return worst.line("gradients meet finite differences");
}

/// How far one-sided differences of the gradient along v disagree: what a jump of the Hessian near
/// x can do to a central one.
double one_sided_spread(const Objective& F, const Vector& x, const Vector& v, double h) {
  Vector at(x.size()), moved(x.size());
  F.gradient(x, at);
  const auto one_sided = [&](double step) {
    F.gradient(x + step * v, moved);
    return Vector((moved - at) / step);
  };
  const Vector first = one_sided(h);
  double spread = 0;
  for (const double step : {-h, 2 * h, -2 * h, 3 * h, 5 * h, 8 * h})
    spread = std::max(spread, (one_sided(step) - first).norm());
  return spread;
}

CheckLine check_hessians(const Problem& p, std::uint64_t seed) {
  Worst worst;
  const double h = 1e-4 * natural_length(p.facts.constants);
  for (const auto& [name, F] : objectives(p)) {
    const Index d = F->dimension();
    Vector Hv(d), Hw(d), plus(d), minus(d);
    for (const Vector& x : probe_points(p, seed, 12)) {
      const Vector v = random_direction(d, seed + 10), w = random_direction(d, seed + 11);
      F->hessian_product(x, v, Hv);
      F->hessian_product(x, w, Hw);
      const auto difference = [&, F = F](double step) {
        F->gradient(x + step * v, plus);
        F->gradient(x - step * v, minus);
        return Vector((plus - minus) / (2 * step));
      };
      const Vector measured = (4 * difference(h) - difference(2 * h)) / 3;
      const double scale = 1 + Hv.norm() + plus.norm() * 1e-12 / h;
      const double jump = bounds_third_derivative(p) ? 0 : 3 * one_sided_spread(*F, x, v, h);
      worst.see((measured - Hv).norm(), 2e-6 * scale + jump, name);
      worst.see(std::abs(w.dot(Hv) - v.dot(Hw)), 1e-10 * (1 + Hv.norm() + Hw.norm()),
                fmt::format("{}, symmetry", name));
      Vector H_sum(d);
      F->hessian_product(x, 2 * v - 3 * w, H_sum);
      worst.see((H_sum - 2 * Hv + 3 * Hw).norm(), 1e-10 * (1 + Hv.norm() + Hw.norm()),
                fmt::format("{}, linearity", name));
    }
  }
  return worst.line("Hessian products meet finite differences, are linear and symmetric");
}

CheckLine check_matrices(const Problem& p, std::uint64_t seed) {
  Worst worst;
  for (const auto& [name, F] : objectives(p)) {
    const Index d = F->dimension();
    Matrix H(d, d);
    Vector Hv(d), diagonal(d);
    for (const Vector& x : probe_points(p, seed, 4)) {
      const Vector v = random_direction(d, seed + 12);
      F->hessian_product(x, v, Hv);
      F->hessian(x, H);
      worst.see((H * v - Hv).norm(), 1e-11 * (1 + H.norm()), name);
      if (!F->diagonal()) continue;
      F->hessian_diagonal(x, diagonal);
      worst.see((diagonal.cwiseProduct(v) - Hv).norm(), 1e-11 * (1 + H.norm()), name);
    }
  }
  return worst.line("Hessians as matrices, and as diagonals where they are, give the products");
}

/// The mean of ∇_x f at x over a range of the records, duals at the maximisers of that range.
Vector mean_gradient(const Problem& p, ConstVectorRef x, const BatchView& range) {
  const auto n = static_cast<double>(range.size());
  Vector sum = Vector::Zero(x.size());
  if (p.facts.dual_kind != DualKind::shared) {
    p.sums().add_gradients(Point(x), Block::x, range, unlimited, sum);
    return sum / n;
  }
  // f is quadratic in y with Hessian −μ I: one step from 0 is the maximiser, projected that over Y
  const double mu = p.facts.constants[constant::strong_concavity];
  const Vector zero = Vector::Zero(p.facts.dual_dimension);
  Vector slope = zero;
  p.sums().add_gradients(Point(x, zero), Block::y, range, unlimited, slope);
  Vector y = slope / (n * mu);
  p.facts.dual_domain.project(y);
  p.sums().add_gradients(Point(x, y), Block::x, range, unlimited, sum);
  return sum / n;
}

CheckLine check_average(const Problem& p, std::uint64_t seed) {
  Worst worst;
  if (p.empirical) {
    Vector g(p.facts.dimension);
    for (const Vector& x : probe_points(p, seed, 6)) {
      p.empirical->gradient(x, g);
      worst.see((mean_gradient(p, x, BatchView(0, p.facts.records)) - g).norm(),
                1e-9 * (1 + g.norm()), "mean");
    }
  }
  return worst.line("the records average to the gradient of the empirical objective");
}

struct BlockCase {
  Block block;
  Index size;
};
std::vector<BlockCase> blocks(const PublicFacts& facts) {
  std::vector<BlockCase> all{{Block::x, facts.dimension}};
  if (facts.dual_kind != DualKind::none) {
    all.push_back({Block::y, facts.dual_dimension});
    all.push_back({Block::joint, facts.dimension + facts.dual_dimension});
  }
  return all;
}

/// One record at a time.
CheckLine check_differences(const Problem& p, std::uint64_t seed) {
  Worst worst;
  const auto points = probe_points(p, seed, 4);
  for (const AnyRecords* records : {p.records.get(), p.extremes.get()}) {
    if (records == nullptr) continue;
    PublicFacts facts = p.facts;
    if (facts.dual_kind == DualKind::per_record) facts.dual_dimension = records->size();
    for (std::size_t k = 0; k + 1 < points.size(); ++k) {
      const Vector y0 = probe_dual(facts, seed + k), y1 = probe_dual(facts, seed + k + 1);
      const Point to(points[k], y0), from(points[k + 1], y1);
      for (const auto& [block, size] : blocks(facts))
        for (Index i = 0; i < std::min<Index>(records->size(), 6); ++i) {
          const BatchView one(i, i + 1);
          Vector at_to = Vector::Zero(size), at_from = at_to, moved = at_to;
          records->add_gradients(to, block, one, unlimited, at_to);
          records->add_gradients(from, block, one, unlimited, at_from);
          records->add_gradient_differences(to, from, block, one, unlimited, moved);
          worst.see((at_to - at_from - moved).norm(), 1e-10 * (1 + at_to.norm() + at_from.norm()),
                    records == p.extremes.get() ? "extreme record" : "record");
        }
    }
  }
  return worst.line("gradient differences are differences of gradients");
}

/// Then no sum can be other than clipped record by record.
CheckLine check_admission(const Problem& p) {
  Worst worst;
  worst.see(p.records->checked() ? 0 : 2, 1, "records that answer by themselves");
  return worst.line("every sum over the records is one of trusted/");
}

void compare_facts(const PublicFacts& a, const PublicFacts& b, std::string_view between,
                   Worst& worst) {
  const auto same = [&](bool equal, std::string_view what) {
    worst.see(equal ? 0 : 2, 1, fmt::format("{}, {}", what, between));
  };
  const auto same_domain = [&](const Domain& one, const Domain& other, std::string_view what) {
    same(one.kind == other.kind && one.radius == other.radius, what);
  };
  same(a.name == b.name && a.records == b.records && a.dimension == b.dimension &&
           a.dual_dimension == b.dual_dimension && a.dual_kind == b.dual_kind,
       "name and sizes");
  same(a.initial_point == b.initial_point, "initial point");
  same(a.initial_dual == b.initial_dual, "initial dual");
  same_domain(a.domain, b.domain, "domain");
  same_domain(a.dual_domain, b.dual_domain, "dual domain");
  same(a.feature_bound == b.feature_bound, "bound of the features");
  same(a.separable == b.separable, "separability");
  same(a.constants.all().size() == b.constants.all().size(), "set of constants");
  for (const auto& [name, c] : a.constants.all()) {
    same(b.constants.contains(name) && b.constants[name] == c.value, name);
    same(b.constants.contains(name) && b.constants.at(name).proof == c.proof, name);
  }
}

/// Facts of an instance, of one with other records, and those made without any.
CheckLine check_secrecy(const PublicFacts& facts, const PublicFacts& other_records,
                        const PublicFacts& without_records) {
  Worst worst;
  compare_facts(facts, other_records, "of two data sets", worst);
  compare_facts(facts, without_records, "with and without records", worst);
  return worst.line("public facts do not depend on the records");
}

CheckLine check_facts(const ProblemFamily& family, const Problem& p) {
  Worst worst;
  const auto holds = [&](bool good, std::string_view what) { worst.see(good ? 0 : 2, 1, what); };
  const PublicFacts& f = p.facts;
  const ProblemNotes notes = family.notes();
  holds(!notes.group.empty() && !notes.formula.empty() && !notes.source.empty() &&
            !notes.critical_points.empty(),
        "notes are complete");
  holds(f.name == family.name(), "name");
  holds(f.initial_point.size() == f.dimension && f.initial_point.allFinite(), "initial point");
  holds(f.initial_dual.size() == f.dual_dimension, "initial dual");
  holds(f.dual_kind == DualKind::none || f.dual_domain.contains(f.initial_dual),
        "the initial dual is in its domain");
  holds(f.records == p.sums().size(), "number of records");
  holds(p.in_region(f.initial_point), "the initial point is in the region");
  holds(p.empirical != nullptr || p.population != nullptr, "an objective");
  for (const auto& [name, F] : objectives(p)) holds(F->dimension() == f.dimension, name);
  for (const auto& [name, c] : f.constants.all()) {
    holds(std::isfinite(c.value) && c.value >= 0, fmt::format("{} is finite", name));
    if (c.origin == Origin::proved)
      holds(!c.proof.empty() && c.attained > 0 && c.attained <= 1,
            fmt::format("{} states its proof and what is attained", name));
  }
  return worst.line("facts are complete: notes, start, proofs");
}

CheckLine check_landmarks(const Problem& p, std::uint64_t seed) {
  Worst worst;
  for (const Landmark& l : p.landmarks) {
    const Objective* F = l.of == Landmark::Of::empirical ? p.empirical.get() : p.population.get();
    if (F == nullptr) continue;
    const std::string where = fmt::format("{} '{}'", to_string(l.kind), l.name);
    const Matrix H = dense_hessian(*F, l.point);
    const double scale = 1e-3 + H.norm();
    Vector g(l.point.size());
    F->gradient(l.point, g);
    worst.see(g.norm(), 1e-6 * scale * (1 + l.point.norm()), where + ", gradient");
    const double lambda_min = symmetric_eigenvalues(H)[0];
    if (l.kind == Landmark::Kind::strict_saddle) {
      worst.see(lambda_min < -1e-6 * scale ? 0 : 2, 1, where + ", lambda_min < 0");
      continue;
    }
    worst.see(std::max(0.0, -lambda_min), 1e-7 * scale, where + ", lambda_min >= 0");
    const double value = F->value(l.point);
    worst.see(std::max(0.0, value - descend(p, *F, seed).value), 1e-9 * (1 + std::abs(value)),
              where + ", lower point found");
  }
  return worst.line("landmarks are stationary points of the stated kind");
}

/// Whether the family's settings make an instance of n records.
bool makes(const ProblemFamily& family, const CheckOptions& options, Index n) {
  try {
    Maker(family, options)(n);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Settings of the family with `sampling` at the named value; false if it is not offered.
bool choose_sampling(ProblemFamily& family, const std::string& sampling) {
  Fields fields = family.fields();
  const auto f = std::ranges::find(fields, "sampling", &Field::name);
  if (f == fields.end() || std::ranges::find(f->choices, sampling) == f->choices.end())
    return false;
  f->set(sampling);
  return true;
}

CheckLine check_population(const FamilyFactory& family, const CheckOptions& options) {
  Worst worst;
  const auto copy = family();
  choose_sampling(*copy, "independent");
  const Maker make(*copy, options);
  const Problem few = make(60);
  if (!few.population) return worst.line("the population gradient is the mean over many records");
  constexpr Index parts = 32;
  constexpr Index entries = 20'000'000;  // of records in memory, about
  const Index n =
      std::max(2 * parts, std::min(options.average_records, entries / few.facts.dimension));
  const Problem p = make(n);
  const Index part = n / parts;
  Vector exact(p.facts.dimension);
  for (const Vector& x : probe_points(p, options.seed, 4)) {
    p.population->gradient(x, exact);
    Matrix means(exact.size(), parts);
    for (Index k = 0; k < parts; ++k)
      means.col(k) = mean_gradient(p, x, BatchView(k * part, (k + 1) * part));
    const Vector mean = means.rowwise().mean();
    const Vector deviation =
        ((means.colwise() - mean).rowwise().squaredNorm() / (parts - 1) / parts).cwiseSqrt();
    for (Index j = 0; j < exact.size(); ++j)
      worst.see(std::abs(mean[j] - exact[j]),
                8 * deviation[j] + 1e-9 * (1 + exact.norm()),  // t with 31 degrees: 5e-9
                "8 standard errors");
  }
  return worst.line(fmt::format("the population gradient is the mean over {} records", n));
}

CheckLine check_simulated(const FamilyFactory& family, const CheckOptions& options) {
  Worst worst;
  const auto copy = family();
  constexpr Index n = 1'000'000'000'000;
  // other settings may leave no exact law
  if (choose_sampling(*copy, "whole") && makes(*copy, options, n)) {
    const Problem p = Maker(*copy, options)(n);
    worst.see(p.simulated ? 0 : 2, 1, "sums without records");
    CheckLine mean = check_average(p, options.seed);
    worst.see(mean.passed ? 0 : 2, 1, mean.detail);
    choose_sampling(*copy, "stream");
    const Problem s = Maker(*copy, options)(n);
    const Vector x = s.facts.initial_point;
    const Vector y = Vector::Zero(s.facts.dual_dimension);
    Vector first = Vector::Zero(x.size()), again = first, next = first;
    const auto add = [&](Index begin, Vector& out) {
      s.sums().add_gradients(Point(x, y), Block::x, BatchView(begin, begin + n / 4), unlimited,
                             out);
    };
    add(0, first);
    add(0, again);
    add(n / 4, next);
    worst.see(first == again ? 0 : 2, 1, "the same batch gives the same sum");
    worst.see(s.empirical == nullptr ? 0 : 2, 1, "a stream has no empirical objective");
    const std::vector<Index> list{1, 2};
    bool refused = false;
    try {
      s.sums().add_gradients(Point(x, y), Block::x, BatchView(list), unlimited, next);
    } catch (const InputError&) {
      refused = true;
    }
    worst.see(refused ? 0 : 2, 1, "a list is refused");
  }
  return worst.line("simulated records answer for 1e12, the same batch the same way");
}

CheckLine check_sizes(const ProblemFamily& family, const CheckOptions& options) {
  Worst worst;
  const Maker make(family, options);
  bool refused = false;
  try {
    make(0);
  } catch (const InputError&) {
    refused = true;
  }
  worst.see(refused ? 0 : 2, 1, "no records are refused");
  for (const Index n : {1, 2, 3}) {
    const Problem p = make(n);
    const CheckLine mean = check_average(p, options.seed);
    worst.see(mean.passed ? 0 : 2, 1, fmt::format("{} records: {}", n, mean.detail));
  }
  try {  // a family may refuse d = 1, in words; if it does not, d = 1 must work
    CheckOptions one = options;
    one.dimension = 1;
    const Problem p = Maker(family, one)(5);
    for (const CheckLine& line : {check_gradients(p, options.seed), check_hessians(p, options.seed),
                                  check_average(p, options.seed)})
      worst.see(line.passed ? 0 : 2, 1, fmt::format("d = 1: {}", line.detail));
  } catch (const InputError&) {
  }
  return worst.line("none, one and few records, and one dimension");
}

}  // namespace

Index most_records(const ProblemFamily& family) {
  const auto* table = dynamic_cast<const OwnGlm*>(&family);
  return table == nullptr ? std::numeric_limits<Index>::max() : table->default_records();
}

std::vector<CheckLine> check_contract(const FamilyFactory& factory, const CheckOptions& options) {
  const auto family = factory();
  const Maker make(*family, options);
  const std::uint64_t seed = options.seed;
  const Problem p = make(60);
  return {check_facts(*family, p),
          check_gradients(p, seed),
          check_hessians(p, seed),
          check_matrices(p, seed),
          check_average(p, seed),
          check_differences(p, seed),
          check_admission(p),
          check_losses(p, seed),
          check_record_hessians(p, seed),
          check_secrecy(p.facts, make(60, 99).facts, make.facts(60)),
          check_landmarks(p, seed),
          check_population(factory, options),
          check_simulated(factory, options),
          check_sizes(*family, options)};
}

}  // namespace dpsosp
