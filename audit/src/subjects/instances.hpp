// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/experiments/run.hpp"
#include "subjects/subject.hpp"

namespace dpsosp::audit {

/// An algorithm on one small problem of every kind that algorithms can tell apart: a dual per
/// record or shared; without a dual on all of R^d, on a ball and on a box; proved constants and
/// estimated ones. In both variants that are private, with every way of drawing batches that it
/// offers, at settings that reach every branch in few steps. Those that it refuses are left out.
std::vector<Subject> replay_subjects(std::string_view algorithm);

/// The algorithm on a problem that the audit has no instance of, with 40 records and every way of
/// drawing batches that it offers, in 12 steps. \throws InputError where it refuses the problem,
/// or has no plan to find its noise by
std::vector<Subject> replay_subjects(std::string_view algorithm, std::string_view problem,
                                     const std::map<std::string, std::string>& problem_settings);

/// A run of a registered algorithm where fast_subject has it, with a budget of 8.
/// \throws InputError where no small instance runs it
RunSpec small_run(std::string_view algorithm);

/// One instance that a run takes about a millisecond on, with noise for (epsilon, delta), or for
/// less where runs could not tell.
Subject fast_subject(std::string_view algorithm, const PrivacyBudget& budget);

}  // namespace dpsosp::audit
