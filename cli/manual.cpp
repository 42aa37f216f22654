// SPDX-License-Identifier: Apache-2.0
#include "manual.hpp"

#include <string_view>

#include <fmt/format.h>

#include "commands.hpp"
#include "dpsosp/experiments/provenance.hpp"

namespace dpsosp {
namespace {

/// Text that roff takes as it is: hyphens that may be copied, no requests at the start of a line.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-')
      out += "\\-";
    else if (c == '\\')
      out += "\\e";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += fmt::format("\\&{}", c);
    else
      out += c;
  }
  return out;
}

std::string option_entry(const OptionText& option) {
  std::string text = fmt::format(".TP\n\\fB{}\\fR", roff("--" + option.name));
  if (!option.value.empty()) text += fmt::format(" \\fI{}\\fR", roff(option.value));
  text += '\n' + roff(option.meaning);
  if (option.repeatable) text += "; repeatable";
  if (!option.standard.empty()) text += fmt::format(" (default: {})", roff(option.standard));
  return text + '\n';
}

std::string command_section(const Description& d) {
  std::string out = fmt::format(".SS {}\n{}.\n", d.name, roff(d.summary));
  for (const std::string& form : d.usage)
    out += fmt::format(".PP\n\\fBdpsosp {}\\fR {}\n", d.name, roff(form));
  for (const Example& e : d.examples)
    out += fmt::format(".PP\n.RS 4\n.nf\n{}\n.fi\n.RS 4\n{}\n.RE\n.RE\n", roff(e.command),
                       roff(e.does));
  for (const OptionGroup& group : d.groups) {
    out += fmt::format(".PP\n\\fI{}\\fR\n", roff(group.subject));
    for (const OptionText& option : group.options) out += option_entry(option);
  }
  for (const std::string& note : d.notes) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(note));
  return out;
}

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string markdown_section(const Description& d) {
  std::string out = fmt::format("\n## {}\n\n{}.\n\n```text\n", d.name, d.summary);
  for (const std::string& form : d.usage) out += fmt::format("dpsosp {} {}\n", d.name, form);
  out += "```\n";
  for (const Example& e : d.examples)
    out += fmt::format("\n```text\n{}\n```\n\n{}\n", e.command, e.does);
  for (const OptionGroup& group : d.groups) {
    out += fmt::format("\n| {} | | default |\n|---|---|---|\n", group.subject);
    for (const OptionText& option : group.options)
      out += fmt::format("| `--{}{}{}` | {}{} | {} |\n", option.name,
                         option.value.empty() ? "" : " ", cell(option.value), cell(option.meaning),
                         option.repeatable ? "; repeatable" : "",
                         option.standard.empty() ? "" : fmt::format("`{}`", option.standard));
  }
  for (const std::string& note : d.notes) out += fmt::format("\n```text\n{}\n```\n", note);
  return out;
}

}  // namespace

std::string manual_page() {
  std::string out = fmt::format(
      ".TH DPSOSP 1 \"\" \"dpsosp {}\" \"User Commands\"\n.SH NAME\ndpsosp \\- differentially "
      "private search for second\\-order stationary points\n.SH SYNOPSIS\n\\fBdpsosp\\fR "
      "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n",
      roff(provenance().build.program_version));
  for (const Command& c : commands()) out += command_section(c.description());
  out += ".SH EXIT STATUS\n";
  for (const ExitCode& e : exit_codes()) out += fmt::format(".TP\n{}\n{}\n", e.code, roff(e.means));
  out += ".SH ENVIRONMENT\n.TP\n\\fBDPSOSP_DATA\\fR\nfolder of real data sets (default: data/)\n";
  out +=
      ".TP\n\\fBDPSOSP_CHECKPOINTS\\fR\nfolder in which the training of networks keeps where it "
      "is\n";
  out += ".SH FILES\n.TP\nout/store.sqlite\nthe runs that sweep and reproduce have computed\n";
  return out;
}

std::string markdown_page() {
  std::string out =
      "# Commands\n\nEvery command with its options, as `dpsosp help --markdown` prints them.\n";
  for (const Command& c : commands()) out += markdown_section(c.description());
  out += "\n## Exit codes\n\n| code | means |\n|---|---|\n";
  for (const ExitCode& e : exit_codes()) out += fmt::format("| {} | {} |\n", e.code, e.means);
  return out;
}

}  // namespace dpsosp
