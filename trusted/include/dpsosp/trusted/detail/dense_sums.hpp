// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/trusted/chunked_sum.hpp"
#include "dpsosp/trusted/clip.hpp"
#include "dpsosp/trusted/dense_loss.hpp"
#include "dpsosp/trusted/detail/clipped_sums.hpp"
#include "dpsosp/trusted/detail/no_traces.hpp"

namespace dpsosp {

/// Clipped sums of a dense loss. Each vector is measured and cut here, whatever wrote it.
template <class Loss>
class DenseSums final : public ClippedSums {
  static_assert(DenseLoss<Loss>);
  using Facts = typename Loss::Facts;
  static constexpr bool has_losses = requires { typename Loss::Losses; };
  static constexpr bool has_curvature = requires { &Loss::curvature; };
  static constexpr bool has_products = has_curvature || requires { typename Loss::Products; };
  static constexpr bool has_coordinates = requires { typename Loss::Coordinates; };
  static constexpr bool own_dual = Loss::dual == DenseDual::own;
  static constexpr DenseLength how = [] {
    if constexpr (requires { Loss::length; }) return Loss::length;
    return DenseLength::whole;
  }();
  static_assert(how != DenseLength::by_block || Loss::dual == DenseDual::shared);

 public:
  /// \throws InputError for records with duals of their own that are values of a list
  DenseSums(Facts facts, RecordTable table)
      : facts_(std::move(facts)),
        table_(std::move(table)),
        dimension_(Loss::dimension(facts_)),
        duals_(count_duals()) {
    if (own_dual && table_.repeated_) refuse("has a dual for each record, so none is repeated");
  }

  const RecordTable& table() const override { return table_; }
  bool separable() const override { return has_coordinates; }
  bool has_second_order() const override { return has_products; }
  Index hessian_rank() const override { return has_curvature ? 1 : 0; }

  bool adds_hessians() const override { return has_curvature; }
  bool sums_to_hessians() const override { return has_curvature; }
  ClipReport add(const Summand& asked, const Members& members, double limit,
                 VectorRef out) const override {
    const NoTraces before_and_after;
    const ShownSummand shown(asked);
    const Summand& s = shown.summand;
    if (s.kind == Summand::Kind::gradient) return add_gradients(s, members, limit, out);
    if constexpr (has_losses)
      if (s.kind == Summand::Kind::loss) return add_losses(s, members, limit, out);
    if constexpr (has_coordinates)
      if (s.kind == Summand::Kind::coordinate_loss)
        return add_coordinate_losses(s, members, limit, out);
    if constexpr (has_products)
      if (s.kind == Summand::Kind::hessian_product) return add_products(s, members, limit, out);
    dpsosp::refuse(s);
  }

  /// c u uᵀ, weighed by its norm |c|‖u‖².
  ClipReport add_hessians(const Point& point, const Members& members, double limit,
                          VectorRef out) const override {
    if constexpr (has_curvature) {
      const NoTraces before_and_after;
      const Vector x = point.x;
      check({x.size()}, dimension_);
      check({out.size()}, dimension_ * dimension_);
      const typename Loss::Gradients query(facts_, Point(x), nullptr, Block::x);
      const auto use = [&](const DenseRecord& record, Index, Index times, One& one, VectorRef sum) {
        const auto c = answer<double, &Loss::curvature>(one.v, query, record, one.scratch.data(),
                                                        VectorRef(one.v));
        const double length = length_of(one.v), norm = std::abs(c) * length * length;
        const double factor =
            outer_factor(clip_weight(one.report, norm, limit, times), c, length, times);
        if (factor == 0) return;
        Eigen::Map<Matrix>(sum.data(), dimension_, dimension_).noalias() +=
            (factor * one.v) * one.v.transpose();
      };
      return over_records(query, members, nullptr, nullptr, dimension_, out, use);
    } else {
      return ClippedSums::add_hessians(point, members, limit, out);
    }
  }

 private:
  ClipReport add_gradients(const Summand& s, const Members& members, double limit,
                           VectorRef out) const {
    const Point& point = s.point;
    const Point* const previous = s.before();
    const Block block = s.block;
    check_dual(point, block);
    if (previous != nullptr) check_dual(*previous, own_dual ? Block::x : block);
    const Parts parts(block, dimension_, duals_);
    check({point.x.size(), previous != nullptr ? previous->x.size() : dimension_}, dimension_);
    check({out.size()}, parts.x + parts.y);
    const typename Loss::Gradients query(facts_, point, previous, block);
    if constexpr (requires { Loss::reads_record(block, true); })
      if (!Loss::reads_record(block, previous != nullptr))
        return add_alike(query, parts, members, limit, out);
    const auto use = [&](const DenseRecord& record, Index i, Index times, One& one, VectorRef sum) {
      DenseGradient g = answer<DenseGradient, &Loss::gradient>(
          one.v, query, record, one.scratch.data(), VectorRef(one.v));
      const double weight = clip_weight(one.report, parts.length(g, one.v), limit, times);
      if (weight == 0) return;
      if (parts.in_v() > 0) sum.head(parts.in_v()) += (weight * g.scale) * one.v;
      if (own_dual && parts.y > 0) sum[parts.x + i] += weight * g.dual;
    };
    return over_records(query, members, &point, previous, parts.written(), out, use);
  }

  ClipReport add_losses(const Summand& s, const Members& members, double limit,
                        VectorRef out) const {
    check({s.point.x.size(), s.previous->x.size()}, dimension_);
    const typename Loss::Losses query(facts_, s.point, *s.previous);
    const auto use = [&](const DenseRecord& record, Index, Index times, One& one, VectorRef sum) {
      const double c = answer<double, &Loss::loss>(one.v, query, record, one.scratch.data());
      const double weight = clip_weight(one.report, std::abs(c), limit, times);
      if (weight > 0) sum[0] += weight * c;
    };
    return over_records(query, members, nullptr, nullptr, 0, out, use);
  }

  ClipReport add_coordinate_losses(const Summand& s, const Members& members, double limit,
                                   VectorRef out) const {
    const Index j = s.coordinate;
    if (j < 0 || j >= std::min(dimension_, table_.width())) refuse("has no such coordinate");
    const Vector moves = (s.v.array() - s.centre).abs();
    const typename Loss::Coordinates query(facts_, j, s.v, s.centre);
    Vector none;
    std::map<double, Index> counts;  // of records that are alike in coordinate j
    for (Index k = 0; k < members.columns.size(); ++k) {
      const Index i = members.columns[k];
      counts[table_.column(i)[j] + 0.0] += members.times(i);  // -0.0 is 0.0
    }
    ClipReport report;
    for (const auto& [entry, count] : counts)
      for (Index k = 0; k < moves.size(); ++k) {
        if (moves[k] == 0 || count == 0 || limit < shortest_limit) continue;
        const double c =
            answer<double, &Loss::coordinate_loss>(none, query, double{entry}, Index{k});
        const double weight = clip_weight(report, std::abs(c) / moves[k], limit, count);
        if (weight > 0) out[k] += weight * c;
      }
    return report;
  }

  /// Weighed by the norm |c|‖u‖², or by a bound that the loss states. That may be too small, so
  /// what is longer than limit·‖v‖ all the same is cut to it.
  ClipReport add_products(const Summand& s, const Members& members, double limit,
                          VectorRef out) const {
    check(
        {s.point.x.size(), s.previous ? s.previous->x.size() : s.v.size(), s.v.size(), out.size()},
        dimension_);
    const double most = limit * s.v.stableNorm();
    const auto add = [&](double bound, Index times, One& one, VectorRef sum) {
      const double stated = clip_weight(one.report, bound, limit, times), norm = length_of(one.v);
      const double weight = norm <= longest ? cut_weight(stated, norm, most, times) : 0.0;
      if (weight > 0) sum += weight * one.v;
    };
    if constexpr (has_curvature) {
      const Vector v = s.v;
      const typename Loss::Gradients query(facts_, s.point, s.before(), Block::x);
      const auto use = [&](const DenseRecord& record, Index, Index times, One& one, VectorRef sum) {
        const auto c = answer<double, &Loss::curvature>(one.v, query, record, one.scratch.data(),
                                                        VectorRef(one.v));
        const double length = length_of(one.v), squares = one.v.squaredNorm();
        const double bound =
            std::isnormal(squares) ? std::abs(c) * squares : std::abs(c) * length * length;
        one.v *= c * one.v.dot(v);
        add(bound, times, one, sum);
      };
      return over_records(query, members, nullptr, nullptr, dimension_, out, use);
    } else {
      const typename Loss::Products query(facts_, s.point, s.before(), s.v);
      const auto use = [&](const DenseRecord& record, Index, Index times, One& one, VectorRef sum) {
        const auto bound = answer<double, &Loss::product>(one.v, query, record, one.scratch.data(),
                                                          VectorRef(one.v));
        add(bound, times, one, sum);
      };
      return over_records(query, members, nullptr, nullptr, dimension_, out, use);
    }
  }

  /// What is computed of one record.
  struct One {
    static constexpr Index number = sizeof(double), in_register = EIGEN_MAX_ALIGN_BYTES / number;
    Vector v, scratch, column = {};  // with room for a register more
    ClipReport report = {};

    /// A copy: from the table itself, a function could reach the columns beside it. It is as
    /// aligned as the column, on which the last bits of sums depend.
    Eigen::Map<const Vector> copy_of(const double* from, Index width) {
      const auto place = reinterpret_cast<std::intptr_t>(from) / number % in_register;
      column.template head<in_register>().setZero();  // no other record's entries beside it
      column.template tail<in_register>().setZero();
      std::copy_n(from, width, column.data() + place);
      return {column.data() + place, width};
    }
  };

  /// function(arguments…) of a record, or nothing where it throws: that would tell of the record.
  template <class Answer, auto function, class... Arguments>
  static Answer answer(Vector& v, Arguments&&... arguments) {
    try {
      return function(std::forward<Arguments>(arguments)...);
    } catch (...) {
      v.setZero();
      return {};
    }
  }

  /// The sizes of what a sum of gradients asks for.
  struct Parts {
    Parts(Block block, Index d, Index duals)
        : x(block == Block::y ? 0 : d), y(block == Block::x ? 0 : duals), whole(d) {}

    /// Entries of v: a function may need room for ∇_x where ∇_y alone is asked for.
    Index written() const { return Loss::dual == DenseDual::shared ? x + y : whole; }
    /// Those of them that are asked for.
    Index in_v() const { return Loss::dual == DenseDual::shared ? x + y : x; }
    /// ‖(scale · v, dual)‖. Where a square or their product under- or overflows, and where the
    /// weight times the scale could, the scale goes into v first.
    double length(DenseGradient& g, Vector& v) const {
      const double of_y = own_dual && y > 0 ? g.dual : 0.0;
      if (in_v() == 0) return std::abs(of_y);
      const double factor = g.scale * g.scale;
      const double squares = how == DenseLength::by_block
                                 ? v.head(x).squaredNorm() + v.tail(y).squaredNorm()
                                 : v.squaredNorm();
      constexpr double least = 1e-280, most = 1e280;
      const double product = factor * squares;
      if (std::min({factor, squares, product}) > least && product < most)
        return how == DenseLength::by_factor
                   ? hypotenuse(std::abs(g.scale) * std::sqrt(squares), of_y)
                   : std::sqrt(product + of_y * of_y);
      v *= g.scale;
      g.scale = 1;
      return hypotenuse(length_of(v), of_y);
    }

    Index x, y, whole;
  };

  /// use(record, i, times, one, sum) for the columns of a sum; one.v and one.scratch are zero.
  template <class Query, class Use>
  ClipReport over_records(const Query& query, const Members& members, const Point* point,
                          const Point* previous, Index entries, VectorRef out,
                          const Use& use) const {
    const BatchView& columns = members.columns;
    const auto dual_of = [](const Point* p, Index i) {
      return own_dual && p != nullptr && p->has_dual() ? p->y[i] : 0.0;
    };
    return chunked_sum(columns.size(), out, [&](Index first, Index last, VectorRef partial) {
      const NoTraces of_this_thread;
      One one{Vector(entries), Vector(scratch_of(query)),
              Vector(table_.width() + One::in_register)};
      for (Index k = first; k < last; ++k) {
        const Index i = columns[k], times = members.times(i);
        if (columns.is_list() && k + 1 < last) prefetch(columns[k + 1]);
        if (times == 0) continue;
        one.v.setZero();
        one.scratch.setZero();
        const DenseRecord record{one.copy_of(table_.column(i), table_.width()), table_.label(i),
                                 dual_of(point, i), dual_of(previous, i)};
        use(record, i, times, one, partial);
      }
      return one.report;
    });
  }

  /// The same vector of all records, computed of one that is zero.
  ClipReport add_alike(const typename Loss::Gradients& query, const Parts& parts,
                       const Members& members, double limit, VectorRef out) const {
    static_assert(!own_dual);
    const Vector none = Vector::Zero(table_.width());
    One one{Vector::Zero(parts.written()), Vector::Zero(scratch_of(query))};
    const DenseRecord record{{none.data(), none.size()}, 0.0, 0.0, 0.0};
    const auto g = answer<DenseGradient, &Loss::gradient>(one.v, query, record, one.scratch.data(),
                                                          VectorRef(one.v));
    const Index times = members.records();
    if (times == 0) return {};
    one.v *= g.scale;
    const double weight = clip_weight(one.report, length_of(one.v), limit, times);
    if (weight != 0) out += weight * one.v;
    return one.report;
  }

  template <class Query>
  static Index scratch_of(const Query& query) {
    if constexpr (requires { Loss::scratch(query); }) return Loss::scratch(query);
    return 0;
  }
  /// Of a point's dual.
  Index count_duals() const {
    if constexpr (Loss::dual == DenseDual::shared) return Loss::dual_dimension(facts_);
    return own_dual ? table_.columns() : 0;
  }
  [[noreturn]] static void refuse(const std::string& what) {
    throw InputError(std::string(Loss::problem) + ": " + what);
  }
  static void check(std::initializer_list<Index> sizes, Index expected) {
    for (const Index size : sizes)
      if (size != expected)
        refuse("a vector of " + std::to_string(size) + " numbers, expected " +
               std::to_string(expected));
  }
  void check_dual(const Point& point, Block block) const {
    if constexpr (Loss::dual == DenseDual::none) return check_minimisation(Loss::problem, block);
    if (Loss::dual == DenseDual::shared && !point.has_dual())
      refuse("its dual is shared by all records, so a query needs y");
    if (block != Block::x && !point.has_dual())
      refuse("a query of the dual block needs y of dimension n");
    if (point.has_dual()) check({point.y.size()}, duals_);
  }

  /// The processor does not predict the order of a list.
  void prefetch(Index i) const {
    constexpr Index cache_line = 8;  // doubles
    for (Index e = 0; e < table_.width(); e += cache_line) __builtin_prefetch(table_.column(i) + e);
  }

  Facts facts_;
  RecordTable table_;
  Index dimension_, duals_;
};

}  // namespace dpsosp
