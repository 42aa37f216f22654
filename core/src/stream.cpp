// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/stream.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include <Random123/philox.h>

namespace dpsosp {
namespace {

// splitmix64's finaliser: a bijection of 64-bit words.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

template <std::size_t N>
double horner(const std::array<double, N>& c, double x) {
  double sum = c[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) sum = sum * x + c[k];
  return sum;
}

// AS 241: quotients of polynomials on the centre |p − 1/2| ≤ 0.425, in the tail up to
// r = sqrt(−ln p) = 5, and far beyond.
constexpr std::array<double, 8> centre_top{3.3871328727963666080e0,
                                           1.3314166789178437745e+2,
                                           1.9715909503065514427e+3,
                                           1.3731693765509461125e+4,
                                           4.5921953931549871457e+4,
                                           6.7265770927008700853e+4,
                                           3.3430575583588128105e+4,
                                           2.5090809287301226727e+3};
constexpr std::array<double, 8> centre_bottom{1.0,
                                              4.2313330701600911252e+1,
                                              6.8718700749205790830e+2,
                                              5.3941960214247511077e+3,
                                              2.1213794301586595867e+4,
                                              3.9307895800092710610e+4,
                                              2.8729085735721942674e+4,
                                              5.2264952788528545610e+3};
constexpr std::array<double, 8> tail_top{1.42343711074968357734e0,
                                         4.63033784615654529590e0,
                                         5.76949722146069140550e0,
                                         3.64784832476320460504e0,
                                         1.27045825245236838258e0,
                                         2.41780725177450611770e-1,
                                         2.27238449892691845833e-2,
                                         7.74545014278341407640e-4};
constexpr std::array<double, 8> tail_bottom{1.0,
                                            2.05319162663775882187e0,
                                            1.67638483018380384940e0,
                                            6.89767334985100004550e-1,
                                            1.48103976427480074590e-1,
                                            1.51986665636164571966e-2,
                                            5.47593808499534494600e-4,
                                            1.05075007164441684324e-9};
constexpr std::array<double, 8> far_top{6.65790464350110377720e0,
                                        5.46378491116411436990e0,
                                        1.78482653991729133580e0,
                                        2.96560571828504891230e-1,
                                        2.65321895265761230930e-2,
                                        1.24266094738807843860e-3,
                                        2.71155556874348757815e-5,
                                        2.01033439929228813265e-7};
constexpr std::array<double, 8> far_bottom{1.0,
                                           5.99832206555887937690e-1,
                                           1.36929880922735805310e-1,
                                           1.48753612908506148525e-2,
                                           7.86869131145613259100e-4,
                                           1.84631831751005468180e-5,
                                           1.42151175831644588870e-7,
                                           2.04426310338993978564e-15};

}  // namespace

double portable_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffU) | 0x3ff0000000000000U);  // [1, 2)
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // ln m = 2 atanh(s), s = (m − 1)/(m + 1), |s| ≤ 0.1716.
  static constexpr std::array<double, 11> series{1.0,
                                                 1.0 / 3.0,
                                                 1.0 / 5.0,
                                                 1.0 / 7.0,
                                                 1.0 / 9.0,
                                                 1.0 / 11.0,
                                                 1.0 / 13.0,
                                                 1.0 / 15.0,
                                                 1.0 / 17.0,
                                                 1.0 / 19.0,
                                                 1.0 / 21.0};
  const double s = (m - 1.0) / (m + 1.0);
  const auto k = static_cast<double>(exponent);
  constexpr double ln2_high = 6.93147180369123816490e-01;  // low 21 bits zero: k · ln2_high exact
  constexpr double ln2_low = 1.90821492927058770002e-10;
  return k * ln2_high + (2.0 * s * horner(series, s * s) + k * ln2_low);
}

double normal_lower_quantile(double p) {
  const double q = p - 0.5;
  if (q >= -0.425) {
    const double r = 0.180625 - q * q;
    return q * horner(centre_top, r) / horner(centre_bottom, r);
  }
  const double r = std::sqrt(-portable_log(p));
  if (r <= 5.0) return -horner(tail_top, r - 1.6) / horner(tail_bottom, r - 1.6);
  return -horner(far_top, r - 5.0) / horner(far_bottom, r - 5.0);
}

StreamKey StreamKey::child(std::uint64_t index) const {
  StreamKey key = *this;
  key.path = mix(path + (index + 1) * 0x9e3779b97f4a7c15U);
  return key;
}

void Stream::refill() {
  const r123::Philox4x64::ctr_type counter{
      {position_ / 4, 0, key_.run, static_cast<std::uint64_t>(key_.purpose)}};
  const r123::Philox4x64::key_type key{{key_.seed, key_.path}};
  const auto block = r123::Philox4x64{}(counter, key);
  std::copy(block.begin(), block.end(), block_.begin());
}

void Stream::skip(std::uint64_t words) {
  position_ += words;
  if (position_ % 4 != 0) refill();
}

std::uint64_t Stream::bits() {
  const std::uint64_t slot = position_ % 4;
  if (slot == 0) refill();
  ++position_;
  return block_[slot];
}

double Stream::uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

double Stream::normal() {
  const std::uint64_t word = bits();
  const double p = (static_cast<double>(word >> 12) + 0.5) * 0x1p-53;  // (0, 1/2), exact
  const double z = normal_lower_quantile(p);
  return (word & 1U) != 0 ? -z : z;
}

void Stream::fill_normal(double standard_deviation, VectorRef out) {
  for (double& entry : out) entry = standard_deviation * normal();
}

void Stream::add_normal(double standard_deviation, VectorRef out) {
  for (double& entry : out) entry += standard_deviation * normal();
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
  const std::uint64_t threshold = (0 - range) % range;
  while (true) {  // Lemire (2019): the low half of the product is uniform once small values are out
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(bits()) * range;
    if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<Index>(product >> 64);
  }
}

bool Stream::bernoulli(double probability) {
  const std::uint64_t word = bits();
  if (probability >= 1.0) return true;
  return word < static_cast<std::uint64_t>(std::ldexp(probability, 64));
}

std::vector<Index> Stream::subset(Index population, Index size) {
  std::vector<Index> chosen;
  chosen.reserve(static_cast<std::size_t>(size));
  std::unordered_set<Index> seen;
  for (Index top = population - size; top < population; ++top) {
    const Index candidate = below(top + 1);
    const Index taken = seen.contains(candidate) ? top : candidate;
    seen.insert(taken);
    chosen.push_back(taken);
  }
  std::ranges::sort(chosen);
  return chosen;
}

void Stream::fill_ball(double radius, VectorRef out) {
  fill_normal(1.0, out);
  // |g| has no mass at 0; U^(1/d) makes the radius that of the uniform law.
  const double length = radius * std::pow(uniform(), 1.0 / static_cast<double>(out.size()));
  out *= length / out.norm();
}

}  // namespace dpsosp
