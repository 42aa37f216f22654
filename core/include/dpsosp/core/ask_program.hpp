// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace dpsosp {

/// Words as exec takes them. Refers to the words.
std::vector<char*> argument_vector(const std::vector<std::string>& words);

/// Of how a process ended: its exit code, or 128 + signal.
int exit_code_of(int wait_status);

/// Lets this process wait for its children, even where what started it ignores their end.
void await_children();

struct ProgramAnswer {
  int code = -1;  ///< exit code; 128 + signal; 127 where there is no such program, which `err` says
  std::string out, err;
};

/// Runs a program that is looked up in PATH, and waits for it.
ProgramAnswer ask_program(const std::vector<std::string>& words);

}  // namespace dpsosp
