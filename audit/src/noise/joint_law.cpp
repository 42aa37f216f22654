// SPDX-License-Identifier: Apache-2.0
#include "noise/joint_law.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>
#include <unsupported/Eigen/FFT>

#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::audit {
namespace {

using Complex = std::complex<double>;

Eigen::FFT<double>& half_transforms() {
  static thread_local Eigen::FFT<double> fft(Eigen::FFT<double>::impl_type(),
                                             Eigen::FFT<double>::HalfSpectrum);
  return fft;
}

/// The worst of some deviations of one kind, each of probability p, with the sum of all as bound.
class Worst {
 public:
  void see(double p, std::int64_t which) {
    if (p >= p_) return;
    p_ = p;
    which_ = which;
  }
  bool found() const { return p_ <= 1; }
  std::int64_t which() const { return which_; }
  double among(std::int64_t number) const {
    return std::min(1.0, p_ * static_cast<double>(number));
  }

 private:
  double p_ = 2;
  std::int64_t which_ = 0;
};

/// Of products of as many pairs, none of which has more than this many deviations is remarkable
/// among any number that an audit looks at.
constexpr double dull_deviations = 4;

/// A sum of squares by products of which most cancels: rounding decides how near 0 it is, and on
/// which side. Not less than what rounding may have taken, so that its probability is a bound.
double least_after_rounding(double squares, double before_cancelling) {
  return std::max(squares, 4 * std::numeric_limits<double>::epsilon() * before_cancelling);
}

}  // namespace

Transform transform_of(const std::vector<double>& series, std::size_t padded) {
  static thread_local std::vector<double> with_zeros;
  with_zeros.assign(series.begin(), series.end());
  with_zeros.resize(padded);
  Transform transform{.padded = padded};
  half_transforms().fwd(transform.values, with_zeros);
  transform.squares.reserve(series.size() + 1);
  transform.squares.push_back(0);
  for (const double z : series) transform.squares.push_back(transform.squares.back() + z * z);
  return transform;
}

void Distances::add(const Transform& a, const Transform& b) {
  const auto n = static_cast<std::ptrdiff_t>(a.length());
  const auto m = static_cast<std::ptrdiff_t>(b.length());
  if (n == 0 || m == 0) return;
  const auto size = static_cast<std::ptrdiff_t>(a.padded);
  OfLength& of = sums_[a.padded];
  if (of.products.empty()) {
    of.products.resize(a.values.size());
    of.squares.resize(a.padded);
    of.pairs.resize(a.padded);
  }
  for (std::size_t k = 0; k < of.products.size(); ++k)
    of.products[k] += std::conj(a.values[k]) * b.values[k];
  const auto between = [](const Transform& t, std::ptrdiff_t from, std::ptrdiff_t to) {
    return t.squares[static_cast<std::size_t>(to)] - t.squares[static_cast<std::size_t>(from)];
  };
  for (std::ptrdiff_t k = known_ == Known::own ? 1 : 1 - n; k < m; ++k) {
    const std::ptrdiff_t from = std::max<std::ptrdiff_t>(0, -k), to = std::min(n, m - k);
    const auto at = static_cast<std::size_t>(k < 0 ? k + size : k);
    of.squares[at] += between(a, from, to);
    if (known_ == Known::either) of.squares[at] += between(b, from + k, to + k);
    of.pairs[at] += to - from;
  }
}

void Distances::test(const std::string& of, std::vector<Finding>& findings) const {
  struct Sum {
    double products = 0, squares = 0;
    std::int64_t pairs = 0;
  };
  std::map<std::ptrdiff_t, Sum> sums;  // by distance
  for (const auto& [padded, of_length] : sums_) {
    const auto size = static_cast<std::ptrdiff_t>(padded);
    std::vector<double> around;
    std::vector<Complex> products = of_length.products;
    half_transforms().inv(around, products, size);
    for (std::size_t at = 0; at < padded; ++at) {
      if (of_length.pairs[at] == 0) continue;
      const auto k = static_cast<std::ptrdiff_t>(at);
      Sum& sum = sums[2 * k < size ? k : k - size];
      sum.products += around[at];
      sum.squares += of_length.squares[at];
      sum.pairs += of_length.pairs[at];
    }
  }
  if (sums.empty()) return;
  const auto distances = static_cast<std::int64_t>(sums.size());
  Worst worst;
  for (const auto& [k, sum] : sums)
    if (std::abs(sum.products) > dull_deviations * std::sqrt(sum.squares))
      worst.see(probability_of_sum(sum.products, sum.squares), k);
  if (!worst.found()) {
    findings.push_back({1.0, fmt::format("{} at {} distances", of, distances)});
    return;
  }
  const Sum& sum = sums.at(worst.which());
  findings.push_back({worst.among(distances),
                      fmt::format("correlation {:.4g} of {} at distance {} of {}, {} pairs",
                                  sum.products / static_cast<double>(sum.pairs), of, worst.which(),
                                  distances, sum.pairs)});
}

void Spectrum::add(const std::vector<double>& series) {
  if (size_ == 0) {
    size_ = std::clamp(std::bit_floor(series.size()), least, most);
    return;
  }
  for (std::size_t first = 0; first < series.size(); first += size_) {
    std::vector<double> piece(
        series.begin() + static_cast<std::ptrdiff_t>(first),
        series.begin() + static_cast<std::ptrdiff_t>(std::min(first + size_, series.size())));
    while (piece.size() < size_) piece.push_back(rest_.normal());
    const Transform transform = transform_of(piece, size_);
    // Without the frequencies at both ends, which have one degree of freedom.
    for (std::size_t k = 1; k < size_ / 2; ++k) {
      const std::size_t band = k * bands * 2 / size_;
      power_[band] += 2 * std::norm(transform.values[k]) / static_cast<double>(size_);
      degrees_[band] += 2;
    }
  }
}

void Spectrum::test(const std::string& of, std::vector<Finding>& findings) const {
  Worst worst;
  for (std::size_t k = 0; k < bands; ++k)
    if (degrees_[k] > 0)
      worst.see(two_sided_chi_squared(power_[k], degrees_[k]), static_cast<std::int64_t>(k));
  if (!worst.found()) return;
  const auto k = static_cast<std::size_t>(worst.which());
  findings.push_back({worst.among(bands),
                      fmt::format("power {:.4g} of {} at frequencies {} to {} of 128",
                                  power_[k] / static_cast<double>(degrees_[k]), of, k, k + 1)});
}

Vector Coordinates::folded(ConstVectorRef draw) {
  if (draw.size() <= most_entries) return draw;
  if (signs_.size() != draw.size()) {
    Stream stream({.seed = seed_, .run = 1, .purpose = Purpose::statistics});
    signs_.resize(draw.size());
    for (double& sign : signs_) sign = stream.bernoulli(0.5) ? 1 : -1;
  }
  Vector sums = Vector::Zero(most_entries), counts = Vector::Zero(most_entries);
  for (Index i = 0; i < draw.size(); ++i) {
    sums[i % most_entries] += signs_[i] * draw[i];
    ++counts[i % most_entries];
  }
  return sums.cwiseQuotient(counts.cwiseSqrt());
}

void Coordinates::add(ConstVectorRef draw) {
  Vector x = folded(draw);
  const Index d = x.size();
  if (sum_.size() == 0) {
    sum_.setZero(d);
    waiting_.resize(d, block);
    before_.setZero(d, block);
    products_.setZero(d, d);
    successive_.setZero(d, d);
    before_squares_.setZero(d);
  }
  sum_ += x;
  ++draws_;
  waiting_.col(waits_) = x;
  if (last_.size() == d) {
    before_.col(waits_) = last_;
    before_squares_ += last_.cwiseAbs2();
    ++successions_;
  }
  if (++waits_ == block) flush();
  last_ = std::move(x);
}

void Coordinates::flush() const {
  if (waits_ == 0) return;
  const auto draws = waiting_.leftCols(waits_);
  products_.selfadjointView<Eigen::Lower>().rankUpdate(draws);
  successive_.noalias() += before_.leftCols(waits_) * draws.transpose();
  before_.setZero();
  waits_ = 0;
}

void Coordinates::test(const std::string& of, std::vector<Finding>& findings) const {
  if (draws_ == 0) return;
  flush();
  const auto n = static_cast<double>(draws_);
  findings.push_back(
      {two_sided_chi_squared(sum_.squaredNorm() / n, sum_.size()),
       fmt::format("the means of all coordinates of {} have {:.4g} of their variance", of,
                   sum_.squaredNorm() / n / static_cast<double>(sum_.size()))});
  test_pairs(of, findings);
  test_eigenvalues(of, findings);
  test_directions(of, findings);
}

void Coordinates::test_pairs(const std::string& of, std::vector<Finding>& findings) const {
  const Index d = sum_.size();
  const auto n = static_cast<double>(draws_);
  // Sums and differences of two coordinates have variance 2; of squares the extremes decide.
  double least = std::numeric_limits<double>::infinity(), most = 0, product = -1;
  std::pair<Index, Index> of_least, of_most, of_product;
  for (Index j = 0; j < d; ++j)
    for (Index i = j; i < d; ++i) {
      const double both = products_(i, j);
      if (i > j && std::abs(both) > product) {
        product = std::abs(both);
        of_product = {j, i};
      }
      const double squares = i == j ? both : 0.5 * (products_(i, i) + products_(j, j));
      const double apart = i == j ? 0.0 : std::abs(both);
      if (const double low = least_after_rounding(squares - apart, squares); low < least) {
        least = low;
        of_least = {j, i};
      }
      if (squares + apart > most) {
        most = squares + apart;
        of_most = {j, i};
      }
    }
  const std::int64_t combinations = d * d;  // coordinates, sums and differences
  for (const auto& [square, pair] : {std::pair(least, of_least), {most, of_most}})
    findings.push_back(
        {std::min(1.0, static_cast<double>(combinations) * two_sided_chi_squared(square, draws_)),
         fmt::format("variance {:.4g} of coordinates {} and {} of {}, over {} draws", square / n,
                     pair.first, pair.second, of, draws_)});
  if (d > 1)
    findings.push_back(
        {std::min(1.0, 0.5 * static_cast<double>(d * (d - 1)) *
                           probability_of_products(product / n, draws_)),
         fmt::format("correlation {:.4g} of coordinates {} and {} of {}, over {} draws",
                     product / n, of_product.first, of_product.second, of, draws_)});
  if (successions_ == 0) return;
  Worst worst;
  for (Index after = 0; after < d; ++after)
    for (Index before = 0; before < d; ++before) {
      const double sum = successive_(before, after), squares = before_squares_[before];
      if (std::abs(sum) > dull_deviations * std::sqrt(squares))
        worst.see(probability_of_sum(sum, squares), before + d * after);
    }
  if (!worst.found()) {
    findings.push_back({1.0, fmt::format("{} and the next draw", of)});
    return;
  }
  const Index before = worst.which() % d, after = worst.which() / d;
  findings.push_back(
      {worst.among(d * d),
       fmt::format("correlation {:.4g} of coordinate {} of {} with {} of the next draw, {} pairs",
                   successive_(before, after) / static_cast<double>(successions_), before, of,
                   after, successions_)});
}

// The singular values of n draws of d numbers lie between √n − √d − t and √n + √d + t but with
// probability exp(−t²/2) each (Davidson and Szarek 2001), and the determinant of Σ x xᵀ is a
// product of independent χ² of n, n − 1, … degrees (Bartlett 1933), whose moments give a Chernoff
// bound.
void Coordinates::test_eigenvalues(const std::string& of, std::vector<Finding>& findings) const {
  const Index d = sum_.size();
  if (d < 2 || draws_ < d + 2) return;
  const auto n = static_cast<double>(draws_);
  const Vector eigenvalues = symmetric_eigenvalues(products_);
  const double least = std::sqrt(std::max(0.0, eigenvalues[0]));
  const double most = std::sqrt(std::max(0.0, eigenvalues[d - 1]));
  const double middle = std::sqrt(n), width = std::sqrt(static_cast<double>(d));
  const auto beyond = [](double t) { return t <= 0 ? 1.0 : std::exp(-0.5 * t * t); };
  for (const auto& [value, p] :
       {std::pair(least, beyond(middle - width - least)), {most, beyond(most - middle - width)}})
    findings.push_back(
        {p, fmt::format("variance {:.4g} in one direction of {}, over {} draws of {} numbers",
                        value * value / n, of, draws_, d)});
  double log_determinant = 0;
  for (const double value : eigenvalues) log_determinant += std::log(std::max(value, 1e-300));
  const double least_half = 0.5 * static_cast<double>(draws_ - d + 1);
  const auto log_moment = [&](double t) {
    double sum = static_cast<double>(d) * t * std::numbers::ln2;
    for (Index k = 0; k < d; ++k) {
      const double half = 0.5 * static_cast<double>(draws_ - k);
      sum += std::lgamma(half + t) - std::lgamma(half);
    }
    return sum;
  };
  double rate = 0;
  for (double t = 1e-3 * least_half; t < 1e3 * n; t *= 1.3) {
    rate = std::max(rate, t * log_determinant - log_moment(t));
    if (t < least_half) rate = std::max(rate, -t * log_determinant - log_moment(-t));
  }
  findings.push_back({std::min(1.0, 2 * std::exp(-rate)),
                      fmt::format("log determinant {:.6g} of {}, over {} draws of {} numbers",
                                  log_determinant, of, draws_, d)});
}

void Coordinates::test_directions(const std::string& of, std::vector<Finding>& findings) const {
  const Index d = sum_.size();
  if (d < 2) return;
  constexpr Index waves = 16, random = 48;
  const Index tried = std::min(waves, d) + 1 + random;
  Matrix directions(d, tried);
  Index at = 0;
  for (Index k = 0; k < std::min(waves, d); ++k)  // the first is the sum
    for (Index i = 0, column = at++; i < d; ++i)
      directions(i, column) = std::cos(std::numbers::pi * static_cast<double>(k) *
                                       (static_cast<double>(i) + 0.5) / static_cast<double>(d));
  for (Index i = 0; i < d; ++i) directions(i, at) = i % 2 == 0 ? 1 : -1;
  ++at;
  Stream stream({.seed = seed_, .run = 2, .purpose = Purpose::statistics});
  for (; at < tried; ++at)  // every other one of signs alone
    for (Index i = 0; i < d; ++i) {
      const double z = stream.normal();
      directions(i, at) = at % 2 == 0 ? z : std::copysign(1.0, z);
    }
  const Matrix images = products_.selfadjointView<Eigen::Lower>() * directions;
  Worst worst;
  Vector squares(tried);
  for (Index k = 0; k < tried; ++k) {
    squares[k] = least_after_rounding(
        images.col(k).dot(directions.col(k)) / directions.col(k).squaredNorm(), products_.trace());
    worst.see(two_sided_chi_squared(squares[k], draws_), k);
  }
  const auto k = static_cast<Index>(worst.which());
  findings.push_back(
      {worst.among(tried),
       fmt::format("variance {:.4g} along {} of {}, over {} draws",
                   squares[k] / static_cast<double>(draws_),
                   k == 0 ? "the sum" : fmt::format("direction {}", k), of, draws_)});
}

void JointLaw::begin_run() {
  numbers_.clear();
  names_.clear();
  of_source_.clear();
  for (auto& [kind, coordinates] : coordinates_) coordinates.begin_run();
}

void JointLaw::add(const std::string& kind, const std::string& source, ConstVectorRef draw) {
  numbers_.insert(numbers_.end(), draw.begin(), draw.end());
  if (draw.size() > 1) coordinates_.try_emplace({kind, draw.size()}, seed_).first->second.add(draw);
  const auto place = names_.try_emplace(source, of_source_.size()).first->second;
  if (place >= most_sources) return;
  if (place == of_source_.size()) of_source_.emplace_back();
  auto& own = of_source_[place];
  const auto room = static_cast<std::ptrdiff_t>(most_of_source - own.size());
  own.insert(own.end(), draw.begin(), draw.begin() + std::min<std::ptrdiff_t>(room, draw.size()));
}

void JointLaw::end_run(const std::vector<double>& algorithm) {
  if (numbers_.empty()) return;
  const std::size_t padded = std::bit_ceil(2 * std::max<std::size_t>(numbers_.size(), 8));
  Transform numbers = transform_of(numbers_, padded);
  own_.add(numbers, numbers);
  if (last_.padded == padded) {
    runs_apart_.add(last_, numbers);
  } else if (!last_numbers_.empty()) {
    const std::size_t both = std::max(last_.padded, padded);
    runs_apart_.add(transform_of(last_numbers_, both), transform_of(numbers_, both));
  }
  const std::size_t both = std::max(padded, std::bit_ceil(algorithm.size() + numbers_.size()));
  algorithm_.add(transform_of(algorithm, both),
                 both == padded ? numbers : transform_of(numbers_, both));
  spectrum_.add(numbers_);
  last_ = std::move(numbers);
  last_numbers_ = numbers_;

  std::vector<double> sizes(numbers_.size());
  std::ranges::transform(numbers_, sizes.begin(), mean_score_of_size);
  const Transform of_sizes = transform_of(sizes, padded);
  sizes_.add(of_sizes, of_sizes);

  std::size_t longest = 8;
  for (const auto& series : of_source_) longest = std::max(longest, series.size());
  std::vector<Transform> transforms;
  for (const auto& series : of_source_)
    transforms.push_back(transform_of(series, std::bit_ceil(2 * longest)));
  for (std::size_t k = 0; k < transforms.size(); ++k)
    for (std::size_t j = 0; j <= k; ++j)
      sources_.try_emplace({j, k}, j == k ? Distances::Known::own : Distances::Known::either)
          .first->second.add(transforms[j], transforms[k]);
}

void JointLaw::test(std::vector<Finding>& findings) const {
  own_.test("a number of noise with a later one of the run", findings);
  sizes_.test("the size of a number of noise with that of a later one", findings);
  runs_apart_.test("the noise of a run with that of the next", findings);
  algorithm_.test("the algorithm's own numbers with the noise", findings);
  spectrum_.test("the noise of runs", findings);
  for (const auto& [sources, distances] : sources_)
    distances.test(sources.first == sources.second
                       ? fmt::format("the noise of source {} with itself", sources.first)
                       : fmt::format("the noise of source {} with that of source {}", sources.first,
                                     sources.second),
                   findings);
  for (const auto& [kind, coordinates] : coordinates_)
    coordinates.test(fmt::format("{} of {} numbers", kind.first, kind.second), findings);
}

}  // namespace dpsosp::audit
