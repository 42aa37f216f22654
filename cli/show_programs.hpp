// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

// What programs write is told on standard error. Each of these replaces the one before.

/// The last lines of a program that fails, once for each program.
void show_failures_of_programs();
/// Every line, as it comes.
void show_output_of_programs();
/// That there were lines, where a program fails.
void withhold_output_of_programs();

}  // namespace dpsosp
