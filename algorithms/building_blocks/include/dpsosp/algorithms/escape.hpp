// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"

namespace dpsosp {

/// How a SPIDER-type method leaves a saddle.
/// \source ganesh-2023 notes, 2.1; liu-talwar-2025 notes, 2.4 and 2.6
enum class EscapeKind {
  hessian_power,    ///< noisy power iterations with a Hessian estimate
  isotropic_fresh,  ///< one Gaussian kick and an extra O1 (Algorithm 1 as printed)
  isotropic_reuse,  ///< one Gaussian kick, the estimate goes on as at any step (repaired)
  none,
};

constexpr auto words_of(EscapeKind) {
  using enum EscapeKind;
  return word_list<EscapeKind>("escape kind", {{hessian_power, "hessian_power"},
                                               {isotropic_fresh, "isotropic_fresh"},
                                               {isotropic_reuse, "isotropic_reuse"},
                                               {none, "none"}});
}

/// Pause between an escape that left its ball and the next one.
enum class Cooldown {
  frozen,     ///< none before Γ steps are over (the paper)
  immediate,  ///< at once
};

constexpr auto words_of(Cooldown) {
  using enum Cooldown;
  return word_list<Cooldown>("cooldown", {{frozen, "frozen"}, {immediate, "immediate"}});
}

/// Symbols of ganesh-2023 (Γ, ζ₁) and liu-talwar-2025 (Ξ, τ, O3, O4) in the comments.
struct EscapeParameters {
  EscapeKind kind = EscapeKind::isotropic_reuse;
  double threshold = 0.0;  ///< γ log³(·): an escape starts where ‖g‖ is no larger; 0: never
  Index steps = 1;
  double kick_deviation = 0.0;  ///< ζ₁/√d, isotropic: per coordinate
  bool carry_kick = false;      ///< isotropic: the kick stays in g (printed)

  double radius = 1.0;
  Index escapes_per_refresh = 1;
  double deviation = 1.0;
  double hessian_clip = 1.0;
  double hessian_lipschitz = 1.0;  ///< ρ: of a Hessian difference, per unit of the move
  Index hessian_batch = 1;
  double hessian_batch_rate = 1.0;  ///< b_O4 = ⌈rate · move⌉
  HessianMode hessian_mode = HessianMode::dense;
  Cooldown cooldown = Cooldown::frozen;

  void add_isotropic_fields(Fields& fields);
  void add_hessian_fields(Fields& fields);
  void check(std::string_view owner, Index records) const;
};

/// The escape of a SPIDER-type method. run_spider calls it at fixed places of every step.
class Escape {
 public:
  virtual ~Escape() = default;

  /// Called before the estimate of step t; g is still the estimate of step t − 1.
  virtual void begin(Index t, const Vector& g) = 0;
  /// True if the estimate of this step must be a refresh.
  virtual bool wants_refresh() const { return false; }
  /// Fresh records that a refresh at x, or an increment from a point `move` away, takes.
  virtual Index refresh_records() const { return 0; }
  virtual Index increment_records(double move) const;
  /// Called after the gradient estimate's own refresh or increment. \throws Refused
  virtual void refresh(const Vector& x);
  virtual void increment(const Vector& x, const Vector& x_prev);
  /// The step from x whose estimate g is; may change g (a kick that is carried).
  /// \param out  the step. \throws Refused
  virtual void step(const Vector& x, Vector& g, Stream& stream, Vector& out) = 0;
  /// Called after the move to x.
  virtual void moved(const Vector& x);

  std::int64_t escapes() const { return escapes_; }
  /// Points from which an escape started and did not get away, the latest `kept_anchors`.
  const std::vector<Vector>& held_anchors() const { return held_; }
  static constexpr std::size_t kept_anchors = 32;

 protected:
  void hold(const Vector& anchor);

  std::int64_t escapes_ = 0;

 private:
  std::vector<Vector> held_;
};

std::unique_ptr<Escape> make_escape(const EscapeParameters& parameters, Curator& curator);

}  // namespace dpsosp
