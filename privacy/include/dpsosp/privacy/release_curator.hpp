// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

/// The sound curator for releases about people: sums are integers on a lattice, the length of every
/// contribution is checked in integers, and noise is a discrete Gaussian drawn exactly. So neither
/// rounding, nor the shape of floating-point noise, nor the seed reveals more than is charged.
///
/// It answers Gaussian queries on public batches (`all`, `fresh`), trees and Hessian streams, and
/// refuses everything else. Charges are zCDP: the exact curve of a Gaussian, and amplification by
/// sampling, are not proved of discrete noise. Slow: records are read one by one.
class ReleaseCurator final : public Curator {
 public:
  /// \param rule   of calibrator cks, bun_steinke or rdp
  /// \param key    of the algorithm's public randomness; no noise comes from it
  /// \param words  of the noise: SystemEntropy; anything else is for tests
  /// \throws InputError for another calibrator
  ReleaseCurator(const PublicFacts& facts, const AnyRecords& records, const FilterRule& rule,
                 StreamKey key, std::unique_ptr<WordSource> words, ClipLog* clip_log = nullptr);
};

}  // namespace dpsosp
