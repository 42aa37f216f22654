// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// Where a constant comes from.
enum class Origin {
  proved,     ///< a written proof for every possible record, on the stated region
  clipped,    ///< enforced by the curator's per-record clipping
  estimated,  ///< from the data's distribution or a calculation; never makes privacy `enforced`
};

constexpr auto words_of(Origin) {
  using enum Origin;
  return word_list<Origin>("origin",
                           {{proved, "proved"}, {clipped, "clipped"}, {estimated, "estimated"}});
}
inline std::string_view to_string(Origin origin) { return word_of(origin); }

/// The value of a named bound. `attained` is the share of it that the adversarial search of
/// `dpsosp check` reaches at the family's default settings and seed 0: a bound is tight from
/// `tight_from` on, else loose by the ratio that is stated. Proved constants state both.
struct Constant {
  static constexpr double tight_from = 0.95;

  double value = 0;
  Origin origin = Origin::estimated;
  std::string region = "everywhere";
  std::string proof = {};  ///< why the value bounds every possible record, in Markdown
  double attained = 0;     ///< in (0, 1] where proved

  bool tight() const { return attained >= tight_from; }
};

/// Names of constants. F is the objective by which a result is judged (Φ for minimax problems);
/// f is the per-record loss.
namespace constant {
// Constants of every record's loss f(·; z), and so of F; for minimax problems, of Φ:
inline constexpr std::string_view smoothness = "smoothness";                // M (L_Φ)
inline constexpr std::string_view hessian_lipschitz = "hessian_lipschitz";  // ρ (ρ_Φ)
// Constants of every record's loss:
inline constexpr std::string_view lipschitz = "lipschitz";                // G: ‖∇f‖ ≤ G
inline constexpr std::string_view joint_smoothness = "joint_smoothness";  // L of f in (x, y)
// Constants of F:
inline constexpr std::string_view suboptimality = "suboptimality";        // B ≥ F(x₀) − min F
inline constexpr std::string_view strong_concavity = "strong_concavity";  // μ of f in y
inline constexpr std::string_view quasar_convexity = "quasar_convexity";
// q: ⟨∇F(x), x − x*⟩ ≥ q (F(x) − F*)
inline constexpr std::string_view pl = "pl";  // μ: ‖∇F‖² ≥ 2μ (F − F*)
inline constexpr std::string_view kl_gamma = "kl_gamma";
// γ: F − F* ≤ γ^k ‖∇F‖^k
inline constexpr std::string_view kl_exponent = "kl_exponent";  // k
}  // namespace constant

/// Thrown where a constant is needed that the problem does not state.
class MissingConstant : public InputError {
 public:
  explicit MissingConstant(std::string_view name);
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

class Constants {
 public:
  void set(std::string_view name, Constant value);
  bool contains(std::string_view name) const;
  /// \throws MissingConstant
  const Constant& at(std::string_view name) const;
  double operator[](std::string_view name) const { return at(name).value; }
  const std::map<std::string, Constant, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, Constant, std::less<>> values_;
};

/// How the inner maximiser of a minimax problem depends on the records.
enum class DualKind {
  none,        ///< a minimisation problem
  shared,      ///< y ∈ R^{d₂} couples all records
  per_record,  ///< coordinate i of y ∈ R^n belongs to record i
};

constexpr auto words_of(DualKind) {
  using enum DualKind;
  return word_list<DualKind>("dual",
                             {{none, "none"}, {shared, "shared"}, {per_record, "per_record"}});
}
inline std::string_view to_string(DualKind kind) { return word_of(kind); }

/// Where the constants are stated to hold, and what projected methods and exponential mechanisms
/// are confined to: all of R^d, ‖x‖ ≤ radius, |x_j| ≤ radius for every j, or, for duals, the
/// simplex x_j ≥ 0, Σ x_j = radius.
struct Domain {
  enum class Kind { everywhere, ball, box, simplex };
  Kind kind = Kind::everywhere;
  double radius = 0;

  static Domain ball(double radius) { return {Kind::ball, radius}; }
  static Domain box(double half_width) { return {Kind::box, half_width}; }
  static Domain simplex() { return {Kind::simplex, 1}; }

  bool contains(ConstVectorRef x) const;
  /// Moves x to the nearest point of the domain; O(d), on a simplex O(d log d).
  void project(VectorRef x) const;
  /// Largest distance between two points of the domain in R^dimension; infinite for R^d.
  double diameter(Index dimension) const;
};
std::string to_string(const Domain& domain);

/// Public information about a problem, which algorithms may read. Never a function of the records.
struct PublicFacts {
  std::string name;
  Index dimension = 0;  ///< d, or d₁ for minimax problems
  Index records = 0;    ///< n
  DualKind dual_kind = DualKind::none;
  Index dual_dimension = 0;  ///< d₂
  Constants constants;
  /// A bound of ‖x_i‖ for losses φ(⟨w, x_i⟩; y_i) of a linear score, whose features can be
  /// projected; 0 for any other problem.
  double feature_bound = 0;
  Domain domain;
  /// Y: where constants of f in (x, y) are stated to hold and what methods project y onto. For
  /// every x of the domain it holds the maximiser over Y of which Φ speaks.
  Domain dual_domain;
  Vector initial_point;  ///< x₀ ∈ R^d
  Vector initial_dual;   ///< y₀ ∈ R^{d₂}
  /// f(x; z) = Σ_j f_j(x_j; z) for every record, with |f_j′| ≤ G/√d in every coordinate.
  bool separable = false;
};

}  // namespace dpsosp
