// SPDX-License-Identifier: Apache-2.0
#include "constant_search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "dpsosp/core/stream.hpp"
#include "test_points.hpp"

// The search measures secants. ‖∇f(a) − ∇f(b)‖ ≤ M‖a − b‖ and ‖∇f(x+hv) − 2∇f(x) + ∇f(x−hv)‖ ≤ ρh²
// hold for every h, so a violation is real and not an artefact of finite differences. Ascent on it
// needs gradients alone: the second difference along v is the gradient of vᵀ∇²f v. The search
// starts from records at the corners of the proofs, since typical ones rarely come near a bound.

namespace dpsosp {
namespace {

/// z ↦ g(z) ∈ R^{dim z}, the gradient of something smooth: one record's loss, or Φ.
using Gradient = std::function<void(ConstVectorRef z, VectorRef g)>;

/// Where a search may go.
struct Arena {
  std::vector<Gradient> gradients;
  std::vector<Vector> starts;
  std::function<void(VectorRef)> confine;
  double length = 1;    ///< on which the gradient changes
  double radius = 0;    ///< of the domain
  Index dimension = 0;  ///< of the domain; the rest of z is the dual
  double dual_radius = unlimited;

  /// A little inside the region, so that secants of length h to either side fit.
  Vector inside(const Vector& z, double h) const {
    Vector moved = z;
    moved.head(dimension) *= 1 - 2 * h / radius;
    moved.tail(z.size() - dimension) *= 1 - 2 * h / dual_radius;
    return moved;
  }
  std::uint64_t seed = 0;
};

Vector gradient_at(const Gradient& g, ConstVectorRef z) {
  Vector out(z.size());
  g(z, out);
  return out;
}

/// The gradient's second difference along v over h²; at most ρ‖v‖² in norm.
Vector second_difference(const Gradient& g, ConstVectorRef z, const Vector& v, double h) {
  return (gradient_at(g, z + h * v) - 2 * gradient_at(g, z) + gradient_at(g, z - h * v)) / (h * h);
}
/// The gradient's first difference along v; at most M‖v‖ in norm.
Vector first_difference(const Gradient& g, ConstVectorRef z, const Vector& v, double h) {
  return (gradient_at(g, z + h * v) - gradient_at(g, z - h * v)) / (2 * h);
}

/// Something to be made large at z; `score` may improve its own direction v, and `uphill` says
/// where to move z. Secants that leave the domain are not counted.
struct Target {
  std::function<double(const Gradient&, const Vector& z, Vector& v)> score;
  std::function<Vector(const Gradient&, const Vector& z, const Vector& v)> uphill;
};

/// Ascent with a step that grows on success and shrinks on failure, then random moves.
double ascend(const Arena& arena, const Target& target, const Gradient& g, Vector z, Vector v) {
  Stream stream({.seed = arena.seed, .purpose = Purpose::test, .path = 2});
  double best = target.score(g, z, v);
  const auto attempt = [&](const Vector& move) {
    Vector trial = z + move;
    arena.confine(trial);
    Vector direction = v;
    const double score = target.score(g, trial, direction);
    if (!(score > best)) return false;
    best = score;
    z = trial;
    v = direction;
    return true;
  };
  double step = arena.length;
  for (int i = 0; i < 60 && step > 1e-6 * arena.length; ++i) {
    const Vector up = target.uphill(g, z, v);
    const double norm = up.norm();
    if (!(norm > 0) || !std::isfinite(norm)) break;
    step *= attempt(step / norm * up) ? 1.7 : 0.5;
  }
  step = arena.length;
  Vector move(z.size());
  for (int i = 0; i < 60; ++i) {
    stream.fill_normal(step / std::sqrt(static_cast<double>(z.size())), move);
    step *= attempt(move) ? 1.5 : 0.85;
  }
  return best;
}

/// The directions worth a first look: axes (at most 40) and random ones.
std::vector<Vector> directions(Index size, std::uint64_t seed) {
  std::vector<Vector> all;
  const Index stride = std::max<Index>(1, size / 40);
  for (Index j = 0; j < size; j += stride) all.emplace_back(Vector::Unit(size, j));
  Stream stream({.seed = seed, .purpose = Purpose::test, .path = 3});
  for (int k = 0; k < 6; ++k) {
    Vector v(size);
    stream.fill_normal(1.0, v);
    all.push_back(v.normalized());
  }
  return all;
}

/// Every start with every gradient; the best pairs are taken uphill.
double maximise(const Arena& arena, const Target& target, bool directed) {
  struct Candidate {
    double score;
    const Gradient* gradient;
    Vector z, v;
  };
  std::vector<Candidate> candidates;
  for (const Vector& start : arena.starts) {
    const auto tried = directed ? directions(start.size(), arena.seed)
                                : std::vector<Vector>{Vector::Unit(start.size(), 0)};
    for (const Gradient& g : arena.gradients) {
      Candidate c{-1, &g, start, tried.front()};
      for (const Vector& direction : tried) {
        Vector v = direction;
        const double score = target.score(g, start, v);
        if (score > c.score) c = {score, &g, start, v};
      }
      candidates.push_back(std::move(c));
    }
  }
  std::ranges::sort(candidates, std::greater{}, &Candidate::score);
  double best = 0;
  const std::size_t climbed = std::min<std::size_t>(candidates.size(), 24);
  for (std::size_t k = 0; k < climbed; ++k) {
    // half of the climbs from the top, half spread over the rest
    const Candidate& c = candidates[k % 2 == 0 ? k / 2 : (k * 7919) % candidates.size()];
    best = std::max(best, ascend(arena, target, *c.gradient, c.z, c.v));
  }
  return best;
}

double largest_gradient(const Arena& arena) {
  const double h = 1e-4 * arena.length;
  const Target target{
      [](const Gradient& g, const Vector& z, Vector&) { return gradient_at(g, z).norm(); },
      [h](const Gradient& g, const Vector& z, const Vector&) -> Vector {
        const Vector at = gradient_at(g, z);
        if (!(at.norm() > 0)) return at;
        return first_difference(g, z, at.normalized(), h);
      }};
  return maximise(arena, target, false);
}

/// Whether the secant [z − h v, z + h v] stays in the region.
bool fits(const Arena& arena, const Vector& z, const Vector& v, double h) {
  for (const double side : {h, -h}) {
    Vector end = z + side * v;
    const Vector before = end;
    arena.confine(end);
    if ((end - before).norm() > 1e-9 * h) return false;
  }
  return true;
}

double largest_curvature(const Arena& arena) {
  const double h = 1e-4 * arena.length;
  const Target target{[&arena, h](const Gradient& g, const Vector& at, Vector& v) {
                        const Vector z = arena.inside(at, h);
                        double score = 0;
                        for (int i = 0; i < 4; ++i) {
                          if (!fits(arena, z, v, h)) return score;
                          const Vector moved = first_difference(g, z, v, h);
                          if (!(moved.norm() > score)) break;
                          score = moved.norm();
                          v = moved.normalized();
                        }
                        return score;
                      },
                      [h](const Gradient& g, const Vector& z, const Vector& v) -> Vector {
                        const double sign = v.dot(first_difference(g, z, v, h)) < 0 ? -1.0 : 1.0;
                        return sign * second_difference(g, z, v, 30 * h);
                      }};
  return maximise(arena, target, true);
}

double largest_third_derivative(const Arena& arena) {
  const double h = 2e-3 * arena.length;
  const Target target{[&arena, h](const Gradient& g, const Vector& at, Vector& v) {
                        const Vector z = arena.inside(at, h);
                        double score = 0;
                        for (int i = 0; i < 4; ++i) {
                          if (!fits(arena, z, v, h)) return score;
                          const Vector turned = second_difference(g, z, v, h);
                          // what rounding alone can make of three gradients
                          const double noise = 4e-16 * gradient_at(g, z).norm() / (h * h);
                          if (!(turned.norm() - noise > score)) break;
                          score = turned.norm() - noise;
                          v = turned.normalized();
                        }
                        return score;
                      },
                      [h](const Gradient& g, const Vector& z, const Vector& v) -> Vector {
                        const double wide = 10 * h;
                        const Vector ahead = second_difference(g, z + wide * v, v, h);
                        const Vector behind = second_difference(g, z - wide * v, v, h);
                        const double sign = v.dot(second_difference(g, z, v, h)) < 0 ? -1.0 : 1.0;
                        return sign * (ahead - behind);
                      }};
  return maximise(arena, target, true);
}

/// One record's ∇_x f, or ∇f in (x, y) for z = (x, y).
Gradient record_gradient(const Problem& problem, const AnyRecords& records, Index i, Block block) {
  const Index d = problem.facts.dimension;
  return [&records, i, block, d](ConstVectorRef z, VectorRef g) {
    g.setZero();
    if (block == Block::x)
      records.add_gradients(Point(z), block, BatchView(i, i + 1), unlimited, g);
    else
      records.add_gradients(Point(z.head(d), z.tail(z.size() - d)), block, BatchView(i, i + 1),
                            unlimited, g);
  };
}

std::vector<Gradient> record_gradients(const Problem& problem, Block block) {
  std::vector<Gradient> all;
  constexpr Index most = 16;
  if (problem.extremes)
    for (Index i = 0; i < std::min(most, problem.extremes->size()); ++i)
      all.push_back(record_gradient(problem, *problem.extremes, i, block));
  if (problem.records)
    for (Index i = 0; i < std::min(most, problem.records->size()); ++i)
      all.push_back(record_gradient(problem, *problem.records, i, block));
  return all;
}

double radius_of(const Domain& domain) {
  return domain.kind == Domain::Kind::everywhere ? unlimited : domain.radius;
}

Arena arena_of(const Problem& problem, std::uint64_t seed) {
  return {.gradients = {},
          .starts = probe_points(problem, seed, 24),
          .confine = [&problem](VectorRef z) { bring_into_region(problem, z); },
          .length = natural_length(problem.facts.constants),
          .radius = radius_of(problem.facts.domain),
          .dimension = problem.facts.dimension,
          .dual_radius = radius_of(problem.facts.dual_domain),
          .seed = seed};
}

/// What `smoothness` and `hessian_lipschitz` speak of: every record's loss, or Φ.
Arena loss_arena(const Problem& problem, std::uint64_t seed) {
  Arena arena = arena_of(problem, seed);
  // with duals per record Φ is a mean too, of values at the records' own maximisers
  if (problem.facts.dual_kind != DualKind::shared)
    arena.gradients = record_gradients(problem, Block::x);
  if (problem.facts.dual_kind != DualKind::none) {
    arena.gradients.push_back(
        [&problem](ConstVectorRef z, VectorRef g) { problem.objective().gradient(z, g); });
    for (const auto& extreme : problem.extreme_objectives)
      arena.gradients.push_back(
          [&extreme](ConstVectorRef z, VectorRef g) { extreme->gradient(z, g); });
  }
  return arena;
}

Arena joint_arena(const Problem& problem, std::uint64_t seed) {
  if (problem.facts.dual_kind == DualKind::none) return loss_arena(problem, seed);
  Arena arena = arena_of(problem, seed);
  const Index d = problem.facts.dimension;
  arena.gradients = record_gradients(problem, Block::joint);
  for (std::size_t k = 0; k < arena.starts.size(); ++k) {
    Vector z(d + problem.facts.dual_dimension);
    Vector y = probe_dual(problem.facts, seed + k);
    problem.facts.dual_domain.project(y);
    z << arena.starts[k], y;
    arena.starts[k] = z;
  }
  arena.confine = [&problem, d](VectorRef z) {
    bring_into_region(problem, z.head(d));
    problem.facts.dual_domain.project(z.tail(z.size() - d));
  };
  return arena;
}

/// The least curvature of −f in y, over directions.
double least_concavity(const Problem& problem, std::uint64_t seed) {
  const Index n = problem.facts.records;
  const Index m = problem.facts.dual_dimension;
  const auto mean = [&](const Vector& y) {
    Vector sum = Vector::Zero(m);
    problem.sums().add_gradients(Point(problem.facts.initial_point, y), Block::y, BatchView(0, n),
                                 unlimited, sum);
    return Vector(sum / static_cast<double>(n));
  };
  double least = unlimited;
  for (const Vector& v : directions(m, seed))
    least = std::min(least, -v.dot(mean(v) - mean(-v)) / 2);
  return least;
}

/// F(x₀) less the lowest value known or found.
double largest_gap(const Problem& problem, std::uint64_t seed) {
  const auto gap = [&](const Objective& F) {
    double lowest = descend(problem, F, seed).value;
    for (const Landmark& l : problem.landmarks) lowest = std::min(lowest, F.value(l.point));
    return F.value(problem.facts.initial_point) - lowest;
  };
  double largest = gap(problem.objective());
  for (const auto& extreme : problem.extreme_objectives) largest = std::max(largest, gap(*extreme));
  return largest;
}

/// A global minimiser in closed form, with the objective that it minimises.
struct KnownMinimum {
  const Objective* objective;
  Vector point;
  double value;
};
std::optional<KnownMinimum> known_minimum(const Problem& problem) {
  for (const Landmark& l : problem.landmarks) {
    const Objective* F =
        l.of == Landmark::Of::empirical ? problem.empirical.get() : problem.population.get();
    if (l.kind == Landmark::Kind::minimiser && F != nullptr)
      return KnownMinimum{F, l.point, F->value(l.point)};
  }
  return {};
}

/// inf over the region of `ratio(x, F − F*, ∇F)`, by probes and random local moves.
double least_ratio(const Problem& problem, const KnownMinimum& known, std::uint64_t seed,
                   const std::function<double(const Vector&, double, const Vector&)>& ratio) {
  Stream stream({.seed = seed, .purpose = Purpose::test, .path = 4});
  Vector g(problem.facts.dimension);
  const auto at = [&](const Vector& x) {
    const double gap = known.objective->value(x) - known.value;
    known.objective->gradient(x, g);
    // closer to the minimum the quotient is made of rounding
    if (!(gap > 1e-9 * (1 + std::abs(known.value)))) return unlimited;
    return ratio(x, gap, g);
  };
  double least = unlimited;
  for (Vector x : probe_points(problem, seed, 60)) {
    double value = at(x);
    double step = 0.5;
    Vector move(x.size());
    for (int i = 0; i < 150; ++i) {
      stream.fill_normal(step / std::sqrt(static_cast<double>(x.size())), move);
      Vector trial = x + move;
      bring_into_region(problem, trial);
      const double trial_value = at(trial);
      const bool better = trial_value < value;
      if (better) {
        x = trial;
        value = trial_value;
      }
      step *= better ? 1.4 : 0.9;
    }
    least = std::min(least, value);
  }
  return least;
}

/// The extreme value met of what the constant bounds; nothing for names that define and do not
/// bound, or where no minimiser is known to compare with.
struct Reached {
  double value;
  bool lower_bound = false;
};
std::optional<Reached> attack(const Problem& problem, std::string_view name, std::uint64_t seed) {
  if (name == constant::lipschitz) return Reached{largest_gradient(joint_arena(problem, seed))};
  if (name == constant::smoothness) return Reached{largest_curvature(loss_arena(problem, seed))};
  if (name == constant::hessian_lipschitz)
    return Reached{largest_third_derivative(loss_arena(problem, seed))};
  if (name == constant::joint_smoothness)
    return Reached{largest_curvature(joint_arena(problem, seed))};
  if (name == constant::strong_concavity) return Reached{least_concavity(problem, seed), true};
  if (name == constant::suboptimality) return Reached{largest_gap(problem, seed)};
  const auto known = known_minimum(problem);
  if (!known) return {};
  if (name == constant::quasar_convexity)
    return Reached{least_ratio(problem, *known, seed,
                               [&](const Vector& x, double gap, const Vector& g) {
                                 return g.dot(x - known->point) / gap;
                               }),
                   true};
  if (name == constant::pl)
    return Reached{least_ratio(problem, *known, seed,
                               [](const Vector&, double gap, const Vector& g) {
                                 return g.squaredNorm() / (2 * gap);
                               }),
                   true};
  if (name == constant::kl_gamma) {
    const double k = problem.facts.constants[constant::kl_exponent];
    return Reached{
        1 / least_ratio(problem, *known, seed, [k](const Vector&, double gap, const Vector& g) {
          return g.norm() / std::pow(gap, 1 / k);
        })};
  }
  return {};
}

}  // namespace

std::vector<ConstantCheck> attack_constants(const Problem& problem, std::uint64_t seed) {
  std::vector<ConstantCheck> all;
  for (const auto& [name, stated] : problem.facts.constants.all()) {
    if (stated.origin != Origin::proved) continue;
    const auto reached = attack(problem, name, seed);
    if (!reached) continue;
    const double share =
        reached->lower_bound ? stated.value / reached->value : reached->value / stated.value;
    all.push_back({name, stated, reached->value, share});
  }
  return all;
}

}  // namespace dpsosp
