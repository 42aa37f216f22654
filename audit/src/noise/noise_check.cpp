// SPDX-License-Identifier: Apache-2.0
#include "noise/noise_check.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/poisson.hpp>

#include "replay/sensitivity.hpp"

namespace dpsosp::audit {
namespace {

using Kind = AuditedAnswer::Kind;

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

/// The normal score of the length of a standard normal vector.
double score_of_length(const Vector& standard) {
  const boost::math::chi_squared_distribution<> law(static_cast<double>(standard.size()));
  const double square = std::min(standard.squaredNorm(), 1e6);
  const double below = boost::math::cdf(law, square);
  return below <= 0.5 ? normal_score(below)
                      : -normal_score(boost::math::cdf(boost::math::complement(law, square)));
}

}  // namespace

std::string complaint_of(const std::vector<Finding>& findings) {
  if (findings.empty()) return {};
  const auto p_of = [](const Finding& f) { return std::isnan(f.p) ? 0.0 : f.p; };  // never passed
  const Finding& worst = *std::ranges::min_element(findings, {}, p_of);
  if (!(p_of(worst) * static_cast<double>(findings.size()) < false_alarm)) return {};
  return fmt::format("{}, p = {:.2g}", worst.what, worst.p);
}

void NoiseCheck::expect_new(const Vector& noise, const std::string& place) {
  if (!complaint_.empty()) return;
  if (noise.isZero(0.0)) {
    complaint_ = place + ": no noise";
    return;
  }
  if (noise.size() < 2) return;  // one number comes again by chance
  for (std::size_t k = 0; k < seen_.size(); ++k)
    if (seen_[k].size() == noise.size() && std::abs(seen_[k][0] - noise[0]) <= 1e-9 &&
        (seen_[k] - noise).norm() <= 1e-9 * noise.norm()) {
      complaint_ = fmt::format("{}: the noise of {} again", place, places_[k]);
      return;
    }
  const auto rounded = [&](Index i) { return std::llround(std::min(noise[i], 1e9) * 1e9); };
  constexpr std::size_t most_remembered = 1'000'000;
  if (starts_.size() < most_remembered && !starts_.insert({rounded(0), rounded(1)}))
    complaint_ = fmt::format("{}: the noise of an earlier run again", place);
  seen_.push_back(noise);
  places_.push_back(place);
}

void NoiseCheck::expect_symmetric(const Vector& released, const std::string& place) {
  const auto d = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(released.size()))));
  const Eigen::Map<const Matrix> matrix(released.data(), d, d);
  if (complaint_.empty() && matrix != matrix.transpose())
    complaint_ = place + ": the triangles of the matrix differ";
}

void NoiseCheck::see_number(double z, NormalLaw& of_query) {
  all_.add(z);
  of_query.add(z);
  coincidences_.add(z);
  constexpr double resolution = 1e-9;
  const double size = std::abs(z);
  const auto next = std::ranges::lower_bound(by_size_, size - resolution);
  if (next != by_size_.end() && *next <= size + resolution) ++shared_;
  shared_expected_ +=
      2 * resolution * std::sqrt(2 / std::numbers::pi) * static_cast<double>(by_size_.size());
}

void NoiseCheck::see_draw(Vector standard, const Query& query, const Exchange& e,
                          const std::string& place) {
  const Index size = standard.size();
  NormalLaw& of_query = queries_[query];
  for (const double z : standard) see_number(z, of_query);
  const bool digits = e.what.kind == Kind::vector && !e.what.exact;
  for (Index i = 0; digits && i < size; ++i)
    if (std::abs(e.answer[i]) <= 100 * e.what.deviation) on_grid_.add(standard[i]);
  joint_.add(std::string(name_of(e.what.kind)), fmt::format("{} of {:x}", query.name, e.what.path),
             standard);
  expect_new(standard, place);
  for (Index i = 0; size > 1 && i < std::min(size, most_entries); ++i) entries_[i].add(standard[i]);

  auto& [last, before] = last_[size];
  std::optional<double> length;
  if (size > 1) lengths_.add(length.emplace(score_of_length(standard)));
  if (last.noise.size() == size) {
    lag_one_.add(standard.dot(last.noise), last.noise.squaredNorm(), size);
    if (length && last.length)
      lengths_lag_.add(*length * *last.length, *last.length * *last.length, 1);
  }
  if (before.noise.size() == size)
    lag_two_.add(standard.dot(before.noise), before.noise.squaredNorm(), size);
  before = std::exchange(last, {std::move(standard), length});
}

void NoiseCheck::see(const Transcript& transcript, Stream algorithm) {
  seen_.clear();
  places_.clear();
  last_.clear();
  joint_.begin_run();
  of_algorithm_.resize(256);
  for (double& z : of_algorithm_) z = algorithm.normal();
  by_size_ = of_algorithm_;
  for (double& z : by_size_) z = std::abs(z);
  std::ranges::sort(by_size_);
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
    if (!noise.allFinite()) {
      if (complaint_.empty()) complaint_ = place + ": an answer or its noise is not finite";
      break;  // later leaves of its tree could not be told apart
    }
    switch (e.what.kind) {
      case Kind::prefix: {
        std::vector<Vector>& tree = trees[e.what.session];
        tree.resize(static_cast<std::size_t>(e.what.index), Vector());
        tree.front() = Vector::Zero(noise.size());
        const Vector& before = tree[static_cast<std::size_t>(e.what.index - lowbit(e.what.index))];
        Vector node = (noise - before) / e.what.deviation;
        node = (node.array().abs() < 1e-9).select(0.0, node);  // what cancels
        tree.push_back(noise);
        see_draw(std::move(node), query, e, place);
        break;
      }
      case Kind::matrix:
        expect_symmetric(e.noisy, place);
        see_draw(standardised_matrix(noise, e.what.deviation), query, e, place);
        break;
      case Kind::vector:
        see_draw(noise / e.what.deviation, query, e, place);
        break;
      default:
        see_draw(Vector::Constant(1, normal_score_of_laplace(noise[0] / e.what.deviation)), query,
                 e, place);
        break;
    }
  }
  joint_.end_run(of_algorithm_);
}

std::string NoiseCheck::complaint() const {
  if (!complaint_.empty()) return complaint_;
  std::vector<Finding> findings;
  all_.test("all queries", findings);
  for (const auto& [query, law] : queries_)
    law.test(fmt::format("{}, {}", query.name, query.later ? "later answers" : "first answers"),
             findings);
  for (const auto& [i, law] : entries_) law.test(fmt::format("entry {}", i), findings);
  lengths_.test("lengths of draws, by their normal scores", findings);
  for (const auto& [of, products] : {std::pair("one draw with the next", &lag_one_),
                                     {"one draw with the next but one", &lag_two_},
                                     {"the length of a draw with that of the next", &lengths_lag_}})
    products->test(of, findings);
  joint_.test(findings);
  coincidences_.test("all queries", findings);
  on_grid_.test("the noise of vectors", findings);
  if (shared_ > 0)
    findings.push_back({boost::math::cdf(boost::math::complement(
                            boost::math::poisson_distribution<>(shared_expected_),
                            static_cast<double>(shared_ - 1))),
                        fmt::format("{} numbers are of the algorithm's own stream, {:.3g} expected",
                                    shared_, shared_expected_)});
  return complaint_of(findings);
}

std::string NoiseCheck::summary() const {
  if (all_.count() == 0) return "no additive noise";
  const auto n = static_cast<double>(all_.count());
  return fmt::format("variance {:.4f} of what is charged over {} numbers, {} beyond 4 deviations",
                     all_.squares() / n, all_.count(), all_.beyond(1));
}

NoiseNumbers NoiseCheck::numbers() const {
  NoiseNumbers numbers{.count = all_.count(), .beyond = {}, .extremes = all_.extremes()};
  for (std::size_t k = 0; k < numbers.beyond.size(); ++k) numbers.beyond[k] = all_.beyond(k);
  return numbers;
}

void ChoiceCheck::see(const Transcript& transcript) {
  std::map<std::int64_t, double> scores;  // by candidate, of whom some numbers may be missing
  std::optional<double> last;
  for (const Exchange& e : transcript) {
    if (e.what.kind != Kind::score) continue;
    scores[e.what.index] = e.answer[0];
    if (e.noisy.size() == 0) continue;
    const auto chosen = static_cast<std::int64_t>(e.noisy[0]);
    const double score_of_chosen = scores.at(chosen);
    double least = score_of_chosen;
    for (const auto& [unused, score] : scores) least = std::min(least, score);
    double total = 0, less_likely = 0, own = 0;
    for (const auto& [candidate, score] : scores) {
      const double weight = std::exp((least - score) / e.what.deviation);
      total += weight;
      if (score > score_of_chosen || (score == score_of_chosen && candidate < chosen))
        less_likely += weight;
      if (candidate == chosen) own = weight;
    }
    scores.clear();
    ++choices_;
    // Anywhere in the chosen candidate's own share.
    const double z = normal_score((less_likely + within_.uniform() * own) / total);
    law_.add(z);
    if (last) lag_one_.add(z * *last, *last * *last, 1);
    last = z;
  }
}

std::string ChoiceCheck::complaint() const {
  std::vector<Finding> findings;
  law_.test("normal scores of choices", findings);
  lag_one_.test("one choice with the next", findings);
  return complaint_of(findings);
}

std::string ChoiceCheck::summary() const {
  if (choices_ == 0) return "no choices among candidates";
  return fmt::format("{} choices, variance {:.4f} of their normal scores", choices_,
                     law_.squares() / static_cast<double>(choices_));
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
void BatchCheck::Squares::add(const Appearances& appearances, const Sampling& sampling) {
  const auto [size, rate, begin, end] = sampling;
  const auto n = static_cast<double>(end - begin);
  const double q = size > 0 ? static_cast<double>(size) / n : rate;
  if (q >= 1 || n < 2) return;
  const double many = appearances.batches, of_one = many * q * (1 - q);
  double squares = 0;
  for (const double c : appearances.counts) squares += (c - many * q) * (c - many * q);
  sum += squares / of_one;
  mean += n;
  variance += size > 0 ? 2 * (1 - 1 / many) * n * n / (n - 1)
                       : n * (2 * (1 - 1 / many) + (1 - 4 * q * (1 - q)) / of_one);
}

void BatchCheck::see(const Transcript& transcript) {
  std::map<Sampling, Appearances> run;
  std::map<Sampling, std::vector<Index>> last;
  for (std::size_t k = 0; k < transcript.size(); ++k) {
    const Exchange& e = transcript[k];
    if (!e.asked.secret) continue;
    if (e.charges.empty()) {
      if (e.what.deviation > 0 && complaint_.empty())
        complaint_ = place_of(transcript, k) + ": a secret batch is read and not charged";
      continue;
    }
    const LedgerEntry& entry = e.charges.back();
    const std::vector<Index>& members = *e.asked.secret;
    const Index size = std::ssize(members);
    const bool fixed = entry.policy.kind == BatchPolicy::Kind::sample;
    if (fixed && size != entry.policy.size && complaint_.empty())
      complaint_ = fmt::format("{}: a sample of {} where {} is charged", place_of(transcript, k),
                               size, entry.policy.size);
    // Batches that answer one query alone, or one batch would count twice.
    if (!entry.event) continue;
    const bool coins = std::holds_alternative<PoissonGaussianEvent>(*entry.event);
    if (!coins && !std::holds_alternative<FixedSizeGaussianEvent>(*entry.event)) continue;
    const auto n = static_cast<double>(entry.charged.end - entry.charged.begin);
    const double q = entry.policy.rate;
    if (coins && q >= 1) continue;
    const Sampling sampling{fixed ? entry.policy.size : 0, coins ? q : 0.0, entry.charged.begin,
                            entry.charged.end};
    run[sampling].add(members, sampling);
    over_runs_[sampling].add(members, sampling);
    ++drawn_;
    // Given the last batch, a fixed size draws from an urn and coins are binomial.
    std::vector<Index>& before = last[sampling];
    if (!before.empty()) {
      std::vector<Index> both;
      std::ranges::set_intersection(before, *e.asked.secret, std::back_inserter(both));
      const auto m = static_cast<double>(before.size());
      const double rate = fixed ? static_cast<double>(size) / n : q;
      overlap_.sum += static_cast<double>(both.size()) - rate * m;
      overlap_.variance += rate * (1 - rate) * m * (fixed && n > 1 ? (n - m) / (n - 1) : 1);
    }
    before = *e.asked.secret;
    if (!coins) continue;
    const double off = static_cast<double>(size) - q * n, variance = n * q * (1 - q);
    squares_of_sizes_.sum += off * off / variance;
    squares_of_sizes_.mean += 1;
    squares_of_sizes_.variance += 2 + (1 - 6 * q * (1 - q)) / variance;
    sizes_.sum += off;
    sizes_.variance += variance;
    ++often_[sampling][size];
    ++batches_;
  }
  for (const auto& [sampling, appearances] : run) within_runs_.add(appearances, sampling);
}

double BatchCheck::Deviation::value() const {
  return variance > 0 ? sum / std::sqrt(variance) : 0.0;
}

Finding BatchCheck::law_of_sizes() const {
  constexpr int most_cells = 16;
  Finding least{1.0, "sizes of Poisson batches"};
  int cells = 0;
  for (const auto& [sampling, often] : often_) {
    const auto& [fixed, rate, begin, end] = sampling;
    const boost::math::binomial_distribution<> law(static_cast<double>(end - begin), rate);
    std::int64_t total = 0;
    for (const auto& [size, batches] : often) total += batches;
    double below = 0;  // P(size < the next cell)
    auto next = often.begin();
    for (Index from = 0; from <= end - begin; ++cells) {
      Index to = from;  // the last size of the cell
      double up_to = boost::math::cdf(law, static_cast<double>(to));
      while (to < end - begin && up_to - below < 1.0 / most_cells)
        up_to = boost::math::cdf(law, static_cast<double>(++to));
      std::int64_t inside = 0;
      for (; next != often.end() && next->first <= to; ++next) inside += next->second;
      const double probability = std::min(1.0, up_to - below);
      const double p = two_sided_binomial(inside, total, probability);
      if (p < least.p)
        least = {p, fmt::format("{} of {} Poisson batches have {} to {} members, {:.4g} expected",
                                inside, total, from, to, probability * static_cast<double>(total))};
      below = up_to;
      from = to + 1;
    }
  }
  least.p = std::min(1.0, std::max(cells, 1) * least.p);
  return least;
}

std::string BatchCheck::complaint() const {
  return complaint_.empty() ? complaint_of(findings()) : complaint_;
}

std::vector<Finding> BatchCheck::findings() const {
  Squares over_runs;
  for (const auto& [sampling, appearances] : over_runs_) over_runs.add(appearances, sampling);
  std::vector<Finding> findings{
      {two_sided_squares(squares_of_sizes_.sum, squares_of_sizes_.mean, squares_of_sizes_.variance),
       fmt::format("sizes of {} Poisson batches have {:.4g} of their variance", batches_,
                   squares_of_sizes_.sum / std::max(1.0, squares_of_sizes_.mean))}};
  const auto deviation = [&](const Deviation& off, std::string_view what) {
    if (off.variance > 0)
      findings.push_back(
          {two_sided(off.value()), fmt::format("{}, {:+.1f} deviations", what, off.value())});
  };
  deviation(sizes_, "the mean size of Poisson batches is off");
  findings.push_back(law_of_sizes());
  deviation(overlap_, "successive secret batches have members in common");
  const auto unevenness = [&](const Squares& squares, std::string_view where) {
    if (squares.variance > 0)
      findings.push_back({two_sided_squares(squares.sum, squares.mean, squares.variance),
                          fmt::format("records appear unevenly in the secret batches of {}, {:.4g} "
                                      "of the variance",
                                      where, squares.sum / squares.mean)});
  };
  unevenness(within_runs_, "a run");
  unevenness(over_runs, "all runs");
  return findings;
}

std::string BatchCheck::summary() const {
  if (drawn_ == 0) return "no batches that are charged as sampled";
  return fmt::format("{} batches; appearances of records have {:.3f} of their variance", drawn_,
                     within_runs_.sum / std::max(1.0, within_runs_.mean));
}

}  // namespace dpsosp::audit
