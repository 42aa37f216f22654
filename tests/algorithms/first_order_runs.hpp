// SPDX-License-Identifier: Apache-2.0
// Runs of first-order methods on exact gradients, and on answers that are fixed in advance.
#pragma once

#include <vector>

#include "runs.hpp"

namespace dpsosp::test {

inline Vector gradient_at(const Problem& problem, const Vector& x) {
  Vector g(x.size());
  problem.empirical->gradient(x, g);
  return g;
}

inline Ran exact_run(const Algorithm& algorithm, const Problem& problem, std::uint64_t seed = 1) {
  return run_unsound(algorithm, problem.facts, *problem.records, exact, seed);
}

inline Problem bowl() { return small_problem("cosine-saddle"); }

/// Answers g_t, a fixed sequence of vectors, whatever is asked.
struct Script {
  explicit Script(Index d, std::size_t length) {
    Stream stream({.seed = 17, .purpose = Purpose::test});
    for (std::size_t t = 0; t < length; ++t) {
      answers.emplace_back(d);
      stream.fill_normal(1.0, answers.back());
    }
  }
  ScriptedRecords records(Index n = 10) const {
    return {n, [this](std::size_t call, const Point&, Block) { return answers.at(call); }};
  }
  std::vector<Vector> answers;
};

inline PublicFacts plain_facts(Index n, Index d) {
  PublicFacts facts;
  facts.name = "scripted";
  facts.dimension = d;
  facts.records = n;
  facts.initial_point = Vector::Zero(d);
  return facts;
}

inline std::vector<Vector> scripted_run(const Algorithm& a, const Script& script, Index d) {
  return run_unsound(a, plain_facts(10, d), script.records(), exact).iterates;
}

}  // namespace dpsosp::test
