// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/families.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <ATen/Context.h>
#include <fmt/format.h>

#include "dpsosp/core/data_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/networks/cola.hpp"
#include "dpsosp/networks/images.hpp"
#include "dpsosp/problems/data_files.hpp"
#include "dpsosp/problems/registry.hpp"
#include "weights.hpp"

namespace dpsosp::networks {
namespace {

/// The constants by which published CIFAR-10 scripts scale the channels.
const Images::Scaling cifar_scaling{{125.307, 122.961, 113.8575}, {51.5865, 50.847, 51.255}};
const Images::Scaling mnist_scaling{{33.3285}, {78.5655}};

std::vector<Index> rows_from(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// `count` images from number `from` on.
std::shared_ptr<const Images> part_of(const ImageSet& all, Index from, Index count,
                                      const Images::Scaling& scaling, bool augment) {
  const auto size = static_cast<std::size_t>(all.channels * all.height * all.width);
  std::vector<std::uint8_t> pixels;
  pixels.reserve(size * static_cast<std::size_t>(count));
  std::vector<int> labels;
  for (Index k = 0; k < count; ++k) {
    const auto row = static_cast<std::size_t>(from + k);
    const auto first = all.pixels.begin() + static_cast<std::ptrdiff_t>(row * size);
    pixels.insert(pixels.end(), first, first + static_cast<std::ptrdiff_t>(size));
    labels.push_back(all.labels[row]);
  }
  return std::make_shared<Images>(all.channels, all.height, all.width, std::move(pixels),
                                  std::move(labels), scaling, augment);
}

ImageSet read_mnist_part(const std::string& part) {
  const auto folder = data_folder() / "mnist";
  IdxArray images = read_idx(folder / (part + "-images-idx3-ubyte"), 3);
  const IdxArray labels = read_idx(folder / (part + "-labels-idx1-ubyte"), 1);
  if (labels.shape[0] != images.shape[0])
    throw InputError(fmt::format("{}: {} labels, expected one for each of {} images",
                                 (folder / (part + "-labels-idx1-ubyte")).string(), labels.shape[0],
                                 images.shape[0]));
  return {.count = images.shape[0],
          .channels = 1,
          .height = images.shape[1],
          .width = images.shape[2],
          .pixels = std::move(images.values),
          .labels = {labels.values.begin(), labels.values.end()},
          .classes = 10};
}

/// The images [0, train) of the training set, and [0, test) of the test set or more.
ImageSplit read_images(ImageFamily::Data data, Index train, Index test) {
  switch (data) {
    case ImageFamily::Data::cifar10:
      return read_cifar10(data_folder(), {.train = train, .test = test});
    case ImageFamily::Data::cifar100:
      return read_cifar100(data_folder(), {.train = train, .test = test});
    case ImageFamily::Data::mnist:
      return {read_mnist_part("train"), read_mnist_part("t10k")};
  }
  return {};
}

Index training_images(ImageFamily::Data data) {
  return data == ImageFamily::Data::mnist ? 60000 : 50000;
}

template <ImageFamily::Data data, ImageFamily::Architecture architecture>
ProblemEntry image_entry() {
  const auto make = []() -> std::unique_ptr<ProblemFamily> {
    return std::make_unique<ImageFamily>(data, architecture);
  };
  return {std::string(make()->name()), make};
}

}  // namespace

Computation NetworkFamily::computation() const {
  if (device == Device::cuda && !at::hasCUDA())
    throw InputError(
        fmt::format("{}: device = cuda, but this LibTorch finds none; expected cpu", name()));
  return {.type = precision == Precision::single ? torch::kFloat : torch::kDouble,
          .device = device == Device::cpu ? torch::kCPU : torch::kCUDA};
}

Fields NetworkFamily::computation_fields() {
  return {field("precision", precision, "of losses and gradients"),
          field("device", device, "where they are computed"),
          field("evaluated", evaluated, range::not_negative,
                "records that stand for all where a point is judged, the first so many; 0: all")};
}

Index NetworkFamily::first_record(const InstanceSpec& spec, Index available) const {
  check_records(name(), spec.records);
  check_ranges_of(name(), *this);
  if (spec.records > available)
    reject(name(), "records", static_cast<double>(spec.records),
           fmt::format("at most {}", available));
  refuse_dimension(spec);
  const Index blocks = available / spec.records;
  return static_cast<Index>(spec.data_seed % static_cast<std::uint64_t>(blocks)) * spec.records;
}

void NetworkFamily::refuse_dimension(const InstanceSpec& spec) const {
  if (spec.dimension)
    throw InputError(
        fmt::format("{}: the dimension follows from the sizes of the network; set those", name()));
}

Vector NetworkFamily::initial(const Network& network, Stream random) const {
  Vector parameters = network.initial(std::move(random));
  load_parameters(network, parameters);
  return parameters;
}

NetworkInstance NetworkFamily::instance(const InstanceSpec& spec) const {
  NetworkExamples read = examples(spec);
  NetworkInstance made{network(), std::move(read.train), std::move(read.test), {}};
  made.initial =
      initial(*made.network, Stream({.seed = spec.seed, .purpose = Purpose::initial_point}));
  return made;
}

Index NetworkFamily::dimension(const InstanceSpec& spec) const {
  refuse_dimension(spec);
  return network()->parameters();
}

void NetworkFamily::settle(const Stream& random, PublicFacts& facts) const {
  facts.initial_point = initial(*network(), random);
}

void NetworkFamily::draw(const InstanceSpec& spec, Problem& problem) const {
  const std::shared_ptr<const Examples> train = examples(spec).train;
  const std::shared_ptr<const Network> scores = network();
  problem.records = std::make_unique<NetworkRecords>(scores, train, computation());
  const Index judged = evaluated == 0 ? spec.records : std::min(evaluated, spec.records);
  problem.empirical =
      std::make_unique<NetworkObjective>(scores, train, rows_from(judged), computation());
}

ImageFamily::ImageFamily(Data data, Architecture architecture)
    : data_(data), architecture_(architecture) {}

std::string_view ImageFamily::name() const {
  if (data_ == Data::mnist) return "mnist-cnn";
  if (data_ == Data::cifar100) return "cifar100-resnet18";
  return architecture_ == Architecture::cnn ? "cifar10-cnn" : "cifar10-resnet18";
}

std::string_view ImageFamily::summary() const {
  switch (architecture_) {
    case Architecture::cnn:
      return "cross entropy of the network of avdiukhin-2024, Appendix A, on CIFAR-10";
    case Architecture::resnet18:
      return data_ == Data::cifar10 ? "cross entropy of a ResNet-18 on CIFAR-10"
                                    : "cross entropy of a ResNet-18 on CIFAR-100 (your own files)";
    case Architecture::small_cnn:
      return "cross entropy of a small convolutional network on MNIST, for tests";
  }
  return {};
}

ProblemNotes ImageFamily::notes() const {
  return {.group = "Networks",
          .formula =
              "f(w; x, y) = −log softmax(s(w; x))_y, s the scores of the network for the "
              "image x, y its class. x: pixels less a constant of their channel, divided by "
              "another; both are public.",
          .source = "avdiukhin-2024, Section 4",
          .critical_points = "Nothing is known: no constant is proved."};
}

Fields ImageFamily::fields() {
  Fields list = computation_fields();
  list.push_back(field("width", width, range::between(1, 8),
                       "1, 2, 4 or 8: divides the published numbers of channels"));
  list.push_back(
      field("normalisation", normalisation,
            "each record by itself, or as published with the batch, which is not private"));
  list.push_back(field("smooth", smooth, "softplus and means in place of ReLU and maxima"));
  list.push_back(field("augment", augment, "random mirror images and shifts by two pixels"));
  list.push_back(field("test_records", test_records, range::between(1, 10000),
                       "images that accuracy is measured on"));
  list.push_back(field("weights", weights,
                       "safetensors file of initial parameters in the data folder; else random"));
  return list;
}

std::string ImageFamily::missing() const {
  try {
    read_images(data_, 1, 1);
    return {};
  } catch (const InputError& e) {
    return e.what();
  }
}

std::shared_ptr<const Network> ImageFamily::network() const {
  const ImageNetworkOptions options{.channels = data_ == Data::mnist ? 1 : 3,
                                    .width = width,
                                    .classes = data_ == Data::cifar100 ? 100 : 10,
                                    .normalisation = normalisation,
                                    .smooth = smooth};
  switch (architecture_) {
    case Architecture::cnn:
      return cifar_cnn(options);
    case Architecture::resnet18:
      return resnet18(options);
    case Architecture::small_cnn:
      break;
  }
  return small_cnn(options);
}

void ImageFamily::load_parameters(const Network& network, Vector& parameters) const {
  if (!weights.empty()) load_weights(network, data_folder() / weights, parameters);
}

NetworkExamples ImageFamily::examples(const InstanceSpec& spec) const {
  const Index from = first_record(spec, training_images(data_));
  const auto check_count = [&](std::string_view what, Index count, Index most) {
    if (count > most)
      reject(name(), what, static_cast<double>(count), fmt::format("at most {}", most));
  };
  const ImageSplit images = read_images(data_, from + spec.records, test_records);
  check_count("records", from + spec.records, images.train.count);
  check_count("test_records", test_records, images.test.count);
  const Images::Scaling& scaling = data_ == Data::mnist ? mnist_scaling : cifar_scaling;
  return {part_of(images.train, from, spec.records, scaling, augment),
          part_of(images.test, 0, test_records, scaling, false)};
}

const std::vector<ProblemEntry>& network_problems() {
  using enum ImageFamily::Data;
  using enum ImageFamily::Architecture;
  static const std::vector<ProblemEntry> entries{
      image_entry<cifar10, cnn>(),
      image_entry<cifar10, resnet18>(),
      image_entry<cifar100, resnet18>(),
      image_entry<mnist, small_cnn>(),
      {std::string(ColaFamily().name()),
       []() -> std::unique_ptr<ProblemFamily> { return std::make_unique<ColaFamily>(); }},
  };
  return entries;
}

}  // namespace dpsosp::networks
