// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Why a constant may be believed.
enum class Origin {
  proved,     ///< a written proof for every possible record, on the stated region
  clipped,    ///< enforced by the curator's per-record clipping
  estimated,  ///< from the data's distribution or a calculation; never makes privacy `enforced`
};
std::string_view to_string(Origin origin);

struct Constant {
  double value = 0;
  Origin origin = Origin::estimated;
  std::string region = "everywhere";
};

/// Names of constants. F is the objective by which a result is judged (Φ for minimax problems);
/// f is the per-record loss.
namespace constant {
inline constexpr std::string_view lipschitz = "lipschitz";    // G: ‖∇f‖ ≤ G per record
inline constexpr std::string_view smoothness = "smoothness";  // M of F (L_Φ)
inline constexpr std::string_view hessian_lipschitz = "hessian_lipschitz";  // ρ of F (ρ_Φ)
inline constexpr std::string_view suboptimality = "suboptimality";  // F(x₀) − min F, or above
inline constexpr std::string_view joint_smoothness = "joint_smoothness";  // L of f in z = (x, y)
inline constexpr std::string_view strong_concavity = "strong_concavity";  // μ of f in y
}  // namespace constant

class Constants {
 public:
  void set(std::string_view name, Constant value);
  bool contains(std::string_view name) const;
  /// \throws InputError if the problem states no such constant.
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
std::string_view to_string(DualKind kind);

/// What everybody may know of a problem, algorithms included. Never a function of the records.
struct PublicFacts {
  std::string name;
  Index dimension = 0;  ///< d, or d₁ for minimax problems
  Index records = 0;    ///< n
  DualKind dual_kind = DualKind::none;
  Index dual_dimension = 0;  ///< d₂
  Constants constants;
  Vector initial_point;  ///< x₀ ∈ R^d
  Vector initial_dual;   ///< y₀ ∈ R^{d₂}
};

}  // namespace dpsosp
