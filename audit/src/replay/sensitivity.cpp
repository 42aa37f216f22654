// SPDX-License-Identifier: Apache-2.0
#include "replay/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace dpsosp::audit {
namespace {

using Kind = AuditedAnswer::Kind;

/// The largest move of a Gaussian answer that the event pays for, in standard deviations.
struct GaussianMove {
  double operator()(const GaussianEvent& e) const { return 1.0 / e.noise_multiplier; }
  double operator()(const PoissonGaussianEvent& e) const { return 2.0 / e.noise_multiplier; }
  double operator()(const FixedSizeGaussianEvent& e) const { return 1.0 / e.noise_multiplier; }
  /// The event of a release: a Gaussian's zCDP is the square of its move over two.
  double operator()(const ZcdpEvent& e) const { return std::sqrt(2.0 * e.rho); }
  template <class Other>
  double operator()(const Other&) const {
    return 0.0;
  }
};

}  // namespace

const LedgerEntry* Sensitivity::charged(std::size_t which) const {
  std::size_t met = 0;
  for (const LedgerEntry& e : charges_)
    if (place_ >= e.charged.begin && place_ < e.charged.end && met++ == which) return &e;
  return nullptr;
}

double Sensitivity::gaussian_allowance(const AuditedAnswer& what) const {
  const LedgerEntry* entry = charged(0);
  if (entry == nullptr || !entry->event) return 0.0;
  const double isotropic = what.kind == Kind::matrix ? std::numbers::sqrt2 : 1.0;
  return isotropic * what.deviation * std::visit(GaussianMove{}, *entry->event);
}

double Sensitivity::pure_epsilon_charged() const {
  const LedgerEntry* entry = charged(0);
  return entry == nullptr || !entry->event ? 0.0 : pure_epsilon(*entry->event).value_or(0.0);
}

void Sensitivity::compare_prefix(std::size_t k, const Vector& moved) {
  const AuditedAnswer& what = transcript_[k].what;
  std::vector<Vector>& tree = trees_[what.session];
  tree.resize(static_cast<std::size_t>(what.index), Vector());
  tree.front() = Vector::Zero(moved.size());
  const Vector& before = tree[static_cast<std::size_t>(what.index - lowbit(what.index))];
  const Vector node = moved - before;
  tree.push_back(moved);
  report_(node.norm(), gaussian_allowance(what), k);
}

void Sensitivity::compare_question(std::size_t k, double moved) {
  const AuditedAnswer& what = transcript_[k].what;
  Session& s = sessions_[what.session];
  if (what.kind == Kind::threshold) {
    if (what.index == 0) s = {};
    if (what.index == 0) s.epsilon = pure_epsilon_charged();
    s.threshold_scale[what.index] = what.deviation;
    report_(moved, 0.0, k);
    return;
  }
  double& most = s.moved[what.index];
  most = std::max(most, moved);
  s.question_scale[what.index] = what.deviation;
  double cost =
      0.0;  // a move is made up for by the threshold, and twice by the question it ends at
  for (const auto& [index, move] : s.moved)
    cost += move / s.threshold_scale[index] + 2.0 * move / s.question_scale[index];
  report_(cost, s.epsilon, k);
}

void Sensitivity::compare_choice(std::size_t k, double moved, bool last) {
  if (!transcript_[k].charges.empty()) {
    earlier_races_ = 0.0;
    first_of_race_ = true;
  }
  // What all scores move by moves no probability.
  if (std::exchange(first_of_race_, false)) low_ = high_ = moved;
  low_ = std::min(low_, moved);
  high_ = std::max(high_, moved);
  const double temperature = transcript_[k].what.deviation;
  report_((earlier_races_ + high_ - low_) / temperature, pure_epsilon_charged(), k);
  if (!last) return;
  earlier_races_ += high_ - low_;
  first_of_race_ = true;
}

void Sensitivity::compare(const std::vector<Vector>& other) {
  for (std::size_t k = 0; k < other.size(); ++k) {
    const Exchange& e = transcript_[k];
    if (!e.charges.empty()) charges_ = e.charges;
    const Vector moved = other[k] - e.answer;
    switch (e.what.kind) {
      case Kind::vector:
      case Kind::matrix:
        if (e.charges.empty()) charges_.clear();  // nothing paid: nothing may move
        report_(moved.norm(), gaussian_allowance(e.what), k);
        break;
      case Kind::prefix:
        if (e.charges.empty()) charges_.clear();
        compare_prefix(k, moved);
        break;
      case Kind::scalar: {
        if (e.what.index == 0 && e.charges.empty()) charges_.clear();
        const LedgerEntry* entry = charged(static_cast<std::size_t>(e.what.index));
        const double epsilon =
            entry == nullptr || !entry->event ? 0.0 : pure_epsilon(*entry->event).value_or(0.0);
        report_(std::abs(moved[0]), epsilon * e.what.deviation, k);
        break;
      }
      case Kind::threshold:
      case Kind::question:
        compare_question(k, std::abs(moved[0]));
        break;
      case Kind::score:
      case Kind::loss:
        compare_choice(k, moved[0], e.noisy.size() > 0);
        break;
    }
  }
}

}  // namespace dpsosp::audit
