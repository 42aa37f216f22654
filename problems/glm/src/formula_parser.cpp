// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "formula_graph.hpp"

namespace dpsosp::formula {
namespace {

constexpr int deepest = 100;
constexpr std::size_t longest = 2000;
constexpr int largest_power = 16;

/// A recursive descent by the grammar of docs/own-loss.md, a function a rule.
class Parser {
 public:
  Parser(Graph& graph, std::string_view text) : graph_(graph), text_(text) {}

  int whole() {
    if (text_.size() > longest)
      throw InputError(fmt::format("{} characters, expected at most {}", text_.size(), longest));
    const int node = sum();
    next();
    if (at_ < text_.size()) refuse("an operator or the end");
    // When all sides are set.
    for (const Sigmoid& s : sigmoids_)
      graph_.set_derivative(s.node, graph_.multiply(s.slope, graph_.derivative(s.operand)));
    return node;
  }

 private:
  int sum() {
    if (++depth_ > deepest)
      refuse(fmt::format("at most {} parentheses within each other", deepest));
    int node = product();
    for (;;) {
      if (take('+'))
        node = graph_.add(node, product());
      else if (take('-'))
        node = graph_.subtract(node, product());
      else
        break;
    }
    --depth_;
    return node;
  }

  int product() {
    int node = factor();
    for (;;) {
      if (take('*'))
        node = graph_.multiply(node, factor());
      else if (take('/'))
        node = graph_.divide(node, factor());
      else
        return node;
    }
  }

  int factor() {
    bool negative = false;
    for (;;) {
      if (take('-'))
        negative = !negative;
      else if (!take('+'))
        break;
    }
    const int node = power();
    return negative ? graph_.negate(node) : node;
  }

  int power() {
    const int base = operand();
    if (!take('^')) return base;
    next();
    int exponent = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, status] = std::from_chars(text_.data() + at_, end, exponent);
    if (status != std::errc{} || exponent < 1 || exponent > largest_power ||
        (stop != end && (*stop == '.' || *stop == 'e')))
      refuse(fmt::format("a whole power from 1 to {}", largest_power));
    at_ = static_cast<std::size_t>(stop - text_.data());
    int node = base;
    for (auto bit = std::bit_floor(static_cast<unsigned>(exponent)) / 2; bit > 0; bit /= 2) {
      node = graph_.square(node);
      if ((static_cast<unsigned>(exponent) & bit) != 0) node = graph_.multiply(node, base);
    }
    return node;
  }

  int operand() {
    const char c = next();
    const std::size_t begin = at_;
    if (take('(')) {
      const int node = sum();
      expect(')');
      return node;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    std::string name;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0)
      name += text_[at_++];
    if (name.empty()) refuse("a number, t, y, a function or a parenthesis");
    if (name == "t") return graph_.score();
    if (name == "y") return graph_.label();
    return function(name, begin);
  }

  int number() {
    double value = 0;
    const auto [stop, status] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc{} || !std::isfinite(value)) refuse("a number in double precision");
    at_ = static_cast<std::size_t>(stop - text_.data());
    return graph_.constant(value);
  }

  int function(const std::string& name, std::size_t begin) {
    using enum Operation;
    struct Unary {
      std::string_view name;
      Operation operation;
    };
    static constexpr Unary unary[] = {{"abs", Operation::abs},
                                      {"sqrt", Operation::sqrt},
                                      {"exp", Operation::exp},
                                      {"expm1", Operation::expm1},
                                      {"log1p", Operation::log1p}};
    for (const Unary& u : unary)
      if (u.name == name) return graph_.apply(u.operation, arguments<1>()[0]);
    if (name == "square") return graph_.square(arguments<1>()[0]);
    if (name == "max") {
      const auto a = arguments<2>();
      return graph_.max(a[0], a[1]);
    }
    if (name == "min") {
      const auto a = arguments<2>();
      return graph_.negate(graph_.max(graph_.negate(a[0]), graph_.negate(a[1])));
    }
    if (name == "where") {
      const auto a = arguments<3>();
      graph_.set_side(a[0]);
      return graph_.choose(a[0], a[1], a[2]);
    }
    if (name == "sigmoid") return sigmoid(arguments<1>()[0]);
    if (name == "tanh") {  // (1 − e)/(1 + e), e = exp(−2|u|), with u's sign
      const int u = arguments<1>()[0];
      const int e = graph_.apply(
          expm1, graph_.multiply(graph_.constant(-2), graph_.apply(Operation::abs, u)));
      const int size = graph_.negate(graph_.divide(e, graph_.add(graph_.constant(2), e)));
      return graph_.choose_either(u, size, graph_.negate(size));
    }
    at_ = begin;
    refuse(
        "t, y or one of abs, exp, expm1, log1p, max, min, sigmoid, sqrt, square, tanh, "
        "where(sign, yes, no)");
  }

  /// 1/(1 + exp(−u)), without overflow. With e = exp(−|u|) its derivative is e/(1 + e)² u′.
  int sigmoid(int u) {
    const int e = graph_.apply(Operation::exp, graph_.negate(graph_.apply(Operation::abs, u)));
    const int one = graph_.constant(1), sum = graph_.add(one, e);
    const int node = graph_.divide(graph_.choose_either(u, one, e), sum);
    sigmoids_.push_back({node, graph_.divide(e, graph_.square(sum)), u});
    return node;
  }

  template <std::size_t count>
  std::array<int, count> arguments() {
    expect('(');
    std::array<int, count> nodes{};
    for (std::size_t k = 0; k < count; ++k) {
      if (k > 0) expect(',');
      nodes[k] = sum();
    }
    expect(')');
    return nodes;
  }

  char next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(fmt::format("'{}'", c));
  }
  [[noreturn]] void refuse(const std::string& expected) const {
    constexpr std::size_t shown = 40;
    std::size_t end = at_;
    while (end < text_.size() && end < at_ + shown &&
           std::isalnum(static_cast<unsigned char>(text_[end])) != 0)
      ++end;
    const std::string found =
        at_ >= text_.size()
            ? "the end"
            : fmt::format("'{}'", text_.substr(at_, std::max<std::size_t>(end - at_, 1)));
    throw InputError(fmt::format("column {}: {}, expected {}", at_ + 1, found, expected));
  }

  struct Sigmoid {
    int node, slope, operand;
  };

  Graph& graph_;
  std::string_view text_;
  std::vector<Sigmoid> sigmoids_;  // inner ones first
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

int parse(Graph& graph, std::string_view text) { return Parser(graph, text).whole(); }

}  // namespace dpsosp::formula
