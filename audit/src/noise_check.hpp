// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "transcript.hpp"

namespace dpsosp::audit {

/// Probability with which a check of noise, of choices or of batches fails by chance.
constexpr double false_alarm = 1e-9;

/// Whether the noise of recorded runs is of the size that was charged for (for the first answer of
/// each query in a run and for the later ones, and for each of the first entries), is not
/// correlated from one draw to the next two, between neighbouring entries or across the end of a
/// draw, and is never used twice.
class NoiseCheck {
 public:
  void see(const Transcript& transcript);
  /// Empty if all is well.
  std::string complaint() const;
  std::string summary() const;

 private:
  /// Of squares of standard numbers, or of products of independent ones.
  struct Sum {
    double value = 0;
    std::int64_t count = 0;
    void add(double more, std::int64_t numbers) {
      value += more;
      count += numbers;
    }
  };
  struct Query {
    std::string name;
    bool later = false;  ///< not its first answer in the run
    auto operator<=>(const Query&) const = default;
  };

  void see_normal(ConstVectorRef standard, const Query& query, const std::string& place);
  void see_laplace(double standard, const Query& query, const std::string& place);
  void expect_new(Vector noise, const std::string& place);
  Sum all() const;

  std::map<Query, Sum> queries_;
  std::vector<Sum> entries_;  // of Gaussian noise, by place in its vector
  Sum lag_one_, lag_two_, neighbours_, across_;
  std::map<Index, std::pair<Vector, Vector>> last_;  // this run's last two draws, by their size
  std::vector<Vector> seen_;                         // noise of this run
  std::vector<std::string> places_;
  std::string complaint_;
};

/// Whether choices among candidates have the law of their exponential mechanism, by the probability
/// of all candidates less likely than the chosen one, which is uniform.
class ChoiceCheck {
 public:
  /// \param start  differs where checks are merged: it spreads the place within the share of the
  ///   chosen candidate
  explicit ChoiceCheck(std::uint64_t start = 0) : start_(start) {}
  void see(const Transcript& transcript);
  void merge(const ChoiceCheck& other);
  std::string complaint() const;
  std::string summary() const;

 private:
  std::uint64_t start_;
  std::int64_t choices_ = 0;
  double first_ = 0, second_ = 0;  // sums of u − 1/2, and of its square less 1/12
};

/// Whether secret batches have the sizes, and their members the numbers of appearances, that their
/// sampling gives, within a run and over all of them.
class BatchCheck {
 public:
  void see(const Transcript& transcript);
  std::string complaint() const;
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
  /// Deviation of sums of squares from their mean, with its variance.
  struct Excess {
    double sum = 0, variance = 0;
    void add(const Appearances& appearances, const Sampling& sampling);
  };

  double chi_squared_ = 0;
  std::int64_t batches_ = 0, drawn_ = 0;
  Excess within_runs_;
  std::map<Sampling, Appearances> over_runs_;
  std::string complaint_;
};

}  // namespace dpsosp::audit
