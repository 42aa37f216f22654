// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/networks/layer.hpp"

namespace dpsosp::networks {

/// A network for classification.
class Network {
 public:
  /// \param mixes_records  whether a record's loss depends on the others of its batch
  Network(std::string name, std::unique_ptr<Layer> body, bool mixes_records);

  const std::string& name() const { return name_; }
  /// d.
  Index parameters() const { return parameters_; }
  bool mixes_records() const { return mixes_records_; }
  /// Where the parameters of the last layer, whose outputs are the scores, begin.
  Index head() const;
  /// How gradients of single records are computed.
  RecordForm form = RecordForm::automatic;
  /// Numbers that the pass of the largest record keeps for its gradient, about; 0: fewer than its
  /// rows.
  Index kept_a_record = 0;
  /// Numbers in the rows of one record's gradient, at most.
  Index row_entries() const;

  /// A parameter vector cut into the parts of the layers, views of it.
  std::vector<Tensor> parts(const Tensor& parameters) const {
    return parameters.split_with_sizes(sizes_);
  }
  /// The scores of the classes, b × classes.
  Tensor scores(Pass& pass, const Tensor& input) const { return body_->forward(pass, input); }

  /// Initial parameters. \param stream  of Purpose::initial_point
  Vector initial(Stream stream) const;
  /// Names, places and shapes of all parameters.
  std::vector<Layer::Named> named() const;

 private:
  std::string name_;
  std::unique_ptr<Layer> body_;
  bool mixes_records_;
  std::vector<std::int64_t> sizes_;
  Index parameters_ = 0;
};

/// What the networks for images have in common.
struct ImageNetworkOptions {
  Index channels = 3;  ///< of the images
  Index width = 1;     ///< the published numbers of channels are divided by this: 1, 2, 4 or 8
  Index classes = 10;
  Normalisation normalisation = Normalisation::group;
  /// Twice continuously differentiable: softplus of slope 5 for ReLU, means for maxima in pools.
  bool smooth = false;
};

/// The network of avdiukhin-2024, Appendix A; 2,274,880 parameters at width 1. The group norm has
/// groups of 8 channels at widths 1 and 2, of 4 else. \throws InputError for another width
std::unique_ptr<Network> cifar_cnn(const ImageNetworkOptions& options);

/// ResNet-18 for images of 32 × 32 pixels: a stem of 3 × 3 without pool; 11,173,962 parameters at
/// width 1 with ten classes. \throws InputError for another width
/// \source He, Zhang, Ren and Sun (2016), Deep residual learning, Section 4.2 for CIFAR
std::unique_ptr<Network> resnet18(const ImageNetworkOptions& options);

/// Two convolutions and a linear layer for images of 28 × 28 pixels, for tests.
std::unique_ptr<Network> small_cnn(const ImageNetworkOptions& options);

}  // namespace dpsosp::networks
