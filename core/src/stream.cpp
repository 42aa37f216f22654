// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/stream.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "dpsosp/core/elementary.hpp"
#include "normals.hpp"
#include "philox.hpp"
#include "quantile_series.hpp"

namespace dpsosp {

using namespace quantile_series;

namespace {

__extension__ using Wide = unsigned __int128;

// splitmix64's finaliser: a bijection of 64-bit words.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

double portable_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffU) | 0x3ff0000000000000U);  // [1, 2)
  if (m > root_two) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const auto k = static_cast<double>(exponent);
  return k * ln2_high + (2.0 * s * horner(atanh_series, s * s) + k * ln2_low);
}

double normal_lower_quantile(double p) {
  const double q = p - 0.5;
  if (q >= -centre_half_width) {
    const double r = centre_square - q * q;
    return q * horner(centre_top, r) / horner(centre_bottom, r);
  }
  const double r = std::sqrt(-portable_log(p));
  if (r <= tail_end)
    return -horner(tail_top, r - tail_centre) / horner(tail_bottom, r - tail_centre);
  return -horner(far_top, r - tail_end) / horner(far_bottom, r - tail_end);
}

StreamKey StreamKey::child(std::uint64_t index) const {
  StreamKey key = *this;
  key.path = mix(path + (index + 1) * 0x9e3779b97f4a7c15U);
  return key;
}

namespace {

class KeyedFeed final : public WordFeed {
 public:
  explicit KeyedFeed(StreamKey key) : key_(key) {}
  void words(std::uint64_t first, std::span<std::uint64_t> out) const override {
    for (std::size_t k = 0; k < out.size(); k += 4) {
      const auto block = philox_block(key_, (first + k) / 4);
      std::ranges::copy(block, out.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  std::shared_ptr<const WordFeed> child(std::uint64_t index) const override {
    return std::make_shared<KeyedFeed>(key_.child(index));
  }

 private:
  StreamKey key_;
};

}  // namespace

Stream Stream::sealed(StreamKey key) { return Stream(std::make_shared<KeyedFeed>(key)); }

void Stream::refill() {
  // Twice as many words each time in a row: a stream that is asked for few computes few.
  const bool in_a_row = ahead_size_ > 0 && position_ == ahead_from_ + ahead_size_;
  ahead_size_ = in_a_row ? std::min(2 * ahead_size_, most_ahead) : 4;
  ahead_from_ = position_ / 4 * 4;
  if (feed_) {
    feed_->words(ahead_from_, std::span(ahead_).first(ahead_size_));
  } else if (ahead_size_ == 4) {
    const auto block = philox_block(key_, position_ / 4);
    for (std::size_t k = 0; k < 4; ++k) ahead_[k] = block[k];
  } else {
    write_words(key_, position_ / 4, ahead_size_ / 4, ahead_.data());
  }
}

void Stream::skip(std::uint64_t words) { position_ += words; }

std::uint64_t Stream::bits() {
  if (position_ - ahead_from_ >= ahead_size_) refill();
  return ahead_[position_++ - ahead_from_];
}

double Stream::uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

double Stream::normal() { return normal_of(bits()); }

void Stream::refill_normals(std::size_t least) {
  // As in refill. A block begins where the last one ends, so each normal is computed once.
  const bool in_a_row = normals_size_ > 0 && position_ == normals_from_ + normals_size_;
  const std::size_t size = in_a_row ? std::max(least, 2 * normals_size_) : least;
  normals_size_ = std::min(size, most_normals);
  normals_from_ = position_;
  Eigen::Map<Vector> block(normals_.data(), static_cast<Index>(normals_size_));
  write_normals(key_, position_, 1.0, block, Onto::nothing);
}

template <class Use>
void Stream::use_normals(Index size, const Use& use) {
  for (Index done = 0; done < size;) {
    if (position_ - normals_from_ >= normals_size_)
      refill_normals(static_cast<std::size_t>(size - done));
    const std::uint64_t at = position_ - normals_from_;
    const Index piece = std::min(size - done, static_cast<Index>(normals_size_ - at));
    use(normals_.data() + at, done, piece);
    done += piece;
    skip(static_cast<std::uint64_t>(piece));
  }
}

void Stream::fill_normal(double standard_deviation, VectorRef out) {
  if (feed_) {
    for (double& entry : out) entry = standard_deviation * normal();
  } else if (static_cast<std::size_t>(out.size()) >= most_normals) {
    write_normals(key_, position_, standard_deviation, out, Onto::nothing);
    skip(static_cast<std::uint64_t>(out.size()));
  } else {
    use_normals(out.size(), [&](const double* normals, Index first, Index size) {
      for (Index k = 0; k < size; ++k) out[first + k] = standard_deviation * normals[k];
    });
  }
}

void Stream::add_normal(double standard_deviation, VectorRef out) {
  if (feed_) {
    for (double& entry : out) entry += standard_deviation * normal();
  } else if (static_cast<std::size_t>(out.size()) >= most_normals) {
    write_normals(key_, position_, standard_deviation, out, Onto::contents);
    skip(static_cast<std::uint64_t>(out.size()));
  } else {
    use_normals(out.size(), [&](const double* normals, Index first, Index size) {
      for (Index k = 0; k < size; ++k) out[first + k] += standard_deviation * normals[k];
    });
  }
}

double Stream::laplace() {
  const std::uint64_t word = bits();
  const double magnitude = -portable_log((static_cast<double>(word >> 12) + 0.5) * 0x1p-52);
  return (word & 1U) != 0 ? -magnitude : magnitude;
}

double Stream::gumbel() {
  const std::uint64_t high = bits();
  const std::uint64_t low = bits();
  const double u =
      (static_cast<double>(high) + (static_cast<double>(low) + 0.5) * 0x1p-64) * 0x1p-64;
  // E = −ln(1 − u) is exponential; the factor puts back what 1 − u rounds off (Kahan).
  const double rest = std::max(1.0 - u, 0x1p-53);
  const double exponential =
      rest == 1.0 ? u : -portable_log(rest) * (u < 0.5 ? u / (1.0 - rest) : 1.0);
  return -portable_log(exponential);
}

Index Stream::below(Index count) {
  const auto range = static_cast<std::uint64_t>(count);
  while (true) {  // Lemire (2019): the low half of the product is uniform once small values are out
    const Wide product = static_cast<Wide>(bits()) * range;
    const auto low = static_cast<std::uint64_t>(product);
    if (low >= range || low >= (0 - range) % range) return static_cast<Index>(product >> 64);
  }
}

bool Stream::bernoulli(double probability) {
  const std::uint64_t word = bits();
  if (probability >= 1.0) return true;
  return word < static_cast<std::uint64_t>(std::ldexp(probability, 64));
}

void Stream::subset(Index population, Index size, std::vector<Index>& out) {
  // A table in ascending order: a value stands at its share of `slots` or as soon after it as the
  // order allows. Three of four slots stay empty, so looking up and inserting take O(1).
  constexpr Index empty = -1;
  const Index slots = 4 * size;
  out.assign(static_cast<std::size_t>(slots + size + 1), empty);
  const double share = static_cast<double>(slots) / static_cast<double>(population);
  const auto place_of = [&](Index value) {  // any monotone map to 0, …, slots would do
    auto place = out.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(value) * share);
    while (*place != empty && *place < value) ++place;
    return place;
  };
  for (Index top = population - size; top < population; ++top) {
    Index value = below(top + 1);
    auto place = place_of(value);
    if (*place == value) place = place_of(value = top);
    for (; value != empty; ++place) std::swap(value, *place);
  }
  std::size_t kept = 0;
  for (const Index value : out) {  // without a branch that no processor predicts
    out[kept] = value;
    kept += value != empty ? 1 : 0;
  }
  out.resize(kept);
}

std::vector<Index> Stream::subset(Index population, Index size) {
  std::vector<Index> chosen;
  subset(population, size, chosen);
  return chosen;
}

void Stream::bernoulli_subset(Index population, double probability, std::vector<Index>& out) {
  subset(population, binomial(population, probability), out);
}

void Stream::fill_ball(double radius, VectorRef out) {
  fill_normal(1.0, out);
  // |g| has no mass at 0; U^(1/d) makes the radius that of the uniform law.
  const double length = radius * portable_pow(uniform(), 1.0 / static_cast<double>(out.size()));
  out *= length / out.norm();
}

}  // namespace dpsosp
