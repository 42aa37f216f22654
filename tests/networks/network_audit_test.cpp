// SPDX-License-Identifier: Apache-2.0
// Record and replay on neighbouring training sets of a network, with bugs planted in the norms of
// its records and in its batches.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include "dpsosp/audit/audit.hpp"
#include "dpsosp/networks/families.hpp"
#include "dpsosp/problems/registry.hpp"
#include "some_images.hpp"

namespace dpsosp::network_audit_test {
namespace {

using namespace networks;

/// What is wrong with the norms of single records.
enum class NormBug {
  none,
  one_place,  ///< Σ_t ‖a_t‖²‖g_t‖²: the Gram matrices without the pairs of different places
  one_layer,      ///< this layer is left out
  mean_gradient,  ///< output gradients of the mean loss, b times too short
};

class PlantedGradients final : public RecordGradients {
 public:
  PlantedGradients(std::unique_ptr<RecordGradients> right, Tensor squares)
      : right_(std::move(right)), squares_(std::move(squares)) {}
  Tensor squared_norms() const override { return squares_; }
  void add_weighted(const Tensor& weights, Tensor sum) const override {
    right_->add_weighted(weights, std::move(sum));
  }

 private:
  std::unique_ptr<RecordGradients> right_;
  Tensor squares_;
};

/// A convolution whose records' norms are wrong.
class PlantedConvolution final : public Parametric {
 public:
  PlantedConvolution(const Convolution::Shape& shape, NormBug bug)
      : shape_(shape), right_(shape), bug_(bug) {}
  Tensor forward(Pass& pass, Tensor input) const override {
    const Tensor kernel =
        own(pass, 0, size()).view({shape_.out, shape_.in, shape_.kernel, shape_.kernel});
    return pass.captured(*this, input,
                         at::conv2d(input, kernel, {}, {shape_.stride, shape_.stride},
                                    {shape_.padding, shape_.padding}));
  }
  Index size() const override { return right_.size(); }
  std::unique_ptr<RecordGradients> record_gradients(const Tensor& input, const Tensor& gradient,
                                                    RecordForm form) const override {
    auto right = right_.record_gradients(input, gradient, form);
    Tensor squares = right->squared_norms();
    if (bug_ == NormBug::one_place) {
      const Tensor patches =
          at::im2col(input, {shape_.kernel, shape_.kernel}, {1, 1},
                     {shape_.padding, shape_.padding}, {shape_.stride, shape_.stride});
      squares = (patches.square().sum(1) * gradient.flatten(2).square().sum(1)).sum(1);
    }
    if (bug_ == NormBug::one_layer) squares = at::zeros_like(squares);
    if (bug_ == NormBug::mean_gradient)
      squares = squares / static_cast<double>(input.size(0) * input.size(0));
    return std::make_unique<PlantedGradients>(std::move(right), squares);
  }
  void initialise(Stream& stream, VectorRef parameters) const override {
    stream.fill_normal(0.3, parameters.segment(offset(), size()));
  }
  void name(const std::string& prefix, std::vector<Named>& out) const override {
    out.push_back({prefix + "weight", offset(), {size()}});
  }

 private:
  Convolution::Shape shape_;
  Convolution right_;
  NormBug bug_;
};

/// A convolution, its largest values and a linear layer.
class PlantedBody final : public Layer {
 public:
  explicit PlantedBody(NormBug bug)
      : convolution_({.in = 1, .out = 4, .stride = 2}, bug), linear_(4, 10, true) {}
  Tensor forward(Pass& pass, Tensor input) const override {
    return linear_.forward(pass,
                           at::relu(convolution_.forward(pass, std::move(input))).mean({2, 3}));
  }
  void place(std::vector<std::int64_t>& sizes) override {
    convolution_.place(sizes);
    linear_.place(sizes);
  }
  void initialise(Stream& stream, VectorRef p) const override {
    convolution_.initialise(stream, p);
    linear_.initialise(stream, p);
  }
  void name(const std::string& prefix, std::vector<Named>& out) const override {
    convolution_.name(prefix + "0.", out);
    linear_.name(prefix + "1.", out);
  }

 private:
  PlantedConvolution convolution_;
  Linear linear_;
};

template <NormBug bug>
class PlantedFamily final : public NetworkFamily {
 public:
  std::string_view name() const override {
    static const std::string name = "planted-network-" + std::to_string(static_cast<int>(bug));
    return name;
  }
  std::string_view summary() const override { return "of a test"; }
  ProblemNotes notes() const override { return {}; }
  Index default_records() const override { return 40; }
  Fields fields() override { return computation_fields(); }

 protected:
  std::shared_ptr<const Network> network() const override {
    return std::make_shared<Network>("planted", std::make_unique<PlantedBody>(bug), false);
  }
  void load_parameters(const Network& network, Vector& parameters) const override {
    parameters = network.initial(Stream({.purpose = Purpose::initial_point}));
  }
  NetworkExamples examples(const InstanceSpec& spec) const override {
    const auto images = some_images(spec.records, 30 + spec.data_seed, 1, 8);
    return {images, images};
  }
};

template <NormBug bug>
ProblemEntry entry() {
  return {std::string(PlantedFamily<bug>().name()), []() -> std::unique_ptr<ProblemFamily> {
            return std::make_unique<PlantedFamily<bug>>();
          }};
}

class NetworkAudit : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    add_problems({entry<NormBug::none>(), entry<NormBug::one_place>(), entry<NormBug::one_layer>(),
                  entry<NormBug::mean_gradient>()});
  }
  static ReplayAudit audit(NormBug bug, std::string_view plant = {}) {
    const std::string problem = "planted-network-" + std::to_string(static_cast<int>(bug));
    return audit_replay("avdiukhin-2024/dp-sgd", {.plant = plant, .problem = problem});
  }
  static std::string failures(const ReplayAudit& audit) {
    std::string text;
    for (const CheckLine& line : audit.checks)
      if (!line.passed) text += line.property + ": " + line.detail + "\n";
    return text;
  }
};

TEST_F(NetworkAudit, FindsNothingWrongWithTheRightNetwork) {
  const ReplayAudit found = audit(NormBug::none);
  EXPECT_TRUE(found.passed) << failures(found);
  EXPECT_GT(found.pairs, 40);
  EXPECT_GT(found.attained, 0.9);  // the least favourable neighbours use what is charged
}

TEST_F(NetworkAudit, CatchesNormsThatAreTooSmall) {
  for (const NormBug bug : {NormBug::one_place, NormBug::one_layer}) {
    const ReplayAudit found = audit(bug);
    EXPECT_FALSE(found.passed) << static_cast<int>(bug);
    EXPECT_NE(failures(found).find("an answer moves by no more"), std::string::npos);
  }
}

TEST_F(NetworkAudit, CatchesNormsThatAreTooSmallBesideOtherRecordsOnly) {
  const ReplayAudit found = audit(NormBug::mean_gradient);
  EXPECT_FALSE(found.passed);
  EXPECT_NE(failures(found).find("a clipped sum over a batch"), std::string::npos);
}

TEST_F(NetworkAudit, CatchesBatchesThatAreNotDrawnAsCharged) {
  const ReplayAudit found = audit(NormBug::none, "poisson-fixed-size");
  EXPECT_FALSE(found.passed);
  EXPECT_NE(failures(found).find("secret batches"), std::string::npos) << failures(found);
}

}  // namespace
}  // namespace dpsosp::network_audit_test
