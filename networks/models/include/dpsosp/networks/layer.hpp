// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"

/// Networks as functions of a flat parameter vector, without state of their own: what a layer
/// computes depends on the parameters and the inputs it is handed, so one network can be used from
/// several threads, and a run can go on from any point.
///
/// Shapes: b records, images b × channels × height × width, sentences b × tokens × features.
namespace dpsosp::networks {

using torch::Tensor;

/// How the gradients of single records with respect to one layer are held.
enum class RecordForm {
  direct,     ///< b × parameters, one row a record
  ghost,      ///< never made: norms from Gram matrices, sums from weighted output gradients
  automatic,  ///< whichever is cheaper for the layer, rows of at most `longest_row` entries
};

/// A layer of more parameters has no rows but where `direct` asks for them, so that the memory of a
/// chunk does not grow with it.
inline constexpr Index longest_row = Index{1} << 19;

/// How much longer than its computed norm a record's gradient may be, relative to the norm: what
/// rounding of layers, norms and sums does, with room.
double rounding_of(torch::Dtype type);

/// The gradients of the records of one chunk with respect to one layer.
class RecordGradients {
 public:
  virtual ~RecordGradients() = default;
  /// ‖g_i‖² of this layer's part; b entries. Where rounding could make them too small by a larger
  /// share than `rounding_of` the type, as where the terms of a sum over places cancel, an upper
  /// bound.
  virtual Tensor squared_norms() const = 0;
  /// sum += Σ_i weights_i g_i. \param weights  b entries \param sum  the layer's parameters, flat
  virtual void add_weighted(const Tensor& weights, Tensor sum) const = 0;
};

/// Mean and variance of every channel of the batch normalisations of a network, in the order in
/// which a forward pass meets them.
using BatchStatistics = std::vector<std::pair<Tensor, Tensor>>;

class Parametric;

/// What a forward pass leaves for the gradients of single records: the input and the output of each
/// layer with parameters.
struct Capture {
  const Parametric* layer;
  Tensor input;   ///< detached
  Tensor output;  ///< in the graph
};

/// A forward pass.
struct Pass {
  std::vector<Tensor> parameters;               ///< flat, one a layer that has some
  Tensor mask;                                  ///< b × tokens, 1 where there is a token; or none
  std::vector<Capture>* captures = nullptr;     ///< filled where not null
  const BatchStatistics* statistics = nullptr;  ///< of batch normalisation; the batch's own if null
  std::size_t next_statistic = 0;               ///< of `statistics`
  BatchStatistics* seen = nullptr;              ///< filled with the batch's own where not null

  /// Lists a layer's input and output, and makes the output one that gradients reach.
  Tensor captured(const Parametric& layer, const Tensor& input, Tensor output);
};

/// A part of a network.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual Tensor forward(Pass& pass, Tensor input) const = 0;
  /// Gives the layer and its parts their places in the parameter vector, after those of `sizes`,
  /// the numbers of parameters of the layers before; appends theirs.
  virtual void place(std::vector<std::int64_t>& /*sizes*/) {}
  /// Writes the initial parameters of the layer and its parts.
  virtual void initialise(Stream& /*stream*/, VectorRef /*parameters*/) const {}
  /// Names, places and shapes of the parameters of the layer and its parts, for files of weights.
  struct Named {
    std::string name;
    Index offset;
    std::vector<std::int64_t> shape;
  };
  virtual void name(const std::string& /*prefix*/, std::vector<Named>& /*out*/) const {}
};

/// A layer with parameters of its own.
class Parametric : public Layer {
 public:
  void place(std::vector<std::int64_t>& sizes) final {
    number_ = sizes.size();
    offset_ = std::accumulate(sizes.begin(), sizes.end(), Index{0});
    sizes.push_back(size());
  }
  Index offset() const { return offset_; }
  virtual Index size() const = 0;
  /// \param input, gradient  of the loss with respect to the output, both as captured
  virtual std::unique_ptr<RecordGradients> record_gradients(const Tensor& input,
                                                            const Tensor& gradient,
                                                            RecordForm form) const = 0;

 protected:
  /// The parameters [from, from + count) of this layer.
  Tensor own(const Pass& pass, Index from, Index count) const {
    return pass.parameters[number_].narrow(0, from, count);
  }

 private:
  std::size_t number_ = 0;
  Index offset_ = 0;
};

/// Convolution without bias, a square kernel.
class Convolution final : public Parametric {
 public:
  struct Shape {
    Index in, out, kernel = 3, stride = 1, padding = 1;
  };
  explicit Convolution(const Shape& shape) : shape_(shape) {}
  Tensor forward(Pass& pass, Tensor input) const override;
  Index size() const override;
  std::unique_ptr<RecordGradients> record_gradients(const Tensor& input, const Tensor& gradient,
                                                    RecordForm form) const override;
  /// Uniform on ±1/√(in · kernel²).
  void initialise(Stream& stream, VectorRef parameters) const override;
  void name(const std::string& prefix, std::vector<Named>& out) const override;

 private:
  std::vector<std::int64_t> kernel_shape() const;
  Shape shape_;
};

enum class Normalisation {
  group,  ///< each record by itself
  batch,  ///< with the mean and variance of the batch, which mixes its records
};

constexpr auto words_of(Normalisation) {
  using enum Normalisation;
  return word_list<Normalisation>("normalisation", {{group, "group"}, {batch, "batch"}});
}

/// Normalisation of images to mean 0 and variance 1, then a scale and a shift of each channel.
class ImageNorm final : public Parametric {
 public:
  /// \param group_size  channels of a group; divides `channels`
  ImageNorm(Normalisation kind, Index channels, Index group_size);
  Tensor forward(Pass& pass, Tensor input) const override;
  Index size() const override { return 2 * channels_; }
  std::unique_ptr<RecordGradients> record_gradients(const Tensor& input, const Tensor& gradient,
                                                    RecordForm form) const override;
  /// Scale 1, shift 0.
  void initialise(Stream& stream, VectorRef parameters) const override;
  void name(const std::string& prefix, std::vector<Named>& out) const override;

 private:
  Normalisation kind_;
  Index channels_, groups_;
};

/// y = W x + b, of the last axis.
class Linear final : public Parametric {
 public:
  enum class Start {
    uniform,  ///< on ±1/√in
    normal,   ///< weights N(0, 0.02²), biases 0
  };
  Linear(Index in, Index out, bool bias, Start start = Start::uniform)
      : in_(in), out_(out), bias_(bias), start_(start) {}
  Tensor forward(Pass& pass, Tensor input) const override;
  Index size() const override { return in_ * out_ + (bias_ ? out_ : 0); }
  std::unique_ptr<RecordGradients> record_gradients(const Tensor& input, const Tensor& gradient,
                                                    RecordForm form) const override;
  void initialise(Stream& stream, VectorRef parameters) const override;
  void name(const std::string& prefix, std::vector<Named>& out) const override;

 private:
  Index in_, out_;
  bool bias_;
  Start start_;
};

/// Normalisation of the last axis to mean 0 and variance 1, then a scale and a shift of each
/// feature.
class FeatureNorm final : public Parametric {
 public:
  FeatureNorm(Index features, double epsilon) : features_(features), epsilon_(epsilon) {}
  Tensor forward(Pass& pass, Tensor input) const override;
  Index size() const override { return 2 * features_; }
  std::unique_ptr<RecordGradients> record_gradients(const Tensor& input, const Tensor& gradient,
                                                    RecordForm form) const override;
  void initialise(Stream& stream, VectorRef parameters) const override;
  void name(const std::string& prefix, std::vector<Named>& out) const override;

 private:
  Index features_;
  double epsilon_;
};

/// Row input[i, t] of a table, for each token.
class Embedding final : public Parametric {
 public:
  Embedding(Index rows, Index features) : rows_(rows), features_(features) {}
  /// \param input  b × tokens, integers in [0, rows)
  Tensor forward(Pass& pass, Tensor input) const override;
  Index size() const override { return rows_ * features_; }
  std::unique_ptr<RecordGradients> record_gradients(const Tensor& input, const Tensor& gradient,
                                                    RecordForm form) const override;
  /// N(0, 0.02²).
  void initialise(Stream& stream, VectorRef parameters) const override;
  void name(const std::string& prefix, std::vector<Named>& out) const override;

 private:
  Index rows_, features_;
};

}  // namespace dpsosp::networks
