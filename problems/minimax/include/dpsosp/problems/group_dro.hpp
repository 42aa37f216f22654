// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"
#include "dpsosp/trusted/record_table.hpp"

namespace dpsosp {

/// Where the dual of `group-dro` ranges.
enum class GroupDual {
  free,     ///< y ∈ R^G; its maximiser has entries in [0, 1/μ]
  simplex,  ///< y ≥ 0, Σ y_g = 1
};

constexpr auto words_of(GroupDual) {
  using enum GroupDual;
  return word_list<GroupDual>("group dual", {{free, "free"}, {simplex, "simplex"}});
}

/// Distributionally robust learning over g groups, as a minimax problem with a shared dual y ∈ R^g:
///
///   f(x, y) = Σ_g (1/G + y_g) l_g(x) − (μ/2)‖y‖²,   y* = l/μ,   Φ = mean l_g + ‖l‖²/(2μ),
///
/// l_g the group's mean Welsch loss φ(a·x − b), φ(r) = 1 − exp(−r²/2) ∈ [0, 1), ‖a‖ ≤ 1, b ∈ R.
///
/// With `dual = simplex` y are the groups' weights themselves, from the simplex:
///
///   f(x, y) = Σ_g y_g l_g(x) − (μ/2)‖y − 1/G‖²,   y* = the projection of 1/G + l/μ,
///   Φ = y*·l − (μ/2)‖y* − 1/G‖².
///
/// It is the same f, with y in place of 1/G + y, under the constraint. There ∇²Φ jumps where a
/// weight of y* becomes 0.
///
/// The group of record i is i mod G and public: adjacency exchanges a record within its group. So
/// the group sizes n_g are public, and record i's own loss is
///   f_i = (n/n_g)(1/G + y_g) φ(a_i·x − b_i) − (μ/2)‖y‖²,
/// or with the simplex (n/n_g) y_g φ(a_i·x − b_i) − (μ/2)‖y − 1/G‖², whose mean is f. (With private
/// groups and weights 1/π_g, one data set may give a group all n records, l_g reaches 1/π_g, and
/// every constant below grows G-fold or more.)
///
/// Group g's records are a symmetric mixture of two regressions: a uniform on hidden points of the
/// unit sphere, b = ±a·θ_g. The origin is then a critical point of the population objective.
/// \source xu-2026 notes, 8.2 (group DRO).
class GroupDro final : public ProblemFamily {
 public:
  std::string_view name() const override { return "group-dro"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 10000; }
  Fields fields() override;
  int numbers_version() const override { return 2; }

  Index groups = 4;
  GroupDual dual = GroupDual::free;
  double strong_concavity = 4.0;
  double signal = 2.0;
  double disagreement = 0.5;
  double alignment = 2.0;
  Index points = 20;
  double radius = std::numeric_limits<double>::infinity();  ///< of the domain ‖x‖ ≤ R
  RecordSampling sampling = RecordSampling::independent;
  StartOption start;

 protected:
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// Values that records take; those of a group are contiguous, as many for each.
struct GroupDroData : RecordColumns {  ///< features (d + 1) × V; the last entry is the group
  Index groups = 1;
  double strong_concavity = 1;
  GroupDual dual = GroupDual::free;

  Index dimension() const { return features.rows() - 1; }
  /// d × V.
  auto points() const { return features.topRows(dimension()); }
  /// Appends to features in R^d the groups, v / (V / groups) for value v.
  void add_groups();

  bool on_simplex() const { return dual == GroupDual::simplex; }
  /// Weight of every group at y = 0, and the y at which the penalty is 0.
  double base() const { return on_simplex() ? 0 : 1 / static_cast<double>(groups); }
  double centre() const { return on_simplex() ? 1 / static_cast<double>(groups) : 0; }
};
/// Φ of records of which shares[v] of value v's group have that value, or one share for every v; of
/// sum 1 in each group, or 0 if it is empty.
std::unique_ptr<const Objective> group_dro_value(std::shared_ptr<const GroupDroData> data,
                                                 Vector shares);
/// Record i has value `values[i]`, of group i mod G.
std::unique_ptr<const AnyRecords> group_dro_records(std::shared_ptr<const GroupDroData> data,
                                                    std::vector<std::int32_t> values);

}  // namespace dpsosp
