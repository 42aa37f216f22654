// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp {

// Shared by algorithms that run other algorithms.

/// Fields of a stage under the names PREFIX.NAME.
void add_stage_fields(Fields& fields, std::string_view prefix, Algorithm& stage);

/// Checks a stage; a refusal names its field as `owner` shows it. \throws InputError
void check_stage(std::string_view owner, std::string_view prefix, const Algorithm& stage,
                 const PublicFacts& facts);

/// Adds the counts of a stage under the names PREFIX.NAME.
void add_stage_counts(Outcome& whole, std::string_view prefix, const Outcome& stage);

/// Runs the last stage on the child `spec`. Its iterates follow those of `whole`, and its output
/// is that of `whole`; if it is refused, only the status changes.
void run_last_stage(Outcome& whole, std::string_view prefix, const Algorithm& stage,
                    Curator& curator, const ChildSpec& spec, Stream stream, Observer& observer);

/// Shows a later stage's iterates after those of the stages before it.
class LaterStage final : public Observer {
 public:
  /// \param before  iterations made before this stage
  LaterStage(Observer& observer, Index before) : observer_(observer), before_(before) {}
  void iterate(Index t, ConstVectorRef x) override { observer_.iterate(before_ + t, x); }
  void estimate(Index t, ConstVectorRef x, ConstVectorRef gradient) override {
    observer_.estimate(before_ + t, x, gradient);
  }

 private:
  Observer& observer_;
  Index before_;
};

}  // namespace dpsosp
