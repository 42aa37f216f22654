// SPDX-License-Identifier: Apache-2.0
#include "replay/sums.hpp"

#include <algorithm>
#include <limits>

#include "dpsosp/core/stream.hpp"

namespace dpsosp::audit {

double furthest_sum(const Problem& problem, Index most_records) {
  const PublicFacts& facts = problem.facts;
  Vector x = facts.initial_point, y = facts.initial_dual;
  Stream stream({.seed = 1, .purpose = Purpose::test});
  for (Vector* each : {&x, &y}) stream.add_normal(0.1, *each);
  const bool minimax = facts.dual_kind != DualKind::none;
  const Point point = minimax ? Point(x, y) : Point(x);
  const Block block = minimax ? Block::joint : Block::x;
  const auto sum = [&](const BatchView& batch, double limit) {
    Vector out = Vector::Zero(minimax ? x.size() + y.size() : x.size());
    problem.records->add_gradients(point, block, batch, limit, out);
    return out;
  };
  const Index count = std::min(problem.records->size(), most_records);
  std::vector<Index> third;
  for (Index i = count % 3; i < count; i += 3) third.push_back(i);
  double longest = 0, furthest = 0;
  for (Index i = 0; i < count; ++i)
    longest =
        std::max(longest, sum(BatchView(i, i + 1), std::numeric_limits<double>::infinity()).norm());
  for (const double limit : {0.01 * longest, 0.5 * longest})
    for (const BatchView& batch : {BatchView(0, count), BatchView(third)}) {
      if (!(limit > 0) || batch.size() == 0) continue;
      Vector apart = sum(batch, limit);
      for (Index k = 0; k < batch.size(); ++k)
        apart -= sum(BatchView(batch[k], batch[k] + 1), limit);
      const double distance = apart.norm() / (limit * static_cast<double>(batch.size()));
      if (!(distance <= furthest)) furthest = distance;
    }
  return furthest;
}

}  // namespace dpsosp::audit
