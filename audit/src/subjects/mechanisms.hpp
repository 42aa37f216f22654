// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/algorithms/algorithm.hpp"

/// Algorithms of the audit's own, which optimise nothing: each asks one kind of question again and
/// again, at random points and with random noise, until the filter refuses. They reach what no
/// algorithm's schedule does: every rule of the filter at its limit, and numbers enough to test the
/// tails of every law.
namespace dpsosp::audit {

/// The questions that a mechanism asks, and of which problem.
struct MechanismSettings {
  BatchPolicy policy;
  Calibrator calibrator = Calibrator::cks;
  double pure_share = 0;             ///< of epsilon, for the pure account
  Index queries = 100;               ///< that spend the budget; a session or a choice counts as one
  Index records = 0, dimension = 0;  ///< of the problem; 0: those of mechanism_size
};

/// "curator/gradients", "release/gradients" and so on.
std::vector<std::string> mechanism_keys();
bool is_mechanism(std::string_view key);
std::unique_ptr<Algorithm> make_mechanism(std::string_view key, MechanismSettings settings = {});
/// The settings under which replay runs a mechanism.
std::vector<MechanismSettings> mechanism_settings(std::string_view key);
/// Settings that spend most of the budget on one record in few queries.
MechanismSettings fast_mechanism_settings(std::string_view key);
/// Whether a mechanism asks a curator whose noise is exact.
bool asks_release(std::string_view key);
/// The size of a mechanism's problem in replay: few records where each question is dear.
struct MechanismSize {
  Index records, dimension;
};
MechanismSize mechanism_size(std::string_view key);

}  // namespace dpsosp::audit
