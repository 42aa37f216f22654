// SPDX-License-Identifier: Apache-2.0
#include "show_programs.hpp"

#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "dpsosp/isolation/program_output.hpp"

namespace dpsosp {
namespace {

/// Whole lines, over a line of progress.
void write_lines(const std::string& text) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const char* clear_line = isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "";
  fmt::print(stderr, "{}{}\n", clear_line, text);
  std::fflush(stderr);
}

}  // namespace

void show_failures_of_programs() {
  struct Shown {
    std::mutex mutex;
    std::set<std::string> programs;
  };
  follow_output(
      {.line = {},
       .failed = [shown = std::make_shared<Shown>()](const std::string& program,
                                                     const std::vector<std::string>& last) {
         {
           const std::lock_guard lock(shown->mutex);
           if (!shown->programs.insert(program).second) return;
         }
         write_lines(fmt::format("{} wrote, last of all:\n  {}", program, fmt::join(last, "\n  ")));
       }});
}

void show_output_of_programs() { follow_output({.line = write_lines, .failed = {}}); }

void withhold_output_of_programs() {
  follow_output(
      {.line = {}, .failed = [](const std::string& program, const std::vector<std::string>&) {
         write_lines(fmt::format(
             "what {} wrote is withheld: times, which depend on the records, may be in it",
             program));
       }});
}

}  // namespace dpsosp
