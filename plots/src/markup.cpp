// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/markup.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <fmt/format.h>

namespace dpsosp::plots {
namespace {

enum class Kind { text, subscript, superscript };

struct Piece {
  Kind kind;
  std::string_view text;
};

std::vector<Piece> pieces(std::string_view text) {
  std::vector<Piece> result;
  std::size_t start = 0;
  std::size_t i = 0;
  while (i + 1 < text.size()) {
    const bool opens = (text[i] == '_' || text[i] == '^') && text[i + 1] == '{';
    const std::size_t close = opens ? text.find('}', i + 2) : std::string_view::npos;
    if (close == std::string_view::npos) {
      ++i;
      continue;
    }
    if (i > start) result.push_back({Kind::text, text.substr(start, i - start)});
    result.push_back(
        {text[i] == '_' ? Kind::subscript : Kind::superscript, text.substr(i + 2, close - i - 2)});
    start = i = close + 1;
  }
  if (start < text.size()) result.push_back({Kind::text, text.substr(start)});
  return result;
}

// Control characters are not allowed in Markdown and LaTeX.
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

std::string markdown_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\n':
        out += "<br>";
        break;
      default:
        if (is_control(c)) {
          out += ' ';
          break;
        }
        if (std::string_view("\\`*_[]|~$#").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
  }
  return out;
}

// Bytes of the UTF-8 character that starts with `lead`.
std::size_t character_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

struct Symbol {
  std::string_view utf8;
  std::string_view latex;
};

constexpr std::array math_symbols = std::to_array<Symbol>({
    {"α", "\\alpha"},      {"β", "\\beta"},    {"γ", "\\gamma"},  {"δ", "\\delta"},
    {"ε", "\\varepsilon"}, {"ζ", "\\zeta"},    {"η", "\\eta"},    {"θ", "\\theta"},
    {"κ", "\\kappa"},      {"λ", "\\lambda"},  {"μ", "\\mu"},     {"ν", "\\nu"},
    {"ξ", "\\xi"},         {"π", "\\pi"},      {"ρ", "\\rho"},    {"σ", "\\sigma"},
    {"τ", "\\tau"},        {"φ", "\\varphi"},  {"χ", "\\chi"},    {"ψ", "\\psi"},
    {"ω", "\\omega"},      {"Γ", "\\Gamma"},   {"Δ", "\\Delta"},  {"Λ", "\\Lambda"},
    {"Π", "\\Pi"},         {"Σ", "\\Sigma"},   {"Φ", "\\Phi"},    {"Ψ", "\\Psi"},
    {"Ω", "\\Omega"},      {"∇", "\\nabla"},   {"∞", "\\infty"},  {"‖", "\\Vert"},
    {"≤", "\\le"},         {"≥", "\\ge"},      {"≈", "\\approx"}, {"≠", "\\ne"},
    {"×", "\\times"},      {"±", "\\pm"},      {"−", "-"},        {"·", "\\cdot"},
    {"√", "\\surd"},       {"∈", "\\in"},      {"→", "\\to"},     {"∝", "\\propto"},
    {"ℓ", "\\ell"},        {"′", "'"},         {"²", "^{2}"},     {"³", "^{3}"},
    {"∑", "\\sum"},        {"∂", "\\partial"}, {"⟨", "\\langle"}, {"⟩", "\\rangle"},
});

// One LaTeX character or script, and whether it belongs in math mode.
struct Unit {
  std::string latex;
  bool math = false;
};

Unit latex_unit(std::string_view character) {
  const auto* const symbol = std::ranges::find(math_symbols, character, &Symbol::utf8);
  if (symbol != math_symbols.end()) return {std::string(symbol->latex), true};
  if (character == "–") return {"--"};
  if (character.size() > 1) return {std::string(character)};
  if (is_control(character[0])) return {" "};
  switch (character[0]) {
    case '\\':
      return {"\\textbackslash{}"};
    case '~':
      return {"\\textasciitilde{}"};
    case '^':
      return {"\\textasciicircum{}"};
    case '<':
      return {"\\textless{}"};
    case '>':
      return {"\\textgreater{}"};
    case '|':
      return {"\\textbar{}"};
    case '"':
      return {"''"};
    case '[':
      return {"{[}"};  // after \\ a bare bracket would open its optional argument
    default:
      break;
  }
  if (std::string_view("{}$&#_%").find(character[0]) != std::string_view::npos)
    return {fmt::format("\\{}", std::string(character))};
  return {std::string(character)};
}

std::vector<Unit> latex_units(std::string_view text) {
  std::vector<Unit> units;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text[i]);
    Unit unit = latex_unit(text.substr(i, length));
    // "--" is two hyphens, not a dash.
    if (text[i] == '-' && !units.empty() && units.back().latex.ends_with('-')) unit.latex = "{}-";
    // What begins a number is a minus sign.
    if (text[i] == '-' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9')
      unit.math = i == 0 || std::string_view(" [(").find(text[i - 1]) != std::string_view::npos;
    units.push_back(std::move(unit));
    i += length;
  }
  return units;
}

// Neighbouring pieces of math; a command that ends in a letter is kept apart from a letter.
void append_math(std::string& out, std::string_view math) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const std::size_t command = out.rfind('\\');
  const bool open_command =
      command != std::string::npos && command + 1 < out.size() &&
      std::all_of(out.begin() + static_cast<std::ptrdiff_t>(command) + 1, out.end(), letter);
  if (open_command && !math.empty() && letter(math[0])) out += ' ';
  out += math;
}

std::string latex_script(const Piece& piece) {
  std::string body;
  if (piece.text == "min" || piece.text == "max") {
    body = fmt::format("\\{}", std::string(piece.text));
  } else {
    std::string word;
    const auto flush = [&] {
      if (!word.empty()) append_math(body, word.size() > 1 ? "\\mathrm{" + word + "}" : word);
      word.clear();
    };
    for (const Unit& unit : latex_units(piece.text)) {
      const bool letter = !unit.math && unit.latex.size() == 1 &&
                          std::isalpha(static_cast<unsigned char>(unit.latex[0])) != 0;
      if (letter) {
        word += unit.latex;
        continue;
      }
      flush();
      append_math(body,
                  unit.math || unit.latex.size() <= 2 ? unit.latex : "\\mbox{" + unit.latex + "}");
    }
    flush();
  }
  return (piece.kind == Kind::subscript ? "_{" : "^{") + body + "}";
}

// The base of a script is in math mode with it: one character, or all digits of a number.
void move_base_to_math(std::vector<Unit>& units) {
  const auto digit = [](const Unit& unit) {
    return unit.latex.size() == 1 && std::isdigit(static_cast<unsigned char>(unit.latex[0])) != 0;
  };
  if (units.empty() || units.back().latex == " ") {
    units.push_back({"{}", true});
    return;
  }
  if (!digit(units.back())) units.back().math = true;
  for (auto unit = units.rbegin(); unit != units.rend() && digit(*unit); ++unit) unit->math = true;
}

}  // namespace

std::string plain_text(std::string_view text) {
  std::string out;
  for (const Piece& piece : pieces(text)) {
    if (piece.kind == Kind::text) {
      out += piece.text;
      continue;
    }
    const bool word = piece.text.find_first_of(" _^+/,=") == std::string_view::npos;
    out += piece.kind == Kind::subscript ? '_' : '^';
    out += word ? std::string(piece.text) : fmt::format("{{{}}}", std::string(piece.text));
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const Piece& piece : pieces(text)) {
    const char* tag = piece.kind == Kind::subscript ? "sub" : "sup";
    out += piece.kind == Kind::text
               ? markdown_escape(piece.text)
               : fmt::format("<{0}>{1}</{0}>", tag, markdown_escape(piece.text));
  }
  return out;
}

std::string latex_text(std::string_view text) {
  std::vector<Unit> units;
  for (const Piece& piece : pieces(text)) {
    if (piece.kind == Kind::text) {
      std::ranges::copy(latex_units(piece.text), std::back_inserter(units));
    } else {
      move_base_to_math(units);
      units.push_back({latex_script(piece), true});
    }
  }
  std::string out;
  std::string math;
  for (const Unit& unit : units) {
    if (unit.math) {
      append_math(math, unit.latex);
      continue;
    }
    if (!math.empty()) out += "$" + math + "$";
    math.clear();
    out += unit.latex;
  }
  if (!math.empty()) out += "$" + math + "$";
  return out;
}

}  // namespace dpsosp::plots
