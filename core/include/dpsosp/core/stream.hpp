// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Use of a stream's numbers. Each purpose has a stream of its own, so a draw added to
/// one does not shift another. Every published number depends on these values; they never change.
enum class Purpose : std::uint32_t {
  data = 1,           ///< records of a synthetic problem
  initial_point = 2,  ///< public starting points
  noise = 3,          ///< privacy noise, drawn by the curator
  sampling = 4,       ///< batch membership, drawn by the curator
  algorithm = 5,      ///< kicks, ball draws, output indices
  evaluation = 6,     ///< Lanczos start vectors
  statistics = 7,     ///< bootstrap
  test = 8,
  choice = 9,  ///< exponential mechanisms, drawn by the curator; two words a candidate
};

/// The coordinates of a stream. Different keys never share a number.
struct StreamKey {
  std::uint64_t seed = 0;
  std::uint32_t run = 0;
  Purpose purpose = Purpose::test;
  std::uint64_t path = 0;  ///< place in a tree of child curators; 0 at the root

  /// The key of child number `index`; siblings are distinct with certainty.
  StreamKey child(std::uint64_t index) const;
  bool operator==(const StreamKey&) const = default;
};

/// Words of a stream for one who must not know its key.
class WordFeed {
 public:
  virtual ~WordFeed() = default;
  /// out[k] = word number `first` + k. \param first, out.size()  multiples of 4
  virtual void words(std::uint64_t first, std::span<std::uint64_t> out) const = 0;
  /// The words of the key's child number `index`.
  virtual std::shared_ptr<const WordFeed> child(std::uint64_t index) const = 0;
};

/// A random stream that is a pure function of (key, position): Philox4x64-10 (Salmon et al. 2011)
/// with key words (seed, path) and counter words (block, 0, run, purpose).
///
/// Everything derived from the words uses only IEEE-754 +, -, *, /, sqrt and integer arithmetic,
/// so it has the same bits on every platform without extended precision or contraction. Seeded
/// floating-point noise reproduces results; it is not a defence against attacks on floating point.
class Stream {
 public:
  explicit Stream(StreamKey key) : key_(key) {}
  explicit Stream(std::shared_ptr<const WordFeed> feed) : feed_(std::move(feed)) {}
  /// The same numbers from a stream that does not hold the key: algorithms have these, since with
  /// the key all noise of the run could be drawn again.
  static Stream sealed(StreamKey key);

  /// The stream of the key's child number `index`.
  Stream child(std::uint64_t index) const {
    return feed_ ? Stream(feed_->child(index)) : Stream(key_.child(index));
  }
  /// Number of 64-bit words drawn so far.
  std::uint64_t position() const { return position_; }

  /// Moves on by `words` words, as if they had been drawn.
  void skip(std::uint64_t words);

  /// The next 64-bit word.
  std::uint64_t bits();
  /// Uniform on the 2^52 midpoints of (0, 1).
  double uniform();
  /// Standard normal, one word each: sign and a 52-bit lower-tail probability through the inverse
  /// distribution function. Range ±8.3. Relative error of the transform below 1e-15.
  double normal();
  /// out[j] = std · N(0, 1), independent.
  void fill_normal(double standard_deviation, VectorRef out);
  /// out[j] += std · N(0, 1), independent.
  void add_normal(double standard_deviation, VectorRef out);
  /// Laplace with density exp(−|x|)/2; one word.
  double laplace();
  /// Gumbel, distribution function exp(−e^{−x}), from −3.6 to 88; two words, so that the upper tail
  /// is correct down to probabilities of 2^−128.
  double gumbel();
  /// Uniform on {0, …, count − 1}, exact (rejection); count ≥ 1.
  Index below(Index count);
  /// True with probability `probability` to within 2^-64; one word.
  bool bernoulli(double probability);
  /// Number of successes in `trials` ≥ 0 independent trials of the given probability in [0, 1], up
  /// to 2^62 trials; a few words each for any number of trials. Exact up to rounding: every
  /// acceptance probability is right to about 1e-13.
  Index binomial(Index trials, double probability);
  /// out = a uniform `size`-subset of {0, …, population − 1}, ascending, in O(size) (Floyd's
  /// algorithm, a word each). Allocates nothing where out has a capacity of 5·size + 1.
  void subset(Index population, Index size, std::vector<Index>& out);
  std::vector<Index> subset(Index population, Index size);
  /// out = the successes among `population` independent trials, ascending, in O(out.size()): a
  /// binomial number of them, and a uniform subset.
  void bernoulli_subset(Index population, double probability, std::vector<Index>& out);
  /// out uniform in the ball of the given radius around 0.
  void fill_ball(double radius, VectorRef out);

 private:
  void refill();
  void refill_normals(std::size_t least);
  /// Calls use(normals, first) for pieces that make up the next `size` standard normals.
  template <class Use>
  void use_normals(Index size, const Use& use);

  static constexpr std::size_t most_ahead = 64;  // words
  StreamKey key_;                                // unused with a feed
  std::shared_ptr<const WordFeed> feed_;
  std::uint64_t position_ = 0;
  std::uint64_t ahead_from_ = 0;  // position of ahead_[0]
  std::size_t ahead_size_ = 0;
  std::array<std::uint64_t, 2 * most_ahead> ahead_{};  // the rest is room to write in
  static constexpr std::size_t most_normals = 128;
  std::uint64_t normals_from_ = 0;  // position of the word of normals_[0]
  std::size_t normals_size_ = 0;
  std::array<double, most_normals> normals_{};
};

/// Φ^{-1}(p) for p in (0, 1/2], from IEEE operations alone.
/// \source Wichura (1988), Algorithm AS 241, PPND16.
double normal_lower_quantile(double p);

/// ln(x) for normal x > 0, from IEEE operations alone; error below 2 ulp.
double portable_log(double x);

}  // namespace dpsosp
