// SPDX-License-Identifier: Apache-2.0
#include "likelihood/likelihood.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "replay/sensitivity.hpp"

namespace dpsosp::audit {
namespace {

using Kind = AuditedAnswer::Kind;

/// The rate of a sampled charge; 1 of any other one.
double rate_of(const Exchange& e) {
  if (e.charges.empty() || !e.charges.back().event) return 1.0;
  return amplifying_rate(*e.charges.back().event).value_or(1.0);
}

double log_sum(double a, double b) {
  const double most = std::max(a, b);
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

/// ln N(y; mean, s² I) up to a constant.
double log_normal(const Vector& y, const Vector& mean, double s) {
  return -(y - mean).squaredNorm() / (2.0 * s * s);
}

double laplace_distribution(double x) {
  return x < 0 ? 0.5 * std::exp(x) : 1.0 - 0.5 * std::exp(-x);
}
double laplace_quantile(double p) {
  return p < 0.5 ? std::log(2.0 * p) : -std::log(2.0 * (1.0 - p));
}

/// Questions of one AboveThreshold session, on either data set.
class Session {
 public:
  struct Scalar {
    double threshold = 0, threshold_scale = 0, noisy_threshold = 0, scale = 0;
    std::vector<double> one, two;
    std::vector<bool> below;  ///< its noisy value is at most its noisy threshold
  };
  std::map<std::int64_t, Scalar> scalars;

  double log_ratio() const {
    if (scalars.empty() || scalars.begin()->second.one.empty()) return 0.0;
    return log_probability(&Scalar::one) - log_probability(&Scalar::two);
  }

 private:
  /// ln of the probability of the answers, by midpoints of the laws of the thresholds.
  double log_probability(std::vector<double> Scalar::*values) const {
    const std::size_t questions = scalars.begin()->second.one.size();
    const int points = scalars.size() == 1 ? 96 : 24;
    std::vector<bool> yes(questions, true);
    for (const auto& [index, s] : scalars)
      for (std::size_t k = 0; k < questions; ++k) yes[k] = yes[k] && s.below[k];
    const int all = scalars.size() == 1 ? points : points * points;
    double total = -std::numeric_limits<double>::infinity();
    for (int cell = 0; cell < all; ++cell) {
      double log_p = 0.0;
      for (std::size_t k = 0; k < questions; ++k) {
        double p = 1.0;
        int rest = cell;
        for (const auto& [index, s] : scalars) {
          const double quantile = laplace_quantile((rest % points + 0.5) / points);
          rest /= points;
          const double threshold = s.threshold + s.threshold_scale * quantile;
          p *= laplace_distribution((threshold - (s.*values)[k]) / s.scale);
        }
        log_p += std::log(std::max(yes[k] ? p : 1.0 - p, 1e-300));
      }
      total = log_sum(total, log_p);
    }
    return total;
  }
};

/// Candidates of one choice.
class Race {
 public:
  void enter(std::int64_t index, double one, double two) {
    candidates_.push_back({index, one, two});
  }
  double log_ratio(std::int64_t chosen, double temperature) const {
    double one = -std::numeric_limits<double>::infinity(), two = one, gained = 0.0;
    for (const auto& [index, a, b] : candidates_) {
      one = log_sum(one, -a / temperature);
      two = log_sum(two, -b / temperature);
      if (index == chosen) gained = (b - a) / temperature;
    }
    return gained - one + two;
  }

 private:
  struct Candidate {
    std::int64_t index;
    double one, two;
  };
  std::vector<Candidate> candidates_;
};

/// Prefix sums of trees, so that nodes can be told apart.
struct Leaves {
  std::vector<Vector> one, two, noisy;
  /// The node that leaf t completes: what is new in `sums`.
  static Vector node(std::vector<Vector>& sums, std::int64_t t, const Vector& sum) {
    sums.resize(static_cast<std::size_t>(t));
    sums.front() = Vector::Zero(sum.size());
    Vector node = sum - sums[static_cast<std::size_t>(t - lowbit(t))];
    sums.push_back(sum);
    return node;
  }
};

}  // namespace

bool is_sampled(const Transcript& transcript) {
  return std::ranges::any_of(transcript, [](const Exchange& e) { return rate_of(e) < 1.0; });
}

double log_likelihood_ratio(const Transcript& transcript, const Answers& answers) {
  double total = 0.0;
  std::map<const void*, Leaves> trees;
  std::map<const void*, Session> sessions;
  Race race;
  const std::size_t count = std::min(answers.one.size(), answers.two.size());
  for (std::size_t k = 0; k < count; ++k) {
    const Exchange& e = transcript[k];
    const Vector &one = answers.one[k], &two = answers.two[k];
    const double s = e.what.deviation;
    switch (e.what.kind) {
      case Kind::vector:
      case Kind::matrix: {
        if (e.noisy.size() == 0 || s == 0) break;
        const double rate = rate_of(e);
        const double isotropic = e.what.kind == Kind::matrix ? std::numbers::sqrt2 * s : s;
        if (rate == 1.0) {
          total += log_normal(e.noisy, one, isotropic) - log_normal(e.noisy, two, isotropic);
          break;
        }
        if (k >= std::min({answers.in_one.size(), answers.in_two.size(), answers.out.size()}))
          break;
        const double out = std::log1p(-rate) + log_normal(e.noisy, answers.out[k], s);
        const auto mixture = [&](const Vector& in) {
          return log_sum(out, std::log(rate) + log_normal(e.noisy, in, s));
        };
        total += mixture(answers.in_one[k]) - mixture(answers.in_two[k]);
        break;
      }
      case Kind::prefix: {
        if (e.noisy.size() == 0) break;
        Leaves& leaves = trees[e.what.session];
        const std::int64_t t = e.what.index;
        const Vector node = Leaves::node(leaves.noisy, t, e.noisy);
        total += log_normal(node, Leaves::node(leaves.one, t, one), s) -
                 log_normal(node, Leaves::node(leaves.two, t, two), s);
        break;
      }
      case Kind::scalar:
        total += (std::abs(e.noisy[0] - two[0]) - std::abs(e.noisy[0] - one[0])) / s;
        break;
      case Kind::threshold: {
        Session& session = sessions[e.what.session];
        if (e.what.index == 0) {  // the address of an earlier session, perhaps
          total += session.log_ratio();
          session = {};
        }
        session.scalars[e.what.index] = {.threshold = e.answer[0],
                                         .threshold_scale = s,
                                         .noisy_threshold = e.noisy[0],
                                         .scale = 1.0};
        break;
      }
      case Kind::question: {
        Session::Scalar& scalar = sessions[e.what.session].scalars[e.what.index];
        scalar.scale = s;
        scalar.one.push_back(one[0]);
        scalar.two.push_back(two[0]);
        scalar.below.push_back(e.noisy[0] <= scalar.noisy_threshold);
        break;
      }
      case Kind::score:
        race.enter(e.what.index, one[0], two[0]);
        if (e.noisy.size() == 0) break;
        total += race.log_ratio(static_cast<std::int64_t>(e.noisy[0]), s);
        race = {};
        break;
      case Kind::loss:
        if (e.noisy.size() > 0) total += (two[0] - one[0]) / s;
        break;
    }
  }
  for (const auto& [address, session] : sessions) total += session.log_ratio();
  return total;
}

}  // namespace dpsosp::audit
