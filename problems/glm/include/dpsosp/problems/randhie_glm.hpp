// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/data_glm.hpp"

namespace dpsosp {

/// Visits to a doctor in the RAND Health Insurance Experiment: 20190 person-years, 9 features; with
/// the bias d = 10.
class RandhieGlm final : public DataGlmFamily {
 public:
  std::string_view name() const override { return "randhie-glm"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 20190; }

  enum class Target {
    any,    ///< y = 1 for at least one visit, else 0
    visits  ///< y = ln(1 + visits)/ln(101), at most 1
  };
  friend constexpr auto words_of(Target) {
    using enum Target;
    return word_list<Target>("target", {{any, "any"}, {visits, "visits"}});
  }
  Target target = Target::any;

 protected:
  Fields data_fields() override;
  Index available() const override { return 20190; }
  Index raw_features() const override { return 9; }
  double gap_attained() const override { return 0.552; }
  std::vector<std::filesystem::path> files() const override;
  GlmData load(const std::vector<Index>& rows, const RecordEnding& ending) const override;
};

}  // namespace dpsosp
