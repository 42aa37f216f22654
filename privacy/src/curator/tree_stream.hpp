// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "curator.hpp"
#include "dpsosp/privacy/tree_stream.hpp"

namespace dpsosp::door {

/// What `dpsosp::TreeStream` is a handle of.
class TreeStream {
 public:
  TreeStream(Curator& curator, double sigma, std::int64_t max_leaves);
  ~TreeStream();

  void restart();
  /// Gradients, or with `previous`, which may be null, gradient differences.
  void push(const Point& point, const Point* previous, const Batch& batch,
            const GradientQuery& query, VectorRef out);

  std::int64_t leaves() const { return leaves_; }

  Curator& curator() const { return *curator_; }

 private:
  struct Leaf {
    RecordRange range;
    double sensitivity;
  };
  /// The leaf and the node that it completes, of 2^level leaves; what push has paid for.
  void push_seeded(const Summand& summand, const Batch& batch, double limit, double divisor,
                   std::size_t level, VectorRef out);
  void push_exactly(const Summand& summand, const Batch& batch, double limit, double divisor,
                    std::size_t level, VectorRef out);

  Curator* curator_;
  double sigma_;
  std::int64_t max_leaves_;
  std::int64_t leaves_ = 0;
  Index entries_ = 0;          // of the leaves
  Vector sum_;                 // never released
  std::vector<Vector> nodes_;  // noise of the active node of each level; empty = inactive
  std::vector<Leaf> history_;
  struct ExactSums;
  std::unique_ptr<ExactSums> exact_;  // in place of sum_ and nodes_ where noise is exact
};

}  // namespace dpsosp::door
