// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace dpsosp {

// Each command takes what follows its name on the command line, prints its result to stdout and
// returns 0. What cannot be done is thrown: InputError, UnsupportedError, RunFailed, Interrupted;
// main() turns it into one line on stderr and the exit code.
using Arguments = std::vector<std::string>;

int account_command(const Arguments& arguments);  ///< epsilon of a mechanism sequence, or its noise
int audit_command(const Arguments& arguments);    ///< try to falsify privacy claims
int certify_command(const Arguments& arguments);  ///< a certificate of a given point
int check_command(const Arguments& arguments);    ///< the contract suite on a problem
int fit_command(const Arguments& arguments);      ///< slopes of a sweep from its store
int info_command(const Arguments& arguments);     ///< version, compiler, processor, libraries
int list_command(const Arguments& arguments);     ///< algorithms, problems, exhibits
int merge_command(const Arguments& arguments);    ///< stores of shards into one
int report_command(const Arguments& arguments);   ///< the report again, only from the store
int reproduce_command(const Arguments& arguments);  ///< tables and figures
int run_command(const Arguments& arguments);        ///< one private run
int sweep_command(const Arguments& arguments);      ///< a grid of runs from TOML

}  // namespace dpsosp
