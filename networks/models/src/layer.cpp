// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/layer.hpp"

#include <cmath>

#include <ATen/ATen.h>

namespace dpsosp::networks {
namespace {

/// By how many units the squared norm of a sum over places and the sum itself are rounded, relative
/// to (Σ_t ‖v_t‖)²; with room, for at most 30 were seen.
constexpr double roundings = 128;

/// One row a record.
class RowGradients final : public RecordGradients {
 public:
  explicit RowGradients(Tensor rows) : rows_(std::move(rows)) {}
  Tensor squared_norms() const override { return at::linalg_vector_norm(rows_, 2, 1).square(); }
  void add_weighted(const Tensor& weights, Tensor sum) const override {
    sum.addmv_(rows_.t(), weights);
  }

 private:
  Tensor rows_;
};

/// Squared norms ‖Σ_t v_t‖² of every record, or an upper bound where rounding is a larger share of
/// them than clipping leaves room for.
/// \param lengths  Σ_t ‖v_t‖
Tensor with_rounding(const Tensor& squares, const Tensor& lengths) {
  const auto type = squares.scalar_type();
  const double unit = type == at::kFloat ? 0x1p-24 : 0x1p-53;
  const Tensor rounding = (roundings * unit) * lengths.square();
  return at::where(rounding > rounding_of(type) * squares, squares + rounding, squares);
}

Tensor lengths_of(const Tensor& gram) { return at::diagonal(gram, 0, 1, 2).sqrt(); }

/// Σ_{s,t} a_s·a_t g_s·g_t of every record, of a and g with positions on axis 1 and features on
/// axis 2: ‖Σ_t g_t a_tᵀ‖².
Tensor gram_norms(const Tensor& a, const Tensor& g) {
  const Tensor of_a = at::bmm(a, a.transpose(1, 2)), of_g = at::bmm(g, g.transpose(1, 2));
  return with_rounding((of_a * of_g).sum({1, 2}), (lengths_of(of_a) * lengths_of(of_g)).sum(1));
}

/// weights, b entries, shaped to multiply a tensor of `axes` axes.
Tensor by_record(const Tensor& weights, std::int64_t axes) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(axes), 1);
  shape[0] = weights.size(0);
  return weights.view(shape);
}

Tensor kernel_gradient(const Tensor& input, const Tensor& gradient, at::IntArrayRef kernel,
                       const Convolution::Shape& s) {
  // The values of the kernel are not read for its gradient; its shape is.
  const Tensor weight = at::zeros({1}, input.options()).expand(kernel);
  return std::get<1>(at::convolution_backward(gradient, input, weight, at::OptionalIntArrayRef{},
                                              {s.stride, s.stride}, {s.padding, s.padding}, {1, 1},
                                              false, {0, 0}, 1, {false, true, false}));
}

class GhostConvolution final : public RecordGradients {
 public:
  GhostConvolution(Tensor input, Tensor gradient, std::vector<std::int64_t> kernel,
                   const Convolution::Shape& shape)
      : input_(std::move(input)),
        gradient_(std::move(gradient)),
        kernel_(std::move(kernel)),
        shape_(shape) {}
  Tensor squared_norms() const override {
    const Tensor patches =
        at::im2col(input_, {shape_.kernel, shape_.kernel}, {1, 1}, {shape_.padding, shape_.padding},
                   {shape_.stride, shape_.stride});
    return gram_norms(patches.transpose(1, 2), gradient_.flatten(2).transpose(1, 2));
  }
  void add_weighted(const Tensor& weights, Tensor sum) const override {
    sum += kernel_gradient(input_, gradient_ * by_record(weights, 4), kernel_, shape_).flatten();
  }

 private:
  Tensor input_, gradient_;
  std::vector<std::int64_t> kernel_;
  Convolution::Shape shape_;
};

/// Gradients of y = W x + b with positions on axis 1.
class GhostLinear final : public RecordGradients {
 public:
  GhostLinear(Tensor input, Tensor gradient, bool bias)
      : input_(std::move(input)), gradient_(std::move(gradient)), bias_(bias) {}
  Tensor squared_norms() const override {
    Tensor squares = gram_norms(input_, gradient_);
    if (bias_)
      squares = squares + with_rounding(gradient_.sum(1).square().sum(1),
                                        at::linalg_vector_norm(gradient_, 2, 2).sum(1));
    return squares;
  }
  void add_weighted(const Tensor& weights, Tensor sum) const override {
    const Tensor g = (gradient_ * by_record(weights, 3)).flatten(0, 1);  // (b tokens) × out
    const Tensor kernel = at::mm(g.t(), input_.flatten(0, 1)).flatten();
    sum.narrow(0, 0, kernel.numel()) += kernel;
    if (bias_) sum.narrow(0, kernel.numel(), g.size(1)) += g.sum(0);
  }

 private:
  Tensor input_, gradient_;
  bool bias_;
};

class GhostEmbedding final : public RecordGradients {
 public:
  GhostEmbedding(Tensor rows, Tensor gradient, Index table)
      : rows_(std::move(rows)), gradient_(std::move(gradient)), table_(table) {}
  Tensor squared_norms() const override {
    const Tensor same = rows_.unsqueeze(2).eq(rows_.unsqueeze(1)).to(gradient_.scalar_type());
    const Tensor gram = at::bmm(gradient_, gradient_.transpose(1, 2));
    return with_rounding((same * gram).sum({1, 2}), lengths_of(gram).sum(1));
  }
  void add_weighted(const Tensor& weights, Tensor sum) const override {
    sum.view({table_, -1})
        .index_add_(0, rows_.flatten(), (gradient_ * by_record(weights, 3)).flatten(0, 1));
  }

 private:
  Tensor rows_, gradient_;
  Index table_;
};

std::unique_ptr<RecordGradients> rows(Tensor gradients) {
  return std::make_unique<RowGradients>(std::move(gradients));
}

void fill_uniform(Stream& stream, double half_width, VectorRef out) {
  for (double& entry : out) entry = half_width * (2.0 * stream.uniform() - 1.0);
}

/// Gram matrices cost P² (in + out) for P places, rows of single records some passes over their
/// in · out numbers: measured, the first is cheaper from about here on.
RecordForm cheaper_form(Index places, Index parameters) {
  return parameters > longest_row || 50 * places * places < parameters ? RecordForm::ghost
                                                                       : RecordForm::direct;
}

constexpr double image_epsilon = 1e-5;    // of the variance
constexpr double start_deviation = 0.02;  // of BERT's weights

}  // namespace

double rounding_of(torch::Dtype type) { return type == torch::kFloat ? 1e-3 : 1e-9; }

Tensor Pass::captured(const Parametric& layer, const Tensor& input, Tensor output) {
  if (captures == nullptr) return output;
  if (!output.requires_grad()) output.requires_grad_();  // a first layer: a leaf of the graph
  captures->push_back({&layer, input.detach(), output});
  return output;
}

std::vector<std::int64_t> Convolution::kernel_shape() const {
  return {shape_.out, shape_.in, shape_.kernel, shape_.kernel};
}

Index Convolution::size() const { return shape_.out * shape_.in * shape_.kernel * shape_.kernel; }

Tensor Convolution::forward(Pass& pass, Tensor input) const {
  const Tensor kernel = own(pass, 0, size()).view(kernel_shape());
  return pass.captured(*this, input,
                       at::conv2d(input, kernel, {}, {shape_.stride, shape_.stride},
                                  {shape_.padding, shape_.padding}));
}

std::unique_ptr<RecordGradients> Convolution::record_gradients(const Tensor& input,
                                                               const Tensor& gradient,
                                                               RecordForm form) const {
  const Index places = gradient.size(2) * gradient.size(3);
  if (form == RecordForm::automatic) form = cheaper_form(places, size());
  if (form == RecordForm::ghost)
    return std::make_unique<GhostConvolution>(input, gradient, kernel_shape(), shape_);
  Tensor made = at::empty({input.size(0), size()}, input.options());
  for (std::int64_t i = 0; i < input.size(0); ++i)
    made[i].copy_(
        kernel_gradient(input.narrow(0, i, 1), gradient.narrow(0, i, 1), kernel_shape(), shape_)
            .flatten());
  return rows(made);
}

void Convolution::initialise(Stream& stream, VectorRef parameters) const {
  const auto fan_in = static_cast<double>(shape_.in * shape_.kernel * shape_.kernel);
  fill_uniform(stream, 1.0 / std::sqrt(fan_in), parameters.segment(offset(), size()));
}

void Convolution::name(const std::string& prefix, std::vector<Named>& out) const {
  out.push_back({prefix + "weight", offset(), kernel_shape()});
}

ImageNorm::ImageNorm(Normalisation kind, Index channels, Index group_size)
    : kind_(kind), channels_(channels), groups_(channels / group_size) {}

Tensor ImageNorm::forward(Pass& pass, Tensor input) const {
  Tensor normalised;
  if (kind_ == Normalisation::group) {
    normalised = at::group_norm(input, groups_, {}, {}, image_epsilon);
  } else if (pass.statistics != nullptr) {
    const auto& [mean, variance] = pass.statistics->at(pass.next_statistic++);
    normalised = at::batch_norm(input, {}, {}, mean, variance, false, 0.0, image_epsilon, false);
  } else {
    if (pass.seen != nullptr)
      pass.seen->emplace_back(input.mean({0, 2, 3}), input.var({0, 2, 3}, false));
    normalised = at::batch_norm(input, {}, {}, {}, {}, true, 0.0, image_epsilon, false);
  }
  const Tensor scale = own(pass, 0, channels_).view({1, channels_, 1, 1});
  const Tensor shift = own(pass, channels_, channels_).view({1, channels_, 1, 1});
  return pass.captured(*this, normalised, normalised * scale + shift);
}

std::unique_ptr<RecordGradients> ImageNorm::record_gradients(const Tensor& input,
                                                             const Tensor& gradient,
                                                             RecordForm /*form*/) const {
  return rows(at::cat({(gradient * input).sum({2, 3}), gradient.sum({2, 3})}, 1));
}

void ImageNorm::initialise(Stream& /*stream*/, VectorRef parameters) const {
  parameters.segment(offset(), channels_).setOnes();
  parameters.segment(offset() + channels_, channels_).setZero();
}

void ImageNorm::name(const std::string& prefix, std::vector<Named>& out) const {
  out.push_back({prefix + "weight", offset(), {channels_}});
  out.push_back({prefix + "bias", offset() + channels_, {channels_}});
}

Tensor Linear::forward(Pass& pass, Tensor input) const {
  const Tensor weight = own(pass, 0, in_ * out_).view({out_, in_});
  const Tensor bias = bias_ ? own(pass, in_ * out_, out_) : Tensor();
  return pass.captured(*this, input, at::linear(input, weight, bias));
}

std::unique_ptr<RecordGradients> Linear::record_gradients(const Tensor& input,
                                                          const Tensor& gradient,
                                                          RecordForm form) const {
  const bool positions = input.dim() == 3;
  const Tensor a = positions ? input : input.unsqueeze(1);
  const Tensor g = positions ? gradient : gradient.unsqueeze(1);
  if (form == RecordForm::automatic) form = cheaper_form(a.size(1), in_ * out_);
  if (form == RecordForm::ghost) return std::make_unique<GhostLinear>(a, g, bias_);
  Tensor made = at::bmm(g.transpose(1, 2), a).flatten(1);
  if (bias_) made = at::cat({made, g.sum(1)}, 1);
  return rows(made);
}

void Linear::initialise(Stream& stream, VectorRef parameters) const {
  auto weight = parameters.segment(offset(), in_ * out_);
  auto bias = parameters.segment(offset() + in_ * out_, bias_ ? out_ : 0);
  if (start_ == Start::normal) {
    stream.fill_normal(start_deviation, weight);
    bias.setZero();
    return;
  }
  const double half_width = 1.0 / std::sqrt(static_cast<double>(in_));
  fill_uniform(stream, half_width, weight);
  fill_uniform(stream, half_width, bias);
}

void Linear::name(const std::string& prefix, std::vector<Named>& out) const {
  out.push_back({prefix + "weight", offset(), {out_, in_}});
  if (bias_) out.push_back({prefix + "bias", offset() + in_ * out_, {out_}});
}

Tensor FeatureNorm::forward(Pass& pass, Tensor input) const {
  const Tensor normalised = at::layer_norm(input, {features_}, {}, {}, epsilon_);
  return pass.captured(*this, normalised,
                       normalised * own(pass, 0, features_) + own(pass, features_, features_));
}

std::unique_ptr<RecordGradients> FeatureNorm::record_gradients(const Tensor& input,
                                                               const Tensor& gradient,
                                                               RecordForm /*form*/) const {
  const auto over_positions = [](const Tensor& t) { return t.dim() == 3 ? t.sum(1) : t; };
  return rows(at::cat({over_positions(gradient * input), over_positions(gradient)}, 1));
}

void FeatureNorm::initialise(Stream& /*stream*/, VectorRef parameters) const {
  parameters.segment(offset(), features_).setOnes();
  parameters.segment(offset() + features_, features_).setZero();
}

void FeatureNorm::name(const std::string& prefix, std::vector<Named>& out) const {
  out.push_back({prefix + "weight", offset(), {features_}});
  out.push_back({prefix + "bias", offset() + features_, {features_}});
}

Tensor Embedding::forward(Pass& pass, Tensor input) const {
  const Tensor table = own(pass, 0, size()).view({rows_, features_});
  return pass.captured(*this, input, at::embedding(table, input));
}

std::unique_ptr<RecordGradients> Embedding::record_gradients(const Tensor& input,
                                                             const Tensor& gradient,
                                                             RecordForm form) const {
  if (form != RecordForm::direct) return std::make_unique<GhostEmbedding>(input, gradient, rows_);
  Tensor made = at::zeros({input.size(0), rows_, features_}, gradient.options());
  for (std::int64_t i = 0; i < input.size(0); ++i) made[i].index_add_(0, input[i], gradient[i]);
  return rows(made.flatten(1));
}

void Embedding::initialise(Stream& stream, VectorRef parameters) const {
  stream.fill_normal(start_deviation, parameters.segment(offset(), size()));
}

void Embedding::name(const std::string& prefix, std::vector<Named>& out) const {
  out.push_back({prefix + "weight", offset(), {rows_, features_}});
}

}  // namespace dpsosp::networks
