// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/detail/row_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/rows.hpp"
#include "dpsosp/trusted/chunked_sum.hpp"
#include "dpsosp/trusted/clip.hpp"
#include "dpsosp/trusted/detail/no_traces.hpp"

namespace dpsosp {
namespace {

// Below this limit the squares of a vector as long could underflow.
constexpr double least_limit = 1e-140;
// Beyond this the square of ∇g plus a column, which is as long at most, could overflow.
constexpr double longest_common = 1e150;

Eigen::Map<const Vector> column_vector(const double* column, Index size) { return {column, size}; }

}  // namespace

/// A few columns at a time, and what is computed of each.
struct RowSums::Few {
  using Numbers = Eigen::Map<Vector>;
  struct Scratch {
    std::array<const double*, most_rows> rows;
    Eigen::Matrix<double, most_rows, 6> numbers;
  };
  Few(Scratch& scratch, Index count)
      : rows(scratch.rows.data(), static_cast<std::size_t>(count)),
        labels(scratch.numbers.col(0).data(), count),
        scores(scratch.numbers.col(1).data(), count),
        values(scratch.numbers.col(2).data(), count),
        values_before(scratch.numbers.col(3).data(), count),
        along(scratch.numbers.col(4).data(), count),
        weights(scratch.numbers.col(5).data(), count) {}

  std::span<const double*> rows;
  Numbers labels, scores, values, values_before, along, weights;
};

/// Clipped gradients of some positions, added to `out`.
struct RowSums::Sum {
  const Members& members;
  const Vector& common;  ///< ∇g
  double common_norm, limit;
  VectorRef out;
  ClipReport report = {};
};

/// Clamped differences of losses.
struct RowSums::Clamped {
  double common, limit, total;
  ClipReport report = {};

  void add(double of_record, Index times) {
    const double c = of_record + common;
    const double weight = times > 0 ? clip_weight(report, std::abs(c), limit, times) : 0.0;
    if (weight > 0) total += weight * c;
  }
};

RowSums::RowSums(RowLoss loss, RecordTable table)
    : loss_(std::move(loss)),
      table_(std::move(table)),
      lengths_(table_.data_->features.colwise().norm()) {
  if (loss_.tilted) loss_.derivatives = {Expression::score(), 1.0, 0.0};
}

bool RowSums::separable() const {
  return loss_.tilted && loss_.common && loss_.common->separable();
}
bool RowSums::has_second_order() const {
  return !loss_.common || loss_.common->has_hessian_bound();
}

void RowSums::check(std::initializer_list<Index> sizes, Index expected) const {
  for (const Index size : sizes)
    if (size != expected)
      throw InputError(
          fmt::format("{}: a vector of {} numbers, expected {}", loss_.problem, size, expected));
}

void RowSums::check(std::initializer_list<Index> sizes) const { check(sizes, table_.width()); }

/// use(k, few) for the positions [first, last), of which `few` holds those from k on, as many as
/// stay in a near cache. few.values are φ^(order)(⟨a, x⟩; b), less the values at `previous`.
template <class Use>
void RowSums::by_few(int order, const Point& point, const Point* previous, const BatchView& columns,
                     Index first, Index last, const Use& use) const {
  thread_local Few::Scratch scratch;
  const Expression& derivative = loss_.derivatives[static_cast<std::size_t>(order)];
  const Index width = table_.width(), at_a_time = rows_in_cache(width);
  const double *features = table_.column(0), *labels = table_.data_->labels.data();
  for (Index k = first; k < last; k += at_a_time) {
    Few few(scratch, std::min(at_a_time, last - k));
    if (columns.is_list()) {
      for (Index j = 0; j < few.labels.size(); ++j) {
        const Index i = columns[k + j];
        few.rows[static_cast<std::size_t>(j)] = features + i * width;
        few.labels[j] = labels[i];
      }
    } else {
      const double* row = features + columns[k] * width;
      for (const double*& place : few.rows) {
        place = row;
        row += width;
      }
      few.labels = column_vector(labels + columns[k], few.labels.size());
    }
    dot_rows(few.rows, point.x, few.scores);
    derivative.evaluate(few.scores, few.labels, few.values);
    if (previous != nullptr) {
      dot_rows(few.rows, previous->x, few.scores);
      derivative.evaluate(few.scores, few.labels, few.values_before);
      few.values -= few.values_before;
    }
    use(k, few);
  }
}

Vector RowSums::common_gradient(const Point& point, const Point* previous) const {
  Vector common = Vector::Zero(loss_.common || loss_.tilted ? point.x.size() : 0);
  if (!loss_.common) return common;
  loss_.common->gradient(point.x, common);
  if (previous != nullptr) {
    Vector before = Vector::Zero(common.size());  // no old memory for g to read
    loss_.common->gradient(previous->x, before);
    common -= before;
  }
  return common;
}

ClipReport RowSums::add(const Summand& asked, const Members& members, double limit,
                        VectorRef out) const {
  if (!loss_.common) return add_of(asked, members, limit, out);
  const ShownSummand shown(asked);
  return add_of(shown.summand, members, limit, out);
}

ClipReport RowSums::add_of(const Summand& s, const Members& members, double limit,
                           VectorRef out) const {
  const NoTraces before_and_after;
  switch (s.kind) {
    case Summand::Kind::gradient:
      return add_gradients(s, members, limit, out);
    case Summand::Kind::loss:
      return add_losses(s, members, limit, out);
    case Summand::Kind::coordinate_loss:
      return add_coordinate_losses(s, members, limit, out);
    case Summand::Kind::hessian_product:
      break;
  }
  return add_products(s, members, limit, out);
}

ClipReport RowSums::add_gradients(const Summand& s, const Members& members, double limit,
                                  VectorRef out) const {
  const Point& point = s.point;
  const Point* const previous = s.before();
  check_minimisation(loss_.problem, s.block);
  check({point.x.size(), previous != nullptr ? previous->x.size() : out.size(), out.size()});
  const Vector common = common_gradient(point, previous);
  const double common_norm = loss_.common ? length_of(common) : 0.0;
  if (!(common_norm <= longest)) return {};
  const BatchView& columns = members.columns;
  if (loss_.tilted && previous != nullptr) {  // tilts cancel: all records contribute the same
    ClipReport report;
    out += clip_weight(report, common_norm, limit, members.records()) * common;
    return report;
  }
  const bool shifted = loss_.tilted && limit >= least_limit && common_norm <= longest_common;
  return chunked_sum(columns.size(), out, [&](Index first, Index last, VectorRef partial) {
    const NoTraces of_this_thread;
    Sum sum{members, common, common_norm, limit, partial};
    if (shifted)
      add_shifted(sum, first, last);
    else
      by_few(1, point, previous, columns, first, last, [&](Index k, Few& few) {
        loss_.common ? add_vectors(sum, few, k) : add_multiples(sum, few, k);
      });
    return sum.report;
  });
}

/// c_i a_i.
void RowSums::add_multiples(Sum& sum, Few& few, Index k) const {
  for (Index j = 0; j < few.values.size(); ++j) {
    const Index i = sum.members.columns[k + j], times = sum.members.times(i);
    const double c = few.values[j], norm = std::abs(c) * lengths_[i];
    const double weight = times > 0 ? clip_weight(sum.report, norm, sum.limit, times) : 0.0;
    few.weights[j] = weight > 0 && std::abs(c) <= largest_factor ? c * weight : 0.0;
  }
  add_rows(few.rows, few.weights, sum.out);
}

/// c_i a_i + ∇g, measured as it is: ‖ca‖² + 2c⟨a, ∇g⟩ + ‖∇g‖² could cancel.
void RowSums::add_vectors(Sum& sum, const Few& few, Index k) const {
  Vector v(sum.common.size());
  for (Index j = 0; j < few.values.size(); ++j) {
    const Index i = sum.members.columns[k + j], times = sum.members.times(i);
    if (times == 0) continue;
    v = sum.common + few.values[j] * column_vector(table_.column(i), v.size());
    const double weight = clip_weight(sum.report, length_of(v), sum.limit, times);
    if (weight > 0) sum.out += weight * v;
  }
}

/// a_i + ∇g: the a_i are added at once, ∇g as often as all weights say.
void RowSums::add_shifted(Sum& sum, Index first, Index last) const {
  const BatchView& columns = sum.members.columns;
  const Index at_a_time = rows_in_cache(sum.common.size());
  std::array<const double*, most_rows> pointers;
  std::array<double, most_rows> numbers;  // squared norms, then weights
  double weight_of_common = 0;
  const auto add_some = [&](Index from, Index to) {
    for (Index k = from; k < to; k += at_a_time) {
      const Index here = std::min(at_a_time, to - k);
      const Rows rows(pointers.data(), static_cast<std::size_t>(here));
      Eigen::Map<Vector> weights(numbers.data(), here);
      for (Index j = 0; j < here; ++j)
        pointers[static_cast<std::size_t>(j)] = table_.column(columns[k + j]);
      squared_norms_of_shifted_rows(rows, sum.common, weights);
      for (Index j = 0; j < here; ++j) {
        double& weight = weights[j];
        const Index i = columns[k + j], times = sum.members.times(i);
        weight = times > 0 ? clip_weight(sum.report, std::sqrt(weight), sum.limit, times) : 0.0;
        if (weight * sum.common_norm > most_cancelled * sum.limit * static_cast<double>(times)) {
          sum.out += weight * (column_vector(table_.column(i), sum.common.size()) + sum.common);
          weight = 0;
        }
        weight_of_common += weight;
      }
      add_rows(rows, weights, sum.out);
    }
  };
  constexpr Index in_block = VectorBlocks::in_block;
  const Index from = (columns.begin() + first + in_block - 1) / in_block;
  const Index to = (columns.begin() + last) / in_block;
  const bool in_blocks = !columns.is_list() && !sum.members.counts && from < to &&
                         sum.common.size() <= VectorBlocks::most_entries &&
                         sum.common_norm <= most_cancelled * sum.limit;
  if (in_blocks) {
    add_some(first, from * in_block - columns.begin());
    const VectorBlocks::Weighed weighed =
        blocks().add_weighed(from, to, sum.common, sum.limit, sum.out);
    weight_of_common += weighed.weight;
    sum.report.merge({weighed.clipped, weighed.largest_norm});
    first = to * in_block - columns.begin();
  }
  add_some(first, last);
  sum.out += weight_of_common * sum.common;
}

/// The columns in the order for sums over ranges, made where one is asked for.
const VectorBlocks& RowSums::blocks() const {
  std::call_once(blocks_made_, [this] { blocks_ = VectorBlocks(table_.data_->features); });
  return blocks_;
}

ClipReport RowSums::add_losses(const Summand& s, const Members& members, double limit,
                               VectorRef out) const {
  const Point &point = s.point, &centre = *s.previous;
  check({point.x.size(), centre.x.size()});
  const double common =
      loss_.common ? loss_.common->value(point.x) - loss_.common->value(centre.x) : 0.0;
  const BatchView& columns = members.columns;
  const Vector move = point.x - centre.x;
  const Matrix& features = table_.data_->features;
  return chunked_sum(columns.size(), out, [&](Index first, Index last, VectorRef partial) {
    const NoTraces of_this_thread;
    Clamped sum{common, limit, partial[0]};
    if (loss_.tilted) {
      Clamped here = sum;
      for (Index k = first; k < last; ++k)
        here.add(features.col(columns[k]).dot(move), members.times(columns[k]));
      sum = here;
    } else {
      by_few(0, point, &centre, columns, first, last, [&](Index k, const Few& few) {
        Clamped here = sum;  // in registers
        for (Index j = 0; j < few.values.size(); ++j)
          here.add(few.values[j], members.times(columns[k + j]));
        sum = here;
      });
    }
    partial[0] = sum.total;
    return sum.report;
  });
}

ClipReport RowSums::add_coordinate_losses(const Summand& s, const Members& members, double limit,
                                          VectorRef out) const {
  const Index j = s.coordinate;
  const double centre = s.centre;
  ConstVectorRef values = s.v;
  if (!separable() || j < 0 || j >= table_.width()) refuse(s);
  const double at_centre = loss_.common->coordinate_value(j, centre);
  const Vector risen = values.unaryExpr(
      [&](double value) { return loss_.common->coordinate_value(j, value) - at_centre; });
  std::map<double, Index> counts;  // of columns that are alike in coordinate j
  for (Index k = 0; k < members.columns.size(); ++k) {
    const Index i = members.columns[k];
    counts[table_.column(i)[j]] += members.times(i);
  }
  ClipReport report;
  for (const auto& [entry, count] : counts)
    for (Index k = 0; k < values.size(); ++k) {
      const double move = std::abs(values[k] - centre);
      if (move == 0 || count == 0 || limit < shortest_limit) continue;
      const double c = risen[k] + entry * (values[k] - centre);
      const double weight = clip_weight(report, std::abs(c) / move, limit, count);
      if (weight > 0) out[k] += weight * c;
    }
  return report;
}

/// φ″⟨a, v⟩a + ∇²g v, weighed by |φ″|‖a‖² and the problem's bound of ∇²g. That bound may be too
/// small, so what is longer than limit·‖v‖ all the same is cut to it.
ClipReport RowSums::add_products(const Summand& s, const Members& members, double limit,
                                 VectorRef out) const {
  if (!has_second_order())
    throw InputError(fmt::format("{}: no bound of the Hessian is known", loss_.problem));
  const Point& point = s.point;
  const Point* const previous = s.before();
  ConstVectorRef v = s.v;
  check({point.x.size(), previous != nullptr ? previous->x.size() : out.size(), v.size(),
         out.size()});
  const BatchView& columns = members.columns;
  const bool shared = loss_.common != nullptr;
  Vector common = Vector::Zero(shared || loss_.tilted ? out.size() : 0);
  const double most = limit * v.stableNorm();  // before g sees v
  const double bound = shared ? loss_.common->hessian_bound(point, previous) : 0.0;
  if (shared) loss_.common->hessian_product(point, previous, v, common);
  const double common_norm = shared ? length_of(common) : 0.0;
  if (!(common_norm <= longest)) return {};
  if (loss_.tilted) {  // no column enters
    ClipReport report;
    out += clip_weight(report, bound, limit, members.records()) * common;
    return report;
  }
  return chunked_sum(columns.size(), out, [&](Index first, Index last, VectorRef partial) {
    const NoTraces of_this_thread;
    ClipReport report;
    by_few(2, point, previous, columns, first, last, [&](Index k, Few& few) {
      dot_rows(few.rows, v, few.along);
      // In registers, as all that a record needs.
      const double at_most = limit, of_common = bound;
      const Index* const counts = members.counts ? members.counts->data() : nullptr;
      for (Index j = 0; j < few.values.size(); ++j) {
        const Index i = columns[k + j], times = counts ? counts[i] : 1;
        const double a = lengths_[i], curvature = few.values[j], c = curvature * few.along[j];
        double weight = 0;
        if (times > 0)
          weight = clip_weight(report, std::abs(curvature) * a * a + of_common, at_most, times);
        if (!(std::abs(c) <= largest_factor)) {
          few.weights[j] = 0;
          continue;
        }
        if (shared) {
          const double longer = std::abs(c) * a + common_norm;  // than the product
          weight = cut_weight(weight, longer, most, times);
          if (weight > 0) partial += weight * common;
        }
        few.weights[j] = weight * c;
      }
      add_rows(few.rows, few.weights, partial);
    });
    return report;
  });
}

/// φ″aaᵀ, weighed by its norm |φ″|‖a‖².
ClipReport RowSums::add_hessians(const Point& point, const Members& members, double limit,
                                 VectorRef out) const {
  if (!adds_hessians()) return ClippedSums::add_hessians(point, members, limit, out);
  const NoTraces before_and_after;
  const Index d = table_.width();
  check({point.x.size()});
  check({out.size()}, d * d);
  const BatchView& columns = members.columns;
  Vector lower = Vector::Zero(out.size());
  const ClipReport total =
      chunked_sum(columns.size(), lower, [&](Index first, Index last, VectorRef partial) {
        const NoTraces of_this_thread;
        ClipReport report;
        by_few(2, point, nullptr, columns, first, last, [&](Index k, Few& few) {
          for (Index j = 0; j < few.values.size(); ++j) {
            const Index i = columns[k + j], times = members.times(i);
            const double a = lengths_[i], c = few.values[j], norm = std::abs(c) * a * a;
            const double weight = times > 0 ? clip_weight(report, norm, limit, times) : 0.0;
            few.weights[j] = outer_factor(weight, c, a, times);
          }
          add_outer_products(few.rows, few.weights, partial.reshaped(d, d));
        });
        return report;
      });
  const Matrix whole = Eigen::Map<const Matrix>(lower.data(), d, d).selfadjointView<Eigen::Lower>();
  out += whole.reshaped();
  return total;
}

std::unique_ptr<const ClippedSums> RowSums::projected(const Matrix& map, double cap) const {
  if (loss_.common || loss_.tilted) return ClippedSums::projected(map, cap);
  if (map.cols() != table_.width())
    reject(loss_.problem, "columns of the projection", static_cast<double>(map.cols()),
           fmt::format("{}, the dimension", table_.width()));
  if (!(cap > 0)) reject(loss_.problem, "cap", cap, "> 0");
  return std::make_unique<RowSums>(loss_, table_.projected(map, cap));
}

}  // namespace dpsosp
