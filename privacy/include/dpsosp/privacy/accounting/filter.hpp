// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

/// Grants charges while their sum stays within the capacity; zCDP, or RDP at one fixed order.
/// If every charge is a function of what was released before, the whole interaction costs at most
/// the capacity. The sum is compensated and compared in the last place: a capacity split into equal
/// slices can be spent entirely, and the true sum of the granted charges exceeds the capacity by at
/// most two units in the last place.
/// \source Feldman & Zrnic (2021), arXiv:2008.11193v4, Theorems 3.1 and 4.3;
///   privacy-accounting notes, 10
class PrivacyFilter {
 public:
  /// \param capacity  >= 0, finite
  explicit PrivacyFilter(double capacity);

  /// Adds the charge, or leaves everything as it was and returns false if it does not fit.
  /// \throws InputError if the charge is negative or not finite.
  bool try_charge(double charge);

  double capacity() const { return capacity_; }
  double most() const;  ///< the largest sum that is granted: a unit in the last place above
  double spent() const { return sum_ + compensation_; }
  double remaining() const;  ///< >= 0
  bool operator==(const PrivacyFilter&) const = default;

 private:
  double capacity_;
  double sum_ = 0;
  double compensation_ = 0;
};

}  // namespace dpsosp
