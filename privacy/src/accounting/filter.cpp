// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/filter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric.hpp"

namespace dpsosp {

PrivacyFilter::PrivacyFilter(double capacity) : capacity_(capacity) {
  expect_nonnegative("privacy filter", "capacity", capacity);
}

bool PrivacyFilter::try_charge(double charge) {
  expect_nonnegative("privacy filter", "charge", charge);
  // Neumaier: the rounding error of the addition is exact and kept apart.
  const double sum = sum_ + charge;
  const double error = sum_ >= charge ? (sum_ - sum) + charge : (charge - sum) + sum_;
  const double compensation = compensation_ + error;
  if (sum + compensation > most()) return false;
  sum_ = sum;
  compensation_ = compensation;
  return true;
}

double PrivacyFilter::most() const {
  return std::nextafter(capacity_, std::numeric_limits<double>::infinity());
}

double PrivacyFilter::remaining() const { return std::max(0.0, capacity_ - spent()); }

}  // namespace dpsosp
