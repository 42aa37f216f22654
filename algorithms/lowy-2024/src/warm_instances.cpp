// SPDX-License-Identifier: Apache-2.0
// lowy-2024, Algorithm 2, with each of its first stages.
#include "dpsosp/baselines/kl_spider.hpp"
#include "dpsosp/lowy_2024/exponential_warm_start.hpp"
#include "dpsosp/lowy_2024/quasar_dp_sgd.hpp"
#include "dpsosp/lowy_2024/warm_start.hpp"

namespace dpsosp::lowy_2024 {
namespace {

AlgorithmCard warm_card(std::string key, std::string title, std::string place) {
  return {.key = std::move(key),
          .title = std::move(title),
          .paper = "Lowy, Ullman, Wright 2024",
          .place = std::move(place),
          .guarantee = "FOSP, empirical; SOSP with finder = stochastic_spider, disputed",
          .metric = Metric::gradient_norm,
          .rate = {},
          .empirical = {},
          .population = {},
          .operations = "gradient and gradient difference",
          .output_rule = "uniform iterate of the second stage",
          .printed = "what the printed variants of the stages keep",
          .utility = Utility::proved,
          .numbers_version = 2};
}

}  // namespace

WarmExponential::WarmExponential() : WarmStart(std::make_unique<ExponentialWarmStart>(), true) {}

const AlgorithmCard& WarmExponential::card() const {
  static const AlgorithmCard card = [] {
    AlgorithmCard c =
        warm_card("lowy-2024/warm-exponential", "Warm start by an exponential mechanism",
                  "Algorithm 2, Corollary 4.3");
    c.rate = "d^(2/3)/(n eps)";
    c.empirical = Exponents{-1.0, 2.0 / 3, -1.0};
    c.operations = "losses, gradient and gradient difference";
    return c;
  }();
  return card;
}

WarmQuasar::WarmQuasar() : WarmStart(std::make_unique<QuasarDpSgd>(), false) {}

const AlgorithmCard& WarmQuasar::card() const {
  static const AlgorithmCard card = [] {
    AlgorithmCard c =
        warm_card("lowy-2024/warm-quasar", "Warm start by DP-SGD, quasar-convex losses",
                  "Algorithm 2, Corollary 5.3");
    c.rate = "sqrt(d)/(n eps q^(1/3))";
    c.empirical = Exponents{-1.0, 0.5, -1.0};
    return c;
  }();
  return card;
}

WarmKl::WarmKl() : WarmStart(std::make_unique<baselines::KlSpider>(), false) {}

double WarmKl::practical_share(const PublicFacts& facts) const {
  const double k = baselines::kl_problem(facts).k;  // ψ ∝ ν^k
  return k / (k + 2.0);
}

const AlgorithmCard& WarmKl::card() const {
  static const AlgorithmCard card = [] {
    AlgorithmCard c = warm_card("lowy-2024/warm-kl", "Warm start by KL-SPIDER, KL* losses",
                                "Algorithm 2, Corollary 6.3");
    c.rate = "sqrt(d)/(n eps) + (sqrt(d)/(n eps))^((k+2)/3)";
    c.empirical = Exponents{-1.0, 0.5, -1.0};
    c.utility = Utility::heuristic;
    return c;
  }();
  return card;
}

}  // namespace dpsosp::lowy_2024
