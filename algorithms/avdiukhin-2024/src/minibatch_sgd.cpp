// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"

namespace dpsosp::avdiukhin_2024 {
MinibatchSgd::MinibatchSgd(GradientPolicy policy) : policy_(policy) {
  set_variant(Variant::repaired);
}

// Steps of avdiukhin-2024 notes, 2.1.
Outcome MinibatchSgd::run(Curator& curator, Stream stream, Observer& observer) const {
  const MinibatchSgdParameters& p = parameters;
  const BatchPolicy policy = batch_policy(p.sampling, p.batch, curator.facts().records);
  const GradientQuery query{p.clip, Noise::sensitivity_ratio(p.noise), Block::x};
  OutputKeeper output(p.output, p.steps, stream);
  Candidates candidates(p.selects() ? p.selection.candidates : 0, p.steps, stream);
  Vector x = curator.facts().initial_point;  // x_t
  Vector g(x.size());
  Outcome outcome;
  try {
    for (; outcome.steps < p.steps; ++outcome.steps) {  // step 1
      observer.iterate(outcome.steps, x);
      candidates.visit(outcome.steps, x);
      // dev: named sampling (docs/errata.md, A16)
      const Batch batch = curator.draw(policy);     // step 2
      curator.gradient(Point(x), batch, query, g);  // steps 3 to 5; step 4 in Algorithm 1 alone
      output.visit(outcome.steps, x, g);
      x -= p.step_size * g;  // step 6
      if (!x.allFinite()) return {x, Status::not_finite, outcome.steps + 1, {}};
    }
  } catch (const Refused& refusal) {
    outcome.status = status_of(refusal);
  }
  outcome.point = output.point(x);
  // dev: where no candidate is accepted the paper returns none; here the output rule's point
  if (p.power_products > 0)
    select_by_power(outcome, curator, candidates, p.selection,
                    {p.power_products, p.power_gain, p.hessian_limit, p.power_noise}, p.clip,
                    stream.child(0));
  else if (p.selection.on())
    select_output(outcome, curator, candidates, p.selection, p.clip, p.hessian_limit);
  return outcome;
}

const AlgorithmCard& DpSgd::card() const {
  static const AlgorithmCard card{
      .key = "avdiukhin-2024/dp-sgd",
      .title = "DP-SGD",
      .paper = "Avdiukhin, Dinitz, Fan, Yaroslavtsev 2024",
      .place = "Algorithm 1, Theorems 3.1, 3.4 and 3.5",
      .guarantee = "SOSP for half of the iterates, empirical",
      .statistic = "median iterate",
      .rate = "d^(1/4)/sqrt(n eps)",
      .empirical = Exponents{-0.5, 0.25, -0.5},
      .population = {},
      .operations =
          "gradient; with a selection gradient norm and least eigenvalue, or Hessian products",
      .output_rule = "last iterate, or one selected privately among iterates drawn before the run",
      .printed = "the theorem's constants k_T = 64 in the paper's schedule",
      .same_without_noise =
          "wang-ye-xu-2017/dp-gd: with full batches both are gradient descent at 1/M"};
  return card;
}

const AlgorithmCard& NoisySgd::card() const {
  static const AlgorithmCard card = [] {
    AlgorithmCard c = DpSgd().card();
    c.key = "avdiukhin-2024/noisy-sgd";
    c.title = "Noisy SGD without clipping";
    c.place = "Algorithm 2, Theorems 3.3 to 3.5";
    c.printed = "C by Lemma 3.2, k_T = 64 in the paper's schedule";
    c.privacy = PrivacyLabel::conditional;
    c.same_without_noise.clear();
    return c;
  }();
  return card;
}

}  // namespace dpsosp::avdiukhin_2024
