// SPDX-License-Identifier: Apache-2.0
#include "second_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "test_points.hpp"
#include "worst.hpp"

namespace dpsosp {
namespace {

constexpr Index records_tried = 5;

/// The records of an instance and those at the corners of its proofs.
std::array<const AnyRecords*, 2> both(const Problem& p) {
  return {p.records.get(), p.extremes.get()};
}

double loss_difference(const AnyRecords& r, Index i, const Vector& x, const Vector& c) {
  double sum = 0;
  r.add_loss_differences(Point(x), Point(c), BatchView(i, i + 1), unlimited, sum);
  return sum;
}

Vector gradient_of(const AnyRecords& r, Index i, const Vector& x) {
  Vector g = Vector::Zero(x.size());
  r.add_gradients(Point(x), Block::x, BatchView(i, i + 1), unlimited, g);
  return g;
}

/// ∇²f_i(x) v, or (∇²f_i(x) − ∇²f_i(previous)) v.
struct Product {
  Vector value;
  double bound = 0;  ///< u_i
};
Product product_of(const AnyRecords& r, Index i, const Vector& x, const Vector* previous,
                   const Vector& v) {
  const Point before(previous != nullptr ? *previous : x);
  const Summand product =
      Summand::hessian_product(Point(x), v, previous != nullptr ? &before : nullptr);
  Product p{Vector::Zero(x.size())};
  p.bound = r.add(product, BatchView(i, i + 1), unlimited, p.value).largest_norm;
  return p;
}

/// The operator norm of v ↦ product(v), from below: exact up to 60 dimensions, else by powers.
template <class Multiply>
double operator_norm(Index d, std::uint64_t seed, const Multiply& multiply) {
  if (d <= 60) {
    Matrix H(d, d);
    for (Index j = 0; j < d; ++j) H.col(j) = multiply(Vector::Unit(d, j));
    return symmetric_eigenvalues((H + H.transpose()) / 2).cwiseAbs().maxCoeff();
  }
  Vector v = random_direction(d, seed);
  double norm = 0;
  for (int k = 0; k < 30; ++k) {
    const Vector moved = multiply(v);
    norm = moved.norm();
    if (!(norm > 0)) break;
    v = moved / norm;
  }
  return norm;
}

}  // namespace

CheckLine check_losses(const Problem& p, std::uint64_t seed) {
  Worst worst;
  const auto line = [&] { return worst.line("loss differences meet gradients"); };
  if (p.facts.dual_kind != DualKind::none) return line();
  const auto points = probe_points(p, seed, 4);
  try {
    loss_difference(*p.records, 0, points[0], points[1]);
  } catch (const InputError& unanswered) {  // owed by every minimisation problem
    worst.see(2, 1, unanswered.what());
    return line();
  }
  const double h = 1e-4 * natural_length(p.facts.constants);
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    const Vector &x = points[k], &c = points[k + 1];
    for (const AnyRecords* records : both(p)) {
      if (records == nullptr) continue;
      for (Index i = 0; i < std::min(records_tried, records->size()); ++i) {
        const double full = loss_difference(*records, i, x, c);
        const Vector v = random_direction(x.size(), seed + k);
        const Vector g = gradient_of(*records, i, x);
        const auto slope = [&](double step) {
          return loss_difference(*records, i, x + step * v, x - step * v) / (2 * step);
        };
        worst.see(std::abs((4 * slope(h) - slope(2 * h)) / 3 - g.dot(v)),
                  2e-6 * (1 + g.norm()) + 1e-11 * (1 + std::abs(full)) / h,
                  "slope of a record's loss");
      }
    }
    if (p.empirical) {
      const Index n = p.records->size();
      double sum = 0;
      p.records->add_loss_differences(Point(x), Point(c), BatchView(0, n), unlimited, sum);
      const double expected = p.empirical->value(x) - p.empirical->value(c);
      worst.see(std::abs(sum / static_cast<double>(n) - expected),
                1e-9 * (1 + std::abs(p.empirical->value(x)) + std::abs(p.empirical->value(c))),
                "mean loss difference");
    }
  }
  return line();
}

CheckLine check_record_hessians(const Problem& p, std::uint64_t seed) {
  Worst worst;
  const auto line = [&] {
    return worst.line("records' Hessian products meet gradients and their bounds hold");
  };
  if (p.facts.dual_kind != DualKind::none) return line();
  worst.see(
      p.records->has_second_order() || !p.facts.constants.contains(constant::hessian_lipschitz) ? 0
                                                                                                : 2,
      1, "rho is stated, but the records answer no Hessian products");
  if (!p.records->has_second_order()) return line();
  const auto points = probe_points(p, seed, 4);
  const double h = 1e-4 * natural_length(p.facts.constants);
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    const Vector &x = points[k], &before = points[k + 1];
    const Index d = x.size();
    const Vector v = random_direction(d, seed + k), w = random_direction(d, seed + k + 100);
    for (const AnyRecords* records : both(p)) {
      if (records == nullptr) continue;
      for (Index i = 0; i < std::min(records_tried, records->size()); ++i) {
        const Product at = product_of(*records, i, x, nullptr, v);
        const Product from = product_of(*records, i, before, nullptr, v);
        const Product moved = product_of(*records, i, x, &before, v);
        const double scale = 1 + at.value.norm() + from.value.norm();
        const auto difference = [&](double step) {
          return Vector(
              (gradient_of(*records, i, x + step * v) - gradient_of(*records, i, x - step * v)) /
              (2 * step));
        };
        const double rounding = 1e-14 * gradient_of(*records, i, x).norm() / h;
        worst.see(((4 * difference(h) - difference(2 * h)) / 3 - at.value).norm(),
                  2e-6 * scale + rounding, "difference of a record's gradients");
        worst.see((at.value - from.value - moved.value).norm(), 1e-9 * scale, "difference product");
        const Product other = product_of(*records, i, x, nullptr, w);
        worst.see(std::abs(w.dot(at.value) - v.dot(other.value)), 1e-10 * scale, "symmetry");
        if (k < 3) {  // dense, so a few points
          const auto norm = [&](const Vector* previous) {
            return operator_norm(d, seed, [&](const Vector& u) {
              return product_of(*records, i, x, previous, u).value;
            });
          };
          if (p.in_region(x))
            worst.see(norm(nullptr), at.bound * (1 + 1e-9) + 1e-12, "bound of a record's Hessian");
          if (p.in_region(x) && p.in_region(before))
            worst.see(norm(&before), moved.bound * (1 + 1e-9) + 1e-9, "bound of a difference");
        }
      }
    }
    if (p.empirical && p.in_region(x)) {
      const Index n = p.records->size();
      Vector sum = Vector::Zero(d), expected(d);
      p.records->add_hessian_products(Point(x), v, BatchView(0, n), unlimited, sum);
      p.empirical->hessian_product(x, v, expected);
      worst.see((sum / static_cast<double>(n) - expected).norm(), 1e-9 * (1 + expected.norm()),
                "mean Hessian product");
    }
  }
  return line();
}

}  // namespace dpsosp
