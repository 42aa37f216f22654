// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include "dpsosp/privacy/accounting/composition.hpp"

namespace dpsosp {

/// \throws InputError in one line, with the nearest name for an unknown option.
boost::program_options::variables_map parse_account_options(
    const std::vector<std::string>& arguments);

/// What `dpsosp account` is asked for, every value checked.
struct AccountRequest {
  enum class Mechanism { gaussian, laplace, exponential, zcdp, tree, any };
  enum class Sampling { none, poisson, fixed };
  enum class Question { epsilon, delta, amount };

  Question question = Question::epsilon;
  Mechanism mechanism = Mechanism::gaussian;
  Sampling sampling = Sampling::none;
  FixedSizeBound bound = FixedSizeBound::tightest;
  Adjacency adjacency = Adjacency::replace_one;
  std::string orders;  ///< name of the grid in `options`
  AccountOptions options;
  std::int64_t steps = 1;  ///< releases; leaves of a tree
  double rate = 1;
  double epsilon = 0;  ///< given unless it is the question
  double delta = 0;    ///< given unless it is the question; 0 if none, with the pure accountant
  double delta0 = 0;   ///< of one release of `any`
  double amount =
      0;  ///< std / clip norm, eps0 or rho, by mechanism; given unless it is the question

  /// \throws InputError, or UnsupportedError for sampling that no accountant covers.
  explicit AccountRequest(const boost::program_options::variables_map& map);

  /// The described sequence with that amount of noise or privacy.
  Composition events(double an_amount) const;
  /// The amount that belongs to a noise scale z: z itself, eps0 = 1/z, or rho = 1/z².
  double amount_at(double z) const;
  /// Name and value of an amount; noise comes in both units.
  std::vector<std::pair<std::string, double>> quantities(double an_amount) const;

 private:
  /// sensitivity of a sum / clip norm of one record
  double sensitivity() const { return adjacency == Adjacency::replace_one ? 2 : 1; }
  void read_schedule(const boost::program_options::variables_map& map);
  void read_amount(const boost::program_options::variables_map& map);
  void read_delta(const boost::program_options::variables_map& map);
};

std::string_view name_of(AccountRequest::Mechanism mechanism);
std::string_view name_of(AccountRequest::Sampling sampling);
std::string_view name_of(Conversion conversion);

}  // namespace dpsosp
