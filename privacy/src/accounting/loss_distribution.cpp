// SPDX-License-Identifier: Apache-2.0
#include "loss_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/math/quadrature/gauss.hpp>

namespace dpsosp {
namespace {

constexpr double kPiecesPerScale = 8;

// Gauss-Legendre nodes of the mass between two points.
template <unsigned Nodes, class Visit>
void visit_piece(const PrivacyLoss::Continuous& c, double from, double to, const Visit& visit) {
  using Rule = boost::math::quadrature::gauss<double, Nodes>;
  const double middle = (from + to) / 2;
  const double half = (to - from) / 2;
  const auto at = [&](double x, double weight) {
    const auto [density, loss] = c.at(x);
    visit(half * weight * density, loss);
  };
  for (std::size_t i = 0; i < Rule::abscissa().size(); ++i) {
    const double offset = half * Rule::abscissa()[i];
    at(middle - offset, Rule::weights()[i]);
    if (offset != 0) at(middle + offset, Rule::weights()[i]);
  }
}

// Every atom, then the continuous part in pieces that end wherever the loss is a multiple of `cut`:
// what is integrated has kinks there and nowhere else. Seven nodes on an eighth of the scale, four
// on a 64th, three on a 256th and two on a 4096th integrate what the losses here need to about
// 1e-13 of it, out to 20 standard deviations (two nodes: 10).
template <class Visit>
void visit_masses(const PrivacyLoss& loss, double cut, const Visit& visit) {
  for (const PrivacyLoss::Atom& atom : loss.atoms) visit(atom.mass, atom.loss);
  if (!loss.continuous) return;
  const PrivacyLoss::Continuous& c = *loss.continuous;
  double multiple = std::floor(c.at(c.low).loss / cut);
  double edge = c.low;  // where the loss is multiple·cut
  for (double x = c.low; x < c.high;) {
    while (edge <= x) edge = c.inverse(++multiple * cut);
    const double end = std::min({x + c.scale / kPiecesPerScale, edge, c.high});
    if (end - x <= c.scale / 4096)
      visit_piece<2>(c, x, end, visit);
    else if (end - x <= c.scale / 256)
      visit_piece<3>(c, x, end, visit);
    else if (end - x <= c.scale / 64)
      visit_piece<4>(c, x, end, visit);
    else
      visit_piece<7>(c, x, end, visit);
    x = end;
  }
}

// Smallest and largest finite loss.
std::pair<double, double> range(const PrivacyLoss& loss) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const PrivacyLoss::Atom& atom : loss.atoms) {
    low = std::min(low, atom.loss);
    high = std::max(high, atom.loss);
  }
  if (const auto& c = loss.continuous) {
    low = std::min(low, c->at(c->low).loss);
    high = std::max(high, c->at(c->high).loss);
  }
  return {low, high};
}

LossDistribution empty_lattice(const PrivacyLoss& loss, double step) {
  const auto [low, high] = range(loss);
  LossDistribution d{.step = step, .first = static_cast<std::int64_t>(std::floor(low / step)) - 1};
  const auto last = static_cast<std::int64_t>(std::ceil(high / step)) + 1;
  d.mass.assign(static_cast<std::size_t>(last - d.first + 1), 0.0);
  return d;
}

// The lattice point at or below s; a point that s misses by rounding alone counts as reached.
double at_or_below(double s, double step) {
  const double nearest = std::round(s / step);
  if (std::abs(s / step - nearest) <= 1e-15 * std::abs(nearest)) return nearest;
  return std::floor(s / step);
}

}  // namespace

DiscreteLoss discretise(const PrivacyLoss& loss, double step) {
  DiscreteLoss d{.split = empty_lattice(loss, step), .merged = {}, .error = {}};
  d.merged = d.split;
  const std::int64_t first = d.split.first;
  const double whole = std::expm1(-step);

  const auto split = [&](double mass, double lower, double excess) {
    const double up = std::clamp(excess / whole, 0.0, 1.0);
    const auto i = static_cast<std::size_t>(static_cast<std::int64_t>(lower) - first);
    d.split.mass[i] += mass * (1 - up);  // Q: (1−up) + up·e^{−step} = e^{−(s−lower)}
    d.split.mass[i + 1] += mass * up;
    return i;
  };
  std::vector<double> error(d.merged.mass.size(), 0.0);  // Q-mass·e^{lattice loss} − P-mass
  visit_masses(loss, step / 2, [&](double mass, double s) {
    const double lower = at_or_below(s, step);
    const double excess = std::expm1(lower * step - s);
    std::size_t i = split(mass, lower, excess);
    const bool up = s / step - lower >= 0.5;
    if (up) ++i;
    d.merged.mass[i] += mass;
    error[i] += mass * (up ? std::expm1((lower + 1) * step - s) : excess);
  });
  d.split.infinite = loss.above;
  if (loss.continuous) {
    const double s = loss.continuous->at(loss.continuous->low).loss;
    const double lower = at_or_below(s, step);
    split(loss.below, lower, std::expm1(lower * step - s));
  }

  double total = 0;
  double sum = 0;
  for (std::size_t i = 0; i < error.size(); ++i) {
    const double mass = d.merged.mass[i];
    if (mass == 0) continue;
    error[i] = -std::log1p(error[i] / mass);
    total += mass;
    sum += mass * error[i];
  }
  d.error.mean = sum / total;
  for (std::size_t i = 0; i < error.size(); ++i) {
    if (d.merged.mass[i] == 0) continue;
    const double drop = d.error.mean - error[i];
    d.error.variance += d.merged.mass[i] * drop * drop / total;
    d.error.drop = std::max(d.error.drop, drop);
  }
  return d;
}

std::vector<PrivacyLoss::Atom> sketch(const PrivacyLoss& loss, int nodes) {
  std::vector<PrivacyLoss::Atom> masses = loss.atoms;
  if (!loss.continuous) return masses;
  const PrivacyLoss::Continuous& c = *loss.continuous;
  const double width = (c.high - c.low) / nodes;
  for (int i = 0; i < nodes; ++i) {
    const double x = c.low + (i + 0.5) * width;
    const auto [density, at] = c.at(x);
    masses.push_back({width * density, at});
  }
  return masses;
}

double largest_loss(const PrivacyLoss& loss) { return range(loss).second; }

double pieces(const PrivacyLoss& loss) {
  if (!loss.continuous) return 0;
  return (loss.continuous->high - loss.continuous->low) * kPiecesPerScale / loss.continuous->scale;
}

}  // namespace dpsosp
