// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run_result.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/release_curator.hpp"
#include "dpsosp/problems/problem.hpp"

// From a budget and a problem to the curator of a run, and from that to what the run has spent.
// With trusted/ and privacy/ all that an epsilon rests on.

namespace dpsosp {

/// The filter enforces the rule, so the rule must be the budget's. \throws InputError
void check_rule(const RunDescription& description, const Scheduled& scheduled);

/// The curator of a run; facts, problem and log outlive it.
Curator open(const Problem& problem, const PublicFacts& facts, const FilterRule& rule, Door door,
             const StreamKey& key, ClipLog& log);

/// The curator of a release. \throws InputError without records, or for a door that enforces
/// nothing
ReleaseCurator open_release(const Problem& problem, const PublicFacts& facts,
                            const FilterRule& rule, const RunDescription& description,
                            const StreamKey& key, ClipLog& log);

PrivacyResult privacy_result(const Curator& curator, const RunDescription& description,
                             const Scheduled& scheduled, const ClipLog& log);

}  // namespace dpsosp
