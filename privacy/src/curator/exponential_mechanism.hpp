// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "curator.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"

namespace dpsosp::door {

/// What `dpsosp::ExponentialMechanism` is a handle of.
class ExponentialMechanism {
 public:
  ExponentialMechanism(Curator& curator, const Batch& batch);

  double range(double lipschitz, double reach) const;
  double range(const ProductGrid& grid, double coordinate_lipschitz) const;
  double vertex_range(double gradient_limit, double diameter) const;

  Index choose(const Matrix& points, ConstVectorRef centre, double lipschitz, double epsilon);
  Index choose(const Net& net, double lipschitz, double epsilon, VectorRef out);
  void choose(const ProductGrid& grid, double coordinate_lipschitz, double epsilon, VectorRef out);

  Index choose_vertex(const Matrix& vertices, ConstVectorRef point, double gradient_limit,
                      double epsilon);
  Index choose_l1_vertex(double radius, ConstVectorRef point, double gradient_limit,
                         double epsilon);

  Curator& curator() const { return *curator_; }

 private:
  struct Opened {
    double inverse_temperature;  // λ; 0 where R is
    bool noise;
  };
  class Race;

  /// Charges the choice and lists it.
  Opened open(const char* query, double epsilon, double range);
  double score(ConstVectorRef point, ConstVectorRef centre, double lipschitz);
  void check_point(std::string_view name, ConstVectorRef point) const;
  const Vector& mean_gradient(ConstVectorRef point, double limit);
  BatchView view() const;

  Curator* curator_;
  Batch batch_;
  double size_;  // b
};

}  // namespace dpsosp::door
