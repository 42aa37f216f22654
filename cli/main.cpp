// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
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
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/privacy/accounting/event.hpp"
#include "rooms.hpp"

namespace {

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const dpsosp::Arguments&);
};

constexpr std::array commands{
    Command{"account",
            "epsilon of a mechanism sequence, or the noise for a target",
            dpsosp::account_command},
    Command{"audit", "try to falsify the privacy claims of algorithms", dpsosp::audit_command},
    Command{"certify",
            "gradient norm, smallest eigenvalue and sosp_level of a point",
            dpsosp::certify_command},
    Command{"check",
            "the contract of a problem or an algorithm: derivatives, clipping, constants, budget",
            dpsosp::check_command},
    Command{"fit", "slopes of a sweep with intervals and verdicts", dpsosp::fit_command},
    Command{"info", "version, compiler, processor, libraries", dpsosp::info_command},
    Command{
        "list", "algorithms, problems, exhibits or claims, one line each", dpsosp::list_command},
    Command{"merge", "stores of shards into one", dpsosp::merge_command},
    Command{"report", "write the report again from stored runs", dpsosp::report_command},
    Command{"reproduce", "regenerate tables and figures", dpsosp::reproduce_command},
    Command{"run", "one private run: output, certificate, guarantee, ledger", dpsosp::run_command},
    Command{"sweep", "a grid of runs, declared in TOML", dpsosp::sweep_command}};

void print_usage(std::ostream& out) {
  out << "usage: dpsosp COMMAND [OPTIONS]\n\n";
  for (const Command& c : commands) {
    out << "  " << c.name << std::string(12 - c.name.size(), ' ') << c.summary << '\n';
  }
  out << "\ndpsosp COMMAND --help lists the options of a command; dpsosp --version prints the "
         "version.\n"
         "Exit codes: 0 fine, 1 a run or a check failed, 2 bad input, 3 refused because no proof "
         "covers it,\n"
         "130 interrupted.\n";
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    print_usage(std::cerr);
    return 2;
  }
  if (words[0] == "--version") {
    std::cout << "dpsosp " << dpsosp::provenance().build.program_version << '\n';
    return 0;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_usage(std::cout);
    return 0;
  }
  std::vector<std::string> names;
  for (const Command& c : commands) {
    if (c.name == words[0]) return c.run({words.begin() + 1, words.end()});
    names.emplace_back(c.name);
  }
  dpsosp::reject_unknown("command", words[0], names);
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

int main(int argc, char** argv) {
  dpsosp::keep_freed_memory();
  dpsosp::open_rooms();
  try {
    return written(dispatch({argv + 1, argv + argc}));
  } catch (const dpsosp::UnsupportedError& error) {
    return fail(3, std::string("unsupported: ") + error.what());
  } catch (const dpsosp::InputError& error) {
    return fail(2, error.what());
  } catch (const dpsosp::RunFailed& error) {
    return fail(1, std::string("run failed: ") + error.what());
  } catch (const dpsosp::Interrupted& error) {
    return fail(130, error.what());
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return written(0);
    return fail(1, std::string("internal error: ") + error.what());
  } catch (const std::bad_alloc&) {
    return fail(1, "out of memory; fewer records or a smaller dimension need less");
  } catch (const std::exception& error) {
    return fail(1, std::string("internal error: ") + error.what());
  }
}
