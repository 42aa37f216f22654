// SPDX-License-Identifier: Apache-2.0
// Runs of algorithms on small data, with everything that can be seen from outside kept.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/privacy/simulated_curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp::test {

/// One problem of every kind that algorithms can tell apart: a dual per record or shared; without a
/// dual on all of R^d, on a ball and on a box; proved constants and estimated ones. The zoo itself
/// is checked by `dpsosp check`.
inline const std::vector<std::string> problems_of_every_kind{"matrix-sensing",
                                                             "cosine-minimax",
                                                             "group-dro",
                                                             "cosine-saddle",
                                                             "double-well",
                                                             "phase-retrieval",
                                                             "glm-logistic"};

/// Keeps x_t of every step.
class Iterates final : public Observer {
 public:
  void iterate(Index, ConstVectorRef x) override { points.emplace_back(x); }
  std::vector<Vector> points;
};

/// What a records object was asked for, and what it answered.
struct Asked {
  enum class Kind {
    gradient,
    difference,
    loss,
    coordinate_losses,
    hessian_product,
    hessian_difference_product
  };
  Kind kind = Kind::gradient;
  Vector x, y;
  Vector x_previous, y_previous;  ///< of differences; the centre of losses
  Vector v;                       ///< of Hessian products
  Block block = Block::x;
  Vector sum;
};

/// Hands every question on and keeps it.
class SpyRecords final : public Records {
 public:
  explicit SpyRecords(const Records& records) : records_(records) {}

  Index size() const override { return records_.size(); }
  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    const ClipReport report = records_.add_gradients(point, block, batch, limit, out);
    asked.push_back({Asked::Kind::gradient, point.x, point.y, {}, {}, {}, block, out});
    return report;
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    const ClipReport report =
        records_.add_gradient_differences(point, previous, block, batch, limit, out);
    asked.push_back(
        {Asked::Kind::difference, point.x, point.y, previous.x, previous.y, {}, block, out});
    return report;
  }
  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    const ClipReport report = records_.add_loss_differences(point, centre, batch, limit, out);
    asked.push_back({Asked::Kind::loss,
                     point.x,
                     point.y,
                     centre.x,
                     centre.y,
                     {},
                     Block::x,
                     Vector::Constant(1, out)});
    return report;
  }
  bool has_second_order() const override { return records_.has_second_order(); }
  Index hessian_rank() const override { return records_.hessian_rank(); }
  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const override {
    const ClipReport report = records_.add_hessian_products(point, v, batch, limit, out);
    asked.push_back({Asked::Kind::hessian_product, point.x, point.y, {}, {}, v, Block::x, out});
    return report;
  }
  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const override {
    const ClipReport report =
        records_.add_hessian_difference_products(point, previous, v, batch, limit, out);
    asked.push_back({Asked::Kind::hessian_difference_product,
                     point.x,
                     point.y,
                     previous.x,
                     previous.y,
                     v,
                     Block::x,
                     out});
    return report;
  }

  bool separable() const override { return records_.separable(); }
  ClipReport add_coordinate_loss_differences(Index coordinate,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const override {
    const ClipReport report =
        records_.add_coordinate_loss_differences(coordinate, values, centre, batch, limit, out);
    asked.push_back({Asked::Kind::coordinate_losses,
                     values,
                     {},
                     Vector::Constant(1, centre),
                     {},
                     {},
                     Block::x,
                     out});
    return report;
  }

  mutable std::vector<Asked> asked;

 private:
  const Records& records_;
};

/// Answers by a function instead of data: the mean contribution to call number `call`.
class ScriptedRecords final : public Records {
 public:
  using Answer = std::function<Vector(std::size_t call, const Point& point, Block block)>;
  ScriptedRecords(Index size, Answer answer) : size_(size), answer_(std::move(answer)) {}

  Index size() const override { return size_; }
  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double,
                           VectorRef out) const override {
    out += static_cast<double>(batch.size()) * answer_(calls_++, point, block);
    return {};
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point&,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    return add_gradients(point, block, batch, limit, out);
  }

 private:
  Index size_;
  Answer answer_;
  mutable std::size_t calls_ = 0;
};

struct Ran {
  Outcome outcome;
  std::vector<Vector> iterates;
  Ledger ledger;
};

inline Ran run(const Algorithm& algorithm, Curator curator, std::uint64_t seed) {
  Iterates iterates;
  Outcome outcome =
      algorithm.run(curator, Stream({.seed = seed, .purpose = Purpose::algorithm}), iterates);
  return {std::move(outcome), std::move(iterates.points), curator.ledger()};
}

/// A run with the curator that enforces everything.
inline Ran run_enforced(const Algorithm& algorithm,
                        const PublicFacts& facts,
                        const Records& records,
                        const FilterRule& rule,
                        std::uint64_t seed = 1) {
  return run(algorithm, Curator(facts, records, rule, {.seed = seed}), seed);
}

inline Ran run_enforced(const Algorithm& algorithm,
                        const PublicFacts& facts,
                        const SimulatedSums& sums,
                        const FilterRule& rule,
                        std::uint64_t seed = 1) {
  return run(algorithm, SimulatedCurator(facts, sums, rule, {.seed = seed}), seed);
}

/// \tparam Sums  Records or SimulatedSums
template <class Sums>
Ran run_unsound(const Algorithm& algorithm,
                const PublicFacts& facts,
                const Sums& sums,
                const UnsoundCurator::Departures& departures,
                std::uint64_t seed = 1) {
  return run(algorithm, UnsoundCurator(facts, sums, {.seed = seed}, departures), seed);
}

/// Neither noise nor clipping: what exact arithmetic on the data would give.
inline const UnsoundCurator::Departures exact{.no_noise = true, .no_clipping = true};
inline const UnsoundCurator::Departures no_noise{.no_noise = true};
inline const UnsoundCurator::Departures no_data{.no_data = true};

/// A small instance of a family. Matrix sensing: 4 × 3, rank 2; the cosine families: d = 6.
Problem small_problem(const std::string& name, Index records = 60, std::uint64_t data_seed = 1);

/// Sets fields by name, as the command line does.
void set(Algorithm& algorithm, const std::vector<std::pair<std::string, std::string>>& settings);

/// Whether the algorithm runs on the problem as it stands; a refusal is an InputError.
bool runs_on(const Algorithm& algorithm, const PublicFacts& facts);

}  // namespace dpsosp::test
