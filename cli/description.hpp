// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "dpsosp/core/names.hpp"

namespace dpsosp {

/// What may stand in a place of the command line, for completion.
struct Offers {
  std::vector<Named> (*names)() = nullptr;
  std::vector<Named> words{};  ///< a fixed choice
  bool files = false;
};

struct OptionText {
  std::string name;
  std::string value{};  ///< what stands for the value, as "KEY"; empty: the option is a flag
  std::string meaning;
  std::string standard{};  ///< the value where the option is not given; empty: none
  Offers offers{};
  bool repeatable = false;
};

struct OptionGroup {
  std::string subject;
  std::vector<OptionText> options;
};

struct Example {
  std::string command;
  std::string does;
};

/// Everything that is said of a command: the source of its parser, its help, its part of the manual
/// and its completions.
struct Description {
  std::string name;
  std::string summary;
  std::vector<std::string> usage;  ///< what follows the name; one a form
  std::vector<Example> examples;
  std::vector<OptionGroup> groups;
  std::string words{};  ///< name under which words without an option are kept; empty: none may be
  Offers word_offers{};
  std::vector<std::string> notes{};  ///< paragraphs after the options
};

boost::program_options::options_description parser_of(const Description& description);

/// Usage, examples, options by subject, notes.
std::string help_text(const Description& description);

/// \param width  of a line, but for words that are longer
/// \param indent  of every line but the first
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width = 80);

/// What ends the program and with which code.
struct ExitCode {
  int code;
  std::string means;
};
const std::vector<ExitCode>& exit_codes();

}  // namespace dpsosp
