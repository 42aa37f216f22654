// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/network.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "parts.hpp"

namespace dpsosp::networks {
namespace {

constexpr double softplus_slope = 5.0;

/// ReLU, or softplus.
class Activation final : public Layer {
 public:
  explicit Activation(bool smooth) : smooth_(smooth) {}
  Tensor forward(Pass& /*pass*/, Tensor input) const override {
    return smooth_ ? at::softplus(input, softplus_slope, 1e9) : at::relu(input);
  }

 private:
  bool smooth_;
};

/// The largest of each square of two by two, or their mean.
class HalvingPool final : public Layer {
 public:
  explicit HalvingPool(bool smooth) : smooth_(smooth) {}
  Tensor forward(Pass& /*pass*/, Tensor input) const override {
    return smooth_ ? at::avg_pool2d(input, {2, 2}) : at::max_pool2d(input, {2, 2});
  }

 private:
  bool smooth_;
};

/// b × channels: the mean or the largest of each channel.
class GlobalPool final : public Layer {
 public:
  explicit GlobalPool(bool mean) : mean_(mean) {}
  Tensor forward(Pass& /*pass*/, Tensor input) const override {
    return mean_ ? input.mean({2, 3}) : at::amax(input, {2, 3});
  }

 private:
  bool mean_;
};

class Times final : public Layer {
 public:
  explicit Times(double factor) : factor_(factor) {}
  Tensor forward(Pass& /*pass*/, Tensor input) const override { return input * factor_; }

 private:
  double factor_;
};

/// x + m(x).
class Residual final : public Layer {
 public:
  explicit Residual(std::unique_ptr<Layer> inner) : inner_(std::move(inner)) {}
  Tensor forward(Pass& pass, Tensor input) const override {
    return input + inner_->forward(pass, input);
  }
  void place(std::vector<std::int64_t>& sizes) override { inner_->place(sizes); }
  void initialise(Stream& stream, VectorRef p) const override { inner_->initialise(stream, p); }
  void name(const std::string& prefix, std::vector<Named>& out) const override {
    inner_->name(prefix + "module.", out);
  }

 private:
  std::unique_ptr<Layer> inner_;
};

/// Two convolutions beside a short cut, then an activation.
class BasicBlock final : public Layer {
 public:
  BasicBlock(Index in, Index out, Index stride, const ImageNetworkOptions& o, Index group)
      : activation_(o.smooth) {
    const auto conv = [](const Convolution::Shape& s) { return std::make_unique<Convolution>(s); };
    const auto norm = [&] { return std::make_unique<ImageNorm>(o.normalisation, out, group); };
    main_.add("conv1", conv({.in = in, .out = out, .stride = stride}));
    main_.add("bn1", norm());
    main_.add("relu", std::make_unique<Activation>(o.smooth));
    main_.add("conv2", conv({.in = out, .out = out}));
    main_.add("bn2", norm());
    if (in == out && stride == 1) return;
    short_cut_.add("0", conv({.in = in, .out = out, .kernel = 1, .stride = stride, .padding = 0}));
    short_cut_.add("1", norm());
  }
  Tensor forward(Pass& pass, Tensor input) const override {
    const Tensor main = main_.forward(pass, input);
    return activation_.forward(pass, main + short_cut_.forward(pass, input));
  }
  void place(std::vector<std::int64_t>& sizes) override {
    main_.place(sizes);
    short_cut_.place(sizes);
  }
  void initialise(Stream& stream, VectorRef p) const override {
    main_.initialise(stream, p);
    short_cut_.initialise(stream, p);
  }
  void name(const std::string& prefix, std::vector<Named>& out) const override {
    main_.name(prefix, out);
    short_cut_.name(prefix + "downsample.", out);
  }

 private:
  Sequence main_, short_cut_;
  Activation activation_;
};

Index group_size(const ImageNetworkOptions& o) { return o.width <= 2 ? 8 : 4; }

void check_width(const ImageNetworkOptions& o, std::string_view network) {
  if (o.width != 1 && o.width != 2 && o.width != 4 && o.width != 8)
    reject(network, "width", static_cast<double>(o.width), "1, 2, 4 or 8");
}

/// Convolution, normalisation, activation.
std::unique_ptr<Layer> conv_norm(const Convolution::Shape& shape, const ImageNetworkOptions& o) {
  auto block = std::make_unique<Sequence>();
  block->add("0", std::make_unique<Convolution>(shape));
  block->add("1", std::make_unique<ImageNorm>(o.normalisation, shape.out, group_size(o)));
  block->add("2", std::make_unique<Activation>(o.smooth));
  return block;
}

}  // namespace

Tensor Sequence::forward(Pass& pass, Tensor input) const {
  for (const auto& [name, part] : parts_) input = part->forward(pass, std::move(input));
  return input;
}

void Sequence::place(std::vector<std::int64_t>& sizes) {
  for (auto& [name, part] : parts_) part->place(sizes);
}

void Sequence::initialise(Stream& stream, VectorRef parameters) const {
  for (const auto& [name, part] : parts_) part->initialise(stream, parameters);
}

void Sequence::name(const std::string& prefix, std::vector<Named>& out) const {
  for (const auto& [name, part] : parts_) part->name(fmt::format("{}{}.", prefix, name), out);
}

Network::Network(std::string name, std::unique_ptr<Layer> body, bool mixes_records)
    : name_(std::move(name)), body_(std::move(body)), mixes_records_(mixes_records) {
  body_->place(sizes_);
  parameters_ = std::accumulate(sizes_.begin(), sizes_.end(), Index{0});
}

Vector Network::initial(Stream stream) const {
  Vector parameters = Vector::Zero(parameters_);
  body_->initialise(stream, parameters);
  return parameters;
}

std::vector<Layer::Named> Network::named() const {
  std::vector<Layer::Named> all;
  body_->name("", all);
  return all;
}

Index Network::row_entries() const {
  if (form == RecordForm::direct) return parameters_;
  Index entries = 0;
  for (const std::int64_t size : sizes_)
    if (size <= longest_row) entries += size;
  return entries;
}

Index Network::head() const {
  const auto layer_of = [](const std::string& name) { return name.substr(0, name.rfind('.')); };
  const std::vector<Layer::Named> all = named();
  return std::ranges::find(all, layer_of(all.back().name),
                           [&](const auto& n) { return layer_of(n.name); })
      ->offset;
}

std::unique_ptr<Network> cifar_cnn(const ImageNetworkOptions& o) {
  check_width(o, "cnn");
  const auto wide = [&](Index channels) { return channels / o.width; };
  const auto residual = [&](Index channels) {
    auto inner = std::make_unique<Sequence>();
    inner->add("0", conv_norm({.in = channels, .out = channels}, o));
    inner->add("1", conv_norm({.in = channels, .out = channels}, o));
    return std::make_unique<Residual>(std::move(inner));
  };
  auto body = std::make_unique<Sequence>();
  body->add("0", conv_norm({.in = o.channels, .out = wide(64)}, o));
  body->add(
      "1",
      conv_norm({.in = wide(64), .out = wide(128), .kernel = 5, .stride = 2, .padding = 2}, o));
  body->add("2", residual(wide(128)));
  body->add("3", conv_norm({.in = wide(128), .out = wide(256)}, o));
  body->add("4", std::make_unique<HalvingPool>(o.smooth));
  body->add("5", residual(wide(256)));
  body->add("6", conv_norm({.in = wide(256), .out = wide(128), .padding = 0}, o));
  body->add("7", std::make_unique<GlobalPool>(o.smooth));
  body->add("8", std::make_unique<Linear>(wide(128), o.classes, false));
  body->add("9", std::make_unique<Times>(0.2));
  return std::make_unique<Network>("cnn", std::move(body), o.normalisation == Normalisation::batch);
}

std::unique_ptr<Network> resnet18(const ImageNetworkOptions& o) {
  check_width(o, "resnet18");
  const Index group = group_size(o);
  auto body = std::make_unique<Sequence>();
  Index channels = 64 / o.width;
  body->add("conv1",
            std::make_unique<Convolution>(Convolution::Shape{.in = o.channels, .out = channels}));
  body->add("bn1", std::make_unique<ImageNorm>(o.normalisation, channels, group));
  body->add("relu", std::make_unique<Activation>(o.smooth));
  for (Index stage = 1; stage <= 4; ++stage) {
    const Index out = (32 << stage) / o.width;
    auto blocks = std::make_unique<Sequence>();
    blocks->add("0", std::make_unique<BasicBlock>(channels, out, stage == 1 ? 1 : 2, o, group));
    blocks->add("1", std::make_unique<BasicBlock>(out, out, 1, o, group));
    body->add(fmt::format("layer{}", stage), std::move(blocks));
    channels = out;
  }
  body->add("avgpool", std::make_unique<GlobalPool>(true));
  body->add("fc", std::make_unique<Linear>(channels, o.classes, true));
  return std::make_unique<Network>("resnet18", std::move(body),
                                   o.normalisation == Normalisation::batch);
}

std::unique_ptr<Network> small_cnn(const ImageNetworkOptions& o) {
  auto body = std::make_unique<Sequence>();
  body->add("0", conv_norm({.in = o.channels, .out = 8, .stride = 2}, o));
  body->add("1", conv_norm({.in = 8, .out = 16, .stride = 2}, o));
  body->add("2", std::make_unique<GlobalPool>(o.smooth));
  body->add("3", std::make_unique<Linear>(16, o.classes, true));
  return std::make_unique<Network>("small-cnn", std::move(body),
                                   o.normalisation == Normalisation::batch);
}

}  // namespace dpsosp::networks
