// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/stream.hpp"
#include "likelihood/pair_set.hpp"
#include "noise/joint_law.hpp"
#include "noise/noise_law.hpp"
#include "replay/transcript.hpp"

namespace dpsosp::audit {

/// Probability with which a check of noise, of choices or of batches fails by chance, at most.
constexpr double false_alarm = 1e-6;

/// The least probable finding, unless it is likely to be among as many; then nothing.
std::string complaint_of(const std::vector<Finding>& findings);

/// Whether the noise of recorded runs is independent and has the law that was charged for, whatever
/// is pooled: each query's first answers in a run, and its later ones; each of the first entries;
/// and all. Laplace noise counts by its normal scores, trees node by node.
class NoiseCheck {
 public:
  /// \param seed  of the audit: another one looks in other directions
  explicit NoiseCheck(std::uint64_t seed = 0) : joint_(seed) {}
  /// \param algorithm  of the run's algorithm, nothing drawn
  void see(const Transcript& transcript, Stream algorithm);
  /// Empty if all is well.
  std::string complaint() const;
  std::string summary() const;
  NoiseNumbers numbers() const;

 private:
  static constexpr Index most_entries = 16;  // tested one by one, whatever the query
  struct Query {
    std::string name;
    bool later = false;  ///< not its first answer in the run
    auto operator<=>(const Query&) const = default;
  };
  /// A Gaussian draw with the normal score of its length.
  struct Draw {
    Vector noise;
    std::optional<double> length;
  };

  void see_draw(Vector standard, const Query& query, const Exchange& e, const std::string& place);
  void expect_symmetric(const Vector& released, const std::string& place);
  void see_number(double z, NormalLaw& of_query);
  void expect_new(const Vector& noise, const std::string& place);

  NormalLaw all_, lengths_;
  std::map<Query, NormalLaw> queries_;
  std::map<Index, NormalLaw> entries_;  // of vectors, by place
  Products lag_one_, lag_two_, lengths_lag_;
  JointLaw joint_;
  Coincidences coincidences_;
  Coincidences on_grid_{1e-12};  // where the answer leaves the noise so many digits
  std::int64_t shared_ = 0;      // numbers that are the algorithm's
  double shared_expected_ = 0;

  // Seen in the current run:
  std::map<Index, std::pair<Draw, Draw>> last_;  // the last two draws, by their size
  std::vector<Vector> seen_;
  std::vector<std::string> places_;
  std::vector<double> of_algorithm_, by_size_;  // its first normal numbers; their sizes, ascending

  PairSet starts_;  // of all draws of all runs
  std::string complaint_;
};

/// Whether choices among candidates have the law of their exponential mechanism, by the probability
/// of all candidates less likely than the chosen one, which is uniform, and are independent.
class ChoiceCheck {
 public:
  void see(const Transcript& transcript);
  std::string complaint() const;
  std::string summary() const;

 private:
  std::int64_t choices_ = 0;
  Stream within_{StreamKey{.seed = 0x63686f696365}};  // its place in the chosen candidate's share
  NormalLaw law_;                                     // of normal scores
  Products lag_one_;
};

/// Whether secret batches have the sizes, and their members the numbers of appearances, that their
/// sampling gives, within a run and over all of them.
class BatchCheck {
 public:
  void see(const Transcript& transcript);
  std::string complaint() const;
  /// What the tests say, each with a probability of its own.
  std::vector<Finding> findings() const;
  std::string summary() const;

 private:
  /// Policy (size of a fixed-size sample, else 0, and rate) and the records drawn from.
  using Sampling = std::tuple<Index, double, Index, Index>;
  /// How often each record was drawn in how many batches.
  struct Appearances {
    std::vector<double> counts;
    double batches = 0;
    void add(const std::vector<Index>& members, const Sampling& sampling);
  };
  /// A sum less its mean, with its variance.
  struct Deviation {
    double sum = 0, variance = 0;
    double value() const;
  };
  /// A sum of squares, with its mean and variance.
  struct Squares {
    double sum = 0, mean = 0, variance = 0;
    /// Adds the squares of the numbers of appearances, each less its mean.
    void add(const Appearances& appearances, const Sampling& sampling);
  };

  /// Sizes of Poisson batches against their binomial law, in cells of about equal probability.
  Finding law_of_sizes() const;

  std::int64_t batches_ = 0, drawn_ = 0;
  Squares squares_of_sizes_, within_runs_;
  Deviation sizes_;
  Deviation overlap_;  // of successive batches
  std::map<Sampling, Appearances> over_runs_;
  std::map<Sampling, std::map<Index, std::int64_t>> often_;  ///< batches, by their size
  std::string complaint_;
};

}  // namespace dpsosp::audit
