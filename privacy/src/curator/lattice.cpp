// SPDX-License-Identifier: Apache-2.0
#include "lattice.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

__extension__ using Wide = unsigned __int128;

/// ⌊x²⌋, exactly, for x in [0, 2^52).
Wide floor_square(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);  // x = mantissa · 2^(exponent − 53)
  const auto mantissa = static_cast<Wide>(std::ldexp(fraction, 53));
  const int down = 2 * (53 - exponent);
  return down >= 128 ? 0 : (mantissa * mantissa) >> down;
}

double spacing_for(double deviation) {
  if (!(deviation >= 1e-250 && deviation <= 1e250))
    reject("exact noise", "deviation", deviation, "in [1e-250, 1e250]");
  return std::ldexp(1.0, std::ilogb(deviation) - 40);
}

}  // namespace

LatticeVector::LatticeVector(double deviation, Index entries)
    : spacing_(spacing_for(deviation)),
      sigma_(static_cast<std::int64_t>(std::ceil(deviation / spacing_ * (1.0 + 0x1p-29)))),
      entries_(static_cast<std::size_t>(entries)),
      scratch_(entries_.size()) {}

void LatticeVector::add(ConstVectorRef contribution, double limit) {
  const double reach = limit / spacing_ * (1.0 + 0x1p-30);
  const Wide longest = floor_square(reach);
  Wide length = 0;
  for (std::size_t j = 0; j < scratch_.size(); ++j) {
    const double entry = contribution[static_cast<Index>(j)] / spacing_;
    if (!(std::abs(entry) <= reach)) return;
    scratch_[j] = static_cast<std::int64_t>(entry);
    length += static_cast<Wide>(static_cast<Integer>(scratch_[j]) * scratch_[j]);
    if (length > longest) return;
  }
  for (std::size_t j = 0; j < scratch_.size(); ++j) entries_[j] += scratch_[j];
}

void LatticeVector::add(const LatticeVector& other) {
  for (std::size_t j = 0; j < entries_.size(); ++j) entries_[j] += other.entries_[j];
}

void LatticeVector::add_noise(WordSource& words) {
  for (Integer& entry : entries_) entry += discrete_gaussian(words, sigma_);
}

void LatticeVector::write(VectorRef out) const {
  for (std::size_t j = 0; j < entries_.size(); ++j)
    out[static_cast<Index>(j)] = static_cast<double>(entries_[j]) * spacing_;
}

}  // namespace dpsosp
