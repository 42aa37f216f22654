// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/privacy/exponential_mechanism.hpp"

namespace dpsosp {

/// How often a method that succeeds with probability ½ is repeated, to succeed once with
/// probability 1 − failure/2: ⌈log₂(2/failure)⌉. \source lowy-2024 notes, 2.4
Index boosting_repetitions(double failure);

/// Excess of the chosen point over the best of K, with probability 1 − failure/2:
/// (R/ε)(ln K + ln(2/failure)), R = 4L max ‖w^i − c‖/n.
double boosting_error(double range, double epsilon, Index repetitions, double failure);

/// Private choice of the point of least loss from a list of released points (columns of `points`,
/// d × K). The list is released, so its mean c and its spread are public. The paper prints the
/// sensitivity LD, which needs a list inside a fixed set of diameter D.
/// \source lowy-2024 notes, 2.4
/// \param lipschitz  L; \param epsilon  of the choice
/// \throws BudgetExhausted, InputError
Index choose_best(Curator& curator, const Matrix& points, double lipschitz, double epsilon);

}  // namespace dpsosp
