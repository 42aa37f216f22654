// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/quotation.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace dpsosp::plots {
namespace {

using Symbols = std::map<std::string_view, std::string_view>;

const Symbols& symbols() {
  static const Symbols all{
      {"alpha", "α"},      {"beta", "β"},        {"gamma", "γ"},      {"Gamma", "Γ"},
      {"delta", "δ"},      {"Delta", "Δ"},       {"varepsilon", "ε"}, {"epsilon", "ε"},
      {"zeta", "ζ"},       {"eta", "η"},         {"theta", "θ"},      {"Theta", "Θ"},
      {"iota", "ι"},       {"kappa", "κ"},       {"varkappa", "ϰ"},   {"lambda", "λ"},
      {"mu", "μ"},         {"nu", "ν"},          {"xi", "ξ"},         {"Xi", "Ξ"},
      {"pi", "π"},         {"Pi", "Π"},          {"rho", "ρ"},        {"sigma", "σ"},
      {"Sigma", "Σ"},      {"tau", "τ"},         {"phi", "φ"},        {"varphi", "φ"},
      {"Phi", "Φ"},        {"chi", "χ"},         {"psi", "ψ"},        {"Psi", "Ψ"},
      {"omega", "ω"},      {"Omega", "Ω"},       {"ell", "ℓ"},        {"nabla", "∇"},
      {"leq", " ≤ "},      {"leqslant", " ≤ "},  {"le", " ≤ "},       {"geq", " ≥ "},
      {"geqslant", " ≥ "}, {"ge", " ≥ "},        {"lesssim", " ≲ "},  {"gtrsim", " ≳ "},
      {"neq", " ≠ "},      {"approx", " ≈ "},    {"sim", " ~ "},      {"equiv", " ≡ "},
      {"cdot", "·"},       {"times", "×"},       {"pm", "±"},         {"mp", "∓"},
      {"infty", "∞"},      {"in", " ∈ "},        {"subset", " ⊂ "},   {"subseteq", " ⊆ "},
      {"forall", "∀"},     {"exists", "∃"},      {"to", "→"},         {"rightarrow", "→"},
      {"sum", "Σ"},        {"prod", "Π"},        {"ldots", "..."},    {"dots", "..."},
      {"cdots", "..."},    {"star", "*"},        {"prime", "′"},      {"top", "ᵀ"},
      {"langle", "⟨"},     {"rangle", "⟩"},      {"lceil", "⌈"},      {"rceil", "⌉"},
      {"lfloor", "⌊"},     {"rfloor", "⌋"},      {"wedge", "∧"},      {"mid", "|"},
      {"|", "‖"},          {"{", "{"},           {"}", "}"},          {"%", "%"},
      {",", " "},          {";", " "},           {":", " "},          {" ", " "},
      {"quad", " "},       {"qquad", " "},       {"!", ""},           {"left", ""},
      {"right", ""},       {"big", ""},          {"Big", ""},         {"bigg", ""},
      {"Bigg", ""},        {"bigl", ""},         {"bigr", ""},        {"Bigl", ""},
      {"Bigr", ""},        {"displaystyle", ""}, {"\\", " "},         {"log", "log "},
      {"ln", "ln "},       {"min", "min"},       {"max", "max"},      {"arg", "arg "}};
  return all;
}

/// Combining marks, set after their letter.
const Symbols& accents() {
  static const Symbols all{{"hat", "\u0302"},       {"widehat", "\u0302"}, {"tilde", "\u0303"},
                           {"widetilde", "\u0303"}, {"bar", "\u0304"},     {"overline", "\u0304"}};
  return all;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// One formula, read from the left.
class Formula {
 public:
  explicit Formula(std::string_view latex) : rest_(latex) {}

  std::string text() {
    std::string out;
    while (!rest_.empty()) out += token();
    return out;
  }

 private:
  /// The next group in braces, or the next token.
  std::string argument() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    if (rest_.empty()) return "";
    return token();
  }

  std::string group() { return Formula(take_group(rest_)).text(); }

  /// Brackets around a sum or a quotient above, and around more than one letter below.
  static std::string numerator(const std::string& text) {
    return text.find_first_of(" +-/=<>") == std::string::npos ? text : "(" + text + ")";
  }
  static std::string denominator(const std::string& text) {
    const auto letters = std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return letters < 2 ? text : "(" + text + ")";
  }

  std::string command() {
    const std::string_view name = take_command(rest_);
    if (name == "frac" || name == "tfrac" || name == "dfrac" || name == "nicefrac") {
      const std::string over = argument();
      return numerator(over) + "/" + denominator(argument());
    }
    if (name == "sqrt") {
      if (rest_.starts_with("[]")) rest_.remove_prefix(2);
      return "√(" + argument() + ")";
    }
    if (name == "mathbb") {
      const std::string letter = argument();
      return letter == "R" ? "ℝ" : letter;
    }
    if (const std::string_view accent = latex_accent(name); !accent.empty())
      return argument() + std::string(accent);
    const auto symbol = symbols().find(name);
    if (symbol != symbols().end()) {
      if (is_letter(name.front())) skip_space();
      return std::string(symbol->second);
    }
    // \mathcal{O}, \mathrm{out}, \textbf{Clip}: what they are about
    return rest_.starts_with("{") ? group() : std::string(name);
  }

  void skip_space() {
    if (rest_.starts_with(" ")) rest_.remove_prefix(1);
  }

  std::string token() {
    const char c = rest_.front();
    if (c == '\\') return command();
    if (c == '{') return group();
    const std::string_view letter = take_character(rest_);
    if (c == '_' || c == '^') return std::string(1, c) + "{" + argument() + "}";
    if (c == '~') return " ";
    return c == '&' ? "" : std::string(letter);
  }

  std::string_view rest_;
};

}  // namespace

std::string_view latex_symbol(std::string_view command) {
  const auto found = symbols().find(command);
  return found == symbols().end() ? std::string_view{} : found->second;
}

bool is_latex_symbol(std::string_view command) { return symbols().contains(command); }

std::string_view latex_accent(std::string_view command) {
  const auto found = accents().find(command);
  return found == accents().end() ? std::string_view{} : found->second;
}

void for_each_piece(std::string_view quotation,
                    const std::function<void(std::string_view piece, bool formula)>& visit) {
  for (bool formula = false; !quotation.empty(); formula = !formula) {
    const std::size_t end = std::min(quotation.find('$'), quotation.size());
    visit(quotation.substr(0, end), formula);
    quotation.remove_prefix(std::min(end + 1, quotation.size()));
    // $$...$$ opens and closes like $...$
    if (quotation.starts_with("$")) quotation.remove_prefix(1);
  }
}

std::string_view take_group(std::string_view& latex) {
  int depth = 0;
  for (std::size_t k = 0; k < latex.size(); ++k) {
    if (latex[k] == '\\') {
      ++k;
      continue;
    }
    depth += latex[k] == '{' ? 1 : latex[k] == '}' ? -1 : 0;
    if (depth > 0) continue;
    const std::string_view inside = latex.substr(1, k - 1);
    latex.remove_prefix(k + 1);
    return inside;
  }
  latex.remove_prefix(1);
  return {};
}

std::string_view take_command(std::string_view& latex) {
  std::size_t end = 1;
  while (end < latex.size() && is_letter(latex[end])) ++end;
  if (end == 1 && latex.size() > 1) end = 2;
  const std::string_view name = latex.substr(1, end - 1);
  latex.remove_prefix(end);
  return name;
}

std::string_view take_character(std::string_view& latex) {
  std::size_t length = 1;
  while (length < latex.size() && (static_cast<unsigned char>(latex[length]) & 0xC0U) == 0x80U)
    ++length;
  const std::string_view character = latex.substr(0, length);
  latex.remove_prefix(length);
  return character;
}

std::string readable(std::string_view quotation) {
  std::string out;
  for_each_piece(quotation, [&](std::string_view piece, bool formula) {
    out += formula ? Formula(piece).text() : std::string(piece);
  });
  return out;
}

}  // namespace dpsosp::plots
