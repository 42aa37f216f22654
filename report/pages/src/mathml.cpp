// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "dpsosp/plots/quotation.hpp"
#include "mathml.hpp"

namespace dpsosp::report {
namespace {

std::string text(std::string_view plain) {
  std::string out;
  for (const char c : plain)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

/// An element; the name may go on with an attribute.
std::string element(std::string_view name, const std::string& content) {
  return fmt::format("<{}>{}</{}>", name, content, name.substr(0, name.find(' ')));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_one_element(std::string_view html) {
  int depth = 0;
  for (std::size_t at = 0; (at = html.find('<', at)) != std::string_view::npos; ++at) {
    const std::size_t end = html.find('>', at);
    if (html[at + 1] == '/')
      --depth;
    else if (html[end - 1] != '/')
      ++depth;
    if (depth == 0) return end + 1 == html.size();
  }
  return false;
}

/// What a script or a root is made of: one element.
std::string mrow(const std::string& inside) {
  return is_one_element(inside) ? inside : element("mrow", inside);
}

std::string trimmed(std::string_view t) {
  while (t.starts_with(' ')) t.remove_prefix(1);
  while (t.ends_with(' ')) t.remove_suffix(1);
  return std::string(t);
}

/// One formula of LaTeX, read from the left. What is not known stands as its name.
class Formula {
 public:
  explicit Formula(std::string_view latex) : rest_(latex) {}

  std::string mathml() {
    std::string out;
    while (!rest_.empty()) out += scripted();
    return out;
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }

  /// An atom with the scripts that follow it.
  std::string scripted() {
    skip_spaces();
    if (rest_.empty()) return {};
    std::string base = rest_.front() == '_' || rest_.front() == '^' ? element("mi", {}) : atom();
    std::string below, above;
    for (skip_spaces(); !rest_.empty() && (rest_.front() == '_' || rest_.front() == '^');
         skip_spaces()) {
      std::string& script = rest_.front() == '_' ? below : above;
      rest_.remove_prefix(1);
      skip_spaces();
      script += rest_.empty() ? std::string{} : mrow(atom());
    }
    if (below.empty() && above.empty()) return base;
    if (base.empty()) base = element("mi", {});
    if (below.empty()) return element("msup", mrow(base) + mrow(above));
    if (above.empty()) return element("msub", mrow(base) + mrow(below));
    return element("msubsup", mrow(base) + mrow(below) + mrow(above));
  }

  std::string argument() {
    skip_spaces();
    return rest_.empty() ? mrow({}) : mrow(atom());
  }

  std::string_view group() { return plots::take_group(rest_); }

  std::string atom() {
    const char c = rest_.front();
    if (c == '\\') return command();
    if (c == '{') return mrow(Formula(group()).mathml());
    if (is_digit(c)) {
      std::size_t end = 1;
      while (end < rest_.size() &&
             (is_digit(rest_[end]) ||
              (rest_[end] == '.' && end + 1 < rest_.size() && is_digit(rest_[end + 1]))))
        ++end;
      const std::string number = element("mn", text(rest_.substr(0, end)));
      rest_.remove_prefix(end);
      return number;
    }
    const std::string_view character = plots::take_character(rest_);
    if (c == '~' || c == '&') return {};
    if (c == '-') return element("mo", text("−"));
    if (is_letter(c) || character.size() > 1) return element("mi", text(character));
    return element("mo stretchy=\"false\"", text(character));
  }

  std::string command() {
    const std::string_view name = plots::take_command(rest_);
    if (name == "frac" || name == "tfrac" || name == "dfrac" || name == "nicefrac") {
      const std::string over = argument();
      return element("mfrac", over + argument());
    }
    if (name == "sqrt") {
      skip_spaces();
      if (rest_.starts_with("[]")) rest_.remove_prefix(2);
      return element("msqrt", argument());
    }
    if (!plots::latex_accent(name).empty()) {
      const bool tilde = name.ends_with("tilde");
      const bool hat = name.ends_with("hat");
      return element("mover", argument() + element("mo", text(tilde ? "~" : hat ? "^" : "‾")));
    }
    if (name == "mathbb") {
      const std::string letter(rest_.starts_with("{") ? group() : std::string_view{});
      return element("mi", text(letter == "R" ? "ℝ" : letter == "E" ? "𝔼" : letter));
    }
    if (name == "text" || name == "mathrm" || name == "textbf" || name == "textit" ||
        name == "operatorname" || name == "mathbf" || name == "mathcal" || name == "mathsf" ||
        name == "textsf" || name == "texttt") {
      if (rest_.starts_with("*")) rest_.remove_prefix(1);  // \operatorname*
      skip_spaces();
      if (!rest_.starts_with("{")) return argument();
      const std::string_view inside = group();
      const bool word =
          std::ranges::all_of(inside, [](char c) { return is_letter(c) || c == ' '; });
      if (word && inside.size() > 1) return element("mtext", text(inside));
      return mrow(Formula(inside).mathml());
    }
    if (!plots::is_latex_symbol(name))
      return rest_.starts_with("{") ? mrow(Formula(group()).mathml())
                                    : element("mtext", text(name));
    const std::string symbol = trimmed(plots::latex_symbol(name));
    if (symbol.empty()) return {};
    const bool letters = std::ranges::all_of(symbol, [](char c) { return is_letter(c); });
    if (letters) return element("mi", text(symbol + (symbol.size() > 1 ? "\u2009" : "")));
    const bool greek = symbol.size() == 2 && static_cast<unsigned char>(symbol[0]) >= 0xCE &&
                       static_cast<unsigned char>(symbol[0]) <= 0xCF;
    return greek ? element("mi", text(symbol)) : element("mo stretchy=\"false\"", text(symbol));
  }

  std::string_view rest_;
};

}  // namespace

void add_formulas(std::map<std::string, std::string>& formulas, std::string_view quotation) {
  plots::for_each_piece(quotation, [&](std::string_view piece, bool formula) {
    if (formula) formulas.emplace(piece, element("math", mrow(Formula(piece).mathml())));
  });
}

void add_formulas_of_quotations(std::map<std::string, std::string>& formulas,
                                std::string_view markdown) {
  std::string quotation;
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size());
    std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    if (line.starts_with('>')) {
      line.remove_prefix(std::min(line.find_first_not_of("> "), line.size()));
      if (!quotation.empty()) quotation += ' ';
      quotation += line;
    } else {
      add_formulas(formulas, quotation);
      quotation.clear();
    }
  }
  add_formulas(formulas, quotation);
}

}  // namespace dpsosp::report
