// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/budget.hpp"

/// What accountants and filters say, against privacy losses drawn at random. Nothing is shared with
/// the accountants: densities are written out again for pairs of data sets that events may meet.
namespace dpsosp::audit {

struct AccountSizes {
  int compositions;  ///< of random events
  int draws;         ///< of the loss of each composition
};

/// ε at δ of a composition; none if the accountant has no proof for it.
using AccountOf = std::function<std::optional<double>(
    std::span<const CountedEvent> events, Adjacency adjacency, double delta, Accountant)>;
std::optional<double> account_of(std::span<const CountedEvent> events, Adjacency adjacency,
                                 double delta, Accountant accountant);

/// The accountant whose ε at δ, from 0.3 to 0.003, is contradicted: of drawn losses L more than
/// chance allows pass a coin of probability (1 − e^(ε − L))₊, whose mean is at most δ. Empty if
/// none is, but with probability 1e-6.
std::string complaint_of_accountants(std::uint64_t seed, const AccountSizes& sizes,
                                     const AccountOf& account = account_of);

using RuleOf =
    std::function<FilterRule(const PrivacyBudget&, Calibrator, std::optional<double>, double)>;
FilterRule rule_of(const PrivacyBudget& budget, Calibrator calibrator, std::optional<double> order,
                   double pure_epsilon);

/// Whether a rule that somebody else made may be used for a budget.
using Accepts = std::function<bool(const FilterRule&, const PrivacyBudget&)>;
bool is_accepted(const FilterRule& rule, const PrivacyBudget& budget);

/// The same of rules of filters that grant random ranges of records equal events until they refuse:
/// the record that was charged most has an ε that the budget does not allow. Some rules are a
/// guest's, with the whole budget in each of two accounts: they are tried if they are accepted.
std::string complaint_of_filters(std::uint64_t seed, const AccountSizes& sizes,
                                 const RuleOf& rule = rule_of,
                                 const Accepts& accepts = is_accepted);

}  // namespace dpsosp::audit
