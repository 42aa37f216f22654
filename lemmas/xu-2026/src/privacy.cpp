// SPDX-License-Identifier: Apache-2.0
// What the printed noise and steps of the theorems come to.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/lemmas/xu_2026.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"
#include "printed_noise.hpp"

namespace dpsosp {
namespace {

Finding x1_privacy() {
  bool holds = true;
  std::vector<std::string> words;
  for (const double epsilon : {0.5, 1.0, 2.0}) {
    std::vector<std::string> needed;
    double before = 0;
    for (const double n : {1e4, 1e5, 1e6, 1e7}) {
      const double c = constant_needed(n, epsilon);
      holds = holds && c <= 10 && (before == 0 || c <= 1.5 * before);
      before = c;
      needed.push_back(fmt::format("{:.2f}", c));
    }
    words.push_back(fmt::format("{} at ε = {:g}", fmt::join(needed, ", "), epsilon));
  }
  return finding(holds,
                 fmt::format("c = {} is enough at n = 1e4, 1e5, 1e6, 1e7", fmt::join(words, "; ")),
                 "the constant that is needed grows with n");
}

std::string to_text(const EpsilonInterval& e) {
  return fmt::format("[{:.4g}, {:.4g}]", e.lower, e.upper);
}

Finding x1_privacy_at_one() {
  const EpsilonInterval poisson = section_5_epsilon({}, Draw::poisson);
  const EpsilonInterval fixed = section_5_epsilon({}, Draw::fixed_size);
  const NoiseCount as_counted{.inner_steps = 1, .both_streams = false};
  const std::string measured = fmt::format(
      "ε in {} (Poisson batches) and {} (fixed size) for 2, replace-one; counting T increments of "
      "one stream {} and {}; v alone (Poisson) {}; c = 9: at most {:.3g}",
      to_text(poisson), to_text(fixed), to_text(section_5_epsilon(as_counted, Draw::poisson)),
      to_text(section_5_epsilon(as_counted, Draw::fixed_size)),
      to_text(section_5_epsilon({.both_streams = false}, Draw::poisson)),
      section_5_epsilon({.c = 9}, Draw::fixed_size).upper);
  if (poisson.lower <= 2 && fixed.upper > 2)
    return {
        .verdict = Verdict::inconclusive, .measured = measured, .reason = "the bounds enclose 2"};
  return finding(fixed.upper <= 2, measured, "K, the second stream and the factor 2 are missing");
}

Finding definition_3() {
  constexpr double delta = 1e-6;
  std::vector<std::string> texts;
  bool holds = true;
  for (const double epsilon : {0.25, 0.5, 0.9}) {
    const double exact = gaussian_delta(epsilon, epsilon / std::sqrt(std::log(1.25 / delta)));
    holds = holds && exact <= delta;
    texts.push_back(fmt::format("{:.3g} at ε = {:g}", exact, epsilon));
  }
  return finding(holds, fmt::format("δ = {} against 1e-6", fmt::join(texts, ", ")),
                 "the factor 2 in the variance is missing");
}

Finding x2_privacy() {
  const double one = lemma_8_query_delta(1, 1e6), generous = lemma_8_query_delta(100, 1e9);
  return finding(
      std::max(one, generous) <= 1e-6,
      fmt::format("one query has a δ of at least {:.3g} at ε/2 = 1, for 1e-6, with C_2 = "
                  "1 at n = 1e6, and {:.3g} with C_2 = 100 at n = 1e9; of all answers v "
                  "ε is at least {:.3g} and {:.3g}, for 2",
                  one, generous, lemma_8_lower_epsilon(1, 1e6), lemma_8_lower_epsilon(100, 1e9)),
      "a sampled record shows in its answer, and it is sampled with probability S_2/n");
}

/// Both readings of η: Lemma 8's ē^{1/2}/L, and 1/(2L), which Theorem 2 takes from Theorem 1.
Finding x2_literal() {
  bool attained = false;
  std::vector<std::string> of_lemma, of_theorem, limits;
  for (const double n : {1e6, 1e8, 1e10, 1e12, 1e14, 1e16}) {
    const auto s = xu_2026::paper_population(n, 120, 2, 1e-6, 1);
    for (const bool lemma : {true, false}) {
      const double step = lemma ? s.step : 0.5;
      const double fall = s.steps * step * 2 * s.alpha;
      const double kept = step / 2;  // on Φ = x²/2 from step/2 steps of this length keep |∇Φ| at it
      attained = attained || (fall >= 1 && kept <= 4 * s.alpha);
      (lemma ? of_lemma : of_theorem).push_back(fmt::format("{:.2g}", fall));
    }
    limits.push_back(fmt::format("{:.2g}", 4 * s.alpha));
  }
  return finding(
      attained,
      fmt::format(
          "n = 1e6, 1e8, …, 1e16. Lemma 8's η: down a slope of 2 α all steps fall by {} of "
          "F_0 = 1. η = 1/(2L): by {}, but on Φ = L x²/2 they keep a gradient of 0.25, where "
          "4 α is {}",
          fmt::join(of_lemma, ", "), fmt::join(of_theorem, ", "), fmt::join(limits, ", ")),
      "one step is too short to descend, the other too long to stop (errata X12)");
}

}  // namespace

std::vector<Predicate> xu_2026_privacy_predicates() {
  return {
      by_formulas("xu-2026/x1-privacy", x1_privacy),
      by_formulas("xu-2026/x1-privacy-at-one", x1_privacy_at_one),
      by_formulas("xu-2026/definition-3", definition_3),
      by_formulas("xu-2026/x2-privacy", x2_privacy),
      by_formulas("xu-2026/x2-literal", x2_literal),
  };
}

}  // namespace dpsosp
