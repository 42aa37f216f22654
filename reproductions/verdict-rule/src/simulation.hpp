// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "dpsosp/core/words.hpp"
#include "dpsosp/experiments/probe.hpp"
#include "dpsosp/experiments/verdict.hpp"

/// Simulated sweeps with a known law, judged as measured ones are.
namespace dpsosp::verdict_rule {

/// The claim that is judged, with the neighbours that the papers name: those of -1/2 in n.
inline constexpr double claimed = -0.5;
inline constexpr double rivals[] = {-4.0 / 7, -3.0 / 7};

/// What is true of the typical level, over n = 10^4 ... 10^6 in five cells.
enum class Shape {
  exact,                   ///< n^claimed
  off_02,                  ///< n^(claimed + 0.02)
  off_05,                  ///< n^(claimed + 0.05)
  off_10,                  ///< n^(claimed + 0.1)
  off_20,                  ///< n^(claimed + 0.2)
  faster_10,               ///< n^(claimed - 0.1)
  small_drift,             ///< as claimed in the middle, the slope rises by 0.12 over the range
  drift,                   ///< the same by 0.4
  logarithm,               ///< n^claimed ln n
  step,                    ///< as claimed but for a step of a factor 3 in the middle
  bound_logarithm,         ///< n^claimed ln n, which is the bound's
  bound_logarithm_off_10,  ///< n^(claimed + 0.1) ln n, where the bound has ln n, too
};

/// The law of the logarithm of a run's level about the typical one, deviation 0.2.
enum class Scatter {
  normal,
  heavy,   ///< Student's t with 3 degrees of freedom, scaled to that deviation
  skewed,  ///< exponential, to the right
  shared,  ///< normal; half of the variance is common to the cells of a seed
};

/// `simulations` sweeps, judged. A sweep that needs more seeds gets twice as many, up to
/// most_seeds.
struct Simulation {
  static constexpr ProbeName probe{"verdict-rule/simulate", 4};
  Shape shape;
  Scatter scatter;
  int seeds, most_seeds, simulations;
  struct Result {
    std::map<std::string, int> verdicts, bounds, headlines;  ///< how often each word
    double seeds;                                            ///< on average
  };
};
DPSOSP_MEMBERS(Simulation, shape, scatter, seeds, most_seeds, simulations);
DPSOSP_MEMBERS(Simulation::Result, verdicts, bounds, headlines, seeds);
Simulation::Result simulate(const Simulation& parameters, std::uint64_t seed);

constexpr auto words_of(Shape) {
  using enum Shape;
  return word_list<Shape>("shape", {{exact, "the claim is true"},
                                    {off_02, "worse by 0.02"},
                                    {off_05, "worse by 0.05"},
                                    {off_10, "worse by 0.1"},
                                    {off_20, "worse by 0.2"},
                                    {faster_10, "better by 0.1"},
                                    {small_drift, "drift of 0.12"},
                                    {drift, "drift of 0.4"},
                                    {logarithm, "a factor ln n"},
                                    {step, "a step of factor 3"},
                                    {bound_logarithm, "a factor ln n, in the bound, too"},
                                    {bound_logarithm_off_10, "worse by 0.1 than such a bound"}});
}

constexpr auto words_of(Scatter) {
  using enum Scatter;
  return word_list<Scatter>("scatter", {{normal, "normal"},
                                        {heavy, "heavy tails"},
                                        {skewed, "skewed"},
                                        {shared, "shared by a seed's cells"}});
}

}  // namespace dpsosp::verdict_rule
