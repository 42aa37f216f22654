// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "description.hpp"

namespace dpsosp {

// Each command takes what follows its name on the command line, prints its result to stdout and
// returns 0. What cannot be done is thrown: InputError, UnsupportedError, RunFailed, Interrupted;
// main() turns it into one line on stderr and the exit code.
using Arguments = std::vector<std::string>;

int account_command(const Arguments& arguments);
int advise_command(const Arguments& arguments);
int audit_command(const Arguments& arguments);
int certify_command(const Arguments& arguments);
int check_command(const Arguments& arguments);
int figure_command(const Arguments& arguments);
int fit_command(const Arguments& arguments);
int help_command(const Arguments& arguments);
int info_command(const Arguments& arguments);
int list_command(const Arguments& arguments);
int merge_command(const Arguments& arguments);
int new_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int reproduce_command(const Arguments& arguments);
int run_command(const Arguments& arguments);
int shard_command(const Arguments& arguments);
int sweep_command(const Arguments& arguments);

const Description& account_description();
const Description& advise_description();
const Description& audit_description();
const Description& certify_description();
const Description& check_description();
const Description& figure_description();
const Description& fit_description();
const Description& help_description();
const Description& info_description();
const Description& list_description();
const Description& merge_description();
const Description& new_description();
const Description& report_description();
const Description& reproduce_description();
const Description& run_description();
const Description& shard_description();
const Description& sweep_description();

struct Command {
  const Description& (*description)();
  int (*run)(const Arguments&);
};
/// In the order in which they are listed.
std::span<const Command> commands();

/// \throws InputError with the nearest name
const Command& find_command(const std::string& name);

/// All commands and exit codes in short.
std::string usage_text();

}  // namespace dpsosp
