// SPDX-License-Identifier: Apache-2.0
#include "line_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp::door {
namespace {

constexpr std::string_view in_line_search = "line search";

}  // namespace

ThresholdTest LineSearch::plan(const Curator& curator, const Batch& batch, ConstVectorRef from,
                               const LineSearchSpec& spec) {
  const auto positive = [](std::string_view name, double value) {
    if (!(value >= 1e-150 && value <= 1e150))
      reject(in_line_search, name, value, "in [1e-150, 1e150]");
  };
  positive("epsilon", spec.epsilon);
  positive("loss_limit", spec.loss_limit);
  positive("reach", spec.reach);
  positive("loss_limit * reach", spec.loss_limit * spec.reach);
  const PublicFacts& facts = curator.facts();
  if (facts.dual_kind != DualKind::none)
    throw InputError(
        fmt::format("line search: {} is a minimax problem and answers no losses", facts.name));
  curator.check_query(Point(from), nullptr, batch, Block::x, facts.dimension);
  if (!from.allFinite()) throw InputError("line search: it starts at a point that is not finite");
  if (batch.secret()) throw InputError("line search: a batch with secret membership");
  const double s = 2.0 * spec.loss_limit * spec.reach / batch.policy.divisor(facts.records);
  return {.threshold = 0.0, .sensitivity = s, .true_sensitivity = s, .epsilon = spec.epsilon};
}

LineSearch::LineSearch(Curator& curator, const Batch& batch, ConstVectorRef from,
                       const LineSearchSpec& spec)
    : curator_(&curator),
      batch_(batch),
      from_(from),
      spec_(spec),
      test_(plan(curator, batch, from, spec)),
      session_(curator, batch, "line_search", {&test_, 1}) {}

bool LineSearch::decreases(ConstVectorRef to, double decrease) {
  session_.expect_open();
  const PublicFacts& facts = curator_->facts();
  if (to.size() != facts.dimension)
    reject(in_line_search, "point", static_cast<double>(to.size()),
           fmt::format("{} entries", facts.dimension));
  if (std::isnan(decrease)) reject(in_line_search, "decrease", decrease, "a number");
  const double distance = (to - from_).stableNorm();
  if (to.allFinite() && distance > spec_.reach * (1 + 1e-12))
    reject(in_line_search, "distance", distance,
           fmt::format("at most the reach {:.6g}", spec_.reach));
  ++questions_;
  if (!to.allFinite()) return false;
  const Departures& departures = curator_->shared_->departures;
  double rise = 0.0;  // F(to) − F(from)
  // Rounding must not carry a record's share beyond what the session paid for.
  const double limit = departures.no_clipping ? std::numeric_limits<double>::infinity()
                                              : spec_.loss_limit * std::min(distance, spec_.reach);
  if (!departures.no_data && distance > 0) {
    const BatchView view = Curator::members_of(batch_);
    Vector sum = Vector::Zero(1);
    const ClipReport report =
        curator_->read(Summand::loss(Point(to), Point(from_)), view, limit, sum);
    rise = sum[0] / batch_.policy.divisor(facts.records);
    curator_->note_clipping(report, view.size(), limit);
  }
  const std::array<double, 1> value{rise + decrease};
  return session_.at_most(value);
}

}  // namespace dpsosp::door
