// SPDX-License-Identifier: Apache-2.0
// Steps of noisy SGD on a network, clipped and not, beside a step of the same network written with
// LibTorch's own modules. One thread; times are of a step, items are images.
#include <limits>
#include <memory>

#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <torch/nn.h>

#include "dpsosp/networks/network_loss.hpp"

namespace {

using namespace dpsosp;
using namespace dpsosp::networks;

constexpr Index images = 128;

std::shared_ptr<const Images> noise_images() {
  Stream stream({.seed = 1, .purpose = Purpose::test});
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(images * 3 * 32 * 32));
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(stream.below(256));
  std::vector<int> labels(static_cast<std::size_t>(images));
  for (auto& label : labels) label = static_cast<int>(stream.below(10));
  return std::make_shared<Images>(3, 32, 32, std::move(pixels), std::move(labels),
                                  Images::Scaling{{120, 120, 120}, {60, 60, 60}}, false);
}

namespace nn = torch::nn;

nn::Sequential conv_norm(Index in, Index out, Index kernel, Index stride, Index padding,
                         bool batch) {
  nn::Sequential block;
  block->push_back(
      nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(padding).bias(false)));
  if (batch)
    block->push_back(nn::BatchNorm2d(out));
  else
    block->push_back(nn::GroupNorm(nn::GroupNormOptions(out >= 64 ? out / 8 : out / 4, out)));
  block->push_back(nn::ReLU());
  return block;
}

/// The network of avdiukhin-2024, Appendix A, as a user of LibTorch writes it.
struct PlainCnn : nn::Module {
  PlainCnn(Index width, bool batch) {
    const auto w = [&](Index channels) { return channels / width; };
    first = register_module("first", nn::Sequential());
    first->extend(*conv_norm(3, w(64), 3, 1, 1, batch));
    first->extend(*conv_norm(w(64), w(128), 5, 2, 2, batch));
    inner1 = register_module("inner1", nn::Sequential());
    for (int k = 0; k < 2; ++k) inner1->extend(*conv_norm(w(128), w(128), 3, 1, 1, batch));
    middle = register_module("middle", conv_norm(w(128), w(256), 3, 1, 1, batch));
    inner2 = register_module("inner2", nn::Sequential());
    for (int k = 0; k < 2; ++k) inner2->extend(*conv_norm(w(256), w(256), 3, 1, 1, batch));
    last = register_module("last", conv_norm(w(256), w(128), 3, 1, 0, batch));
    head = register_module("head", nn::Linear(nn::LinearOptions(w(128), 10).bias(false)));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = first->forward(x);
    x = x + inner1->forward(x);
    x = torch::max_pool2d(middle->forward(x), 2);
    x = x + inner2->forward(x);
    return head->forward(last->forward(x).amax({2, 3})) * 0.2;
  }
  nn::Sequential first{nullptr}, inner1{nullptr}, middle{nullptr}, inner2{nullptr}, last{nullptr};
  nn::Linear head{nullptr};
};

void step_plain(benchmark::State& state) {
  at::set_num_threads(1);
  PlainCnn network(state.range(0), state.range(1) != 0);
  const auto data = noise_images();
  std::vector<Index> rows;
  for (Index i = 0; i < images; ++i) rows.push_back(i);
  for (auto _ : state) {
    const Chunk chunk = data->chunk(rows, torch::kFloat, 0);
    network.zero_grad();
    const auto loss =
        torch::nn::functional::cross_entropy(network.forward(chunk.input), chunk.labels);
    loss.backward();
    const torch::NoGradGuard no_gradients;
    for (auto& p : network.parameters()) p.sub_(0.1 * p.grad());
  }
  state.SetItemsProcessed(state.iterations() * images);
}

void step_of_records(benchmark::State& state, double limit) {
  const bool batch = state.range(1) != 0;
  const std::shared_ptr<const Network> network =
      cifar_cnn({.width = state.range(0),
                 .normalisation = batch ? Normalisation::batch : Normalisation::group});
  const NetworkRecords records(network, noise_images(), {});
  Vector x = network->initial(Stream({.seed = 1, .purpose = Purpose::initial_point}));
  Vector sum(x.size());
  Stream noise({.seed = 2, .purpose = Purpose::noise});
  for (auto _ : state) {
    sum.setZero();
    records.add_gradients(Point(x), Block::x, BatchView(0, images), limit, sum);
    noise.add_normal(1e-3, sum);
    x -= 1e-6 * sum;
  }
  state.SetItemsProcessed(state.iterations() * images);
}

void step_clipped(benchmark::State& state) { step_of_records(state, 1.0); }
void step_unclipped(benchmark::State& state) {
  step_of_records(state, std::numeric_limits<double>::infinity());
}

BENCHMARK(step_plain)
    ->ArgNames({"width", "batch_norm"})
    ->Args({8, 0})
    ->Args({8, 1})
    ->Args({1, 0})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(step_unclipped)
    ->ArgNames({"width", "batch_norm"})
    ->Args({8, 0})
    ->Args({8, 1})
    ->Args({1, 0})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(step_clipped)
    ->ArgNames({"width", "batch_norm"})
    ->Args({8, 0})
    ->Args({1, 0})
    ->Unit(benchmark::kMillisecond);

}  // namespace
