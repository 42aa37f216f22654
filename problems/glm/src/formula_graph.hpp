// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "dpsosp/trusted/expression.hpp"

namespace dpsosp::formula {

enum class Operation {
  constant,
  score,
  label,
  add,
  subtract,
  multiply,
  divide,
  negate,
  abs,
  square,
  sqrt,
  exp,
  expm1,
  log1p,
  max,
  choose  ///< b where a ≥ 0, else c
};

struct Node {
  Operation operation;
  int a = -1, b = -1, c = -1;  ///< numbers of earlier nodes
  double value = 0;            ///< of a constant
};

/// Functions of a score t and a label y that share their parts: a node is one function, and equal
/// ones have one number.
class Graph {
 public:
  int constant(double value);
  int score() { return made(Operation::score); }
  int label() { return made(Operation::label); }
  int add(int a, int b);
  int subtract(int a, int b);
  int multiply(int a, int b);
  int divide(int a, int b);
  int negate(int a);
  int square(int a);
  int max(int a, int b);
  int choose(int sign, int yes, int no);
  /// The same where both are equal at sign = 0, so that it is free which of them stands there.
  int choose_either(int sign, int yes, int no);
  /// Where a sign is 0, the free choices on it and on its negative take the side that this takes.
  void set_side(int sign) { side_of(sign); }
  /// abs, sqrt, exp, expm1 or log1p
  int apply(Operation operation, int a);

  /// ∂/∂t. Of abs, max and choose it is that of the branch.
  int derivative(int node);
  /// States the derivative of a node where a shorter one is known than the rules give.
  void set_derivative(int node, int derivative) { derivatives_.emplace(node, derivative); }
  /// The same with abs and max as branches on a sign.
  int with_branches(int node);
  /// What the sums over records evaluate.
  Expression expression(int node) const;

  const Node& operator[](int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  /// The nodes that a node is made of, itself included, operands first.
  std::vector<int> parts(int node) const;

 private:
  int made(Operation operation, int a = -1, int b = -1, int c = -1, double value = 0);
  bool is(int node, double value) const;
  /// c and f of a function c f with a constant c; else 1 and the function.
  std::pair<double, int> factors(int node) const;
  /// A sign without its constant factors, unless they are to stay.
  struct Bare {
    int node;
    bool positive;  ///< as the sign; else as its negative
  };
  Bare bare(int sign, bool with_factors = false);
  /// The first sign that is this one or its negative, but for a factor.
  struct Side {
    int sign;
    bool same;  ///< as this one; else its negative
  };
  Side side_of(int sign);
  /// `yes` where a sign is positive and `no` where it is negative.
  int on_side(int sign, int yes, int no);

  std::vector<Node> nodes_;
  std::map<std::tuple<Operation, int, int, int, double>, int> known_;
  std::map<int, int> derivatives_;
  std::map<int, Side> sides_;  // of bare signs
  std::set<int> either_;       // choices that are free at 0
};

/// Reads φ(t; y). \throws InputError with the column of what cannot be read
int parse(Graph& graph, std::string_view text);

}  // namespace dpsosp::formula
