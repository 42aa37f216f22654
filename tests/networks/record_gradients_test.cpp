// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/networks/network_loss.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "some_images.hpp"

namespace dpsosp::record_gradients_test {
namespace {

using namespace networks;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index count = 9;

struct Case {
  std::string network;
  RecordForm form;
  torch::Dtype type;
};

std::string name_of(const Case& c) {
  const std::array<std::string, 3> forms{"Direct", "Ghost", "Automatic"};
  return c.network + forms[static_cast<std::size_t>(c.form)];
}

std::shared_ptr<Network> make(const std::string& name, RecordForm form,
                              Normalisation kind = Normalisation::group) {
  const ImageNetworkOptions options{.width = name == "resnet18" ? 8 : 4, .normalisation = kind};
  std::shared_ptr<Network> network = name == "cnn"        ? cifar_cnn(options)
                                     : name == "resnet18" ? resnet18(options)
                                                          : small_cnn(options);
  network->form = form;
  return network;
}

Vector start_of(const Network& network, std::uint64_t seed = 1) {
  return network.initial(Stream({.seed = seed, .purpose = Purpose::initial_point}));
}

/// ∇f(x; z_i) by a backward pass of that record alone.
Vector gradient_of(const std::shared_ptr<const Network>& network,
                   const std::shared_ptr<const Examples>& images, Index record, ConstVectorRef x) {
  Vector gradient(x.size());
  NetworkObjective(network, images, {record}, {.type = torch::kDouble}).gradient(x, gradient);
  return gradient;
}

class RecordGradients : public testing::TestWithParam<Case> {};

TEST_P(RecordGradients, HaveTheNormsOfOneRecordAtATime) {
  const Case& c = GetParam();
  const auto network = make(c.network, c.form);
  const auto images = some_images(count, 11);
  const NetworkRecords records(network, images, {.type = c.type});
  const Vector x = start_of(*network);
  const std::vector<double> norms = records.norms(x, BatchView(0, count));
  ASSERT_EQ(norms.size(), static_cast<std::size_t>(count));
  const double tolerance = c.type == torch::kDouble ? 1e-10 : 1e-5;
  for (Index i = 0; i < count; ++i) {
    const double alone = gradient_of(network, images, i, x).norm();
    EXPECT_NEAR(norms[static_cast<std::size_t>(i)] / alone, 1.0, tolerance) << i;
  }
}

TEST_P(RecordGradients, AddUpToTheClippedSum) {
  const Case& c = GetParam();
  const auto network = make(c.network, c.form);
  const auto images = some_images(count, 12);
  const NetworkRecords records(network, images, {.type = c.type});
  const Vector x = start_of(*network);
  const std::vector<Index> members{0, 2, 3, 7};
  std::vector<double> norms;
  std::vector<Vector> gradients;
  for (const Index i : members) {
    gradients.push_back(gradient_of(network, images, i, x));
    norms.push_back(gradients.back().norm());
  }
  std::vector<double> sorted = norms;
  std::ranges::sort(sorted);
  const double limit = 0.5 * (sorted[1] + sorted[2]);  // clips two of four
  Vector expected = Vector::Zero(x.size());
  for (std::size_t k = 0; k < members.size(); ++k)
    expected += std::min(1.0, limit / norms[k]) * gradients[k];
  Vector sum = Vector::Zero(x.size());
  const ClipReport report =
      records.add_gradients(Point(x), Block::x, BatchView(members), limit, sum);
  EXPECT_EQ(report.clipped, 2);
  const double tolerance = c.type == torch::kDouble ? 1e-5 : 2e-3;
  EXPECT_LE((sum - expected).norm(), tolerance * expected.norm());
  EXPECT_EQ(records.longer(Summand::gradient(Point(x), Block::x), BatchView(members), limit), 2);
}

INSTANTIATE_TEST_SUITE_P(AllForms, RecordGradients,
                         testing::Values(Case{"cnn", RecordForm::direct, torch::kDouble},
                                         Case{"cnn", RecordForm::ghost, torch::kDouble},
                                         Case{"cnn", RecordForm::automatic, torch::kFloat},
                                         Case{"resnet18", RecordForm::direct, torch::kDouble},
                                         Case{"resnet18", RecordForm::ghost, torch::kDouble},
                                         Case{"resnet18", RecordForm::automatic, torch::kFloat}),
                         [](const auto& info) { return name_of(info.param); });

TEST(RecordGradients, NeverAreLongerThanTheClip) {
  // The least favourable records that a search of some hundred finds: sums of one record.
  const auto network = make("cnn", RecordForm::automatic);
  const auto images = some_images(60, 13);
  const NetworkRecords records(network, images, {});
  for (const std::uint64_t seed : {1U, 2U}) {
    Vector x = 3.0 * start_of(*network, seed);
    for (Index i = 0; i < 60; ++i)
      for (const double limit : {1e-3, 1.0}) {
        Vector sum = Vector::Zero(x.size());
        records.add_gradients(Point(x), Block::x, BatchView(i, i + 1), limit, sum);
        ASSERT_LE(sum.norm(), limit) << i;
      }
  }
}

TEST(RecordGradients, AreNotLongerWhereTheirSumOverPlacesCancels) {
  // Channels of a group that are equal, of inputs that are nearly so at all places: Σ_t g_t a_tᵀ is
  // small beside its terms, and so lost in the rounding of Gram matrices. With norms as computed
  // one record reaches 1.37 limits.
  const auto network = make("cnn", RecordForm::ghost);
  const auto images = some_images(20, 13);
  const NetworkRecords records(network, images, {});
  const std::vector<Layer::Named> all = network->named();
  const auto named = [&](const std::string& name) {
    return *std::ranges::find(all, name, &Layer::Named::name);
  };
  const Layer::Named shift = named("5.module.1.1.bias"), kernel = named("6.0.weight"),
                     head = named("8.weight");
  constexpr Index group = 4;
  Vector x = start_of(*network);
  const Index in = kernel.shape[1] * kernel.shape[2] * kernel.shape[3];
  for (Index c = 0; c < kernel.shape[0]; ++c)
    x.segment(kernel.offset + c * in, in) = x.segment(kernel.offset + c / group * group * in, in);
  for (Index row = 0; row < head.shape[0]; ++row)
    for (Index c = 0; c < head.shape[1]; ++c) {
      const Index first = head.offset + row * head.shape[1];
      x[first + c] = x[first + c / group * group];
    }
  constexpr double limit = 1e-4;
  for (const double level : {1e2, 1e3, 3e3, 6561.0, 2e4, 1e5}) {
    x.segment(shift.offset, shift.shape[0]).setConstant(level);
    for (Index i = 0; i < 20; ++i) {
      Vector sum = Vector::Zero(x.size());
      records.add_gradients(Point(x), Block::x, BatchView(i, i + 1), limit, sum);
      EXPECT_LE(sum.norm(), limit) << "record " << i << " at " << level;
      EXPECT_GT(sum.norm(), 0.0);
    }
  }
}

TEST(RecordGradients, AreComputedWithoutTheShortNumbersOfAGpu) {
  const auto network = make("small-cnn", RecordForm::automatic);
  const NetworkRecords records(network, some_images(2, 20, 3, 28), {});
  records.norms(start_of(*network), BatchView(0, 2));
  EXPECT_FALSE(at::globalContext().allowTF32CuDNN());
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

TEST(RecordGradients, OfOneRecordDoNotDependOnTheOthers) {
  const auto network = make("cnn", RecordForm::automatic);
  const auto images = some_images(32, 14);
  const NetworkRecords records(network, images, {.type = torch::kDouble});
  const Vector x = start_of(*network);
  const auto sum_of = [&](std::vector<Index> members) {
    Vector sum = Vector::Zero(x.size());
    records.add_gradients(Point(x), Block::x, BatchView(members), 1.0, sum);
    return sum;
  };
  const Vector with_a = sum_of({0, 3, 5, 9}), with_b = sum_of({0, 3, 5, 20});
  EXPECT_LE((with_a - with_b - sum_of({9}) + sum_of({20})).norm(), 1e-10);
  EXPECT_LE((with_a - with_b).norm(), 2.0);
}

TEST(RecordGradients, AddUpToTheSumWhereABatchIsOfSeveralChunks) {
  const auto network = make("small-cnn", RecordForm::automatic);
  const Index count_of_three = 2 * records_a_chunk(*network) + 5;
  const auto images = some_images(count_of_three, 22, 3, 28);
  const NetworkRecords records(network, images, {.type = torch::kDouble});
  const Vector x = start_of(*network);
  Vector one_by_one = Vector::Zero(x.size()), sum = Vector::Zero(x.size());
  for (Index i = 0; i < count_of_three; ++i)
    records.add_gradients(Point(x), Block::x, BatchView(i, i + 1), 0.5, one_by_one);
  const ClipReport report =
      records.add_gradients(Point(x), Block::x, BatchView(0, count_of_three), 0.5, sum);
  EXPECT_LE((sum - one_by_one).norm(), 1e-10 * sum.norm());
  EXPECT_GT(report.clipped, 0);
  EXPECT_EQ(std::ssize(records.norms(x, BatchView(0, count_of_three))), count_of_three);
}

TEST(RecordGradients, DifferencesAreClippedAsDifferences) {
  const auto network = make("small-cnn", RecordForm::automatic);
  const auto images = some_images(6, 15);
  const NetworkRecords records(network, images, {.type = torch::kDouble});
  const Vector x = start_of(*network, 1), y = start_of(*network, 2);
  const std::vector<Index> members{1, 4};
  Vector expected = Vector::Zero(x.size()), sum = Vector::Zero(x.size());
  for (const Index i : members) {
    const Vector difference =
        gradient_of(network, images, i, x) - gradient_of(network, images, i, y);
    expected += std::min(1.0, 0.3 / difference.norm()) * difference;
  }
  records.add_gradient_differences(Point(x), Point(y), Block::x, BatchView(members), 0.3, sum);
  EXPECT_LE((sum - expected).norm(), 1e-8 * expected.norm());
}

TEST(BatchNormalisation, ContributionsAddUpToTheGradientOfTheBatch) {
  const auto network = make("cnn", RecordForm::automatic, Normalisation::batch);
  const auto images = some_images(16, 16);
  const Computation twice{.type = torch::kDouble};
  const NetworkRecords records(network, images, twice);
  const Vector x = start_of(*network);
  std::vector<Index> members;
  for (Index i = 0; i < 16; ++i) members.push_back(i);
  Vector sum = Vector::Zero(x.size()), gradient(x.size());
  records.add_gradients(Point(x), Block::x, BatchView(members), infinity, sum);
  NetworkObjective(network, images, members, twice).gradient(x, gradient);
  EXPECT_LE((sum / 16.0 - gradient).norm(), 1e-10 * gradient.norm());
}

TEST(BatchNormalisation, LetsARecordMoveTheSumByMoreThanTwoClips) {
  // Why no clip makes such a run private: exchanging one record changes all contributions.
  const auto network = make("cnn", RecordForm::automatic, Normalisation::batch);
  const auto images = some_images(16, 17);
  const NetworkRecords records(network, images, {.type = torch::kDouble});
  const Vector x = start_of(*network);
  const auto sum_of = [&](Index last) {
    const std::vector<Index> members{3, 4, 5, 6, 7, 8, 9, last};
    Vector sum = Vector::Zero(x.size());
    records.add_gradients(Point(x), Block::x, BatchView(members), 1e-2, sum);
    return sum;
  };
  double furthest = 0;
  for (Index other = 10; other < 16; ++other)
    furthest = std::max(furthest, (sum_of(0) - sum_of(other)).norm());
  EXPECT_GT(furthest, 2e-2);
}

TEST(BatchNormalisation, LeavesARunWithoutPrivacyWhateverTheCurator) {
  const auto images = some_images(16, 18);
  const auto label_of = [&](Normalisation kind) {
    const auto network = make("small-cnn", RecordForm::automatic, kind);
    const NetworkRecords records(network, images, {});
    PublicFacts facts;
    facts.dimension = network->parameters();
    facts.records = 16;
    facts.initial_point = start_of(*network);
    const Curator curator(facts, records, filter_rule({1.0, 1e-5}, Calibrator::cks), {});
    return curator.label();
  };
  EXPECT_EQ(label_of(Normalisation::group), PrivacyLabel::conditional);
  EXPECT_EQ(label_of(Normalisation::batch), PrivacyLabel::none);
}

TEST(RecordGradients, OfAnUnclippedRunAreCountedWhereLongerThanTheNominalBound) {
  const auto network = make("small-cnn", RecordForm::automatic);
  const auto images = some_images(16, 19);
  const NetworkRecords records(network, images, {});
  PublicFacts facts;
  facts.dimension = network->parameters();
  facts.records = 16;
  facts.initial_point = start_of(*network);
  std::vector<double> norms = records.norms(facts.initial_point, BatchView(0, 16));
  std::ranges::sort(norms);
  const double nominal = 0.5 * (norms[10] + norms[11]);  // five are longer
  ClipLog log;
  UnsoundCurator curator(facts, records, {}, {.no_clipping = true}, &log);
  Vector out(facts.dimension);
  const Batch batch = curator.draw(BatchPolicy::all());
  curator.gradient(Point(facts.initial_point), batch,
                   {nominal, Noise::sensitivity_ratio(1.0), Block::x}, out);
  EXPECT_EQ(log.violations, 5);
  EXPECT_NEAR(log.largest_over_nominal, norms[15] / nominal, 1e-9);
}

}  // namespace
}  // namespace dpsosp::record_gradients_test
