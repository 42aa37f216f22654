// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

namespace dpsosp::networks {

/// One training run of a network through a curator, looked at after each epoch: the probe
/// avdiukhin-2024/training, whose parameters and result docs/papers/avdiukhin-2024.md, 5.6
/// describes.
///
/// The noise of the mean gradient has deviation C z/B, z the least noise multiplier with which the
/// accountant proves (epsilon, delta) under the adjacency that is named. Replace-one noise of an
/// algorithm that clips goes through the curator with a filter. Any other run is one of a published
/// recipe or a reference line and goes through the unsound curator: what its noise is worth is
/// computed for both adjacencies and reported beside its label.
/// \throws InputError for parameters that make no run, RunFailed where an iterate is not finite
nlohmann::json train(const nlohmann::json& parameters, std::uint64_t seed);

}  // namespace dpsosp::networks
