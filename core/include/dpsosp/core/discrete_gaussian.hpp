// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dpsosp {

/// Uniform, independent 64-bit words.
class WordSource {
 public:
  virtual ~WordSource() = default;
  virtual std::uint64_t bits() = 0;
};

/// Words of the operating system's cryptographic generator, getrandom(2). They cannot be drawn
/// again, except by a child process that was forked while words were buffered: make a new source
/// after a fork. \throws std::system_error if the system gives none
class SystemEntropy final : public WordSource {
 public:
  SystemEntropy() = default;
  SystemEntropy(const SystemEntropy&) = delete;
  SystemEntropy& operator=(const SystemEntropy&) = delete;
  ~SystemEntropy() override;
  std::uint64_t bits() override;

 private:
  std::array<std::uint64_t, 256> words_{};
  std::size_t used_ = 256;
};

/// The widest discrete Gaussian that integer arithmetic on 128 bits draws exactly.
inline constexpr std::int64_t largest_discrete_sigma = std::int64_t{1} << 45;

/// An integer z with probability proportional to exp(−z²/(2σ²)), exactly: by integer arithmetic and
/// rejection, without floating point. About 2 rounds for any σ. The time depends on the value.
/// \param sigma  σ, an integer in [1, 2^45]
/// \source Canonne, Kamath and Steinke (2020), Algorithms 1 to 3
std::int64_t discrete_gaussian(WordSource& words, std::int64_t sigma);

}  // namespace dpsosp
