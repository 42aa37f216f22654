// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/public_facts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace dpsosp {

bool Domain::contains(ConstVectorRef x) const {
  constexpr double slack = 1 + 1e-12;  // a projected point may be an ulp outside
  if (kind == Kind::ball) return x.norm() <= radius * slack;
  if (kind == Kind::box) return x.size() == 0 || x.cwiseAbs().maxCoeff() <= radius * slack;
  return true;
}

void Domain::project(VectorRef x) const {
  if (kind == Kind::ball) x *= std::min(1.0, radius / std::max(x.norm(), radius));
  if (kind == Kind::box) x = x.cwiseMax(-radius).cwiseMin(radius);
}

double Domain::diameter(Index dimension) const {
  if (kind == Kind::ball) return 2 * radius;
  if (kind == Kind::box) return 2 * radius * std::sqrt(static_cast<double>(dimension));
  return std::numeric_limits<double>::infinity();
}

std::string to_string(const Domain& domain) {
  if (domain.kind == Domain::Kind::ball) return fmt::format("|x| <= {:.6g}", domain.radius);
  if (domain.kind == Domain::Kind::box) return fmt::format("|x_j| <= {:.6g}", domain.radius);
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
