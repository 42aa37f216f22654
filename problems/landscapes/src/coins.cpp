// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/coins.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "bump.hpp"
#include "coin_records.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp {
namespace {

/// −A Σ_j share_j B(‖x − p_j‖/r), share_j = 1 less the frequency of heads.
class CoinsObjective final : public Objective {
 public:
  CoinsObjective(const CoinCells& cells, Vector tails) : cells_(cells), tails_(std::move(tails)) {}

  Index dimension() const override { return cells_.dimension; }
  double value(ConstVectorRef x) const override {
    const Index j = cells_.find(x);
    return -tails_[j] * cells_.height(x, j);
  }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    const Index j = cells_.find(x);
    out = -tails_[j] * cells_.slope(x, j);
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    const Index j = cells_.find(x);
    out = -tails_[j] * cells_.bend(x, j, v);
  }

 private:
  CoinCells cells_;
  Vector tails_;
};

/// All tails, all heads, and the two alternations.
Matrix corner_tails(Index k) {
  Matrix corners(k, 4);
  for (Index j = 0; j < k; ++j) {
    const auto odd = static_cast<double>(j % 2);
    corners.row(j) << 1.0, 0.0, 1 - odd, odd;
  }
  return corners;
}

}  // namespace

std::string_view Coins::summary() const {
  return "-A sum_j (1 - z_j) (1 - |x - p_j|^2/r^2)^4_+, z coin flips, one coin biased; lower bound "
         "for selection";
}

ProblemNotes Coins::notes() const {
  return {
      .group = "Excess-risk families",
      .formula =
          "A record is k = m^d independent coin flips z ∈ {0, 1}^k, fair but for a hidden one with "
          "P(z_* = 1) = max(0, ½ − c√(ln k/n)). f(x; z) = −A Σ_j (1 − z_j) B(‖x − p_j‖/r), B(t) = "
          "(1 − t²)⁴₊, r = h/m, p_j the centres of the m^d cells of the box |x_i| ≤ h. The balls "
          "are disjoint, so a query meets one coin, or two for a difference: batch sums are "
          "binomials. F̂(p_j) = A(ẑ_j − 1): over the list of candidates the loss is the empirical "
          "frequency, and the best selector takes the smallest. Population: A(p_j − 1) in place of "
          "it.",
      .source = "ganesh-2023, Theorem 5.9",
      .critical_points =
          "Every centre is a local minimum wherever its coin has a tail; the planted one is the "
          "population's minimum, F* = A(p_* − 1), lower than the others by A(½ − p_*). Outside the "
          "balls F = 0 and nothing is known of the candidates. No strict saddles."};
}

Fields Coins::fields() {
  using namespace range;
  Fields fields{field("per_axis", per_axis, at_least(2), "m, cells per axis; k = m^d coins"),
                field("bias", bias, not_negative, "c, one coin has p = 1/2 - c sqrt(ln k / n)"),
                field("amplitude", amplitude, positive, "A, range of a loss"),
                field("half_width", half_width, positive, "h of the box")};
  fields.push_back(sampling_field(
      sampling, {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}));
  start.add_fields(fields);
  return fields;
}

Index Coins::candidates(Index dimension) const {
  constexpr Index most = Index{1} << 20;
  Index k = 1;
  for (Index i = 0; i < dimension && k <= most; ++i) k *= std::min(per_axis, most + 1);
  if (k > most)
    reject(name(), "per_axis", static_cast<double>(per_axis),
           fmt::format("per_axis^{} coins in [2, {}]", dimension, most));
  return k;
}

Matrix Coins::candidate_points(Index dimension) const {
  const CoinCells cells{dimension, per_axis, half_width, amplitude};
  Matrix points(dimension, candidates(dimension));
  for (Index j = 0; j < points.cols(); ++j) points.col(j) = cells.centre(j);
  return points;
}

double Coins::planted_probability(Index coins, Index records) const {
  const double spread =
      std::sqrt(std::log(static_cast<double>(coins)) / static_cast<double>(records));
  return std::max(0.0, 0.5 - bias * spread);
}

Index Coins::planted_coin(Index coins, std::uint64_t data_seed) const {
  return Stream(StreamKey{.seed = data_seed, .purpose = Purpose::data}).below(coins);
}

void Coins::settle(const Stream& random, PublicFacts& facts) const {
  facts.domain = Domain::box(half_width);
  facts.initial_point = start.pick(facts,
                                   {.standard = Vector::Zero(facts.dimension),
                                    .random_spread = 0.5 * half_width,
                                    .far_radius = half_width},
                                   random);
}

Constants Coins::constants(const PublicFacts&) const {
  const double r = half_width / static_cast<double>(per_axis);
  Constants made;
  const char* const one_ball =
      " The balls are disjoint and 1 − z_j ∈ {0, 1}, so at every point one bump at most counts.";
  made.set(
      constant::lipschitz,
      proved(amplitude / r * bump_slope, "everywhere",
             std::string("‖∇f‖ ≤ (A/r) sup|B′|, sup|B′| = 1728/(343√7) at t² = 1/7.") + one_ball));
  made.set(constant::smoothness,
           proved(amplitude / (r * r) * bump_curvature, "everywhere",
                  std::string(
                      "The bump's Hessian has the radial eigenvalue B″ = 8(1 − t²)²(7t² − 1) and "
                      "the tangential B′/t = −8(1 − t²)³: at most 8 in size, both −8 at 0.") +
                      one_ball));
  made.set(constant::hessian_lipschitz,
           proved(amplitude / (r * r * r) * bump_third, "everywhere",
                  std::string(
                      "D³[v, v, v] of the bump, ‖v‖ = 1 at angle θ with x − p, s = 1 − t²: 144s²t "
                      "cos θ − 192st³ cos³ θ. At cos θ = ±1 it is ts|144 − 336t²| ≤ 31.621; else "
                      "its stationary value in cos θ, where t² ≥ 1/5, is 48s^{5/2} ≤ 27.5.") +
                      one_ball));
  made.set(constant::suboptimality,
           proved(amplitude, "initial point",
                  "−A ≤ F ≤ 0 for every data set; attained from a point between the balls if a "
                  "coin shows tails alone."));
  return made;
}

void Coins::draw(const InstanceSpec& spec, Problem& problem) const {
  const Index k = candidates(problem.facts.dimension);
  const CoinCells cells{problem.facts.dimension, per_axis, half_width, amplitude};
  const Index planted = planted_coin(k, spec.data_seed);
  const double probability = planted_probability(k, spec.records);
  Vector fair = Vector::Constant(k, 0.5);
  fair[planted] = 1 - probability;

  const auto use_tails = [&](Vector share) {
    Index best = 0;
    share.maxCoeff(&best);
    problem.landmarks.push_back({"candidate with the fewest heads", Landmark::Kind::minimiser,
                                 Landmark::Of::empirical, cells.centre(best)});
    problem.empirical = std::make_unique<CoinsObjective>(cells, std::move(share));
  };
  const auto n = static_cast<double>(spec.records);
  if (simulated(sampling)) {
    const SimulatedCoins coins{sampling, spec.records, spec.data_seed, planted, probability};
    if (sampling == RecordSampling::whole) {
      Vector share(k);
      for (Index j = 0; j < k; ++j) share[j] = coins.tails(0, spec.records, j) / n;
      use_tails(std::move(share));
    }
    problem.simulated = coin_sums(cells, coins);
  } else {
    Stream stream(StreamKey{.seed = spec.data_seed, .purpose = Purpose::data}.child(0));
    Matrix tails(k, spec.records);
    for (Index i = 0; i < spec.records; ++i)
      for (Index j = 0; j < k; ++j)
        tails(j, i) = stream.bernoulli(j == planted ? probability : 0.5) ? 0 : 1;
    use_tails(tails.rowwise().sum() / n);
    problem.records = coin_records(cells, std::move(tails));
  }
  problem.population = std::make_unique<CoinsObjective>(cells, std::move(fair));
  problem.extremes = coin_records(cells, corner_tails(k));
  problem.landmarks.push_back({"planted candidate", Landmark::Kind::minimiser,
                               Landmark::Of::population, cells.centre(planted)});
  Vector origin = cells.centre(planted);
  origin.head(std::min<Index>(origin.size(), 2)).setZero();
  problem.slice = first_two_coordinates("F over (x₁, x₂): candidates of almost equal depth",
                                        std::move(origin), -half_width, half_width);
}

}  // namespace dpsosp
