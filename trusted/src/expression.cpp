// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/expression.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace dpsosp {
namespace {

// So many records at a time that the values of all steps stay in the nearest cache.
constexpr Index strip = 32;
using Register = Eigen::Array<double, strip, 1>;

}  // namespace

bool Expression::Step::operator==(const Step& other) const {
  return operation == other.operation && a == other.a && b == other.b && c == other.c &&
         std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(other.value);
}

Expression::Expression(double constant) : steps_{{Operation::constant, -1, -1, -1, constant}} {}
Expression::Expression(Operation leaf) : steps_{{leaf}} {}
Expression::Expression(Operation operation, const Expression& a) : steps_(a.steps_) {
  steps_.push_back({operation, last()});
}
Expression::Expression(Operation operation, const Expression& a, const Expression& b)
    : steps_(a.steps_) {
  const int left = last(), right = append(b);
  steps_.push_back({operation, left, right});
}

Expression Expression::score() { return Expression(Operation::score); }
Expression Expression::label() { return Expression(Operation::label); }

Expression operator+(const Expression& a, const Expression& b) {
  return {Expression::Operation::add, a, b};
}
Expression operator-(const Expression& a, const Expression& b) {
  return {Expression::Operation::subtract, a, b};
}
Expression operator*(const Expression& a, const Expression& b) {
  return {Expression::Operation::multiply, a, b};
}
Expression operator/(const Expression& a, const Expression& b) {
  return {Expression::Operation::divide, a, b};
}
Expression operator-(const Expression& a) { return {Expression::Operation::negate, a}; }
Expression abs(const Expression& a) { return {Expression::Operation::abs, a}; }
Expression square(const Expression& a) { return {Expression::Operation::square, a}; }
Expression sqrt(const Expression& a) { return {Expression::Operation::sqrt, a}; }
Expression exp(const Expression& a) { return {Expression::Operation::exp, a}; }
Expression expm1(const Expression& a) { return {Expression::Operation::expm1, a}; }
Expression log1p(const Expression& a) { return {Expression::Operation::log1p, a}; }
Expression max(const Expression& a, const Expression& b) {
  return {Expression::Operation::max, a, b};
}
Expression where_not_negative(const Expression& sign, const Expression& yes, const Expression& no) {
  Expression made = sign;
  const int s = made.last(), y = made.append(yes), n = made.append(no);
  made.steps_.push_back({Expression::Operation::choose, s, y, n});
  return made;
}

int Expression::append(const Expression& other) {
  std::vector<int> now;  // the place here of each of the other's steps
  for (Step step : other.steps_) {
    for (int* operand : {&step.a, &step.b, &step.c})
      if (*operand >= 0) *operand = now[static_cast<std::size_t>(*operand)];
    const auto equal = std::ranges::find(steps_, step);
    now.push_back(static_cast<int>(equal - steps_.begin()));
    if (equal == steps_.end()) steps_.push_back(step);
  }
  return now.back();
}

/// `part` is what of a register is in use.
template <class Registers, class Part>
void Expression::run(Registers& registers,
                     const Part& part,
                     ConstVectorRef scores,
                     ConstVectorRef labels) const {
  const auto at = [&](int k) -> decltype(auto) {
    return part(registers[static_cast<std::size_t>(k)]);
  };
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const Step& s = steps_[k];
    auto&& made = part(registers[k]);
    switch (s.operation) {
      case Operation::constant:
        break;  // there since before the first strip
      case Operation::score:
        made = scores.array();
        break;
      case Operation::label:
        made = labels.array();
        break;
      case Operation::add:
        made = at(s.a) + at(s.b);
        break;
      case Operation::subtract:
        made = at(s.a) - at(s.b);
        break;
      case Operation::multiply:
        made = at(s.a) * at(s.b);
        break;
      case Operation::divide:
        made = at(s.a) / at(s.b);
        break;
      case Operation::negate:
        made = -at(s.a);
        break;
      case Operation::abs:
        made = at(s.a).abs();
        break;
      case Operation::square:
        made = at(s.a).square();
        break;
      case Operation::sqrt:
        made = at(s.a).sqrt();
        break;
      case Operation::exp:
        made = at(s.a).exp();
        break;
      case Operation::expm1:
        made = at(s.a).expm1();
        break;
      case Operation::log1p:
        made = at(s.a).log1p();
        break;
      case Operation::max:
        made = at(s.a).max(at(s.b));
        break;
      case Operation::choose:
        made = (at(s.a) >= 0).select(at(s.b), at(s.c));
        break;
    }
  }
}

void Expression::evaluate(ConstVectorRef scores, ConstVectorRef labels, VectorRef out) const {
  thread_local std::vector<Register, Eigen::aligned_allocator<Register>> registers;
  if (registers.size() < steps_.size()) registers.resize(steps_.size());
  for (std::size_t k = 0; k < steps_.size(); ++k)
    if (steps_[k].operation == Operation::constant) registers[k].setConstant(steps_[k].value);
  const Register& value = registers[steps_.size() - 1];
  Index first = 0;
  for (; first + strip <= out.size(); first += strip) {
    run(
        registers,
        [](Register& r) -> Register& { return r; },
        scores.segment(first, strip),
        labels.segment(first, strip));
    out.segment<strip>(first).array() = value;
  }
  const Index left = out.size() - first;
  if (left == 0) return;
  run(
      registers,
      [left](Register& r) { return r.head(left); },
      scores.segment(first, left),
      labels.segment(first, left));
  out.segment(first, left).array() = value.head(left);
}

}  // namespace dpsosp
