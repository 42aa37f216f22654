// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <vector>

#include "dpsosp/core/words.hpp"
#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {
namespace door {
class HessianStream;
}

/// How a Hessian stream keeps its estimate.
enum class HessianMode {
  dense,  ///< a d × d sum: d products a group, then none. As `lazy` for records whose bound is the
          ///< problem's word: a false one would move the sum by √d times what is charged
  lazy,   ///< points and batches: every product multiplies every group anew
};

constexpr auto words_of(HessianMode) {
  using enum HessianMode;
  return word_list<HessianMode>("Hessian mode", {{dense, "dense"}, {lazy, "lazy"}});
}

/// A running Hessian estimate that never leaves the curator, and noisy products with it.
///
/// H = Σ_g (1/b_g) Σ_{i ∈ group g} min(1, r_g/u_i) (∇²f(x_g; z_i) [− ∇²f(x′_g; z_i)]), u_i a bound
/// of the bracket's operator norm that the records supply. A product H v moves by at most
/// 2 r_g ‖v‖/b_g when a record of group g is exchanged; a record of several groups pays the sum.
/// Groups are summed as a matrix, or kept as points and batches and multiplied when asked.
/// Batches with secret membership are refused: their coins would answer many queries.
/// \source privacy-accounting notes, 15.1
class HessianStream {
 public:
  /// \param curator  outlives the stream and its snapshots
  explicit HessianStream(Curator& curator, HessianMode mode = HessianMode::lazy);
  ~HessianStream();
  HessianStream(const HessianStream& other);
  HessianStream& operator=(const HessianStream& other);
  HessianStream(HessianStream&&) noexcept;
  HessianStream& operator=(HessianStream&&) noexcept;

  /// Starts anew from the mean Hessian of a batch, each record's weighed to norm `limit` ≥ 0 (M).
  void refresh(const Point& point, const Batch& batch, double limit);
  /// Adds the mean difference of Hessians, each record's weighed to `limit` (ρ‖x − x′‖).
  void add(const Point& point, const Point& previous, const Batch& batch, double limit);

  std::size_t groups() const;

  /// out = H v + N(0, s² I), s = `standard_deviation` per coordinate, in [1e-150, 1e150]. Charged
  /// to every record of every group; where v = 0 nothing is charged and out is the noise alone. The
  /// stream may be copied before and the copy asked later: it is the estimate of that moment.
  /// \throws BudgetExhausted (nothing drawn, out untouched), InputError
  void product(ConstVectorRef v, double standard_deviation, VectorRef out);

 private:
  std::unique_ptr<door::HessianStream> session_;
};

}  // namespace dpsosp
