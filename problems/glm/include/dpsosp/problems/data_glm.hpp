// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "dpsosp/problems/glm.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// What every encoder of real data ends with.
struct RecordEnding {
  bool bias = false;
  double least = -std::numeric_limits<double>::infinity();  ///< of labels
  double most = std::numeric_limits<double>::infinity();

  /// Makes (x, 1)/√2 of x with a bias, which is in the unit ball with x; the label within its ends.
  double finish(VectorRef column, double label) const;
};

/// Generalised linear models of real data: records are read from files that `./run data` fetches.
/// Features are scaled into the unit ball by public constants or record by record, never by
/// statistics of the data. Public facts need no files.
class DataGlmFamily : public ProblemFamily {
 public:
  Fields fields() final;
  std::string missing() const override;

  LossOption loss;
  bool bias = true;
  bool permuted = true;
  double radius = 10.0;
  StartOption start;

 protected:
  Index dimension(const InstanceSpec& spec) const final;
  void settle(const Stream& random, PublicFacts& facts) const final;
  Constants constants(const PublicFacts& facts) const final;
  void draw(const InstanceSpec& spec, Problem& problem) const final;

  /// Settings of the data set itself.
  virtual Fields data_fields() = 0;
  /// Number of records and of features, without the bias.
  virtual Index available() const = 0;
  virtual Index raw_features() const = 0;
  /// The share attained of the bound on F(x₀) − min F, at the default settings.
  virtual double gap_attained() const = 0;
  /// Files below data_folder().
  virtual std::vector<std::filesystem::path> files() const = 0;
  /// Rows of the data set that an instance is made of, in its order.
  std::vector<Index> rows_of(const InstanceSpec& spec) const;
  /// The given records as encoded() makes them; ‖column‖ ≤ 1.
  virtual GlmData load(const std::vector<Index>& rows, const RecordEnding& ending) const = 0;
};

}  // namespace dpsosp
