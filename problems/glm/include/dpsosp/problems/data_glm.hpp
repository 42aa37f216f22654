// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Generalised linear models of real data: records are read from files that `./run data` fetches.
/// Features are scaled into the unit ball by public constants or record by record, never by
/// statistics of the data. Public facts need no files.
class DataGlmFamily : public ProblemFamily {
 public:
  int numbers_version() const override { return 1; }
  Fields fields() final;
  Problem build(const InstanceSpec& spec) const final;
  PublicFacts build_facts(const InstanceSpec& spec) const final;
  std::string missing() const final;

  LossOption loss;
  bool bias = true;
  bool permuted = true;
  double radius = 10.0;
  StartOption start;

 protected:
  /// Settings of the data set itself.
  virtual Fields data_fields() = 0;
  /// Number of records and of features, without the bias.
  virtual Index available() const = 0;
  virtual Index raw_features() const = 0;
  /// The share attained of the bound on F(x₀) − min F, at the default settings.
  virtual double gap_attained() const = 0;
  /// Files below data_folder().
  virtual std::vector<std::filesystem::path> files() const = 0;
  /// The given records; ‖x‖ ≤ 1 for the raw features, labels in [0, 1].
  virtual GlmData load(const std::vector<Index>& rows) const = 0;

 private:
  PublicFacts public_facts(const InstanceSpec& spec, const ScalarLoss& phi) const;
};

}  // namespace dpsosp
