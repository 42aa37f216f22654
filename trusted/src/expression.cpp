// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/expression.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace dpsosp {
namespace {

// So many records at a time that the values of all steps stay in the nearest cache.
constexpr int strip = 32;

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

/// The values of the steps at `size` records, of which `scores` and `labels` point at the first.
/// \tparam fixed  `size`, if the compiler is to know it
template <int fixed>
const double* Expression::run(double* registers, const double* scores, const double* labels,
                              Index size) const {
  using In = Eigen::Map<const Eigen::Array<double, fixed, 1>>;
  using Out = Eigen::Map<Eigen::Array<double, fixed, 1>, Eigen::Aligned16>;
  const auto at = [&](int k) {
    const Operation leaf = steps_[static_cast<std::size_t>(k)].operation;
    return In(leaf == Operation::score   ? scores
              : leaf == Operation::label ? labels
                                         : registers + k * strip,
              size);
  };
  for (int k = 0; k <= last(); ++k) {
    const Step& s = steps_[static_cast<std::size_t>(k)];
    Out made(registers + k * strip, size);
    switch (s.operation) {
      case Operation::constant:  // there since before the first strip
      case Operation::score:
      case Operation::label:
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
        made = at(s.a).exp();  // never less than 6e-309
        for (double& e : made) e = e < std::numeric_limits<double>::min() ? 0.0 : e;
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
  return at(last()).data();
}

void Expression::evaluate(ConstVectorRef scores, ConstVectorRef labels, VectorRef out) const {
  thread_local std::vector<double, Eigen::aligned_allocator<double>> space;
  if (space.size() < steps_.size() * strip) space.resize(steps_.size() * strip);
  for (std::size_t k = 0; k < steps_.size(); ++k)
    if (steps_[k].operation == Operation::constant)
      std::fill_n(&space[k * strip], strip, steps_[k].value);
  Index first = 0;
  for (; first + strip <= out.size(); first += strip)
    std::copy_n(run<strip>(space.data(), scores.data() + first, labels.data() + first, strip),
                strip, out.data() + first);
  const Index left = out.size() - first;
  if (left == 0) return;
  // Whole vectors: a record's last bits must not depend on its place among the others.
  constexpr Index lanes = EIGEN_MAX_ALIGN_BYTES / sizeof(double);
  std::array<double, strip> last_scores{}, last_labels{};
  std::copy_n(scores.data() + first, left, last_scores.data());
  std::copy_n(labels.data() + first, left, last_labels.data());
  std::copy_n(run<Eigen::Dynamic>(space.data(), last_scores.data(), last_labels.data(),
                                  (left + lanes - 1) / lanes * lanes),
              left, out.data() + first);
}

}  // namespace dpsosp
