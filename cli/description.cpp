// SPDX-License-Identifier: Apache-2.0
#include "description.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace dpsosp {
namespace {

namespace po = boost::program_options;

std::string option_head(const OptionText& option) {
  return fmt::format("--{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
}

std::string option_body(const OptionText& option) {
  std::string text = option.meaning;
  if (option.repeatable) text += "; repeatable";
  if (!option.standard.empty()) text += fmt::format(" (default: {})", option.standard);
  return text;
}

}  // namespace

po::options_description parser_of(const Description& description) {
  po::options_description options;
  auto add = options.add_options();
  for (const OptionGroup& group : description.groups)
    for (const OptionText& option : group.options) {
      if (option.value.empty()) {
        add(option.name.c_str(), "");
      } else if (option.repeatable) {
        add(option.name.c_str(), po::value<std::vector<std::string>>()->composing(), "");
      } else if (option.standard.empty()) {
        add(option.name.c_str(), po::value<std::string>(), "");
      } else {
        add(option.name.c_str(), po::value<std::string>()->default_value(option.standard), "");
      }
    }
  if (!description.words.empty())
    add(description.words.c_str(), po::value<std::vector<std::string>>(), "");
  return options;
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::istringstream in(text);
  std::string out;
  std::size_t column = indent;
  for (std::string word; in >> word; column += word.size()) {
    if (out.empty()) {
      out = word;
    } else if (column + 1 + word.size() <= width) {
      out += ' ' + word;
      ++column;
    } else {
      out += '\n' + std::string(indent, ' ') + word;
      column = indent;
    }
  }
  return out;
}

std::string help_text(const Description& d) {
  constexpr std::size_t column = 26;
  std::string out = wrapped(fmt::format("dpsosp {}: {}", d.name, d.summary), 2) + "\n\n";
  for (std::size_t k = 0; k < d.usage.size(); ++k) {
    const std::string head = fmt::format("{}dpsosp {} ", k == 0 ? "usage: " : "       ", d.name);
    out += head + wrapped(d.usage[k], head.size()) + '\n';
  }
  out += d.examples.size() == 1 ? "\nexample:\n" : "\nexamples:\n";
  for (const Example& e : d.examples)
    out += fmt::format("  {}\n      {}\n", e.command, wrapped(e.does, 6));
  for (const OptionGroup& group : d.groups) {
    out += fmt::format("\n{}:\n", group.subject);
    for (const OptionText& option : group.options) {
      const std::string head = "  " + option_head(option);
      const std::string gap = head.size() + 2 <= column ? std::string(column - head.size(), ' ')
                                                        : '\n' + std::string(column, ' ');
      out += head + gap + wrapped(option_body(option), column) + '\n';
    }
  }
  for (const std::string& note : d.notes) out += '\n' + note + '\n';
  return out;
}

const std::vector<ExitCode>& exit_codes() {
  static const std::vector<ExitCode> codes{
      {0, "fine"},
      {1, "a run, a check or an audit failed, or tables differ; the lines before it say which"},
      {2, "bad input: one line says what is wrong, where, and what would be right"},
      {3, "refused: no proof covers what was asked"},
      {129, "the terminal was closed (SIGHUP); what was finished is kept"},
      {130, "interrupted by Ctrl-C (SIGINT); what was finished is kept"},
      {143, "ended by kill (SIGTERM); what was finished is kept"}};
  return codes;
}

}  // namespace dpsosp
