// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/preparation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run.hpp"

/// Inputs that compute_run makes of a description, for audits that repeat a run with their
/// own curator.
namespace dpsosp {

/// The random numbers of a run: those of its seed and its description. Controls (records exchanged,
/// no data, no noise) keep them, so that they differ from the run in that alone.
StreamKey key_of(const RunDescription& description);

/// How the algorithm of the run gets its parameters.
Preparation preparation_of(const RunDescription& description);

}  // namespace dpsosp
