// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lowy_2024/warm_glm.hpp"

#include <cmath>

#include "dpsosp/baselines/dp_spider.hpp"
#include "dpsosp/lowy_2024/quasar_dp_sgd.hpp"
#include "dpsosp/lowy_2024/rates.hpp"
#include "dpsosp/lowy_2024/warm_start.hpp"

namespace dpsosp::lowy_2024 {
namespace {

Setting setting_of(const PublicFacts& facts, const PrivacyBudget& budget, double j) {
  return {static_cast<double>(facts.records),
          j,
          budget.epsilon,
          budget.delta,
          facts.constants[constant::lipschitz],
          facts.constants[constant::smoothness],
          facts.constants[constant::suboptimality]};
}

}  // namespace

JlDpSpider::JlDpSpider() : JlMethod(std::make_unique<baselines::DpSpider>()) {}

double JlDpSpider::base_bound(const PublicFacts& facts, const PrivacyBudget& budget,
                              double j) const {
  return spider_rate(setting_of(facts, budget, j));
}

const AlgorithmCard& JlDpSpider::card() const {
  static const AlgorithmCard card{
      .key = "arora-2023/jl-dp-spider",
      .title = "JL method over DP-SPIDER",
      .paper = "Arora, Bassily, González, Guzmán, Menart, Ullah 2023",
      .place = "Section 5, generalised linear models",
      .source = Source::reconstructed,
      .guarantee = "FOSP, empirical, of generalised linear models",
      .metric = Metric::gradient_norm,
      .rate = "(sqrt(r)/(n eps))^(2/3), at most (n eps)^(-2/5)",
      .empirical = Exponents{-0.4, 0.0, -0.4},
      .population = {},
      .sampling = -0.5,
      .operations = "gradient and gradient difference of projected features",
      .output_rule = "uniform iterate, lifted",
      .printed = "what the printed variant of DP-SPIDER keeps"};
  return card;
}

WarmGlm::WarmGlm() : JlMethod(std::make_unique<WarmQuasar>()) {}

double WarmGlm::base_bound(const PublicFacts& facts, const PrivacyBudget& budget, double j) const {
  return quasar_rate(setting_of(facts, budget, j), farthest(facts),
                     facts.constants[constant::quasar_convexity]);
}

const AlgorithmCard& WarmGlm::card() const {
  static const AlgorithmCard card{
      .key = "lowy-2024/warm-glm",
      .title = "JL method over a warm start by DP-SGD",
      .paper = "Lowy, Ullman, Wright 2024",
      .place = "Corollary 8.2, with a quasar-convex first stage",
      .source = Source::derived,
      .guarantee = "FOSP, empirical, of quasar-convex generalised linear models",
      .metric = Metric::gradient_norm,
      .rate = "(n eps)^(-1/2) q^(-1/6); sqrt(r)/(n eps q^(1/3)) at rank r",
      .empirical = Exponents{-0.5, 0.0, -0.5},
      .population = {},
      .sampling = -0.5,
      .operations = "gradient and gradient difference of projected features",
      .output_rule = "uniform iterate of the second stage, lifted",
      .printed = "what the printed variants of the stages keep",
      .numbers_version = 2};
  return card;
}

WarmGlmExponential::WarmGlmExponential() : JlMethod(std::make_unique<WarmExponential>()) {}

double WarmGlmExponential::base_bound(const PublicFacts& facts, const PrivacyBudget& budget,
                                      double j) const {
  return exponential_rate(setting_of(facts, budget, j), 2.0 * farthest(facts));
}

const AlgorithmCard& WarmGlmExponential::card() const {
  static const AlgorithmCard card{
      .key = "lowy-2024/warm-glm-exponential",
      .title = "JL method over a warm start by the exponential mechanism",
      .paper = "Lowy, Ullman, Wright 2024",
      .place = "Corollary 8.2",
      .guarantee = "FOSP, empirical, of generalised linear models",
      .metric = Metric::gradient_norm,
      .rate = "r^(2/3)/(n eps) at rank r; (n eps)^(-3/7) without, where no net can be drawn from",
      .empirical = Exponents{-1.0, 0.0, -1.0},
      .population = {},
      .sampling = -0.5,
      .operations = "losses, gradient and gradient difference of projected features",
      .output_rule = "uniform iterate of the second stage, lifted",
      .printed = "what the printed variants of the stages keep"};
  return card;
}

}  // namespace dpsosp::lowy_2024
