// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "curator.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"

namespace dpsosp::door {

/// What `dpsosp::HessianStream` is a handle of.
class HessianStream {
 public:
  explicit HessianStream(Curator& curator, HessianMode mode = HessianMode::lazy)
      : curator_(&curator), mode_(mode) {}

  void refresh(const Point& point, const Batch& batch, double limit);
  void add(const Point& point, const Point& previous, const Batch& batch, double limit);

  std::size_t groups() const { return groups_.size(); }

  void product(ConstVectorRef v, double standard_deviation, VectorRef out);

  Curator& curator() const { return *curator_; }

 private:
  struct Group {
    Vector point;     // empty if dense
    Vector previous;  // empty: the Hessian itself
    Batch batch;
    double limit;
  };
  void check_group(const Point& point, const Batch& batch, double limit) const;

  void keep(const Point& point, const Vector& previous, const Batch& batch, double limit);

  Curator* curator_;
  HessianMode mode_;
  std::vector<Group> groups_;
  Matrix sum_;  // dense; never released
};

}  // namespace dpsosp::door
