// SPDX-License-Identifier: Apache-2.0
#include "weights.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/networks/safetensors.hpp"

namespace dpsosp::networks {
namespace {

/// The name of the same parameter in BERT's older files.
std::string older_name(const std::string& name) {
  for (const auto& [now, before] :
       {std::pair<std::string_view, std::string_view>{"LayerNorm.weight", "LayerNorm.gamma"},
        {"LayerNorm.bias", "LayerNorm.beta"}})
    if (name.ends_with(now))
      return fmt::format("{}{}", name.substr(0, name.size() - now.size()), before);
  return name;
}

}  // namespace

void load_weights(const Network& network, const std::filesystem::path& file, Vector& parameters) {
  const SafetensorsFile weights(file);
  for (const Layer::Named& part : network.named()) {
    const auto tensor = [&](const std::string& name) {
      return std::ranges::find(weights.tensors(), name, &TensorInfo::name);
    };
    auto there = tensor(part.name);
    if (there == weights.tensors().end()) there = tensor(older_name(part.name));
    const bool missing = there == weights.tensors().end();
    const std::vector<Index> shape(part.shape.begin(), part.shape.end());
    const bool fits = !missing && there->shape == shape;
    if (part.offset >= network.head() && !fits) continue;
    if (missing)
      throw InputError(fmt::format("{}: no tensor {}, expected one of shape [{}]", file.string(),
                                   part.name, fmt::join(shape, ", ")));
    if (!fits)
      throw InputError(fmt::format("{}: tensor {} has shape [{}], expected [{}]", file.string(),
                                   there->name, fmt::join(there->shape, ", "),
                                   fmt::join(shape, ", ")));
    const std::vector<float> values = weights.read(there->name);
    for (std::size_t k = 0; k < values.size(); ++k)
      parameters[part.offset + static_cast<Index>(k)] = static_cast<double>(values[k]);
  }
}

}  // namespace dpsosp::networks
