// SPDX-License-Identifier: Apache-2.0
#include "formula_graph.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace dpsosp::formula {
namespace {

// The members of these names hide the functions in Graph::expression.
Expression square_of(const Expression& a) { return square(a); }
Expression max_of(const Expression& a, const Expression& b) { return max(a, b); }

/// Whether a constant factor may stand elsewhere in a product: none overflows for that alone.
bool is_moderate(double factor) { return 1e-6 < std::abs(factor) && std::abs(factor) < 1e6; }

}  // namespace

int Graph::made(Operation operation, int a, int b, int c, double value) {
  const auto [place, is_new] = known_.try_emplace({operation, a, b, c, value}, size());
  if (is_new) nodes_.push_back({operation, a, b, c, value});
  return place->second;
}

bool Graph::is(int node, double value) const {
  const Node& n = (*this)[node];
  return n.operation == Operation::constant && n.value == value;
}

int Graph::constant(double value) {
  return made(Operation::constant, -1, -1, -1, value == 0 ? 0 : value);  // one zero
}

int Graph::add(int a, int b) {
  if (is(a, 0)) return b;
  if (is(b, 0)) return a;
  return made(Operation::add, a, b);
}

int Graph::subtract(int a, int b) {
  if (is(b, 0)) return a;
  if (is(a, 0)) return negate(b);
  if (a == b) return constant(0);
  return made(Operation::subtract, a, b);
}

int Graph::multiply(int a, int b) {
  if (is(a, 0) || is(b, 0)) return constant(0);
  if (is(a, 1)) return b;
  if (is(b, 1)) return a;
  if (is(a, -1)) return negate(b);
  if (is(b, -1)) return negate(a);
  if (a == b) return square(a);
  // c (2x) is (2c) x, exactly.
  if (const Node outer = (*this)[a], inner = (*this)[b]; outer.operation == Operation::constant &&
                                                         inner.operation == Operation::multiply &&
                                                         is(inner.a, 2))
    return multiply(constant(2 * outer.value), inner.b);
  return made(Operation::multiply, a, b);
}

int Graph::divide(int a, int b) {
  if (is(a, 0)) return a;
  if (is(b, 1)) return a;
  return made(Operation::divide, a, b);
}

int Graph::negate(int a) {
  const Node n = (*this)[a];
  if (n.operation == Operation::constant) return constant(-n.value);
  if (n.operation == Operation::negate) return n.a;
  if (n.operation == Operation::choose && (*this)[n.b].operation == Operation::constant &&
      (*this)[n.c].operation == Operation::constant)
    return choose(n.a, negate(n.b), negate(n.c));
  return made(Operation::negate, a);
}

int Graph::square(int a) {
  const Node n = (*this)[a];
  if (n.operation == Operation::constant) return constant(n.value * n.value);
  return made(Operation::square, n.operation == Operation::negate ? n.a : a);
}

int Graph::max(int a, int b) { return a == b ? a : made(Operation::max, a, b); }

int Graph::choose(int sign, int yes, int no) {
  return yes == no ? yes : made(Operation::choose, sign, yes, no);
}

int Graph::choose_either(int sign, int yes, int no) {
  const int node = choose(sign, yes, no);
  if (yes != no) either_.insert(node);
  return node;
}

// The steps are exact but for underflow: rounding is the same for a number and its negative.
Graph::Bare Graph::bare(int sign, bool with_factors) {
  const Node n = (*this)[sign];  // a copy: nodes are added
  const auto is_factor = [&](int operand) {
    return !with_factors && (*this)[operand].operation == Operation::constant &&
           (*this)[operand].value != 0;
  };
  const auto times = [&](int factor, int operand) {
    const Bare b = bare(operand);
    return Bare{b.node, b.positive == ((*this)[factor].value > 0)};
  };
  switch (n.operation) {
    case Operation::constant:
      return {constant(std::abs(n.value)), !(n.value < 0)};
    case Operation::negate: {
      const Bare b = bare(n.a, with_factors);
      return {b.node, !b.positive};
    }
    case Operation::add:
    case Operation::subtract: {
      Bare a = bare(n.a, true), b = bare(n.b, true);
      if (n.operation == Operation::subtract) b.positive = !b.positive;
      if (a.node > b.node) std::swap(a, b);
      if (a.positive != b.positive) return {subtract(a.node, b.node), a.positive};
      if (a.node == b.node && !with_factors) return {bare(a.node).node, a.positive};
      return {add(a.node, b.node), a.positive};
    }
    case Operation::multiply:
    case Operation::divide: {
      if (is_factor(n.b)) return times(n.b, n.a);
      if (is_factor(n.a) && n.operation == Operation::multiply) return times(n.a, n.b);
      const Bare a = bare(n.a, with_factors), b = bare(n.b, with_factors);
      return {n.operation == Operation::multiply
                  ? multiply(std::min(a.node, b.node), std::max(a.node, b.node))
                  : divide(a.node, b.node),
              a.positive == b.positive};
    }
    default:
      return {sign, true};
  }
}

Graph::Side Graph::side_of(int sign) {
  const Bare b = bare(sign);
  const Side& first = sides_.try_emplace(b.node, Side{sign, b.positive}).first->second;
  return {first.sign, first.same == b.positive};
}

int Graph::on_side(int sign, int yes, int no) {
  const Side side = side_of(sign);
  return side.same ? choose(side.sign, yes, no) : choose(side.sign, no, yes);
}

int Graph::apply(Operation operation, int a) { return made(operation, a); }

std::pair<double, int> Graph::factors(int node) const {
  const Node& n = (*this)[node];
  if (n.operation == Operation::negate) return {-1, n.a};
  if (n.operation == Operation::multiply)
    if (const Node& a = (*this)[n.a]; a.operation == Operation::constant && is_moderate(a.value))
      return {a.value, n.b};
  return {1, node};
}

int Graph::derivative(int node) {
  if (const auto known = derivatives_.find(node); known != derivatives_.end()) return known->second;
  const Node n = (*this)[node];  // a copy: nodes are added
  const auto d = [&](int operand) { return derivative(operand); };
  // Constants go to the front, so that they meet and are multiplied here once.
  const auto scaled = [&](double factor, int a) {
    const auto [constant_factor, rest] = factors(a);
    return multiply(constant(factor * constant_factor), rest);
  };
  const auto times = [&](int a, int b) {
    const auto [factor, rest] = factors(b);
    return scaled(factor, multiply(a, rest));
  };
  int result = constant(0);
  switch (n.operation) {
    case Operation::constant:
    case Operation::label:
      break;
    case Operation::score:
      result = constant(1);
      break;
    case Operation::add:
      result = add(d(n.a), d(n.b));
      break;
    case Operation::subtract:
      result = subtract(d(n.a), d(n.b));
      break;
    case Operation::multiply:
      if (const Node a = (*this)[n.a]; a.operation == Operation::square && a.a == n.b)
        result = scaled(3, times(n.a, d(n.b)));  // of a cube
      else if (a.operation == Operation::constant && is_moderate(a.value))
        result = scaled(a.value, d(n.b));
      else
        result = add(multiply(d(n.a), n.b), multiply(n.a, d(n.b)));
      break;
    case Operation::divide:  // (a′ − (a/b) b′)/b
      if (const Node b = (*this)[n.b]; b.operation == Operation::constant && is_moderate(b.value))
        if (const auto [factor, rest] = factors(d(n.a)); factor != 1) {
          result = multiply(constant(factor / b.value), rest);
          break;
        }
      result = divide(subtract(d(n.a), multiply(node, d(n.b))), n.b);
      break;
    case Operation::negate:
      result = scaled(-1, d(n.a));
      break;
    case Operation::abs:
      result = multiply(on_side(n.a, constant(1), constant(-1)), d(n.a));
      break;
    case Operation::square:
      result = scaled(2, times(n.a, d(n.a)));
      break;
    case Operation::sqrt:
      result = divide(d(n.a), multiply(constant(2), node));
      break;
    case Operation::exp:
      result = times(node, d(n.a));
      break;
    case Operation::expm1:
      result = times(apply(Operation::exp, n.a), d(n.a));
      break;
    case Operation::log1p:
      result = divide(d(n.a), add(constant(1), n.a));
      break;
    case Operation::max:
      if (const auto [factor, rest] = factors(d(n.a)); factor != 1 && is(d(n.b), 0))
        result = scaled(factor, on_side(subtract(n.a, n.b), rest, d(n.b)));
      else
        result = on_side(subtract(n.a, n.b), d(n.a), d(n.b));
      break;
    case Operation::choose:
      result = either_.contains(node) ? on_side(n.a, d(n.b), d(n.c)) : choose(n.a, d(n.b), d(n.c));
      break;
  }
  derivatives_[node] = result;
  return result;
}

int Graph::with_branches(int node) {
  std::map<int, int> known;
  const std::function<int(int)> now = [&](int k) {
    if (const auto seen = known.find(k); seen != known.end()) return seen->second;
    const Node n = (*this)[k];  // a copy: nodes are added
    const auto on_sign = [&](int sign, int yes, int no) {
      const Side side = side_of(sign);
      return side.same ? choose(now(side.sign), yes, no) : choose(now(side.sign), no, yes);
    };
    int result = -1;
    if (n.operation == Operation::abs) {
      result = on_sign(n.a, now(n.a), negate(now(n.a)));
    } else if (n.operation == Operation::max) {
      result = on_sign(subtract(n.a, n.b), now(n.a), now(n.b));
    } else if (either_.contains(k)) {
      result = on_sign(n.a, now(n.b), now(n.c));
    } else {
      const auto of = [&](int operand) { return operand < 0 ? operand : now(operand); };
      const int a = of(n.a), b = of(n.b), c = of(n.c);
      result = made(n.operation, a, b, c, n.value);
    }
    known[k] = result;
    return result;
  };
  return now(node);
}

std::vector<int> Graph::parts(int node) const {
  std::vector<bool> needed(static_cast<std::size_t>(node) + 1, false);
  needed.back() = true;
  for (int k = node; k >= 0; --k) {
    if (!needed[static_cast<std::size_t>(k)]) continue;
    const Node& n = (*this)[k];
    for (const int operand : {n.a, n.b, n.c})
      if (operand >= 0) needed[static_cast<std::size_t>(operand)] = true;
  }
  std::vector<int> all;
  for (int k = 0; k <= node; ++k)
    if (needed[static_cast<std::size_t>(k)]) all.push_back(k);
  return all;
}

Expression Graph::expression(int node) const {
  std::map<int, Expression> made;
  for (const int k : parts(node)) {
    const Node& n = (*this)[k];
    const auto at = [&](int operand) -> const Expression& { return made.at(operand); };
    const auto now = [&]() -> Expression {
      switch (n.operation) {
        case Operation::score:
          return Expression::score();
        case Operation::label:
          return Expression::label();
        case Operation::add:
          return at(n.a) + at(n.b);
        case Operation::subtract:
          return at(n.a) - at(n.b);
        case Operation::multiply:
          return at(n.a) * at(n.b);
        case Operation::divide:
          return at(n.a) / at(n.b);
        case Operation::negate:
          return -at(n.a);
        case Operation::abs:
          return abs(at(n.a));
        case Operation::square:
          return square_of(at(n.a));
        case Operation::sqrt:
          return sqrt(at(n.a));
        case Operation::exp:
          return exp(at(n.a));
        case Operation::expm1:
          return expm1(at(n.a));
        case Operation::log1p:
          return log1p(at(n.a));
        case Operation::max:
          return max_of(at(n.a), at(n.b));
        case Operation::choose:
          return where_not_negative(at(n.a), at(n.b), at(n.c));
        case Operation::constant:
          break;
      }
      return n.value;
    };
    made.emplace(k, now());
  }
  return made.at(node);
}

}  // namespace dpsosp::formula
