// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/power_method.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"

namespace dpsosp {

/// Which points a private selection may look at: a function of released values and of the
/// algorithm's own randomness alone, so that choosing them costs nothing.
class Candidates {
 public:
  /// \param uniform  iterates at independent uniform indices of {0, …, steps − 1}, drawn here
  Candidates(Index uniform, Index steps, Stream& stream);

  void visit(Index t, ConstVectorRef x);
  /// Points from which an escape did not get away. They are asked first, the latest one before the
  /// others.
  void add_likely(const std::vector<Vector>& points);
  /// The start is always asked last.
  std::vector<Vector> in_order() const;

 private:
  std::vector<Index> chosen_;  // ascending
  std::size_t next_ = 0;
  std::vector<Vector> likely_, visited_;
  Vector start_;
};

/// Private choice of a nearly second-order stationary point among candidates.
struct SelectionParameters {
  SelectionForm form = SelectionForm::scalar;
  double share = 0.5;    ///< of the budget (empirical) or of the records (population)
  double epsilon = 0.0;  ///< of the selection, pure (independent: of a test); 0: none
  double alpha = 1.0;    ///< scale of the gradient; sqrt(ρα) is that of the curvature
  double slack = 1.5;  ///< accept where max(‖∇F‖/α, −λ_min/sqrt(ρα)) is at most about this
  Index candidates = 64;

  bool on() const { return epsilon > 0; }
  /// Pure charges of `epsilon` that a selection may make: 1, or two for every question.
  double charges() const;
  /// The share of the rule's capacity that the selection leaves.
  double leaves(const FilterRule& rule) const;
  /// \param share_meaning  what `share` is a share of
  void add_fields(Fields& fields, std::string_view share_meaning);
};

/// True if a schedule can plan a selection: a minimisation problem of a dimension that is solved
/// densely, and a filter that takes charges of mechanisms that are not Gaussian.
bool selection_fits(const PublicFacts& facts, Calibrator calibrator);

/// The first candidate that the test accepts over all of the curator's
/// records; none if it accepts none, if it is refused, or if the records answer no Hessians.
/// \param gradient_limit, hessian_limit  G and M of every record
/// \source privacy-accounting notes, 11; ganesh-2023 notes, 2.3
std::optional<Vector> select_stationary(Curator& curator, std::span<const Vector> candidates,
                                        const SelectionParameters& parameters,
                                        double gradient_limit, double hessian_limit);

/// Makes the selected candidate the outcome's point, with status `certified`; otherwise leaves the
/// outcome as it is. The outcome's own point is asked first.
void select_output(Outcome& outcome, Curator& curator, const Candidates& candidates,
                   const SelectionParameters& parameters, double gradient_limit,
                   double hessian_limit);

/// The most Gaussian queries that select_by_power makes of `candidates` uniform iterates: for each
/// of them, the last point and the start a gradient and the products of a power method.
Index power_selection_queries(Index candidates, Index products);

/// select_output with the least eigenvalue by a power method: the first point with an estimated
/// gradient norm of at most `slack` α and an estimated λ_min of at least −`slack` sqrt(ρα). All
/// numbers are Gaussian queries of all records, gradients with the noise ratio of the products, so
/// no threshold needs noise and points that fail by the gradient cost no products.
/// ‖g‖² of a noisy gradient g is estimated without bias by subtracting d s².
/// \source avdiukhin-2024, Section 3.4; avdiukhin-2024 notes, 2.4
void select_by_power(Outcome& outcome, Curator& curator, const Candidates& candidates,
                     const SelectionParameters& parameters, const PowerMethod& method,
                     double gradient_limit, Stream stream);

}  // namespace dpsosp
