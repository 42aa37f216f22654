// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "dpsosp/privacy/stationarity_test.hpp"

namespace dpsosp::avdiukhin_2024 {
namespace {

/// The iterates that a private selection will look at: indices uniform on {0, …, T−1}, drawn before
/// the run, so that K iterates are stored and not T.
class Candidates {
 public:
  Candidates(Index count, Index steps, Stream& stream) {
    for (Index k = 0; k < count; ++k) wanted_.push_back({stream.below(steps), {}});
  }

  void visit(Index t, ConstVectorRef x) {
    for (auto& [index, point] : wanted_)
      if (index == t) point = x;
  }

  /// The first accepted one, in the order drawn; null if none is.
  const Vector* first_accepted(StationarityTest& test) const {
    for (const auto& [index, point] : wanted_)
      if (point.size() > 0 && test.accepts(point)) return &point;
    return nullptr;
  }

 private:
  std::vector<std::pair<Index, Vector>> wanted_;
};

}  // namespace

MinibatchSgd::MinibatchSgd(GradientPolicy policy) : policy_(policy) {
  set_variant(Variant::repaired);
}

Outcome MinibatchSgd::run(Curator& curator, Stream stream, Observer& observer) const {
  const MinibatchSgdParameters& p = parameters;
  const BatchPolicy policy = batch_policy(p.sampling, p.batch, curator.facts().records);
  const GradientQuery query{p.clip, Noise::sensitivity_ratio(p.noise), Block::x};
  const bool selects = p.selection_share > 0;
  OutputKeeper output(p.output, p.steps, stream);
  Candidates candidates(selects ? p.candidates : 0, p.steps, stream);
  std::optional<StationarityTest> test;      // charged before the run, asked after it
  Vector x = curator.facts().initial_point;  // x_t
  Vector g(x.size());
  Status status = Status::steps_done;
  Index t = 0;
  try {
    if (selects)
      test.emplace(curator,
                   curator.draw(BatchPolicy::all()),
                   StationaritySpec{.epsilon = p.selection_epsilon,
                                    .gradient_scale = p.alpha,
                                    .curvature_scale = p.curvature_scale,
                                    .gradient_limit = p.clip,
                                    .hessian_limit = p.hessian_limit});
    for (; t < p.steps; ++t) {  // line 1
      observer.iterate(t, x);
      candidates.visit(t, x);
      const Batch batch = curator.draw(policy);     // line 2: dev: named sampling (A16)
      curator.gradient(Point(x), batch, query, g);  // lines 3 to 5; clips in Algorithm 1 alone
      output.visit(t, x, g);
      x -= p.step_size * g;  // line 6
      if (!x.allFinite()) return {x, Status::not_finite, t + 1, {}};
    }
  } catch (const Refused& refusal) {
    status = status_of(refusal);
  }
  if (!test) return {output.point(x), status, t, {}};
  const Vector* accepted = candidates.first_accepted(*test);
  if (accepted != nullptr) status = Status::certified;
  // dev: without a yes the paper returns nothing; the last iterate is released anyway
  return {accepted != nullptr ? *accepted : x, status, t, {{"questions", test->questions()}}};
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
          "gradient; with a selection gradient norm and least eigenvalue; where each record "
          "keeps its own dual, yang-2022/dp-sgda at the same numbers is this method",
      .output_rule = "last iterate, or one selected privately among iterates drawn before the run",
      .printed = "the theorem's constants k_T = 64 in the paper's schedule"};
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
    return c;
  }();
  return card;
}

}  // namespace dpsosp::avdiukhin_2024
