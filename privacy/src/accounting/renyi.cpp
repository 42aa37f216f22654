// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/renyi.hpp"

#include <algorithm>
#include <cmath>

#include "fixed_size.hpp"
#include "numeric.hpp"

namespace dpsosp {
namespace {

// ln(cosh x / cosh y) for x >= y >= 0, without overflow or cancellation
double log_cosh_ratio(double x, double y) {
  if (x > 1) return x - y + std::log1p(std::exp(-2 * x)) - std::log1p(std::exp(-2 * y));
  return std::log1p(2 * std::sinh((x + y) / 2) * std::sinh((x - y) / 2) / std::cosh(y));
}

// e^x − 1 − x for |x| < 0.1
double exp_remainder(double x) {
  double sum = 0;
  for (int k = 12; k >= 3; --k) sum = x / k * (1 + sum);
  return x * x / 2 * (1 + sum);
}

// x − 1 − ln x at x = ε/(e^ε − 1)
double bounded_range_kl(double epsilon) {
  const double square = epsilon * epsilon;
  if (epsilon < 0.05) return square * (1.0 / 8 - square / 576 + square * square / 25920);
  const double log_x = std::log(epsilon) - log_expm1(epsilon);
  return std::exp(log_x) - 1 - log_x;
}

std::vector<double> fixed_size_curve(const FixedSizeGaussianEvent& e,
                                     std::span<const double> orders) {
  const double z = e.noise_multiplier;
  const double highest = *std::ranges::max_element(orders);
  const ForwardDifferences differences(
      z, static_cast<int>(std::min<double>(std::ceil(highest), ForwardDifferences::kHighestOrder)));
  std::vector<double> curve;
  for (const double order : orders) {
    const double forward =
        chord(order, [&](int a) { return fixed_size_log_moment(a, e.rate, z, differences); }) /
        (order - 1);
    double best = std::min(forward, order / (2 * z * z));
    if (e.bound == FixedSizeBound::tightest)
      best = std::min(best, weak_triangle_rdp(order, e.rate, z));
    curve.push_back(best);
  }
  return curve;
}

struct Rdp {
  double order;
  Adjacency adjacency;

  double operator()(const GaussianEvent& e) const {
    return order / (2 * e.noise_multiplier * e.noise_multiplier);
  }
  double operator()(const PoissonGaussianEvent& e) const {
    if (adjacency != Adjacency::replace_one)  // zero-out: the same pair of mixtures as add/remove
      return poisson_gaussian_rdp(order, e.rate, e.noise_multiplier);
    const double unsampled = 2 * order / (e.noise_multiplier * e.noise_multiplier);
    return std::min(weak_triangle_rdp(order, e.rate, e.noise_multiplier), unsampled);
  }
  double operator()(const FixedSizeGaussianEvent& e) const {
    return fixed_size_curve(e, {&order, 1}).front();
  }
  double operator()(const LaplaceEvent& e) const { return laplace_rdp(order, e.epsilon); }
  double operator()(const PureEvent& e) const { return pure_rdp(order, e.epsilon); }
  double operator()(const ExponentialEvent& e) const { return exponential_rdp(order, e.epsilon); }
  double operator()(const ZcdpEvent& e) const { return order * e.rho; }
};

}  // namespace

std::vector<double> default_orders() {
  std::vector<double> orders;
  for (int i = 11; i <= 109; ++i) orders.push_back(i / 10.0);
  for (int i = 11; i <= 63; ++i) orders.push_back(i);
  orders.insert(orders.end(), {128, 256, 512, 1024});
  return orders;
}

std::vector<double> integer_orders(int lowest, int highest) {
  expect(lowest >= 2, "integer_orders", "lowest", lowest, "at least 2");
  expect(highest >= lowest, "integer_orders", "highest", highest, "at least lowest");
  std::vector<double> orders;
  for (int a = lowest; a <= highest; ++a) orders.push_back(a);
  return orders;
}

double laplace_rdp(double order, double epsilon) {
  expect_order("laplace_rdp", order);
  check(LaplaceEvent{epsilon});
  const double up = (order - 1) * epsilon;  // the loss ±ε and the exponential middle, integrated
  const double down = order * epsilon;
  const double up_weight = order / (2 * order - 1);
  const double down_weight = (order - 1) / (2 * order - 1);
  if (down < 0.05)  // the linear terms cancel
    return std::log1p(up_weight * exp_remainder(up) + down_weight * exp_remainder(-down)) /
           (order - 1);
  const double log_moment =
      up < 1 ? std::log1p(up_weight * std::expm1(up) + down_weight * std::expm1(-down))
             : up + std::log(up_weight + down_weight * std::exp(-down - up));
  return log_moment / (order - 1);
}

double pure_rdp(double order, double epsilon) {
  expect_order("pure_rdp", order);
  check(PureEvent{epsilon});
  return log_cosh_ratio((order - 0.5) * epsilon, epsilon / 2) / (order - 1);
}

double exponential_rdp(double order, double epsilon) {
  expect_order("exponential_rdp", order);
  check(ExponentialEvent{epsilon});
  return std::min(bounded_range_kl(epsilon) + (order - 1) * epsilon * epsilon / 8, epsilon);
}

double rdp(const Event& event, double order, Adjacency adjacency) {
  return rdp_curve(event, {&order, 1}, adjacency).front();
}

std::vector<double> rdp_curve(const Event& event, std::span<const double> orders,
                              Adjacency adjacency) {
  check(event);
  for (const double order : orders) expect_order("rdp", order);
  if (const auto* fixed = std::get_if<FixedSizeGaussianEvent>(&event); fixed && !orders.empty()) {
    if (adjacency != Adjacency::replace_one)
      throw UnsupportedError("rdp: a fixed-size sample is accounted under replace_one only");
    return fixed_size_curve(*fixed, orders);
  }
  std::vector<double> curve;
  for (const double order : orders) curve.push_back(std::visit(Rdp{order, adjacency}, event));
  return curve;
}

}  // namespace dpsosp
