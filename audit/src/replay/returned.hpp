// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "dpsosp/experiments/run.hpp"

namespace dpsosp::audit {

using ComputeRun = std::function<RunResult(const RunDescription&)>;

/// Whether what is returned of a run is what its algorithm returned: the same run, computed by
/// `compute` and repeated with a curator that the audit made, ends in the same output, status,
/// counts and number of queries, bit for bit. A choice among iterates by what the records say, made
/// where the result is written, is seen in no answer. Empty if all is well.
std::string complaint_of_result(std::string_view algorithm, const ComputeRun& compute);

using ComputeRelease = std::function<Release(const RunDescription&)>;

/// Whether two releases of one run, seed and all, have a number of their output in common: noise
/// that key, seed or the time of day decide would come again. Empty if not, but with probability
/// 1e-12.
std::string complaint_of_release(const ComputeRelease& compute);

/// Whether releases from other records, in as many runs of algorithms that ask a fixed list of
/// questions, say the same in all but the point.
std::string complaint_of_published(const ComputeRelease& compute);

}  // namespace dpsosp::audit
