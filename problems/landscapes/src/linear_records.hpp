// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "dpsosp/problems/objective.hpp"
#include "dpsosp/problems/sampling.hpp"

namespace dpsosp {

/// ‖∇²F‖ ≤ smoothness and ‖∇²F(x) − ∇²F(x′)‖ ≤ hessian_lipschitz·‖x − x′‖ where F's constants hold;
/// infinite if unknown. No record enters ∇²F, so these weigh sums and bound no sensitivity.
struct CurvatureBounds {
  double smoothness = std::numeric_limits<double>::infinity();
  double hessian_lipschitz = std::numeric_limits<double>::infinity();
};

/// The records of f(x; z) = F(x) + ⟨z, x⟩, z ∈ {−s, s}^d, drawn as `sampling` says.
struct LinearRecordsSpec {
  std::string problem;                         ///< for messages
  std::shared_ptr<const Objective> landscape;  ///< F
  CurvatureBounds curvature;                   ///< of F
  double entry = 0;                            ///< s
  Index records = 0;
  RecordSampling sampling = RecordSampling::balanced;
  std::uint64_t data_seed = 0;
};

struct LinearRecordsMade {
  std::unique_ptr<const AnyRecords> records;       ///< null where their sums are simulated
  std::unique_ptr<const SimulatedSums> simulated;  ///< null where there are records
  Vector mean;                                     ///< z̄ ∈ R^d; empty under `stream`
};
LinearRecordsMade make_linear_records(const LinearRecordsSpec& spec);

/// Records given by their z, the columns of `tilts` (d × n).
std::unique_ptr<const AnyRecords> linear_records(std::string problem,
                                                 std::shared_ptr<const Objective> landscape,
                                                 CurvatureBounds curvature, Matrix tilts);

}  // namespace dpsosp
