// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/networks/layer.hpp"

namespace dpsosp::networks {

/// One part after the other; without parts the identity.
class Sequence final : public Layer {
 public:
  void add(std::string name, std::unique_ptr<Layer> part) {
    parts_.emplace_back(std::move(name), std::move(part));
  }
  Tensor forward(Pass& pass, Tensor input) const override;
  void place(std::vector<std::int64_t>& sizes) override;
  void initialise(Stream& stream, VectorRef parameters) const override;
  void name(const std::string& prefix, std::vector<Named>& out) const override;

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Layer>>> parts_;
};

}  // namespace dpsosp::networks
