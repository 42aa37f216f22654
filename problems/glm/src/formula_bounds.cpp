// SPDX-License-Identifier: Apache-2.0
#include "formula_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <vector>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::formula {
namespace {

/// A function over a box with its partial derivatives.
struct Jet {
  Interval value, in_t, in_y;
};

/// Evaluates a node over boxes.
class Enclosure {
 public:
  Enclosure(Graph& graph, int node) : graph_(graph), node_(graph.with_branches(node)) {
    parts_ = graph_.parts(node_);
    jets_.resize(static_cast<std::size_t>(node_) + 1);
  }

  /// The box in as few variables as the function has: of t alone where no label enters, and of
  /// u = t − y, which is then the score, where both enter in no other way.
  Box reduced(const Box& box) {
    bool score = false, label = false;
    int difference = -1;
    for (const int k : parts_) {
      const Node& n = graph_[k];
      const auto is = [&](int operand, Operation leaf) {
        return operand >= 0 && graph_[operand].operation == leaf;
      };
      if (n.operation == Operation::subtract && is(n.a, Operation::score) &&
          is(n.b, Operation::label)) {
        difference = k;
        continue;
      }
      for (const int operand : {n.a, n.b, n.c}) {
        score = score || is(operand, Operation::score);
        label = label || is(operand, Operation::label);
      }
    }
    label = label || graph_[node_].operation == Operation::label;
    if (!label && difference < 0) return {box.t, {}};
    if (score || label || difference < 0) return box;
    difference_ = difference;
    return {interval::subtract(box.t, box.y), {}};
  }
  /// Where the function varies more, of the box that was looked at last.
  Interval Box::*longer_side(const Box& box) const {
    const double along_t = over_.in_t.largest() * box.t.width(),
                 along_y = over_.in_y.largest() * box.y.width();
    if (std::isfinite(along_t) && std::isfinite(along_y))
      return along_t >= along_y ? &Box::t : &Box::y;
    return box.t.width() >= box.y.width() ? &Box::t : &Box::y;
  }

  /// Every value over the box, whatever side an open sign is on.
  Interval over(const Box& box) {
    sides_.clear();
    const Interval hull = mean_value(box);
    const std::vector<int> open = open_;
    if (open.empty() || open.size() > most_signs) return hull;
    Interval all;
    for (unsigned sides = 0; sides < 1U << open.size(); ++sides) {
      sides_.clear();
      for (std::size_t k = 0; k < open.size(); ++k) sides_[open[k]] = (sides >> k & 1U) != 0;
      const Interval of_sides = mean_value(box);
      all = sides == 0 ? of_sides : interval::hull(all, of_sides);
    }
    return all.bounded() ? interval::both(all, hull) : all;
  }

  /// Its values over scores, where signs that are open there are on the given sides.
  Interval on_sides(const Interval& t, double y, const std::map<int, bool>& sides) {
    sides_.clear();
    for (;;) {
      const Interval value = run({t, {y, y}}).value;
      if (open_.empty()) return value;
      sides_[open_.front()] = sides.at(open_.front());  // the inner ones first
    }
  }
  /// The first of a few scores from `t` to `end` where rounding leaves none of the signs open;
  /// `end` where it does there.
  double beyond(const std::vector<int>& signs, double t, double end, double y) {
    const auto is_open = [&](double score) {
      at(score, y);
      return std::ranges::any_of(signs, [&](int sign) { return undecided(sign); });
    };
    if (is_open(end)) return end;
    const double from = t, size = std::abs(t);
    double move = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
    for (; t != end && is_open(t); move *= 4)
      t = end < from ? std::max(end, from - move) : std::min(end, from + move);
    return t;
  }
  /// Its value at a point.
  Interval at(double t, double y) {
    sides_.clear();
    return run({{t, t}, {y, y}}).value;
  }
  /// Whether a sign of the function is ≥ 0 where it was evaluated last.
  bool side(int sign) const { return jets_[static_cast<std::size_t>(sign)].value.middle() >= 0; }
  /// Whether rounding leaves it open there on which side a sign is.
  bool undecided(int sign) const {
    const Interval& v = jets_[static_cast<std::size_t>(sign)].value;
    return v.least < 0 && v.most >= 0 && v.bounded();
  }
  /// Operations that were evaluated.
  std::size_t work() const { return work_; }
  std::vector<int> signs() const {
    std::vector<int> all;
    for (const int k : parts_)
      if (graph_[k].operation == Operation::choose &&
          std::ranges::find(all, graph_[k].a) == all.end())
        all.push_back(graph_[k].a);
    return all;
  }

 private:
  static constexpr std::size_t most_signs = 5;

  Interval mean_value(const Box& box) {
    over_ = run(box);
    const std::vector<int> open = open_;
    const bool smooth = open.empty() && over_.in_t.bounded() && over_.in_y.bounded();
    if (smooth) {
      const double t = box.t.middle(), y = box.y.middle();
      using namespace interval;
      const Interval at_middle = run({{t, t}, {y, y}}).value;
      const Interval linear = add(at_middle, add(multiply(over_.in_t, subtract(box.t, {t, t})),
                                                 multiply(over_.in_y, subtract(box.y, {y, y}))));
      open_ = open;
      return both(over_.value, linear);
    }
    return over_.value;
  }

  Jet run(const Box& box) {
    using namespace interval;
    open_.clear();
    work_ += parts_.size();
    for (const int k : parts_) {
      const Node& n = graph_[k];
      const auto of = [&](int operand) -> const Jet& {
        return jets_[static_cast<std::size_t>(operand)];
      };
      /// f(a) with f′ over a.
      const auto chain = [&](const Interval& value, const Interval& slope) {
        return Jet{value, multiply(slope, of(n.a).in_t), multiply(slope, of(n.a).in_y)};
      };
      Jet& j = jets_[static_cast<std::size_t>(k)];
      if (k == difference_) {
        j = {box.t, {1, 1}, {}};
        continue;
      }
      switch (n.operation) {
        case Operation::constant:
          j = {{n.value, n.value}, {}, {}};
          break;
        case Operation::score:
          j = {box.t, {1, 1}, {}};
          break;
        case Operation::label:
          j = {box.y, {}, {1, 1}};
          break;
        case Operation::add:
          j = {add(of(n.a).value, of(n.b).value), add(of(n.a).in_t, of(n.b).in_t),
               add(of(n.a).in_y, of(n.b).in_y)};
          break;
        case Operation::subtract:
          j = {subtract(of(n.a).value, of(n.b).value), subtract(of(n.a).in_t, of(n.b).in_t),
               subtract(of(n.a).in_y, of(n.b).in_y)};
          break;
        case Operation::multiply: {
          const Jet a = of(n.a), b = of(n.b);
          j = {multiply(a.value, b.value),
               add(multiply(a.in_t, b.value), multiply(a.value, b.in_t)),
               add(multiply(a.in_y, b.value), multiply(a.value, b.in_y))};
          break;
        }
        case Operation::divide: {
          const Jet a = of(n.a), b = of(n.b);
          const Interval q = divide(a.value, b.value);
          j = {q, divide(subtract(a.in_t, multiply(q, b.in_t)), b.value),
               divide(subtract(a.in_y, multiply(q, b.in_y)), b.value)};
          break;
        }
        case Operation::negate:
          j = {negate(of(n.a).value), negate(of(n.a).in_t), negate(of(n.a).in_y)};
          break;
        case Operation::square:
          j = chain(square(of(n.a).value), multiply({2, 2}, of(n.a).value));
          break;
        case Operation::sqrt: {
          const Interval root = sqrt(of(n.a).value);
          j = chain(root, divide({0.5, 0.5}, root));
          break;
        }
        case Operation::exp: {
          const Interval e = exp(of(n.a).value);
          j = chain(e, e);
          break;
        }
        case Operation::expm1:
          j = chain(expm1(of(n.a).value), exp(of(n.a).value));
          break;
        case Operation::log1p:
          j = chain(log1p(of(n.a).value), divide({1, 1}, add({1, 1}, of(n.a).value)));
          break;
        case Operation::choose: {
          const Interval sign = of(n.a).value;
          const auto set = sides_.find(n.a);
          if (set != sides_.end() || sign.least >= 0 || sign.most < 0) {
            j = (set != sides_.end() ? set->second : sign.least >= 0) ? of(n.b) : of(n.c);
          } else {
            if (std::ranges::find(open_, n.a) == open_.end()) open_.push_back(n.a);
            j = {hull(of(n.b).value, of(n.c).value), hull(of(n.b).in_t, of(n.c).in_t),
                 hull(of(n.b).in_y, of(n.c).in_y)};
          }
          break;
        }
        case Operation::abs:  // branches
        case Operation::max:
          break;
      }
    }
    return jets_[static_cast<std::size_t>(node_)];
  }

  Graph& graph_;
  int node_;
  std::size_t work_ = 0;
  int difference_ = -1;  // the node t − y, where it is the variable
  std::vector<int> parts_;
  std::vector<Jet> jets_;
  Jet over_;                   // of the whole function and the last box
  std::map<int, bool> sides_;  // of signs
  std::vector<int> open_;      // signs that were on no side
};

constexpr int most_boxes = 20'000;
constexpr std::size_t most_work = 10'000'000;  // about a second
constexpr std::size_t most_search = 10 * most_work;
constexpr double close_enough = 0.01;

}  // namespace

Supremum supremum(Graph& graph, int node, const Box& box, Of of) {
  Enclosure enclosure(graph, node);
  const auto upper = [&](const Interval& v) { return of == Of::magnitude ? v.largest() : v.most; };
  const auto lower = [&](const Interval& v) {
    return of == Of::magnitude ? v.smallest() : v.least;
  };
  struct Open {
    Box box;
    double most;
    Interval Box::*side;  // to be divided
  };
  const auto less = [](const Open& a, const Open& b) { return a.most < b.most; };
  std::priority_queue<Open, std::vector<Open>, decltype(less)> open(less);
  Supremum found{.least = -std::numeric_limits<double>::infinity()};
  const auto meet = [&](double t, double y) {
    found.least = std::max(found.least, lower(enclosure.at(t, y)));
  };
  const auto look = [&](const Box& at) {
    meet(at.t.middle(), at.y.middle());
    const double most = upper(enclosure.over(at));
    open.push({at, most, enclosure.longer_side(at)});
    ++found.boxes;
  };
  const Box whole = enclosure.reduced(box);
  for (const double t : {whole.t.least, whole.t.most})
    for (const double y : {whole.y.least, whole.y.most}) meet(t, y);
  look(whole);
  while (found.boxes < most_boxes && enclosure.work() < most_work) {
    const Open widest = open.top();
    if (widest.most <= found.least + close_enough * std::abs(found.least) + 1e-300) break;
    Box first = widest.box, second = widest.box;
    Interval Box::*side = widest.side;
    const double middle = (widest.box.*side).middle();
    if (!((widest.box.*side).least < middle && middle < (widest.box.*side).most)) break;
    (first.*side).most = (second.*side).least = middle;
    open.pop();
    look(first);
    look(second);
  }
  found.most = open.top().most;
  found.worst = open.top().box;
  return found;
}

std::optional<Jump> find_jump(Graph& graph, int node, const Box& box, int& places) {
  constexpr int labels = 8, scores = 1024;
  Enclosure enclosure(graph, node);
  places = 0;
  const std::vector<int> signs = enclosure.signs();
  if (signs.empty()) return {};
  const double step = box.t.width() / scores;
  std::map<int, bool> was, is;
  for (int i = 0; i <= labels; ++i) {
    const double y = box.y.least + box.y.width() * i / labels;
    /// Where signs are 0 in [low, high]: whether values on two sides of those that are differ.
    const auto jump = [&](double low, double high, const std::vector<int>& of, double most,
                          const auto& one, const auto& other) -> std::optional<Jump> {
      const Interval t{enclosure.beyond(of, low, std::max(low - most, box.t.least), y),
                       enclosure.beyond(of, high, std::min(high + most, box.t.most), y)};
      const Interval a = enclosure.on_sides(t, y, one), b = enclosure.on_sides(t, y, other);
      if (a.most < b.least || b.most < a.least) return Jump{high, y, a.middle(), b.middle()};
      return {};
    };
    double before = box.t.least;
    for (int k = 0; k <= scores; ++k) {
      if (enclosure.work() > most_search)
        throw InputError("jumps at its branches are not searched in 100 million operations");
      const double after = box.t.least + box.t.width() * k / scores;
      enclosure.at(after, y);
      std::vector<int> zero;  // signs that may be 0 at this point alone, where they count as ≥ 0
      for (const int sign : signs) {
        is[sign] = enclosure.side(sign);
        if (enclosure.undecided(sign)) zero.push_back(sign);
      }
      for (const double beside : {after - step / 64, after + step / 64}) {
        if (zero.empty() || !box.t.contains(beside)) continue;
        std::map<int, bool> near, yes;
        enclosure.at(beside, y);
        for (const int sign : signs) near[sign] = enclosure.side(sign), yes[sign] = true;
        if (const auto found = jump(after, after, zero, step / 64, near, yes)) return found;
      }
      for (const int sign : signs) {
        if (k == 0 || is[sign] == was[sign]) continue;
        double low = before, high = after;
        for (double m = 0.5 * (low + high); low < m && m < high; m = 0.5 * (low + high)) {
          enclosure.at(m, y);
          (enclosure.side(sign) == was[sign] ? low : high) = m;
        }
        ++places;
        if (const auto found = jump(low, high, {sign}, step / 64, was, is)) return found;
      }
      before = after;
      was = is;
    }
  }
  return {};
}

}  // namespace dpsosp::formula
