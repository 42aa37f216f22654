// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/public_facts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>

#include <fmt/format.h>

namespace dpsosp {
namespace {

/// The nearest point with entries max(x_j − θ, 0) of sum `total`. With the entries in descending
/// order u_1 ≥ u_2 ≥ …, θ = (u_1 + … + u_k − total)/k for the largest k at which u_k > θ.
void project_on_simplex(VectorRef x, double total) {
  Vector sorted = x;
  std::ranges::sort(sorted, std::greater{});
  double sum = 0, threshold = 0;
  for (Index k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    const double candidate = (sum - total) / static_cast<double>(k + 1);
    if (!(sorted[k] > candidate)) break;
    threshold = candidate;
  }
  x = (x.array() - threshold).cwiseMax(0.0);
}

}  // namespace

bool Domain::contains(ConstVectorRef x) const {
  constexpr double slack = 1 + 1e-12;  // a projected point may be an ulp outside
  if (kind == Kind::ball) return x.norm() <= radius * slack;
  if (kind == Kind::box) return x.size() == 0 || x.cwiseAbs().maxCoeff() <= radius * slack;
  if (kind == Kind::simplex)
    return x.size() > 0 && x.minCoeff() >= 0 &&
           std::abs(x.sum() - radius) <= radius * (slack - 1) * static_cast<double>(x.size());
  return true;
}

void Domain::project(VectorRef x) const {
  if (kind == Kind::ball) x *= std::min(1.0, radius / std::max(x.norm(), radius));
  if (kind == Kind::box) x = x.cwiseMax(-radius).cwiseMin(radius);
  if (kind == Kind::simplex) project_on_simplex(x, radius);
}

double Domain::diameter(Index dimension) const {
  if (kind == Kind::ball) return 2 * radius;
  if (kind == Kind::box) return 2 * radius * std::sqrt(static_cast<double>(dimension));
  if (kind == Kind::simplex) return dimension > 1 ? radius * std::numbers::sqrt2 : 0;
  return std::numeric_limits<double>::infinity();
}

std::string to_string(const Domain& domain) {
  if (domain.kind == Domain::Kind::ball) return fmt::format("|x| <= {:.6g}", domain.radius);
  if (domain.kind == Domain::Kind::box) return fmt::format("|x_j| <= {:.6g}", domain.radius);
  if (domain.kind == Domain::Kind::simplex)
    return fmt::format("x_j >= 0, sum x_j = {:.6g}", domain.radius);
  return "everywhere";
}

MissingConstant::MissingConstant(std::string_view name)
    : InputError(fmt::format("the problem states no constant `{}`", name)), name_(name) {}

void Constants::set(std::string_view name, Constant value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

bool Constants::contains(std::string_view name) const { return values_.contains(name); }

const Constant& Constants::at(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  throw MissingConstant(name);
}

}  // namespace dpsosp
