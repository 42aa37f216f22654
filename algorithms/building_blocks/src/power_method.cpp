// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/power_method.hpp"

#include <cmath>

namespace dpsosp {

LeastEigenpair noisy_power_method(Curator& curator, const BatchPolicy& policy, ConstVectorRef x,
                                  const PowerMethod& method, Stream& stream) {
  Vector v(x.size()), y(x.size());
  stream.fill_normal(1.0, v);
  v.normalize();
  double value = 0.0;
  for (Index t = 1; t <= method.products; ++t) {
    curator.hessian_product(Point(x), v, curator.draw(policy),
                            {method.hessian_limit, Noise::sensitivity_ratio(method.noise)}, y);
    value = v.dot(y);  // the last one is the Rayleigh quotient of the direction
    if (t == method.products) break;
    const Vector before = v;
    v = method.hessian_limit * v - y;  // (M I − H) v
    if (method.gain > 0) v = before + (method.gain / static_cast<double>(t)) * v;
    const double length = v.norm();
    if (!(length > 0) || !std::isfinite(length)) return {value, before, t};
    v /= length;
  }
  return {value, v, method.products};
}

double power_products(double hessian_limit, double error, double dimension, double failure) {
  const double relative = error / (2.0 * hessian_limit);
  return std::ceil(0.5 +
                   std::log(0.824 * std::sqrt(dimension) / failure) / -std::log1p(-relative)) +
         1.0;
}

}  // namespace dpsosp
