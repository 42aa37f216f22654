// SPDX-License-Identifier: Apache-2.0
#include "matrix_completion_records.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/admit.hpp"

namespace dpsosp {
namespace {

constexpr std::string_view problem_name = "matrix-completion";

/// A point, seen cell by cell: t = u_aᵀv_b and g = (v_b, u_a), its gradient.
struct Cells {
  Cells(const CompletionShape& s, ConstVectorRef x) : U(s.left(x)), V(s.right(x)) {}

  double entry(Index a, Index b) const { return U.row(a).dot(V.row(b)); }
  double squared_slope(Index a, Index b) const {
    return U.row(a).squaredNorm() + V.row(b).squaredNorm();
  }
  /// ⟨g, v⟩ for another point v.
  double slope_along(const Cells& v, Index a, Index b) const {
    return V.row(b).dot(v.U.row(a)) + U.row(a).dot(v.V.row(b));
  }

  Eigen::Map<const Matrix> U, V;
};

/// x += c g at the cell.
void add_slope(const CompletionShape& s, const Cells& at, Index a, Index b, double c,
               VectorRef out) {
  Eigen::Map<Matrix>(out.data(), s.p, s.r).row(a) += c * at.V.row(b);
  Eigen::Map<Matrix>(out.data() + s.p * s.r, s.q, s.r).row(b) += c * at.U.row(a);
}

/// ∇ of the balancing term, or its difference: what all records have in common.
Vector common_gradient(const CompletionShape& s, const Point& point, const Point* previous) {
  Vector common = Vector::Zero(s.dimension());
  s.balance_term().add_gradient(point.x, common);
  if (previous == nullptr) return common;
  Vector before = Vector::Zero(common.size());
  s.balance_term().add_gradient(previous->x, before);
  return common - before;
}

double loss_difference(const CompletionShape& s, const Cells& to, const Cells& from, double common,
                       Index a, Index b, double value) {
  const double t = to.entry(a, b), before = from.entry(a, b);
  return 0.5 * s.weight * (t - before) * (t + before - 2 * value) + common;
}

/// The data part has the Hessian w(ggᵀ + (t − v)K) with K the exchange of the two rows, ‖K‖ = 1.
double curvature_bound(const CompletionShape& s, const Cells& at, Index a, Index b, double value) {
  return s.weight * (at.squared_slope(a, b) + std::abs(at.entry(a, b) - value));
}
/// Its difference: ggᵀ − g′g′ᵀ has norm at most ‖g − g′‖‖g + g′‖.
double curvature_change_bound(const CompletionShape& s, const Cells& to, const Cells& from, Index a,
                              Index b) {
  const double less = std::sqrt((to.U.row(a) - from.U.row(a)).squaredNorm() +
                                (to.V.row(b) - from.V.row(b)).squaredNorm());
  const double more = std::sqrt((to.U.row(a) + from.U.row(a)).squaredNorm() +
                                (to.V.row(b) + from.V.row(b)).squaredNorm());
  return s.weight * (less * more + std::abs(to.entry(a, b) - from.entry(a, b)));
}

/// A record has the column (a, b) and its value as label.
struct CompletionLoss {
  static constexpr std::string_view problem = problem_name;
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = CompletionShape;
  struct Gradients : DenseQuery<Facts> {
    Gradients(const Facts& s, const Point& point, const Point* previous, Block asked)
        : DenseQuery(s, point, previous, asked), common(common_gradient(s, point, previous)) {}
    Vector common;
  };
  struct Losses : DenseQuery<Facts> {
    Losses(const Facts& s, const Point& point, const Point& centre) : DenseQuery(s, point, centre) {
      const BalanceTerm balance = s.balance_term();
      common = balance.value(x) - balance.value(x_before);
    }
    double common;
  };
  struct Products : DenseQuery<Facts> {
    Products(const Facts& s, const Point& point, const Point* previous, ConstVectorRef v)
        : DenseQuery(s, point, previous, v), common(Vector::Zero(v.size())) {
      const BalanceTerm balance = s.balance_term();
      balance.add_hessian_product(x, v, common);
      bound = difference ? balance.curvature_change_bound(x, x_before) : balance.curvature_bound(x);
      if (!difference) return;
      Vector before = Vector::Zero(v.size());
      balance.add_hessian_product(x_before, v, before);
      common -= before;
    }
    Vector common;
    double bound;
  };

  static Index dimension(const Facts& facts) { return facts.dimension(); }

  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    v = at.common;
    add_data_gradient(at.facts, at.x, z, 1.0, v);
    if (at.difference) add_data_gradient(at.facts, at.x_before, z, -1.0, v);
    return {};
  }
  static double loss(const Losses& at, const DenseRecord& z, double*) {
    const CompletionShape& s = at.facts;
    const auto [a, b] = cell(s, z);
    return loss_difference(s, Cells(s, at.x), Cells(s, at.x_before), at.common, a, b, z.label);
  }
  /// In a difference the value cancels, and with it the rounding of t − v.
  static double product(const Products& at, const DenseRecord& z, double*, VectorRef v) {
    const CompletionShape& s = at.facts;
    const auto [a, b] = cell(s, z);
    const Cells to(s, at.x), along(s, at.direction);
    v = at.common;
    add_slope(s, to, a, b, s.weight * to.slope_along(along, a, b), v);
    if (!at.difference) {
      add_slope(s, along, a, b, s.weight * (to.entry(a, b) - z.label), v);
      return at.bound + curvature_bound(s, to, a, b, z.label);
    }
    const Cells from(s, at.x_before);
    add_slope(s, from, a, b, -s.weight * from.slope_along(along, a, b), v);
    add_slope(s, along, a, b, s.weight * (to.entry(a, b) - from.entry(a, b)), v);
    return at.bound + curvature_change_bound(s, to, from, a, b);
  }

 private:
  static std::pair<Index, Index> cell(const CompletionShape& s, const DenseRecord& z) {
    const auto index = [](double entry, Index size) {
      return static_cast<Index>(std::clamp(entry, 0.0, static_cast<double>(size - 1)));
    };
    return {index(z.column[0], s.p), index(z.column[1], s.q)};
  }
  static void add_data_gradient(const CompletionShape& s, const Vector& x, const DenseRecord& z,
                                double sign, VectorRef v) {
    const Cells at(s, x);
    const auto [a, b] = cell(s, z);
    const double c = sign * s.weight * (at.entry(a, b) - z.label);
    add_slope(s, at, a, b, c, v);
  }
};

/// A sum over records is a derivative of a sum of losses that depends on two numbers a cell: how
/// many records, and the sum of their signs.
class SimulatedEntries final : public SimulatedSums {
 public:
  SimulatedEntries(const CompletionShape& shape, Matrix planted, double noise,
                   RecordSampling sampling, const InstanceSpec& spec)
      : shape_(shape),
        planted_(std::move(planted)),
        noise_(noise),
        sampling_(sampling),
        spec_(spec) {}

  Index size() const override { return spec_.records; }
  bool has_second_order() const override { return true; }

  /// Σ f over records [begin, begin + size), times `scale`.
  std::unique_ptr<const Objective> total_loss(Index begin, Index size, double scale) const {
    const CompletionShape& s = shape_;
    Stream stream = range_stream(spec_.data_seed, begin, size);
    FactoredForm form{planted_, Matrix(s.p, s.q), s.r,
                      scale * s.balance * static_cast<double>(size), 0.0};
    Index left = size;
    for (Index cell = 0; cell < s.p * s.q; ++cell) {
      const Index count = stream.binomial(left, 1.0 / static_cast<double>(s.p * s.q - cell));
      left -= count;
      const auto signs = static_cast<double>(2 * stream.binomial(count, 0.5) - count);
      const auto in_cell = static_cast<double>(count);
      const double mean_sign = count > 0 ? signs / in_cell : 0.0;
      form.target.reshaped()[cell] += noise_ * mean_sign;
      form.weights.reshaped()[cell] = scale * s.weight * in_cell;
      form.offset +=
          0.5 * scale * s.weight * noise_ * noise_ * in_cell * (1 - mean_sign * mean_sign);
    }
    return factored_objective(std::move(form));
  }

  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    check_minimisation(problem_name, s.block);
    check_simulated_batch(problem_name, sampling_, batch, spec_.records);
    check_simulated_limit(problem_name, largest(s), limit);
    const auto total = total_loss(batch.begin(), batch.size(), 1.0);
    if (s.kind == Summand::Kind::loss) {
      out[0] += total->value(s.point.x) - total->value(s.previous->x);
      return {};
    }
    const auto sum_at = [&](const Point& at) {
      Vector sum(out.size());
      if (s.kind == Summand::Kind::gradient)
        total->gradient(at.x, sum);
      else
        total->hessian_product(at.x, s.v, sum);
      return sum;
    };
    if (s.previous)
      out += sum_at(s.point) - sum_at(*s.previous);
    else
      out += sum_at(s.point);
    return {};
  }

 private:
  /// Contribution that there can be, or bound of one's Hessian.
  double largest(const Summand& s) const {
    const BalanceTerm balance = shape_.balance_term();
    const Cells to(shape_, s.point.x);
    switch (s.kind) {
      case Summand::Kind::gradient:
        return largest_gradient(s.point, s.before());
      case Summand::Kind::loss: {
        const double common = balance.value(s.point.x) - balance.value(s.previous->x);
        const Cells from(shape_, s.previous->x);
        return over_records([&](Index a, Index b, double value) {
          return std::abs(loss_difference(shape_, to, from, common, a, b, value));
        });
      }
      case Summand::Kind::coordinate_loss:
        refuse(s);
      case Summand::Kind::hessian_product:
        break;
    }
    if (!s.previous)
      return balance.curvature_bound(s.point.x) + over_records([&](Index a, Index b, double value) {
               return curvature_bound(shape_, to, a, b, value);
             });
    const Cells from(shape_, s.previous->x);
    return balance.curvature_change_bound(s.point.x, s.previous->x) +
           over_records([&](Index a, Index b, double) {
             return curvature_change_bound(shape_, to, from, a, b);
           });
  }

  /// Largest of score(a, b, v) over every record that there can be.
  template <class Score>
  double over_records(const Score& score) const {
    double largest = 0;
    for (Index b = 0; b < shape_.q; ++b)
      for (Index a = 0; a < shape_.p; ++a)
        for (const double noise : {noise_, -noise_})
          largest = std::max(largest, score(a, b, planted_(a, b) + noise));
    return largest;
  }

  double largest_gradient(const Point& point, const Point* previous) const {
    const CompletionShape& s = shape_;
    const Vector common = common_gradient(s, point, previous);
    const Cells rest(s, common), to(s, point.x);
    const Cells from(s, previous != nullptr ? previous->x : point.x);
    const double w = s.weight, w_from = previous != nullptr ? w : 0.0;
    const double common_squared = common.squaredNorm();
    return std::sqrt(over_records([&](Index a, Index b, double value) {
      const double c = w * (to.entry(a, b) - value), c_from = w_from * (from.entry(a, b) - value);
      const double elsewhere = common_squared - rest.squared_slope(a, b);
      return std::max(elsewhere, 0.0) +
             (rest.U.row(a) + c * to.V.row(b) - c_from * from.V.row(b)).squaredNorm() +
             (rest.V.row(b) + c * to.U.row(a) - c_from * from.U.row(a)).squaredNorm();
    }));
  }

  CompletionShape shape_;
  Matrix planted_;
  double noise_;
  RecordSampling sampling_;
  InstanceSpec spec_;
};

}  // namespace

SimulatedCompletion simulated_completion(const CompletionShape& shape, Matrix planted, double noise,
                                         RecordSampling sampling, const InstanceSpec& spec) {
  auto sums = std::make_unique<SimulatedEntries>(shape, std::move(planted), noise, sampling, spec);
  std::unique_ptr<const Objective> empirical;
  if (sampling == RecordSampling::whole)
    empirical = sums->total_loss(0, spec.records, 1 / static_cast<double>(spec.records));
  return {std::move(sums), std::move(empirical)};
}

std::unique_ptr<const AnyRecords> completion_records(CompletionData data) {
  RecordColumns records{Matrix(2, data.values.size()), std::move(data.values)};
  for (Index i = 0; i < records.labels.size(); ++i) {
    const Index cell = data.cells[static_cast<std::size_t>(i)];
    records.features.col(i) << static_cast<double>(cell % data.rows),
        static_cast<double>(cell / data.rows);
  }
  const CompletionShape shape{data.rows, data.cols, data.rank, data.weight, data.balance};
  return admit<CompletionLoss>(shape, RecordTable(std::move(records)));
}

std::unique_ptr<const Objective> completion_objective(const CompletionData& data) {
  const double share = data.weight / static_cast<double>(data.values.size());
  FactoredForm form{Matrix::Zero(data.rows, data.cols), Matrix::Zero(data.rows, data.cols),
                    data.rank, data.balance, 0.0};
  auto means = form.target.reshaped();
  auto counts = form.weights.reshaped();
  const auto cell = [&](Index i) { return data.cells[static_cast<std::size_t>(i)]; };
  for (Index i = 0; i < data.values.size(); ++i) {
    counts[cell(i)] += 1;
    means[cell(i)] += (data.values[i] - means[cell(i)]) / counts[cell(i)];
  }
  for (Index i = 0; i < data.values.size(); ++i)
    form.offset += 0.5 * share * std::pow(data.values[i] - means[cell(i)], 2);
  form.weights *= share;
  return factored_objective(std::move(form));
}

}  // namespace dpsosp
