// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

/// Coefficients of ln and Φ^{-1}, from the constant term up.
/// \source Wichura (1988), Algorithm AS 241, PPND16
namespace dpsosp::quantile_series {

// Φ^{-1}(1/2 + q): quotients of polynomials in 0.425² − q² on the centre |q| ≤ 0.425, then in
// r = sqrt(−ln p), about 1.6 up to r = 5 and about 5 beyond.
inline constexpr double centre_half_width = 0.425;
inline constexpr double centre_square = 0.180625;  // of it
inline constexpr double tail_centre = 1.6;
inline constexpr double tail_end = 5.0;
inline constexpr std::array<double, 8> centre_top{
    3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
    1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
    3.3430575583588128105e+4, 2.5090809287301226727e+3};
inline constexpr std::array<double, 8> centre_bottom{1.0,
                                                     4.2313330701600911252e+1,
                                                     6.8718700749205790830e+2,
                                                     5.3941960214247511077e+3,
                                                     2.1213794301586595867e+4,
                                                     3.9307895800092710610e+4,
                                                     2.8729085735721942674e+4,
                                                     5.2264952788528545610e+3};
inline constexpr std::array<double, 8> tail_top{
    1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
    3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
    2.27238449892691845833e-2, 7.74545014278341407640e-4};
inline constexpr std::array<double, 8> tail_bottom{1.0,
                                                   2.05319162663775882187e0,
                                                   1.67638483018380384940e0,
                                                   6.89767334985100004550e-1,
                                                   1.48103976427480074590e-1,
                                                   1.51986665636164571966e-2,
                                                   5.47593808499534494600e-4,
                                                   1.05075007164441684324e-9};
inline constexpr std::array<double, 8> far_top{
    6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
    2.71155556874348757815e-5, 2.01033439929228813265e-7};
inline constexpr std::array<double, 8> far_bottom{1.0,
                                                  5.99832206555887937690e-1,
                                                  1.36929880922735805310e-1,
                                                  1.48753612908506148525e-2,
                                                  7.86869131145613259100e-4,
                                                  1.84631831751005468180e-5,
                                                  1.42151175831644588870e-7,
                                                  2.04426310338993978564e-15};

// ln(2^k m) = k ln 2 + 2 atanh((m − 1)/(m + 1)) for m in (1/√2, √2].
inline constexpr double root_two = 1.4142135623730951;
inline constexpr double ln2_high = 6.93147180369123816490e-01;  // low 21 bits zero: k · it is exact
inline constexpr double ln2_low = 1.90821492927058770002e-10;
inline constexpr std::array<double, 11> atanh_series{1.0,        1.0 / 3.0,  1.0 / 5.0,  1.0 / 7.0,
                                                     1.0 / 9.0,  1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0,
                                                     1.0 / 17.0, 1.0 / 19.0, 1.0 / 21.0};

template <std::size_t N>
constexpr double horner(const std::array<double, N>& c, double x) {
  double sum = c[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) sum = sum * x + c[k];
  return sum;
}

}  // namespace dpsosp::quantile_series
