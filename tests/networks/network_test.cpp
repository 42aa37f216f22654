// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/network.hpp"

#include <set>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/networks/network_loss.hpp"
#include "some_images.hpp"

namespace dpsosp::network_test {
namespace {

using namespace networks;

ImageNetworkOptions of_width(Index width, Index classes = 10) {
  return {.width = width, .classes = classes};
}

TEST(Network, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(cifar_cnn(of_width(1))->parameters(), 2'274'880);
  EXPECT_EQ(cifar_cnn(of_width(2))->parameters(), 570'144);
  EXPECT_EQ(cifar_cnn(of_width(4))->parameters(), 143'248);
  EXPECT_EQ(cifar_cnn(of_width(8))->parameters(), 36'168);
  EXPECT_EQ(resnet18(of_width(1))->parameters(), 11'173'962);
  EXPECT_EQ(resnet18(of_width(1, 100))->parameters(), 11'220'132);
  EXPECT_THROW(cifar_cnn(of_width(3)), InputError);
}

TEST(Network, NamesEveryParameterOnce) {
  for (const auto& network : {cifar_cnn(of_width(8)), resnet18(of_width(8))}) {
    std::set<std::string> names;
    Index next = 0;
    for (const Layer::Named& part : network->named()) {
      EXPECT_TRUE(names.insert(part.name).second) << part.name;
      Index entries = 1;
      for (const auto extent : part.shape) entries *= extent;
      EXPECT_EQ(part.offset, next) << part.name;
      next += entries;
    }
    EXPECT_EQ(next, network->parameters());
  }
}

TEST(Network, StartsWithUnitScalesAndBoundedKernels) {
  const auto network = cifar_cnn(of_width(8));
  const Vector x = network->initial(Stream({.seed = 3, .purpose = Purpose::initial_point}));
  const Vector y = network->initial(Stream({.seed = 4, .purpose = Purpose::initial_point}));
  EXPECT_NE(x, y);
  for (const Layer::Named& part : network->named()) {
    if (part.shape.size() != 4) continue;
    const auto entries = static_cast<double>(part.shape[1] * part.shape[2] * part.shape[3]);
    const Index size = part.shape[0] * part.shape[1] * part.shape[2] * part.shape[3];
    const double largest = x.segment(part.offset, size).cwiseAbs().maxCoeff();
    EXPECT_LE(largest * std::sqrt(entries), 1.0) << part.name;
    EXPECT_GE(largest * std::sqrt(entries), 0.9) << part.name;
  }
}

TEST(Network, ScoresATestSetWithTheStatisticsThatItIsHanded) {
  ImageNetworkOptions options = of_width(8);
  options.normalisation = Normalisation::batch;
  const auto network = cifar_cnn(options);
  const Vector x = network->initial(Stream({.seed = 1, .purpose = Purpose::initial_point}));
  const auto images = some_images(64, 1);
  std::vector<Index> all;
  for (Index i = 0; i < 64; ++i) all.push_back(i);
  const Computation twice{.type = torch::kDouble};
  const BatchStatistics own = statistics_at(*network, x, *images, all, twice);
  // With the statistics of the very batch, scores are those of training.
  const Scores scores = scores_at(*network, x, *images, own, twice);
  const std::shared_ptr<const Network> shared = cifar_cnn(options);
  EXPECT_NEAR(NetworkObjective(shared, images, all, twice).value(x), scores.loss, 1e-9);
  EXPECT_EQ(own.size(), 8U);
}

TEST(Images, AreAugmentedByRecordAndParametersAlone) {
  const auto images = some_images(40, 2, 3, 32, true);
  const std::vector<Index> one{7}, many{3, 7, 9};
  const auto options = torch::TensorOptions(torch::kFloat);
  const auto image = [&](const std::vector<Index>& rows, Index k, std::uint64_t point) {
    return images->chunk(rows, options, point).input[k];
  };
  EXPECT_TRUE(image(one, 0, 5).equal(image(many, 1, 5)));
  EXPECT_FALSE(image(one, 0, 5).equal(image(one, 0, 0)));
  int differ = 0;
  for (std::uint64_t point = 1; point <= 20; ++point)
    differ += image(one, 0, point).equal(image(one, 0, point + 1)) ? 0 : 1;
  EXPECT_GE(differ, 15);  // one of 50 augmentations repeats now and then
}

}  // namespace
}  // namespace dpsosp::network_test
