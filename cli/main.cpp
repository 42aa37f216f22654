// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/memory.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/isolation/guest_process.hpp"
#include "dpsosp/main.hpp"
#include "dpsosp/privacy/accounting/event.hpp"
#include "show_programs.hpp"

namespace {

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    std::cerr << dpsosp::usage_text();
    return 2;
  }
  if (words[0] == "--version") {
    std::cout << "dpsosp " << dpsosp::provenance().build.program_version << '\n';
    return 0;
  }
  if (words[0] == "--help" || words[0] == "-h") {
    std::cout << dpsosp::usage_text();
    return 0;
  }
  const dpsosp::Command& command = dpsosp::find_command(words[0]);
  const std::vector<std::string> arguments(words.begin() + 1, words.end());
  const bool asks = std::ranges::any_of(
      arguments, [](const std::string& w) { return w == "--help" || w == "-h"; });
  const bool completes = !arguments.empty() && arguments[0] == "--complete";
  if (asks && !completes) {
    std::cout << dpsosp::help_text(command.description());
    return 0;
  }
  return command.run(arguments);
}

/// One line on stderr, also where the message quotes line ends.
int fail(int code, std::string message) {
  std::ranges::replace(message, '\n', ' ');
  std::cerr << message << '\n';
  return code;
}

/// A result that could not be written, as on a full disk, is a failure.
int written(int code) {
  if (std::ferror(stdout) == 0 && std::cout.flush() && std::fflush(stdout) == 0) return code;
  return fail(1, "standard output cannot be written; the result is incomplete");
}

}  // namespace

int dpsosp::main(int argc, char** argv, const Registrations& registrations) {
  keep_freed_memory();
  try {
    for (const AlgorithmEntry& entry : registrations.algorithms) register_algorithm(entry);
    add_problems(registrations.problems);
    if (registrations.others) registrations.others();
    register_listed_programs();
    show_failures_of_programs();
    return written(dispatch({argv + 1, argv + argc}));
  } catch (const UnsupportedError& error) {
    return fail(3, std::string("unsupported: ") + error.what());
  } catch (const InputError& error) {
    return fail(2, error.what());
  } catch (const RunFailed& error) {
    return fail(1, std::string("run failed: ") + error.what());
  } catch (const GuestFailed& error) {
    return fail(1, std::string("run failed: ") + error.what());
  } catch (const Interrupted& error) {
    return fail(error.exit_code(), error.what());
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return written(0);
    return fail(1, std::string("internal error: ") + error.what());
  } catch (const std::bad_alloc&) {
    return fail(1,
                "out of memory; fewer records or a smaller dimension need less, and problems with "
                "--set problem.sampling=whole simulate them");
  } catch (const std::exception& error) {
    return fail(1, std::string("internal error: ") + error.what());
  }
}
