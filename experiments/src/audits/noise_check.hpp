// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "transcript.hpp"

namespace dpsosp::audit {

/// Probability with which a test of noise or of batch sizes fails by chance.
constexpr double false_alarm = 1e-9;

/// Whether the noise of recorded runs has the size that was charged for, and is never used twice.
class NoiseCheck {
 public:
  void see(const Transcript& transcript);
  /// Empty if all is well.
  std::string complaint() const;
  std::string summary() const;

 private:
  void see_normal(ConstVectorRef standard, const std::string& place);
  void see_laplace(double standard, const std::string& place);
  void expect_new(Vector noise, const std::string& place);
  double two_sided() const;

  double chi_squared_ = 0;
  std::int64_t degrees_ = 0;
  std::vector<Vector> seen_;  // noise of this run, sorted by the first entry when it ends
  std::vector<std::string> places_;
  std::string complaint_;
};

/// Whether secret batches have the sizes that their sampling gives.
class BatchCheck {
 public:
  void see(const Transcript& transcript);
  std::string complaint() const;
  std::string summary() const;

 private:
  double chi_squared_ = 0;
  std::int64_t batches_ = 0;
  std::string complaint_;
};

}  // namespace dpsosp::audit
