// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "dpsosp/core/point.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// What clipping did in one sum. Depends on the records: for the evaluation log alone.
struct ClipReport {
  Index clipped = 0;          ///< records whose contribution was longer than the limit
  double largest_norm = 0.0;  ///< of a contribution before clipping

  void merge(const ClipReport& other) {
    clipped += other.clipped;
    largest_norm = std::max(largest_norm, other.largest_norm);
  }
  /// Counts a contribution of norm `norm`; returns min(1, limit / norm), 1 for norm 0.
  double weigh(double norm, double limit) {
    largest_norm = std::max(largest_norm, norm);
    if (norm <= limit) return 1.0;
    ++clipped;
    return limit / norm;  // NaN if the norm is; the curator drops such a contribution
  }
};

/// The records a sum runs over: a contiguous range, or an ascending list.
class BatchView {
 public:
  BatchView(Index begin, Index end) : begin_(begin), size_(end - begin) {}
  explicit BatchView(std::span<const Index> list) : list_(list), size_(std::ssize(list)) {}

  Index size() const { return size_; }
  bool is_list() const { return list_.data() != nullptr; }
  /// The first record of a range.
  Index begin() const { return begin_; }
  Index operator[](Index k) const {
    return is_list() ? list_[static_cast<std::size_t>(k)] : begin_ + k;
  }

 private:
  std::span<const Index> list_;
  Index begin_ = 0;
  Index size_ = 0;
};

/// What each record contributes to a sum: a vector, or numbers; without a previous point nothing is
/// subtracted. A view: its points and vectors outlive it.
struct Summand {
  enum class Kind {
    gradient,         ///< ∇f(point; z) − ∇f(previous; z) in the block
    loss,             ///< f(point; z) − f(previous; z)
    coordinate_loss,  ///< f_j(v_k; z) − f_j(centre; z) for all k
    hessian_product   ///< (∇²f(point; z) − ∇²f(previous; z)) v
  };
  static Summand gradient(const Point& point, Block block, const Point* previous = nullptr);
  static Summand loss(const Point& point, const Point& centre);
  static Summand coordinate_loss(Index j, ConstVectorRef values, double centre);
  static Summand hessian_product(const Point& point, ConstVectorRef v,
                                 const Point* previous = nullptr);

  /// Numbers of a contribution.
  Index entries() const;
  /// Whether all points and vectors are finite.
  bool finite() const;
  /// Null where nothing is subtracted.
  const Point* before() const { return previous ? &*previous : nullptr; }

  Kind kind;
  Point point;
  std::optional<Point> previous;
  Eigen::Ref<const Vector> v;
  Block block = Block::x;
  Index coordinate = 0;
  double centre = 0;
};

/// What queries read: sums over the records of a batch.
///
/// Every sum clips each record's own contribution: Σ_{i ∈ batch} min(1, limit/‖v_i‖) v_i, so that
/// exchanging one record moves it by at most 2·limit whatever the records are. `limit` may be
/// +infinity (no clipping). Sums have the same bits for any number of threads.
class RecordSums {
 public:
  virtual ~RecordSums() = default;

  /// n.
  virtual Index size() const = 0;
  /// out += Σ clip(summand of record i) over the batch; what is clipped, and how, the sums below
  /// say. \throws InputError if the problem does not answer it (see Point)
  virtual ClipReport add(const Summand& summand, const BatchView& batch, double limit,
                         VectorRef out) const = 0;
  /// How many contributions of the batch are longer than the limit. For the evaluation log alone.
  virtual Index longer(const Summand& summand, const BatchView& batch, double limit) const;
  /// Whether f(x; z) = Σ_j f_j(x_j; z) and losses of single coordinates are answered.
  virtual bool separable() const { return false; }
  /// Whether Hessian products are answered: by minimisation problems that know a bound of every
  /// record's Hessian.
  virtual bool has_second_order() const { return false; }
  /// A rank that no record's Hessian exceeds anywhere, whatever the record is; 0 where nothing
  /// better than the dimension is proved.
  virtual Index hessian_rank() const { return 0; }
  /// Whether whole Hessians are added, which records of rank one allow.
  virtual bool adds_hessians() const { return false; }
  /// Whether products with all unit vectors sum up to a matrix that one record moves by at most
  /// 2·limit in operator norm: for records of rank one, and where no record enters. Elsewhere each
  /// product is cut apart, so that a problem's false bound would move the matrix by √d times that.
  virtual bool sums_to_hessians() const { return false; }
  /// out += Σ min(1, limit/‖∇²f(point; z_i)‖) ∇²f(point; z_i) in d² entries, so that one record
  /// moves it by at most 2·limit in Frobenius norm. \throws InputError unless adds_hessians()
  virtual ClipReport add_hessians(const Point& point, const BatchView& batch, double limit,
                                  VectorRef out) const;

  /// out += Σ clip(∇f(point; z_i)) in the block; out has d, d₂ or d + d₂ entries (x before y).
  ClipReport add_gradients(const Point& point, Block block, const BatchView& batch, double limit,
                           VectorRef out) const {
    return add(Summand::gradient(point, block), batch, limit, out);
  }
  /// out += Σ clip(∇f(point; z_i) − ∇f(previous; z_i)) in the block.
  ClipReport add_gradient_differences(const Point& point, const Point& previous, Block block,
                                      const BatchView& batch, double limit, VectorRef out) const {
    return add(Summand::gradient(point, block, &previous), batch, limit, out);
  }
  /// out += Σ clamp(f(point; z_i) − f(centre; z_i), ±limit): scores of exponential mechanisms. The
  /// report's norms are absolute values. Minimisation problems alone.
  ClipReport add_loss_differences(const Point& point, const Point& centre, const BatchView& batch,
                                  double limit, double& out) const {
    return add(Summand::loss(point, centre), batch, limit, Eigen::Map<Vector>(&out, 1));
  }
  /// out_k += Σ clamp(f_j(values_k; z_i) − f_j(centre; z_i), ±limit·|values_k − centre|): scores of
  /// an exponential mechanism a coordinate at a time. The report's norms are absolute values over
  /// |values_k − centre|.
  ClipReport add_coordinate_loss_differences(Index coordinate, ConstVectorRef values, double centre,
                                             const BatchView& batch, double limit,
                                             VectorRef out) const {
    return add(Summand::coordinate_loss(coordinate, values, centre), batch, limit, out);
  }
  /// out += Σ min(1, limit/u_i) ∇²f(point; z_i) v with u_i ≥ ‖∇²f(point; z_i)‖ in operator norm, so
  /// that one record moves the sum by at most 2·limit·‖v‖ whatever v is. The report's norms are
  /// u_i.
  ClipReport add_hessian_products(const Point& point, ConstVectorRef v, const BatchView& batch,
                                  double limit, VectorRef out) const {
    return add(Summand::hessian_product(point, v), batch, limit, out);
  }
  /// The same for ∇²f(point; z_i) − ∇²f(previous; z_i).
  ClipReport add_hessian_difference_products(const Point& point, const Point& previous,
                                             ConstVectorRef v, const BatchView& batch, double limit,
                                             VectorRef out) const {
    return add(Summand::hessian_product(point, v, &previous), batch, limit, out);
  }
};

/// The data of a problem. Only a curator reads them. Either `Records` of admit.hpp, or
/// `UncheckedRecords`.
class AnyRecords : public RecordSums {
 public:
  AnyRecords(const AnyRecords&) = delete;  // would copy checked_
  AnyRecords& operator=(const AnyRecords&) = delete;
  /// Whether the sums are those of trusted/.
  bool checked() const { return checked_; }
  /// Whether what a record contributes to a sum depends on that record alone. Where it does not
  /// (batch normalisation), a clip bounds no sensitivity, and no run on the records is private.
  virtual bool separate() const { return true; }
  /// The records of the same losses φ(⟨w, z_i⟩; y_i), w ∈ R^k, of the features
  /// z_i = Φx_i·min(1, cap/‖Φx_i‖): a map of each record alone, so that exchanging a record
  /// exchanges one z_i of norm at most `cap` whatever Φ is. Generalised linear models without a
  /// regulariser alone. \param map  Φ, k × d, public \param cap  > 0
  /// \throws InputError if the problem has no such form or the shapes do not fit
  virtual std::unique_ptr<const AnyRecords> projected(const Matrix& map, double cap) const;

 private:
  friend class Records;
  friend class UncheckedRecords;
  explicit AnyRecords(bool checked) : checked_(checked) {}
  bool checked_;
};

/// Records whose sums code outside trusted/ makes, as networks do: a curator of them has the label
/// `conditional`, since nothing enforces that a sum clips each record.
class UncheckedRecords : public AnyRecords {
 protected:
  UncheckedRecords() : AnyRecords(false) {}
  UncheckedRecords(const UncheckedRecords&) : AnyRecords(false) {}
};

/// Sums that are drawn from their law, of records that nobody has: what is computed from them says
/// nothing about anybody. Ranges that overlap without being equal have no joint law, and the
/// curator refuses to mix them.
class SimulatedSums : public RecordSums {
 public:
  bool sums_to_hessians() const override { return true; }
  /// As of AnyRecords.
  virtual std::unique_ptr<const SimulatedSums> projected(const Matrix& map, double cap) const;
};

/// That a problem does not answer the sum. \throws InputError
[[noreturn]] void refuse(const Summand& summand);

/// Refuses every block but x.
void check_minimisation(std::string_view problem, Block block);

}  // namespace dpsosp
