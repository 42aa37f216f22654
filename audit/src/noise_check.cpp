// SPDX-License-Identifier: Apache-2.0
#include "noise_check.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <boost/math/distributions/chi_squared.hpp>

#include "sensitivity.hpp"

namespace dpsosp::audit {
namespace {

using Kind = AuditedAnswer::Kind;

/// Probability of a standard normal number as far out as z on either side.
double two_sided(double z) { return std::erfc(std::abs(z) / std::numbers::sqrt2); }

/// Probability of a value as far out as this one, or farther, on its side.
double tail(double chi_squared, std::int64_t degrees) {
  if (degrees == 0) return 1.0;
  if (degrees > 100) {  // the cube root is normal enough (Wilson and Hilferty)
    const double k = 2.0 / (9.0 * static_cast<double>(degrees));
    const double z =
        (std::cbrt(chi_squared / static_cast<double>(degrees)) - 1.0 + k) / std::sqrt(k);
    return two_sided(z);
  }
  const boost::math::chi_squared_distribution<> law(static_cast<double>(degrees));
  return 2.0 * std::min(boost::math::cdf(law, chi_squared),
                        boost::math::cdf(boost::math::complement(law, chi_squared)));
}

constexpr Index most_entries = 16;             // tested one by one
constexpr std::int64_t least_products = 1000;  // whose sum is normal enough

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

void NoiseCheck::see_normal(ConstVectorRef standard, const Query& query, const std::string& place) {
  const Index size = standard.size();
  queries_[query].add(standard.squaredNorm(), size);
  entries_.resize(
      std::max(entries_.size(), static_cast<std::size_t>(std::min(size, most_entries))));
  for (Index i = 0; i < std::min(size, most_entries); ++i)
    entries_[static_cast<std::size_t>(i)].add(standard[i] * standard[i], 1);
  neighbours_.add(standard.head(size - 1).dot(standard.tail(size - 1)), size - 1);
  auto& [last, before] = last_[size];
  if (last.size() == size) {
    lag_one_.add(standard.dot(last), size);
    if (size > 1) across_.add(standard[0] * last[size - 1], 1);
  }
  if (before.size() == size) lag_two_.add(standard.dot(before), size);
  before = std::exchange(last, standard);
  expect_new(standard, place);
}

void NoiseCheck::see_laplace(double standard, const Query& query, const std::string& place) {
  queries_[query].add(2.0 * std::abs(standard), 2);
  expect_new(Vector::Constant(1, standard), place);
}

void NoiseCheck::see(const Transcript& transcript) {
  seen_.clear();
  places_.clear();
  last_.clear();
  const std::vector<std::string> names = queries_of(transcript);
  std::set<std::pair<std::string, Kind>> asked;
  std::map<const void*, std::vector<Vector>> trees;
  for (std::size_t k = 0; k < transcript.size(); ++k) {
    const Exchange& e = transcript[k];
    if (e.what.kind == Kind::score || e.what.kind == Kind::loss) continue;
    if (e.noisy.size() == 0) continue;    // the run ended before
    if (e.what.deviation == 0) continue;  // nothing may move, so nothing must hide it
    const std::string place = place_of(transcript, k);
    const Query query{names[k], !asked.emplace(names[k], e.what.kind).second};
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
        see_normal(node, query, place);
        break;
      }
      case Kind::matrix:
        see_normal(standardised_matrix(noise, e.what.deviation), query, place);
        break;
      case Kind::vector:
        see_normal(noise / e.what.deviation, query, place);
        break;
      default:
        see_laplace(noise[0] / e.what.deviation, query, place);
        break;
    }
  }
}

NoiseCheck::Sum NoiseCheck::all() const {
  Sum all;
  for (const auto& [query, squares] : queries_) all.add(squares.value, squares.count);
  return all;
}

std::string NoiseCheck::complaint() const {
  if (!complaint_.empty()) return complaint_;
  struct Test {
    double p;
    std::string finding;
  };
  std::vector<Test> tests;
  const auto squares = [&](const Sum& s, const std::string& of) {
    tests.push_back({tail(s.value, s.count),
                     fmt::format("variance {:.4g} of what is charged over {} numbers of {}",
                                 s.value / static_cast<double>(s.count),
                                 s.count,
                                 of)});
  };
  const auto products = [&](const Sum& p, const std::string& of) {
    if (p.count < least_products) return;
    const auto n = static_cast<double>(p.count);
    tests.push_back({two_sided(p.value / std::sqrt(n)),
                     fmt::format("correlation {:.4g} of {}, {} pairs", p.value / n, of, p.count)});
  };
  squares(all(), "all queries");
  for (const auto& [query, of_query] : queries_)
    squares(of_query,
            fmt::format("{}, {}", query.name, query.later ? "later answers" : "first answers"));
  for (std::size_t i = 0; i < entries_.size(); ++i)
    squares(entries_[i], fmt::format("entry {}", i));
  products(lag_one_, "one draw with the next");
  products(lag_two_, "one draw with the next but one");
  products(neighbours_, "neighbouring entries");
  products(across_, "the last entry of a draw with the first of the next");
  const Test& worst = *std::ranges::min_element(tests, {}, &Test::p);
  if (worst.p * static_cast<double>(tests.size()) >= false_alarm) return {};
  return fmt::format("{}, p = {:.2g}", worst.finding, worst.p);
}

std::string NoiseCheck::summary() const {
  const Sum squares = all();
  if (squares.count == 0) return "no additive noise";
  return fmt::format("variance {:.4f} of what is charged over {} numbers",
                     squares.value / static_cast<double>(squares.count),
                     squares.count);
}

void ChoiceCheck::see(const Transcript& transcript) {
  std::map<std::int64_t, double> scores;  // by candidate, of whom some numbers may be missing
  for (const Exchange& e : transcript) {
    if (e.what.kind != Kind::score) continue;
    scores[e.what.index] = e.answer[0];
    if (e.noisy.size() == 0) continue;
    const auto chosen = static_cast<std::int64_t>(e.noisy[0]);
    const double score_of_chosen = scores.at(chosen);
    const double least = std::ranges::min(scores | std::views::values);
    double total = 0, less_likely = 0, own = 0;
    for (const auto& [candidate, score] : scores) {
      const double weight = std::exp((least - score) / e.what.deviation);
      total += weight;
      if (score > score_of_chosen || (score == score_of_chosen && candidate < chosen))
        less_likely += weight;
      if (candidate == chosen) own = weight;
    }
    scores.clear();
    // Anywhere in the chosen candidate's own share, by a sequence that fills it evenly.
    const auto next = start_ + static_cast<std::uint64_t>(++choices_);
    const double share = std::fmod(static_cast<double>(next) / std::numbers::phi, 1.0);
    const double off = (less_likely + share * own) / total - 0.5;
    first_ += off;
    second_ += off * off - 1.0 / 12;
  }
}

void ChoiceCheck::merge(const ChoiceCheck& other) {
  choices_ += other.choices_;
  first_ += other.first_;
  second_ += other.second_;
}

std::string ChoiceCheck::complaint() const {
  if (choices_ == 0) return {};
  const auto n = static_cast<double>(choices_);
  const double p =
      std::min(two_sided(first_ * std::sqrt(12 / n)), two_sided(second_ * std::sqrt(180 / n)));
  if (2 * p >= false_alarm) return {};
  return fmt::format(
      "{} choices: the probability of what is less likely than the chosen one is {:.3f} on average "
      "for 0.5, with variance {:.4f} for {:.4f}; p = {:.2g}",
      choices_,
      0.5 + first_ / n,
      second_ / n + 1.0 / 12,
      1.0 / 12,
      p);
}

std::string ChoiceCheck::summary() const {
  if (choices_ == 0) return "no choices among candidates";
  const auto n = static_cast<double>(choices_);
  return fmt::format("{} choices, {:.3f} of the probability is less likely than the chosen one",
                     choices_,
                     0.5 + first_ / n);
}

void BatchCheck::Appearances::add(const std::vector<Index>& members, const Sampling& sampling) {
  const auto [size, rate, begin, end] = sampling;
  counts.resize(static_cast<std::size_t>(end - begin));
  for (const Index i : members)
    if (i >= begin && i < end) ++counts[static_cast<std::size_t>(i - begin)];
  ++batches;
}

// Over N batches, T = Σ_i (c_i − N q)²/(N q (1 − q)) has mean n. Its variance is
// 2 (1 − 1/N) n²/(n − 1) for samples of a fixed size, and n (2 (1 − 1/N) + (1 − 4 q (1 − q))/(N q
// (1 − q))) for coins.
void BatchCheck::Excess::add(const Appearances& appearances, const Sampling& sampling) {
  const auto [size, rate, begin, end] = sampling;
  const auto n = static_cast<double>(end - begin);
  const double q = size > 0 ? static_cast<double>(size) / n : rate;
  if (q >= 1 || n < 2) return;
  const double many = appearances.batches, of_one = many * q * (1 - q);
  double squares = 0;
  for (const double c : appearances.counts) squares += (c - many * q) * (c - many * q);
  sum += squares / of_one - n;
  variance += size > 0 ? 2 * (1 - 1 / many) * n * n / (n - 1)
                       : n * (2 * (1 - 1 / many) + (1 - 4 * q * (1 - q)) / of_one);
}

void BatchCheck::see(const Transcript& transcript) {
  std::map<Sampling, Appearances> run;
  for (std::size_t k = 0; k < transcript.size(); ++k) {
    const Exchange& e = transcript[k];
    if (e.charges.empty() || !e.asked.secret) continue;
    const LedgerEntry& entry = e.charges.back();
    const std::vector<Index>& members = *e.asked.secret;
    const Index size = std::ssize(members);
    const bool fixed = entry.policy.kind == BatchPolicy::Kind::sample;
    if (fixed && size != entry.policy.size && complaint_.empty())
      complaint_ = fmt::format("{}: a sample of {} where {} is charged",
                               place_of(transcript, k),
                               size,
                               entry.policy.size);
    // Batches that answer one query alone, or one batch would count twice.
    if (!entry.event) continue;
    const bool coins = std::holds_alternative<PoissonGaussianEvent>(*entry.event);
    if (!coins && !std::holds_alternative<FixedSizeGaussianEvent>(*entry.event)) continue;
    const auto n = static_cast<double>(entry.charged.end - entry.charged.begin);
    const double q = entry.policy.rate;
    if (coins && q >= 1) continue;
    const Sampling sampling{
        fixed ? entry.policy.size : 0, coins ? q : 0.0, entry.charged.begin, entry.charged.end};
    run[sampling].add(members, sampling);
    over_runs_[sampling].add(members, sampling);
    ++drawn_;
    if (!coins) continue;
    const double off = static_cast<double>(size) - q * n;
    chi_squared_ += off * off / (n * q * (1 - q));
    ++batches_;
  }
  for (const auto& [sampling, appearances] : run) within_runs_.add(appearances, sampling);
}

std::string BatchCheck::complaint() const {
  if (!complaint_.empty()) return complaint_;
  if (const double p = tail(chi_squared_, batches_); 3 * p < false_alarm)
    return fmt::format("sizes of {} Poisson batches have {:.4g} of their variance, p = {:.2g}",
                       batches_,
                       chi_squared_ / static_cast<double>(batches_),
                       p);
  Excess over_runs;
  for (const auto& [sampling, appearances] : over_runs_) over_runs.add(appearances, sampling);
  for (const auto& [excess, where] :
       {std::pair(within_runs_, "of a run"), std::pair(over_runs, "of all runs")}) {
    if (excess.variance == 0) continue;
    const double z = excess.sum / std::sqrt(excess.variance);
    if (3 * two_sided(z) < false_alarm)
      return fmt::format("records appear in the secret batches {} too {}, {:.1f} deviations",
                         where,
                         z > 0 ? "unevenly" : "evenly",
                         std::abs(z));
  }
  return {};
}

std::string BatchCheck::summary() const {
  if (drawn_ == 0) return "no batches that are charged as sampled";
  return fmt::format(
      "{} batches; appearances of records {:+.2f} deviations off",
      drawn_,
      within_runs_.variance > 0 ? within_runs_.sum / std::sqrt(within_runs_.variance) : 0.0);
}

}  // namespace dpsosp::audit
