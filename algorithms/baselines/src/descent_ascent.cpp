// SPDX-License-Identifier: Apache-2.0
#include "descent_ascent.hpp"

#include "dpsosp/core/errors.hpp"

namespace dpsosp::baselines {

Outcome descent_ascent(Curator& curator, Observer& observer, const DescentAscent& p) {
  Vector x = curator.facts().initial_point;
  Vector y = curator.facts().initial_dual;
  Vector g(p.local_dual ? x.size() : x.size() + y.size());
  Vector mean = x;  // of x_1, …, x_t
  const auto output = [&]() -> const Vector& { return p.average ? mean : x; };
  for (Index t = 0; t < p.steps; ++t) {
    observer.iterate(t, x);
    try {
      const Batch batch = curator.draw(p.policy);
      curator.gradient(p.local_dual ? Point(x) : Point(x, y), batch, p.query, g);
    } catch (const Refused& refusal) {
      return {output(), status_of(refusal), t, {}};
    }
    x -= p.step_size * g.head(x.size());
    if (!p.local_dual) {
      y += p.ascent_step * g.tail(y.size());
      curator.facts().dual_domain.project(y);
    }
    if (!x.allFinite() || !y.allFinite()) return {x, Status::not_finite, t + 1, {}};
    mean += (x - mean) / static_cast<double>(t + 1);
  }
  return {output(), Status::steps_done, p.steps, {}};
}

void check_descent_ascent(std::string_view owner, const PublicFacts& facts, bool local_dual) {
  if (local_dual && facts.dual_kind != DualKind::per_record)
    reject(owner, "local_dual", "true", "false: the dual of this problem is shared by its records");
}

}  // namespace dpsosp::baselines
