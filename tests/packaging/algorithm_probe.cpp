// SPDX-License-Identifier: Apache-2.0
// An algorithm as an author outside the tree would write it. It compiles as it stands, and must not
// with PROBED_HEADER, a header of what an algorithm may not see.
#ifdef PROBED_HEADER
#include PROBED_HEADER
#endif
#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/privacy/curator.hpp"

namespace probe {

dpsosp::Outcome one_step(dpsosp::Curator& curator) {
  dpsosp::Outcome outcome{.point = curator.facts().initial_point};
  dpsosp::Vector gradient(outcome.point.size());
  curator.gradient(dpsosp::Point(outcome.point), curator.draw(dpsosp::BatchPolicy::all()),
                   {.limit = 1.0, .noise = dpsosp::Noise::sensitivity_ratio(10.0)}, gradient);
  outcome.point -= 0.1 * gradient;
  return outcome;
}

}  // namespace probe
