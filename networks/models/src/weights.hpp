// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "dpsosp/networks/network.hpp"

namespace dpsosp::networks {

/// Replaces initial parameters by those of a safetensors file, by name. A last layer of another
/// number of classes keeps its initial parameters; a file may hold more than the network has.
/// \throws InputError that names file and tensor, for one that is missing or has another shape
void load_weights(const Network& network, const std::filesystem::path& file, Vector& parameters);

}  // namespace dpsosp::networks
