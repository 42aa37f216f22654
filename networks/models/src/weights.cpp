// SPDX-License-Identifier: Apache-2.0
#include "weights.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/networks/safetensors.hpp"

namespace dpsosp::networks {

void load_weights(const Network& network, const std::filesystem::path& file, Vector& parameters) {
  const SafetensorsFile weights(file);
  for (const Layer::Named& part : network.named()) {
    const auto there = std::ranges::find(weights.tensors(), part.name, &TensorInfo::name);
    const bool missing = there == weights.tensors().end();
    const std::vector<Index> shape(part.shape.begin(), part.shape.end());
    const bool fits = !missing && there->shape == shape;
    if (part.offset >= network.head() && !fits) continue;
    if (missing)
      throw InputError(fmt::format("{}: no tensor {}, expected one of shape [{}]",
                                   file.string(),
                                   part.name,
                                   fmt::join(shape, ", ")));
    if (!fits)
      throw InputError(fmt::format("{}: tensor {} has shape [{}], expected [{}]",
                                   file.string(),
                                   part.name,
                                   fmt::join(there->shape, ", "),
                                   fmt::join(shape, ", ")));
    const std::vector<float> values = weights.read(part.name);
    for (std::size_t k = 0; k < values.size(); ++k)
      parameters[part.offset + static_cast<Index>(k)] = static_cast<double>(values[k]);
  }
}

}  // namespace dpsosp::networks
