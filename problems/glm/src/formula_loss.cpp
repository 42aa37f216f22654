// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/formula_loss.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "formula_bounds.hpp"

namespace dpsosp {
namespace {

using formula::Box;
using formula::Graph;
using formula::Supremum;

constexpr double least_share = 1e-12;  // a constant states more than 0
constexpr std::array order_names{"the loss", "its first derivative", "its second derivative",
                                 "its third derivative"};

std::string to_text(const Interval& i) { return fmt::format("[{:.6g}, {:.6g}]", i.least, i.most); }

class FormulaLoss final : public ScalarLoss {
 public:
  FormulaLoss(Graph graph, const std::array<int, 4>& nodes, const LossRange& range)
      : ScalarLoss(
            {graph.expression(nodes[0]), graph.expression(nodes[1]), graph.expression(nodes[2])}),
        range_(range) {
    const Box box = box_of(range.reach);
    int places = 0;
    for (std::size_t k = 0; k < 3; ++k)
      if (const auto jump = find_jump(graph, nodes[k], box, places))
        throw InputError(
            fmt::format("{} jumps from {:.6g} to {:.6g} at t = {:.6g}, y = {:.6g}; expected "
                        "two continuous derivatives",
                        order_names[k], jump->before, jump->after, jump->t, jump->y));
    for (std::size_t k = 1; k < 4; ++k) {
      const Supremum s = bounded(graph, nodes[k], box, formula::Of::magnitude, order_names[k]);
      bounds_[k - 1] = {s.most,
                        fmt::format("For |t| ≤ {:g} and y in {}, sup |φ{}| is in [{:.9g}, {:.9g}], "
                                    "by branch and bound over {} boxes in interval arithmetic{}.",
                                    range.reach, to_text(box.y),
                                    k == 1   ? "′"
                                    : k == 2 ? "″"
                                             : "‴",
                                    s.least, s.most, s.boxes,
                                    places == 0 ? ""
                                                : fmt::format("; φ″ was found continuous at the {} "
                                                              "zeros of signs that were searched",
                                                              places)),
                        s.most > 0 ? std::clamp(s.least / s.most, least_share, 1.0) : 1.0};
    }
    lowest_ = -bounded(graph, graph.negate(nodes[0]), box, formula::Of::value, order_names[0]).most;
    highest_ = bounded(graph, nodes[0], box, formula::Of::value, order_names[0]).most;
  }

  Bound bound(int order) const override { return bounds_.at(static_cast<std::size_t>(order) - 1); }
  Bound largest_fall(double) const override {
    return {highest_ - lowest_,
            fmt::format("φ is in [{:.9g}, {:.9g}] on the range.", lowest_, highest_)};
  }
  std::string region() const override { return fmt::format("|x| <= {:g}", range_.reach); }

 private:
  Box box_of(double reach) const {
    return {{-reach, reach}, {range_.label_least, range_.label_most}};
  }
  static Supremum bounded(Graph& graph, int node, const Box& box, formula::Of of,
                          std::string_view name) {
    const Supremum s = supremum(graph, node, box, of);
    if (!std::isfinite(s.most))
      throw InputError(fmt::format("no bound of {} is found for t in {}, y in {}", name,
                                   to_text(s.worst.t), to_text(s.worst.y)));
    return s;
  }

  LossRange range_;
  std::array<Bound, 3> bounds_;
  double lowest_ = 0, highest_ = 0;
};

constexpr int most_nodes = 2000;

std::shared_ptr<const ScalarLoss> made(const std::string& text, const LossRange& range) {
  Graph graph;
  std::array<int, 4> nodes{parse(graph, text)};
  if (!range.with_label)
    for (const int part : graph.parts(nodes[0]))
      if (graph[part].operation == formula::Operation::label)
        throw InputError("y is in it, expected a formula of a coordinate t alone");
  for (std::size_t k = 1; k < 4; ++k) {
    nodes[k] = graph.derivative(nodes[k - 1]);
    if (graph.size() > most_nodes)
      throw InputError(fmt::format("its derivatives take more than {} operations", most_nodes));
  }
  return std::make_shared<FormulaLoss>(std::move(graph), nodes, range);
}

}  // namespace

std::shared_ptr<const ScalarLoss> formula_loss(const std::string& text, const LossRange& range) {
  const std::string_view what = range.with_label ? "loss" : "penalty";
  if (!(range.reach > 0 && std::isfinite(range.reach)))
    throw InputError(
        fmt::format("{}: a formula needs a bounded domain; set radius to a finite number", what));
  if (!(range.label_least <= range.label_most))
    throw InputError("loss: label_least above label_most");
  // Asked for by facts, records and evaluator of every run.
  using Key = std::tuple<std::string, double, double, double, bool>;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const ScalarLoss>> known;
  const std::lock_guard lock(mutex);
  auto& loss = known[{text, range.reach, range.label_least, range.label_most, range.with_label}];
  try {
    if (!loss) loss = made(text, range);
  } catch (const InputError& refusal) {
    throw InputError(fmt::format("{}: {}", what, refusal.what()));
  }
  return loss;
}

}  // namespace dpsosp
