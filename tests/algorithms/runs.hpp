// SPDX-License-Identifier: Apache-2.0
// Runs of algorithms on small data, with everything that can be seen from outside kept.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../trusted/written_records.hpp"
#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/privacy/simulated_curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp::test {

/// One problem of every kind that algorithms can tell apart: a dual per record or shared; without a
/// dual on all of R^d, on a ball and on a box; proved constants and estimated ones. The zoo itself
/// is checked by `dpsosp check`.
inline const std::vector<std::string> problems_of_every_kind{
    "matrix-sensing", "cosine-minimax",  "group-dro",   "cosine-saddle",
    "double-well",    "phase-retrieval", "glm-logistic"};

/// Keeps x_t of every step.
class Iterates final : public Observer {
 public:
  void iterate(Index, ConstVectorRef x) override { points.emplace_back(x); }
  std::vector<Vector> points;
};

/// What a records object was asked for, and what it answered.
struct Asked {
  Summand::Kind kind = Summand::Kind::gradient;
  bool difference = false;
  Vector x, y;
  Vector x_previous, y_previous;  ///< of differences; the centre of losses
  Block block = Block::x;
  Vector sum;
};

/// Hands every question on and keeps it.
class SpyRecords final : public UncheckedRecords {
 public:
  explicit SpyRecords(const AnyRecords& records) : records_(records) {}

  Index size() const override { return records_.size(); }
  bool separable() const override { return records_.separable(); }
  bool has_second_order() const override { return records_.has_second_order(); }
  Index hessian_rank() const override { return records_.hessian_rank(); }
  bool sums_to_hessians() const override { return records_.sums_to_hessians(); }
  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    const ClipReport report = records_.add(s, batch, limit, out);
    asked.push_back({s.kind, s.previous.has_value(), s.point.x, s.point.y, {}, {}, s.block, out});
    if (s.previous) asked.back().x_previous = s.previous->x;
    if (s.previous) asked.back().y_previous = s.previous->y;
    return report;
  }

  mutable std::vector<Asked> asked;

 private:
  const AnyRecords& records_;
};

/// Answers by a function instead of data: the mean contribution to call number `call`.
class ScriptedRecords final : public UncheckedRecords {
 public:
  using Answer = std::function<Vector(std::size_t call, const Point& point, Block block)>;
  ScriptedRecords(Index size, Answer answer) : size_(size), answer_(std::move(answer)) {}

  Index size() const override { return size_; }
  ClipReport add(const Summand& s, const BatchView& batch, double, VectorRef out) const override {
    if (s.kind != Summand::Kind::gradient) refuse(s);
    out += static_cast<double>(batch.size()) * answer_(calls_++, s.point, s.block);
    return {};
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
inline Ran run_enforced(const Algorithm& algorithm, const PublicFacts& facts,
                        const AnyRecords& records, const FilterRule& rule, std::uint64_t seed = 1) {
  return run(algorithm, Curator(facts, records, rule, {.seed = seed}), seed);
}

inline Ran run_enforced(const Algorithm& algorithm, const PublicFacts& facts,
                        const SimulatedSums& sums, const FilterRule& rule, std::uint64_t seed = 1) {
  return run(algorithm, SimulatedCurator(facts, sums, rule, {.seed = seed}), seed);
}

/// \tparam Sums  Records or SimulatedSums
template <class Sums>
Ran run_unsound(const Algorithm& algorithm, const PublicFacts& facts, const Sums& sums,
                const UnsoundCurator::Departures& departures, std::uint64_t seed = 1) {
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
