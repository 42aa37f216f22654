// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "formula_graph.hpp"
#include "interval.hpp"

namespace dpsosp::formula {

struct Box {
  Interval t, y;
};

/// Of a function over a box: least ≤ sup ≤ most. `most` is proved; `least` was met.
struct Supremum {
  double least = 0, most = 0;
  int boxes = 0;  ///< looked at
  Box worst;      ///< where `most` is
};

enum class Of { value, magnitude };

/// sup φ or sup |φ| by branch and bound: boxes are divided until `most` is within a hundredth of
/// `least`, or so many were looked at. A box is bounded by the mean-value form; where a sign is
/// open in it, as a function each for both branches.
Supremum supremum(Graph& graph, int node, const Box& box, Of of);

/// A place where the branches of a sign meet and the function does not.
struct Jump {
  double t, y, before, after;
};
/// The first jump that is found at the signs' zeros, of 9 labels and 1024 scores. \param places
/// counts the zeros that were looked at
std::optional<Jump> find_jump(Graph& graph, int node, const Box& box, int& places);

}  // namespace dpsosp::formula
