// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/records.hpp"

#include <string>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/finite.hpp"
#include "dpsosp/trusted/detail/clipped_sums.hpp"

namespace dpsosp {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw InputError(std::string("records: this problem answers no ") + what);
}

[[noreturn]] void refuse_projection() {
  throw InputError(
      "records: this problem's features cannot be projected; choose a generalised linear model "
      "without regulariser");
}

Eigen::Map<const Vector> no_vector() { return {nullptr, 0}; }

std::optional<Point> copy_of(const Point* point) {
  return point != nullptr ? std::optional(*point) : std::nullopt;
}

}  // namespace

Summand Summand::gradient(const Point& point, Block block, const Point* previous) {
  return {Kind::gradient, point, copy_of(previous), no_vector(), block};
}

Summand Summand::loss(const Point& point, const Point& centre) {
  return {Kind::loss, point, centre, no_vector()};
}

Summand Summand::coordinate_loss(Index j, ConstVectorRef values, double centre) {
  return {Kind::coordinate_loss, Point(no_vector()), {}, values, Block::x, j, centre};
}

Summand Summand::hessian_product(const Point& point, ConstVectorRef v, const Point* previous) {
  return {Kind::hessian_product, point, copy_of(previous), v};
}

Index Summand::entries() const {
  if (kind == Kind::loss) return 1;
  if (kind != Kind::gradient) return v.size();
  return (block == Block::y ? 0 : point.x.size()) + (block == Block::x ? 0 : point.y.size());
}

bool Summand::finite() const {
  const auto is_finite = [](const Point& p) { return all_finite(p.x) && all_finite(p.y); };
  return is_finite(point) && (!previous || is_finite(*previous)) && all_finite(v);
}

Index RecordSums::longer(const Summand& summand, const BatchView& batch, double limit) const {
  Vector unused = Vector::Zero(summand.entries());
  return add(summand, batch, limit, unused).clipped;
}

ClipReport RecordSums::add_hessians(const Point&, const BatchView&, double, VectorRef) const {
  refuse("whole Hessians");
}

ClipReport ClippedSums::add_hessians(const Point&, const Members&, double, VectorRef) const {
  refuse("whole Hessians");
}

std::unique_ptr<const ClippedSums> ClippedSums::projected(const Matrix&, double) const {
  refuse_projection();
}

std::unique_ptr<const AnyRecords> AnyRecords::projected(const Matrix&, double) const {
  refuse_projection();
}

std::unique_ptr<const SimulatedSums> SimulatedSums::projected(const Matrix&, double) const {
  refuse_projection();
}

void refuse(const Summand& summand) {
  switch (summand.kind) {
    case Summand::Kind::gradient:
      refuse("such gradients");
    case Summand::Kind::loss:
      refuse("losses");
    case Summand::Kind::coordinate_loss:
      refuse("losses of single coordinates");
    case Summand::Kind::hessian_product:
      break;
  }
  refuse("Hessian products");
}

void check_minimisation(std::string_view problem, Block block) {
  if (block != Block::x)
    throw InputError(fmt::format("{}: a minimisation problem has no dual block", problem));
}

}  // namespace dpsosp
