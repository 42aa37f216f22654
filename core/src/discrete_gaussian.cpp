// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/discrete_gaussian.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <sys/random.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

__extension__ using Wide = unsigned __int128;

int bit_width(Wide value) {
  int width = 0;
  for (; value != 0; value >>= 1) ++width;
  return width;
}

/// Uniform on {0, …, count − 1}, count ≥ 1.
Wide below(WordSource& words, Wide count) {
  const int width = bit_width(count - 1);
  while (true) {
    Wide value = words.bits();
    if (width > 64) value = (value << 64) | words.bits();
    value &= (Wide{1} << width) - 1;
    if (value < count) return value;
  }
}

bool bernoulli(WordSource& words, Wide numerator, Wide denominator) {
  return below(words, denominator) < numerator;
}

/// True with probability exp(−numerator/denominator), numerator ≤ denominator.
bool bernoulli_exp_fraction(WordSource& words, Wide numerator, Wide denominator) {
  unsigned k = 1;
  // A coin of probability γ/k is two coins, γ and 1/k, so that no wider integers are needed.
  while (bernoulli(words, numerator, denominator) && bernoulli(words, 1, k)) ++k;
  return k % 2 == 1;
}

/// True with probability exp(−numerator/denominator).
bool bernoulli_exp(WordSource& words, Wide numerator, Wide denominator) {
  for (Wide whole = numerator / denominator; whole > 0; --whole)
    if (!bernoulli_exp_fraction(words, 1, 1)) return false;
  return bernoulli_exp_fraction(words, numerator % denominator, denominator);
}

/// Proportional to exp(−|y|/scale).
std::int64_t discrete_laplace(WordSource& words, std::int64_t scale) {
  const auto width = static_cast<Wide>(scale);
  while (true) {
    const Wide low = below(words, width);
    if (!bernoulli_exp_fraction(words, low, width)) continue;
    std::int64_t high = 0;
    while (bernoulli_exp_fraction(words, 1, 1)) ++high;  // beyond 2^17 with probability e^(−2^17)
    const std::int64_t size = static_cast<std::int64_t>(low) + scale * high;
    const bool negative = bernoulli(words, 1, 2);
    if (negative && size == 0) continue;
    return negative ? -size : size;
  }
}

}  // namespace

SystemEntropy::~SystemEntropy() { explicit_bzero(words_.data(), sizeof words_); }

std::uint64_t SystemEntropy::bits() {
  if (used_ == words_.size()) {
    auto* bytes = reinterpret_cast<unsigned char*>(words_.data());
    for (std::size_t have = 0; have < sizeof words_;) {
      const ssize_t got = getrandom(bytes + have, sizeof words_ - have, 0);
      if (got >= 0)
        have += static_cast<std::size_t>(got);
      else if (errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "getrandom");
    }
    used_ = 0;
  }
  const std::uint64_t word = words_[used_];
  words_[used_++] = 0;
  return word;
}

std::int64_t discrete_gaussian(WordSource& words, std::int64_t sigma) {
  if (sigma < 1 || sigma > largest_discrete_sigma)
    reject("discrete Gaussian", "sigma", static_cast<double>(sigma), "in [1, 2^45]");
  const auto width = static_cast<Wide>(sigma);
  while (true) {
    const std::int64_t y = discrete_laplace(words, sigma);
    // The paper's exponent (|y| − σ²/t)²/(2σ²) at t = σ; any t gives the same law.
    const auto gap = static_cast<Wide>(std::abs(std::abs(y) - sigma));
    if (bernoulli_exp(words, gap * gap, 2 * width * width)) return y;
  }
}

}  // namespace dpsosp
