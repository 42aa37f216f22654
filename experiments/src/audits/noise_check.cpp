// SPDX-License-Identifier: Apache-2.0
#include "noise_check.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <boost/math/distributions/chi_squared.hpp>

#include "sensitivity.hpp"

namespace dpsosp::audit {
namespace {

using Kind = AuditedAnswer::Kind;

/// Probability of a value as far out as this one, or farther, on its side.
double tail(double chi_squared, std::int64_t degrees) {
  if (degrees == 0) return 1.0;
  if (degrees > 100) {  // the cube root is normal enough (Wilson and Hilferty)
    const double k = 2.0 / (9.0 * static_cast<double>(degrees));
    const double z =
        (std::cbrt(chi_squared / static_cast<double>(degrees)) - 1.0 + k) / std::sqrt(k);
    return std::erfc(std::abs(z) / std::numbers::sqrt2);
  }
  const boost::math::chi_squared_distribution<> law(static_cast<double>(degrees));
  return 2.0 * std::min(boost::math::cdf(law, chi_squared),
                        boost::math::cdf(boost::math::complement(law, chi_squared)));
}

/// The upper triangle of symmetric noise, each entry over its own deviation.
Vector standardised_matrix(const Vector& noise, double deviation) {
  const auto d = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(noise.size()))));
  const Eigen::Map<const Matrix> matrix(noise.data(), d, d);
  Vector standard(d * (d + 1) / 2);
  Index next = 0;
  for (Index j = 0; j < d; ++j)
    for (Index i = 0; i <= j; ++i)
      standard[next++] = matrix(i, j) / (i == j ? std::numbers::sqrt2 * deviation : deviation);
  return standard;
}

}  // namespace

void NoiseCheck::expect_new(Vector noise, const std::string& place) {
  if (!complaint_.empty()) return;
  if (noise.isZero(0.0)) {
    complaint_ = place + ": no noise";
    return;
  }
  for (std::size_t k = 0; k < seen_.size(); ++k)
    if (seen_[k].size() == noise.size() && std::abs(seen_[k][0] - noise[0]) <= 1e-9 &&
        (seen_[k] - noise).norm() <= 1e-9 * noise.norm()) {
      complaint_ = fmt::format("{}: the noise of {} again", place, places_[k]);
      return;
    }
  seen_.push_back(std::move(noise));
  places_.push_back(place);
}

void NoiseCheck::see_normal(ConstVectorRef standard, const std::string& place) {
  chi_squared_ += standard.squaredNorm();
  degrees_ += standard.size();
  expect_new(standard, place);
}

void NoiseCheck::see_laplace(double standard, const std::string& place) {
  chi_squared_ += 2.0 * std::abs(standard);
  degrees_ += 2;
  expect_new(Vector::Constant(1, standard), place);
}

void NoiseCheck::see(const Transcript& transcript) {
  seen_.clear();
  places_.clear();
  std::map<const void*, std::vector<Vector>> trees;
  for (std::size_t k = 0; k < transcript.size(); ++k) {
    const Exchange& e = transcript[k];
    if (e.what.kind == Kind::score || e.what.kind == Kind::loss) continue;
    if (e.noisy.size() == 0) continue;    // the run ended before
    if (e.what.deviation == 0) continue;  // nothing may move, so nothing must hide it
    const std::string place = place_of(transcript, k);
    const Vector noise = e.noisy - e.answer;
    switch (e.what.kind) {
      case Kind::prefix: {
        std::vector<Vector>& tree = trees[e.what.session];
        tree.resize(static_cast<std::size_t>(e.what.index), Vector());
        tree.front() = Vector::Zero(noise.size());
        const Vector& before = tree[static_cast<std::size_t>(e.what.index - lowbit(e.what.index))];
        Vector node = (noise - before) / e.what.deviation;
        node = (node.array().abs() < 1e-9).select(0.0, node);  // what cancels
        tree.push_back(noise);
        see_normal(node, place);
        break;
      }
      case Kind::matrix:
        see_normal(standardised_matrix(noise, e.what.deviation), place);
        break;
      case Kind::vector:
        see_normal(noise / e.what.deviation, place);
        break;
      default:
        see_laplace(noise[0] / e.what.deviation, place);
        break;
    }
  }
}

double NoiseCheck::two_sided() const { return tail(chi_squared_, degrees_); }

std::string NoiseCheck::complaint() const {
  if (!complaint_.empty()) return complaint_;
  const double p = two_sided();
  if (p >= false_alarm) return {};
  return fmt::format("variance {:.4g} of what is charged over {} numbers, p = {:.2g}",
                     chi_squared_ / static_cast<double>(degrees_),
                     degrees_,
                     p);
}

std::string NoiseCheck::summary() const {
  if (degrees_ == 0) return "no additive noise";
  return fmt::format("variance {:.4f} of what is charged over {} numbers",
                     chi_squared_ / static_cast<double>(degrees_),
                     degrees_);
}

void BatchCheck::see(const Transcript& transcript) {
  for (std::size_t k = 0; k < transcript.size(); ++k) {
    const Exchange& e = transcript[k];
    if (e.charges.empty() || !e.asked.secret) continue;
    const LedgerEntry& entry = e.charges.back();
    const Index size = *e.asked.secret;
    if (entry.policy.kind == BatchPolicy::Kind::sample && size != entry.policy.size &&
        complaint_.empty())
      complaint_ = fmt::format("{}: a sample of {} where {} is charged",
                               place_of(transcript, k),
                               size,
                               entry.policy.size);
    // Coins that answer one query alone, or one batch would count twice.
    if (!entry.event || !std::holds_alternative<PoissonGaussianEvent>(*entry.event)) continue;
    if (entry.policy.rate >= 1) continue;
    const auto n = static_cast<double>(entry.charged.end - entry.charged.begin);
    const double q = entry.policy.rate, off = static_cast<double>(size) - q * n;
    chi_squared_ += off * off / (n * q * (1 - q));
    ++batches_;
  }
}

std::string BatchCheck::complaint() const {
  if (!complaint_.empty()) return complaint_;
  const double p = tail(chi_squared_, batches_);
  if (p >= false_alarm) return {};
  return fmt::format("sizes of {} Poisson batches have {:.4g} of their variance, p = {:.2g}",
                     batches_,
                     chi_squared_ / static_cast<double>(batches_),
                     p);
}

std::string BatchCheck::summary() const {
  if (batches_ == 0) return "no Poisson batches";
  return fmt::format("sizes of {} Poisson batches have {:.4f} of their variance",
                     batches_,
                     chi_squared_ / static_cast<double>(batches_));
}

}  // namespace dpsosp::audit
