// SPDX-License-Identifier: Apache-2.0
#include "rotation.hpp"

#include <utility>

#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp {
namespace {

class Rotated final : public Objective {
 public:
  Rotated(std::shared_ptr<const Objective> objective, Matrix rotation)
      : objective_(std::move(objective)), Q_(std::move(rotation)) {}

  Index dimension() const override { return Q_.rows(); }
  double value(ConstVectorRef x) const override { return objective_->value(turned_back(x)); }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    Vector g(Q_.rows());
    objective_->gradient(turned_back(x), g);
    out.noalias() = Q_ * g;
  }
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override {
    Vector product(Q_.rows());
    objective_->hessian_product(turned_back(x), turned_back(v), product);
    out.noalias() = Q_ * product;
  }

 private:
  Vector turned_back(ConstVectorRef x) const { return Q_.transpose() * x; }

  std::shared_ptr<const Objective> objective_;
  Matrix Q_;
};

}  // namespace

Matrix random_rotation(Index dimension, std::uint64_t seed) {
  Stream stream(StreamKey{.seed = seed, .purpose = Purpose::data}.child(0));
  Matrix gaussian(dimension, dimension);
  for (double& entry : gaussian.reshaped()) entry = stream.normal();
  const QrFactors qr = full_qr(gaussian);
  // The signs of R's diagonal make the factor unique and its law the Haar measure.
  const Vector signs = qr.r_diagonal.unaryExpr([](double r) { return r < 0 ? -1.0 : 1.0; });
  return qr.q * signs.asDiagonal();
}

std::shared_ptr<const Objective> rotated(std::shared_ptr<const Objective> objective, Matrix Q) {
  return std::make_shared<Rotated>(std::move(objective), std::move(Q));
}

void rotate_landscape(Landscape& landscape, std::uint64_t seed) {
  if (seed == 0) return;
  const Matrix Q = random_rotation(landscape.objective->dimension(), seed);
  const auto turn = [&](Vector& v) { v = (Q * v).eval(); };
  landscape.objective = rotated(std::move(landscape.objective), Q);
  turn(landscape.starts.standard);
  if (landscape.starts.saddle) turn(*landscape.starts.saddle);
  for (Landmark& landmark : landscape.landmarks) turn(landmark.point);
  if (landscape.slice) {
    turn(landscape.slice->origin);
    turn(landscape.slice->along);
    turn(landscape.slice->across);
  }
}

}  // namespace dpsosp
