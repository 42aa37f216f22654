// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

/// Coefficients of sine and cosine on |r| ≤ π/4, from the constant term up, interpolated at
/// Chebyshev points with 60 digits and rounded to doubles.
namespace dpsosp::sine_series {

// (sin r / r − 1)/r², with an error of sin r / r of at most 2^-56.6.
inline constexpr std::array<double, 6> sine{-0x1.5555555555547p-3,  0x1.111111110f5f3p-7,
                                            -0x1.a01a019bd06b2p-13, 0x1.71de3547dc8ecp-19,
                                            -0x1.ae5e457f7f09ep-26, 0x1.5d8a882249886p-33};
// (cos r − 1 + r²/2)/r⁴, with an error of cos r of at most 2^-59.8.
inline constexpr std::array<double, 6> cosine{0x1.5555555555552p-5,  -0x1.6c16c16c15e85p-10,
                                              0x1.a01a019df4c08p-16, -0x1.27e4f8f03ebeep-22,
                                              0x1.1eea85f2b7cb1p-29, -0x1.8ffcf36f6d6cbp-37};

// π/2 = first + second + third; products of the first two with integers below 2^20 are exact.
inline constexpr double first = 0x1.921fb544p+0;
inline constexpr double second = 0x1.0b4611a6p-34;
inline constexpr double third = 0x1.3198a2e037073p-69;
inline constexpr double two_over_pi = 0x1.45f306dc9c883p-1;

inline constexpr double farthest = 0x1p20;  // quotients by π/2 are below 2^20

// A sum with it has the nearest integer in its low bits.
inline constexpr double rounder = 0x1.8p52;

}  // namespace dpsosp::sine_series
