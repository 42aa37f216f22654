// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <mutex>

#include "dpsosp/core/vector_blocks.hpp"
#include "dpsosp/trusted/detail/clipped_sums.hpp"
#include "dpsosp/trusted/row_loss.hpp"

namespace dpsosp {

/// Clipped sums of φ(⟨a, x⟩; b) + g(x) over the columns of a table. A gradient is a multiple of the
/// column and a part that all records share: a sum costs a dot product and a scaled addition a
/// record, and where φ is the score itself no dot product.
class RowSums final : public ClippedSums {
 public:
  RowSums(RowLoss loss, RecordTable table);

  const RecordTable& table() const override { return table_; }
  bool separable() const override;
  bool has_second_order() const override;
  /// 1 of φ″aaᵀ; 0 where g adds to it.
  Index hessian_rank() const override { return loss_.common ? 0 : 1; }

  bool adds_hessians() const override { return !loss_.common && !loss_.tilted; }
  bool sums_to_hessians() const override { return !loss_.common || loss_.tilted; }
  ClipReport add(const Summand& summand, const Members& members, double limit,
                 VectorRef out) const override;
  ClipReport add_hessians(const Point& point, const Members& members, double limit,
                          VectorRef out) const override;
  std::unique_ptr<const ClippedSums> projected(const Matrix& map, double cap) const override;

 private:
  ClipReport add_of(const Summand& s, const Members& members, double limit, VectorRef out) const;
  ClipReport add_gradients(const Summand& s, const Members& members, double limit,
                           VectorRef out) const;
  ClipReport add_losses(const Summand& s, const Members& members, double limit,
                        VectorRef out) const;
  ClipReport add_coordinate_losses(const Summand& s, const Members& members, double limit,
                                   VectorRef out) const;
  ClipReport add_products(const Summand& s, const Members& members, double limit,
                          VectorRef out) const;
  struct Few;
  struct Sum;
  struct Clamped;
  template <class Use>
  void by_few(int order, const Point& point, const Point* previous, const BatchView& columns,
              Index first, Index last, const Use& use) const;
  void check(std::initializer_list<Index> sizes) const;
  void check(std::initializer_list<Index> sizes, Index expected) const;
  Vector common_gradient(const Point& point, const Point* previous) const;
  void add_vectors(Sum& sum, const Few& few, Index k) const;
  void add_multiples(Sum& sum, Few& few, Index k) const;
  void add_shifted(Sum& sum, Index first, Index last) const;
  const VectorBlocks& blocks() const;

  RowLoss loss_;
  RecordTable table_;
  Vector lengths_;  // of the columns
  mutable std::once_flag blocks_made_;
  mutable VectorBlocks blocks_;
};

}  // namespace dpsosp
