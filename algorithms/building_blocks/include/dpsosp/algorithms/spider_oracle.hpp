// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "dpsosp/core/settings.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {

/// How batches are drawn.
enum class Sampling { all, fresh, sample, poisson };

constexpr auto words_of(Sampling) {
  using enum Sampling;
  return word_list<Sampling>(
      "sampling", {{all, "all"}, {fresh, "fresh"}, {sample, "sample"}, {poisson, "poisson"}});
}

/// The policy of a batch of (expected) size `size` out of `records`.
BatchPolicy batch_policy(Sampling sampling, Index size, Index records);

/// Refuses a size that is not in [1, records], if batches have one. \throws InputError
void require_batch(std::string_view owner, std::string_view name, Sampling sampling, Index size,
                   Index records);

/// max(1, ⌈rate · move⌉), at most 10¹⁸: the size of an adaptive batch.
Index adaptive_batch(double rate, double move);

/// The field "sampling" of an algorithm's parameters.
Field sampling_field(Sampling& value);

/// A field for the noise of a query, which 0 turns off.
Field noise_field(std::string name, double& value, const std::string& meaning);

/// How increments are clipped.
enum class IncrementClip {
  fixed,         ///< at C
  proportional,  ///< at C · ‖w − w′‖, so the noise shrinks with the move
  capped,  ///< at min(C · ‖w − w′‖, 2 C_refresh): no difference of gradients is longer
};

constexpr auto words_of(IncrementClip) {
  using enum IncrementClip;
  return word_list<IncrementClip>(
      "increment clip", {{fixed, "fixed"}, {proportional, "proportional"}, {capped, "capped"}});
}

/// The two gradient oracles of SPIDER-type methods: a gradient at one point, and a gradient
/// difference between two.
/// | paper                    | field             | unit                          |
/// | S₁, b₁                   | refresh_batch     | records                       |
/// | S₂, b₂                   | increment_batch   | records                       |
/// | C_v, C₁, G               | clip_refresh      | gradient                      |
/// | C_u, C₂ (fixed), L, M    | clip_increment    | gradient, or gradient per x   |
/// | z₁, z₂                   | *_noise           | std / replace-one sensitivity |
struct SpiderOracleParameters {
  Sampling sampling = Sampling::all;
  Index refresh_batch = 0;  ///< not used with Sampling::all
  Index increment_batch = 0;
  double clip_refresh = 1.0;
  IncrementClip increment_clip = IncrementClip::fixed;
  double clip_increment = 1.0;
  double refresh_noise = 0.0;
  double increment_noise = 0.0;

  void add_fields(Fields& fields);
  void check(std::string_view owner, Index records) const;
  BatchPolicy refresh_policy(Index records) const;
  BatchPolicy increment_policy(Index records) const;
  /// The policy of the dearer of the two at one noise ratio: the larger batch.
  BatchPolicy dearest_policy(Index records) const;
  /// C, C · ‖w − w′‖, or that capped.
  double increment_limit(const Point& point, const Point& previous) const;

  /// out = O1(point): clipped mean gradient plus noise.
  void refresh(Curator& curator, const Point& point, Block block, VectorRef out) const;
  /// out = O2(point, previous): clipped mean gradient difference plus noise.
  void increment(Curator& curator, const Point& point, const Point& previous, Block block,
                 VectorRef out) const;
};

}  // namespace dpsosp
