// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "dpsosp/networks/network_loss.hpp"
#include "some_images.hpp"

namespace dpsosp::network_curvature_test {
namespace {

using namespace networks;

class SmoothNetwork : public testing::TestWithParam<std::string> {};

TEST_P(SmoothNetwork, HasTheHessianOfItsGradient) {
  const ImageNetworkOptions options{.width = 8, .smooth = true};
  const std::shared_ptr<const Network> network =
      GetParam() == "cnn" ? cifar_cnn(options) : resnet18(options);
  const auto images = some_images(6, 21);
  const NetworkObjective objective(network, images, {0, 1, 2, 3, 5}, {.type = torch::kDouble});
  const Vector x = network->initial(Stream({.seed = 1, .purpose = Purpose::initial_point}));
  Stream stream({.seed = 2, .purpose = Purpose::test});
  Vector v(x.size()), product(x.size()), ahead(x.size()), behind(x.size());
  stream.fill_normal(1.0, v);
  v /= v.norm();
  objective.hessian_product(x, v, product);
  const double h = 1e-4;
  objective.gradient(x + h * v, ahead);
  objective.gradient(x - h * v, behind);
  EXPECT_LE((product - (ahead - behind) / (2 * h)).norm(), 1e-5 * product.norm());

  Vector gradient(x.size());
  objective.gradient(x, gradient);
  const double slope = (objective.value(x + h * v) - objective.value(x - h * v)) / (2 * h);
  EXPECT_NEAR(slope, gradient.dot(v), 1e-6 * (1 + std::abs(slope)));
}

INSTANTIATE_TEST_SUITE_P(Architectures, SmoothNetwork, testing::Values("cnn", "resnet18"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace dpsosp::network_curvature_test
