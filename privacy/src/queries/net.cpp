// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/net.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view in_net = "net";

void expect_positive(std::string_view name, double value) {
  if (!(value >= 1e-150 && value <= 1e150)) reject(in_net, name, value, "in [1e-150, 1e150]");
}

/// A count per axis that is finite and fits.
Index to_count(double cells) {
  if (!(cells < 0x1p62)) reject(in_net, "points per axis", cells, "below 2^62; a larger radius");
  return std::max<Index>(1, static_cast<Index>(cells));
}

/// Points of the lattice h Z^d with norm at most `limit`, squared. `free` coordinates are left.
double lattice_points(Index free, double spacing, double limit_squared) {
  if (limit_squared < 0) return 0;
  const double most = std::floor(std::sqrt(limit_squared) / spacing);
  if (free == 1) return 2 * most + 1;
  double count = lattice_points(free - 1, spacing, limit_squared);
  for (double k = 1; k <= most; ++k)
    count += 2 * lattice_points(free - 1, spacing, limit_squared - k * k * spacing * spacing);
  return count;
}

}  // namespace

Net Net::box(const Vector& centre, double half_width, double radius) {
  expect_positive("half_width", half_width);
  expect_positive("radius", radius);
  const double root_d = std::sqrt(static_cast<double>(centre.size()));
  // A count that is whole but for rounding is that whole number.
  const Index m = to_count(std::ceil(half_width * root_d / radius * (1 - 1e-12)));
  return {centre, half_width, half_width * root_d,
          radius, m,          2 * half_width / static_cast<double>(m)};
}

Net Net::ball(const Vector& centre, double ball_radius, double radius) {
  expect_positive("ball_radius", ball_radius);
  expect_positive("radius", radius);
  const double spacing = 2 * radius / std::sqrt(static_cast<double>(centre.size()));
  const Index each_side = to_count(std::floor((ball_radius + radius) / spacing) + 1) - 1;
  return {centre, -1.0, ball_radius, radius, 2 * each_side + 1, spacing};
}

Net Net::of(const Domain& domain, Index dimension, double radius) {
  const Vector centre = Vector::Zero(dimension);
  switch (domain.kind) {
    case Domain::Kind::box:
      return box(centre, domain.radius, radius);
    case Domain::Kind::ball:
      return ball(centre, domain.radius, radius);
    case Domain::Kind::everywhere:
    case Domain::Kind::simplex:
      break;
  }
  throw InputError(fmt::format("net: no finite net of the domain \"{}\"; expected a ball or a box",
                               to_string(domain)));
}

Index Net::indices() const {
  const double all = std::pow(static_cast<double>(per_axis_), static_cast<double>(dimension()));
  if (!(all < 0x1p62)) reject(in_net, "points", all, "below 2^62; a larger radius");
  Index count = 1;
  for (Index j = 0; j < dimension(); ++j) count *= per_axis_;
  return count;
}

bool Net::point(Index k, VectorRef out) const {
  const double middle = 0.5 * static_cast<double>(per_axis_ - 1);
  for (double& entry : out) {
    entry = (static_cast<double>(k % per_axis_) - middle) * spacing_;
    k /= per_axis_;
  }
  if (is_ball()) {
    const double radius = 0.5 * spacing_ * std::sqrt(static_cast<double>(dimension()));
    const double norm = out.norm();
    if (norm > reach_ + radius) return false;
    if (norm > reach_) out *= reach_ / norm;
  }
  out += centre_;
  return true;
}

bool Net::counted() const {
  const auto d = static_cast<double>(dimension());
  return !is_ball() || std::pow(static_cast<double>(per_axis_), d - 1) <= 1e7;
}

double Net::ball_points() const {
  const double limit = reach_ + 0.5 * spacing_ * std::sqrt(static_cast<double>(dimension()));
  return lattice_points(dimension(), spacing_, limit * limit);
}

double Net::log_size() const {
  if (is_ball() && counted()) return std::log(ball_points());
  return static_cast<double>(dimension()) * std::log(static_cast<double>(per_axis_));
}

std::optional<Index> Net::size() const {
  if (!counted()) return std::nullopt;
  double all = is_ball() ? ball_points() : 1;
  for (Index j = 0; !is_ball() && j < dimension() && all < 0x1p53; ++j)
    all *= static_cast<double>(per_axis_);
  if (!(all < 0x1p53)) return std::nullopt;
  return static_cast<Index>(all);
}

double ProductGrid::value(Index coordinate, Index k) const {
  const double place = (2.0 * static_cast<double>(k) + 1.0) / static_cast<double>(cells) - 1.0;
  return centre[coordinate] + half_width * place;
}

double ProductGrid::log_size() const {
  return static_cast<double>(centre.size()) * std::log(static_cast<double>(cells));
}

}  // namespace dpsosp
