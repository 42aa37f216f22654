// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/probes.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/well.hpp"

namespace dpsosp {

using namespace avdiukhin_2024;
using namespace avdiukhin_2024_probe;

namespace {

/// Own gradients of the records, d × n: mean zero and mean squared length 1. "t" has three degrees
/// of freedom, "sphere" all of one length but for the centring.
Matrix own_gradients(const std::string& law, Index dimension, Index records, Stream stream) {
  Matrix a(dimension, records);
  for (Index i = 0; i < records; ++i) {
    for (double& z : a.col(i)) z = stream.normal();
    double scale = a.col(i).norm();
    if (law == "t") {
      double chi2 = 0.0;
      for (int k = 0; k < 3; ++k) chi2 += std::pow(stream.normal(), 2);
      scale = std::sqrt(chi2 / 3.0);
    }
    a.col(i) /= scale;
  }
  a.colwise() -= Vector(a.rowwise().mean());
  return a / std::sqrt(a.squaredNorm() / static_cast<double>(records));
}

}  // namespace

NoiseGiven::Result avdiukhin_2024_probe::given_noise(const NoiseGiven& parameters,
                                                     std::uint64_t seed) {
  const Index d = parameters.dimension, batch = parameters.batch;
  const Index records = parameters.records;
  const double alpha = parameters.alpha, c_step = parameters.c_step;
  const Numbers n =
      avdiukhin_2024_exhibit::well_numbers(static_cast<double>(records), static_cast<double>(d));
  const double sampling = n.deviation * n.deviation / static_cast<double>(batch);
  const double noise = std::sqrt(parameters.noise_factor * sampling);
  const double total = sampling + n.dimension * noise * noise;
  const double step_size = std::min(1.0, c_step * alpha * alpha / total) / n.smoothness;
  const auto steps = static_cast<Index>(std::ceil(64.0 * n.gap / (step_size * alpha * alpha)));

  Stream stream({.seed = seed, .purpose = Purpose::test});
  const Matrix own = own_gradients(parameters.law, d, records, stream.child(0));
  const double least_curvature = -std::sqrt(alpha / avdiukhin_2024_exhibit::saddle_level());
  Vector x = Vector::Zero(d), gradient(d), step(d);
  std::vector<Index> members;
  Index good = 0, steep = 0;
  for (Index t = 0; t < steps; ++t) {
    gradient = x;
    gradient[0] -= 2.0 * std::tanh(x[0]);
    const double curvature = 1.0 - 2.0 / std::pow(std::cosh(x[0]), 2);
    steep += gradient.norm() >= alpha;
    good += gradient.norm() < alpha && std::min(1.0, curvature) > least_curvature;
    stream.subset(records, batch, members);
    step.setZero();
    for (const Index i : members) step += own.col(i);
    step = gradient + step / static_cast<double>(batch);
    stream.add_normal(noise, step);
    x -= step_size * step;
  }
  return {.steps = steps,
          .step_size = step_size,
          .longest = std::sqrt(own.colwise().squaredNorm().maxCoeff()),
          .steep = static_cast<double>(steep) / static_cast<double>(steps),
          .share = static_cast<double>(good) / static_cast<double>(steps)};
}

GradientsWithNoise::Result avdiukhin_2024_probe::gradients_with_noise(
    const GradientsWithNoise& parameters, std::uint64_t seed) {
  constexpr double steps = 100, epsilon = 1.0, delta = 0.01;
  const Index d = parameters.dimension;
  const Numbers n{.records = parameters.records,
                  .dimension = static_cast<double>(d),
                  .smoothness = 1.0,
                  .gap = 1.0,
                  .deviation = 1.0 / std::sqrt(steps)};
  const double bound = lemma_3_2_bound(n, steps, delta);
  const double noise =
      naive_kappa(n.records, {.epsilon = epsilon, .delta = delta}) * bound * std::sqrt(steps);
  const double step_size = std::min(1.0 / n.smoothness, 1.0 / (n.deviation * std::sqrt(steps)));
  Stream stream({.seed = seed, .purpose = Purpose::test});
  Vector x = Vector::Unit(d, 0);  // f(x₀) = 1/2 < f_max
  double longest = 0.0;
  for (int t = 0; t < static_cast<int>(steps); ++t) {
    longest = std::max(longest, x.norm());  // every record's gradient is x
    x *= 1.0 - step_size;
    stream.add_normal(step_size * noise, x);
  }
  return {.bound = bound, .noise = noise, .longest = longest};
}

}  // namespace dpsosp
