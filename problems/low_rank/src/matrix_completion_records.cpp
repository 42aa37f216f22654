// SPDX-License-Identifier: Apache-2.0
#include "matrix_completion_records.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dpsosp/problems/clipped_sum.hpp"

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
void add_slope(
    const CompletionShape& s, const Cells& at, Index a, Index b, double c, VectorRef out) {
  Eigen::Map<Matrix>(out.data(), s.p, s.r).row(a) += c * at.V.row(b);
  Eigen::Map<Matrix>(out.data() + s.p * s.r, s.q, s.r).row(b) += c * at.U.row(a);
}

/// What a query asks of one record beside the balancing term that all have in common.
template <class Sums>
class CompletionSums : public Sums {
 public:
  explicit CompletionSums(const CompletionShape& shape) : shape_(shape) {}

  bool has_second_order() const final { return true; }

 protected:
  const CompletionShape& shape() const { return shape_; }

  /// ∇ of the balancing term, or its difference.
  Vector common_gradient(const Point& point, const Point* previous) const {
    Vector common = Vector::Zero(shape_.dimension());
    shape_.balance_term().add_gradient(point.x, common);
    if (previous == nullptr) return common;
    Vector before = Vector::Zero(common.size());
    shape_.balance_term().add_gradient(previous->x, before);
    return common - before;
  }

  double loss_difference(
      const Cells& to, const Cells& from, double common, Index a, Index b, double value) const {
    const double t = to.entry(a, b), before = from.entry(a, b);
    return 0.5 * shape_.weight * (t - before) * (t + before - 2 * value) + common;
  }

  /// The data part has the Hessian w(ggᵀ + (t − v)K) with K the exchange of the two rows, ‖K‖ = 1.
  double curvature_bound(const Cells& at, Index a, Index b, double value) const {
    return shape_.weight * (at.squared_slope(a, b) + std::abs(at.entry(a, b) - value));
  }
  /// Its difference: ggᵀ − g′g′ᵀ has norm at most ‖g − g′‖‖g + g′‖.
  double curvature_change_bound(const Cells& to, const Cells& from, Index a, Index b) const {
    const double less = std::sqrt((to.U.row(a) - from.U.row(a)).squaredNorm() +
                                  (to.V.row(b) - from.V.row(b)).squaredNorm());
    const double more = std::sqrt((to.U.row(a) + from.U.row(a)).squaredNorm() +
                                  (to.V.row(b) + from.V.row(b)).squaredNorm());
    return shape_.weight * (less * more + std::abs(to.entry(a, b) - from.entry(a, b)));
  }

 private:
  CompletionShape shape_;
};

class StoredEntries final : public CompletionSums<Records> {
 public:
  explicit StoredEntries(CompletionData data)
      : CompletionSums({data.rows, data.cols, data.rank, data.weight, data.balance}),
        cells_(std::move(data.cells)),
        values_(std::move(data.values)) {}

  Index size() const override { return values_.size(); }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    check_minimisation(problem_name, block);
    const Vector common = common_gradient(point, nullptr);
    const Cells at(shape(), point.x);
    return clipped_sum(batch, limit, out, [&](Index i, Vector& v) {
      v.head(common.size()) = common;
      add_data_gradient(at, i, 1.0, v);
    });
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    check_minimisation(problem_name, block);
    const Vector common = common_gradient(point, &previous);
    const Cells to(shape(), point.x), from(shape(), previous.x);
    return clipped_sum(batch, limit, out, [&](Index i, Vector& v) {
      v.head(common.size()) = common;
      add_data_gradient(to, i, 1.0, v);
      add_data_gradient(from, i, -1.0, v);
    });
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    const BalanceTerm balance = shape().balance_term();
    const double common = balance.value(point.x) - balance.value(centre.x);
    const Cells to(shape(), point.x), from(shape(), centre.x);
    return clamped_sum(batch, limit, out, [&](Index i) {
      return loss_difference(to, from, common, row(i), col(i), values_[i]);
    });
  }

  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const override {
    const BalanceTerm balance = shape().balance_term();
    Vector common = Vector::Zero(out.size());
    balance.add_hessian_product(point.x, v, common);
    const double common_bound = balance.curvature_bound(point.x);
    const Cells at(shape(), point.x), along(shape(), v);
    return weighed_sum(batch, limit, out, [&](Index i, Vector& product) {
      product.head(common.size()) = common;
      add_data_product(at, along, i, product);
      return common_bound + curvature_bound(at, row(i), col(i), values_[i]);
    });
  }

  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const override {
    const BalanceTerm balance = shape().balance_term();
    Vector common = Vector::Zero(out.size()), before = common;
    balance.add_hessian_product(point.x, v, common);
    balance.add_hessian_product(previous.x, v, before);
    common -= before;
    const double common_bound = balance.curvature_change_bound(point.x, previous.x);
    const Cells to(shape(), point.x), from(shape(), previous.x), along(shape(), v);
    const double length = v.stableNorm();
    return weighed_sum(batch, limit, out, [&](Index i, Vector& product) {
      product.head(common.size()) = common;
      add_data_change(to, from, along, i, product);
      const double bound = common_bound + curvature_change_bound(to, from, row(i), col(i));
      // Between points that nearly agree the difference is rounding, which no bound knows of.
      return length > 0 ? std::max(bound, product.stableNorm() / length) : bound;
    });
  }

 private:
  Index row(Index i) const { return cells_[static_cast<std::size_t>(i)] % shape().p; }
  Index col(Index i) const { return cells_[static_cast<std::size_t>(i)] / shape().p; }

  void add_data_gradient(const Cells& at, Index i, double sign, Vector& v) const {
    const Index a = row(i), b = col(i);
    const double c = sign * shape().weight * (at.entry(a, b) - values_[i]);
    add_slope(shape(), at, a, b, c, v);
  }
  void add_data_product(const Cells& at, const Cells& along, Index i, Vector& product) const {
    const Index a = row(i), b = col(i);
    const double c = shape().weight;
    add_slope(shape(), at, a, b, c * at.slope_along(along, a, b), product);
    add_slope(shape(), along, a, b, c * (at.entry(a, b) - values_[i]), product);
  }

  /// The value cancels, and with it the rounding of t − v.
  void add_data_change(
      const Cells& to, const Cells& from, const Cells& along, Index i, Vector& product) const {
    const Index a = row(i), b = col(i);
    const double w = shape().weight;
    add_slope(shape(), to, a, b, w * to.slope_along(along, a, b), product);
    add_slope(shape(), from, a, b, -w * from.slope_along(along, a, b), product);
    add_slope(shape(), along, a, b, w * (to.entry(a, b) - from.entry(a, b)), product);
  }

  std::vector<Index> cells_;
  Vector values_;
};

/// A sum over records is a derivative of a sum of losses that depends on two numbers a cell: how
/// many records, and the sum of their signs.
class SimulatedEntries final : public CompletionSums<SimulatedSums> {
 public:
  SimulatedEntries(const CompletionShape& shape,
                   Matrix planted,
                   double noise,
                   RecordSampling sampling,
                   const InstanceSpec& spec)
      : CompletionSums(shape),
        planted_(std::move(planted)),
        noise_(noise),
        sampling_(sampling),
        spec_(spec) {}

  Index size() const override { return spec_.records; }

  /// Σ f over records [begin, begin + size), times `scale`.
  std::unique_ptr<const Objective> total_loss(Index begin, Index size, double scale) const {
    const CompletionShape& s = shape();
    Stream stream = range_stream(spec_.data_seed, begin, size);
    FactoredForm form{
        planted_, Matrix(s.p, s.q), s.r, scale * s.balance * static_cast<double>(size), 0.0};
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

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    check_minimisation(problem_name, block);
    const auto total = checked_loss(batch, largest_gradient(point, nullptr), limit);
    Vector sum(out.size());
    total->gradient(point.x, sum);
    out += sum;
    return {};
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    check_minimisation(problem_name, block);
    const auto total = checked_loss(batch, largest_gradient(point, &previous), limit);
    Vector sum(out.size()), before(out.size());
    total->gradient(point.x, sum);
    total->gradient(previous.x, before);
    out += sum - before;
    return {};
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    const BalanceTerm balance = shape().balance_term();
    const double common = balance.value(point.x) - balance.value(centre.x);
    const Cells to(shape(), point.x), from(shape(), centre.x);
    const double largest = over_records([&](Index a, Index b, double value) {
      return std::abs(loss_difference(to, from, common, a, b, value));
    });
    const auto total = checked_loss(batch, largest, limit);
    out += total->value(point.x) - total->value(centre.x);
    return {};
  }

  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const override {
    const Cells at(shape(), point.x);
    const double largest = shape().balance_term().curvature_bound(point.x) +
                           over_records([&](Index a, Index b, double value) {
                             return curvature_bound(at, a, b, value);
                           });
    const auto total = checked_loss(batch, largest, limit);
    Vector sum(out.size());
    total->hessian_product(point.x, v, sum);
    out += sum;
    return {};
  }

  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const override {
    const Cells to(shape(), point.x), from(shape(), previous.x);
    const double largest = shape().balance_term().curvature_change_bound(point.x, previous.x) +
                           over_records([&](Index a, Index b, double) {
                             return curvature_change_bound(to, from, a, b);
                           });
    const auto total = checked_loss(batch, largest, limit);
    Vector sum(out.size()), before(out.size());
    total->hessian_product(point.x, v, sum);
    total->hessian_product(previous.x, v, before);
    out += sum - before;
    return {};
  }

 private:
  std::unique_ptr<const Objective> checked_loss(const BatchView& batch,
                                                double largest,
                                                double limit) const {
    check_simulated_batch(problem_name, sampling_, batch, spec_.records);
    check_simulated_limit(problem_name, largest, limit);
    return total_loss(batch.begin(), batch.size(), 1.0);
  }

  /// Largest of score(a, b, v) over every record that there can be.
  template <class Score>
  double over_records(const Score& score) const {
    double largest = 0;
    for (Index b = 0; b < shape().q; ++b)
      for (Index a = 0; a < shape().p; ++a)
        for (const double noise : {noise_, -noise_})
          largest = std::max(largest, score(a, b, planted_(a, b) + noise));
    return largest;
  }

  double largest_gradient(const Point& point, const Point* previous) const {
    const CompletionShape& s = shape();
    const Vector common = common_gradient(point, previous);
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

  Matrix planted_;
  double noise_;
  RecordSampling sampling_;
  InstanceSpec spec_;
};

}  // namespace

SimulatedCompletion simulated_completion(const CompletionShape& shape,
                                         Matrix planted,
                                         double noise,
                                         RecordSampling sampling,
                                         const InstanceSpec& spec) {
  auto sums = std::make_unique<SimulatedEntries>(shape, std::move(planted), noise, sampling, spec);
  std::unique_ptr<const Objective> empirical;
  if (sampling == RecordSampling::whole)
    empirical = sums->total_loss(0, spec.records, 1 / static_cast<double>(spec.records));
  return {std::move(sums), std::move(empirical)};
}

std::unique_ptr<const Records> completion_records(CompletionData data) {
  return std::make_unique<StoredEntries>(std::move(data));
}

std::unique_ptr<const Objective> completion_objective(const CompletionData& data) {
  const double share = data.weight / static_cast<double>(data.values.size());
  FactoredForm form{Matrix::Zero(data.rows, data.cols),
                    Matrix::Zero(data.rows, data.cols),
                    data.rank,
                    data.balance,
                    0.0};
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
