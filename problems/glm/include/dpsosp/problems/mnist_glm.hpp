// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/data_glm.hpp"

namespace dpsosp {

/// One handwritten digit against the rest: x ∈ R^784 an MNIST training image, y = 1 for the digit
/// and 0 for the others; with the bias d = 785.
class MnistGlm final : public DataGlmFamily {
 public:
  std::string_view name() const override { return "mnist-glm"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 10000; }

  enum class Scaling {
    record,  ///< each image divided by its own length
    range    ///< pixels in [0, 1] divided by 28, the length of an all-white image
  };
  friend constexpr auto words_of(Scaling) {
    using enum Scaling;
    return word_list<Scaling>("scaling", {{record, "record"}, {range, "range"}});
  }
  Scaling scaling = Scaling::record;
  Index digit = 8;

 protected:
  Fields data_fields() override;
  Index available() const override { return 60000; }
  Index raw_features() const override { return 784; }
  double gap_attained() const override { return 0.994; }
  std::vector<std::filesystem::path> files() const override;
  GlmData load(const std::vector<Index>& rows, const RecordEnding& ending) const override;
};

}  // namespace dpsosp
