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

  std::string group() {
    int depth = 0;
    for (std::size_t k = 0; k < rest_.size(); ++k) {
      if (rest_[k] == '\\') {
        ++k;
        continue;
      }
      depth += rest_[k] == '{' ? 1 : rest_[k] == '}' ? -1 : 0;
      if (depth > 0) continue;
      const std::string inside = Formula(rest_.substr(1, k - 1)).text();
      rest_.remove_prefix(k + 1);
      return inside;
    }
    rest_.remove_prefix(1);  // a brace without its end
    return "";
  }

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
    std::size_t end = 1;
    while (end < rest_.size() && is_letter(rest_[end])) ++end;
    if (end == 1 && rest_.size() > 1) end = 2;
    const std::string_view name = rest_.substr(1, end - 1);
    rest_.remove_prefix(end);
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
    rest_.remove_prefix(1);
    if (c == '_' || c == '^') return std::string(1, c) + "{" + argument() + "}";
    if (c == '~') return " ";
    if (c == '&') return "";
    // a character of UTF-8 goes as one
    std::string letter(1, c);
    while (!rest_.empty() && (static_cast<unsigned char>(rest_.front()) & 0xC0U) == 0x80U) {
      letter += rest_.front();
      rest_.remove_prefix(1);
    }
    return letter;
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

std::string readable(std::string_view quotation) {
  std::string out;
  for (bool formula = false; !quotation.empty(); formula = !formula) {
    const std::size_t end = std::min(quotation.find('$'), quotation.size());
    out +=
        formula ? Formula(quotation.substr(0, end)).text() : std::string(quotation.substr(0, end));
    quotation.remove_prefix(std::min(end + 1, quotation.size()));
    // $$...$$ opens and closes like $...$
    if (quotation.starts_with("$")) quotation.remove_prefix(1);
  }
  return out;
}

}  // namespace dpsosp::plots
