// SPDX-License-Identifier: Apache-2.0
#include "exponential_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "curator_state.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp::door {
namespace {

constexpr std::string_view where = "exponential mechanism";

void expect_in_range(std::string_view name, double value) {
  if (!(value >= 1e-150 && value <= 1e150)) reject(where, name, value, "in [1e-150, 1e150]");
}

}  // namespace

/// The candidate of the largest −λ score + noise so far; of equal ones the first.
class ExponentialMechanism::Race {
 public:
  Race(const Opened& opened, Curator& curator, Index candidates)
      : opened_(opened),
        candidates_(candidates),
        stream_(curator.own_->choice),
        shared_(*curator.shared_),
        path_(curator.own_->key.path) {}

  /// Candidates come in order of their index, so that each has two words of its own.
  void enter(Index index, double score) {
    const double noise = stream_.gumbel();
    shared_.audit({.kind = AuditedAnswer::Kind::score,
                   .deviation = 1.0 / opened_.inverse_temperature,
                   .index = index,
                   .path = path_,
                   .count = candidates_},
                  score);
    const double key = opened_.noise ? noise - opened_.inverse_temperature * score : -score;
    if (winner_ < 0 || key > best_) {
      best_ = key;
      winner_ = index;
    }
  }
  void pass() { stream_.skip(2); }
  /// Ends the race.
  Index winner() const {
    auto index = static_cast<double>(winner_);
    shared_.audit_noisy(index);
    return static_cast<Index>(index);
  }

 private:
  Opened opened_;
  Index candidates_;
  Stream& stream_;
  const Curator::Shared& shared_;
  std::uint64_t path_;
  double best_ = 0;
  Index winner_ = -1;
};

ExponentialMechanism::ExponentialMechanism(Curator& curator, const Batch& batch)
    : curator_(&curator), batch_(batch) {
  curator.shared_->refuse_if_exact(where);
  const Vector start = curator.own_->facts.initial_point;
  curator.check_query(Point(start), nullptr, batch, Block::x, curator.own_->facts.dimension);
  if (batch.secret()) throw InputError("exponential mechanism: a batch with secret membership");
  size_ = batch.policy.divisor(curator.own_->facts.records);
}

BatchView ExponentialMechanism::view() const { return {batch_.range.begin, batch_.range.end}; }

double ExponentialMechanism::range(double lipschitz, double reach) const {
  return 4.0 * lipschitz * reach / size_;
}

double ExponentialMechanism::range(const ProductGrid& grid, double coordinate_lipschitz) const {
  const double sides = 2.0 * grid.half_width * static_cast<double>(grid.centre.size());
  return 2.0 * coordinate_lipschitz * sides / size_;
}

double ExponentialMechanism::vertex_range(double gradient_limit, double diameter) const {
  return 2.0 * gradient_limit * diameter / size_;
}

void ExponentialMechanism::check_point(std::string_view name, ConstVectorRef point) const {
  if (point.size() != curator_->own_->facts.dimension)
    reject(where, name, static_cast<double>(point.size()),
           fmt::format("{} entries", curator_->own_->facts.dimension));
  if (!point.allFinite()) reject(where, name, "not finite", "finite");
}

ExponentialMechanism::Opened ExponentialMechanism::open(const char* query, double epsilon,
                                                        double range) {
  Curator::Own& own = *curator_->own_;
  const Departures& departures = curator_->shared_->departures;
  expect_in_range("epsilon", epsilon);
  if (range == 0) return {0.0, !departures.no_noise};
  expect_in_range("range", range);
  // Where the mean is clipped, exchanging one record may move it as far as a batch of one.
  const double moves = departures.clip_batch_mean ? size_ : 1.0;
  const Event event = ExponentialEvent{moves * epsilon};
  const auto account =
      departures.no_filter ? RangeFilter::Account::zcdp : own.charge_pure(batch_.range, event);
  if (!account)
    throw BudgetExhausted(fmt::format("{} refused: its charge exceeds the privacy budget", query));
  const double scale = departures.no_noise ? 0.0 : range / epsilon;
  curator_->shared_->list({own.scope, query, batch_.policy,
                           departures.no_noise ? std::optional<Event>{} : event, batch_.range,
                           moves * range, moves * range, scale, scale, 1,
                           account == RangeFilter::Account::pure});
  return {epsilon / range, !departures.no_noise};
}

double ExponentialMechanism::score(ConstVectorRef point, ConstVectorRef centre, double lipschitz) {
  const Departures& departures = curator_->shared_->departures;
  const double largest = lipschitz * (point - centre).stableNorm();
  if (departures.no_data || (largest == 0 && !departures.no_clipping)) return 0.0;
  const bool unclipped = departures.no_clipping || departures.clip_batch_mean;
  const double limit = unclipped ? std::numeric_limits<double>::infinity() : largest;
  const double mean = curator_->read_loss_difference(point, centre, batch_, limit);
  return departures.clip_batch_mean ? std::clamp(mean, -largest, largest) : mean;
}

Index ExponentialMechanism::choose(const Matrix& points, ConstVectorRef centre, double lipschitz,
                                   double epsilon) {
  expect_in_range("lipschitz", lipschitz);
  if (points.cols() < 1) throw InputError("exponential mechanism: an empty list of points");
  check_point("centre", centre);
  double reach = 0;
  for (Index k = 0; k < points.cols(); ++k) {
    check_point("point", points.col(k));
    reach = std::max(reach, (points.col(k) - centre).stableNorm());
  }
  const Opened opened = open("exponential", epsilon, range(lipschitz, reach));
  Race race(opened, *curator_, points.cols());
  for (Index k = 0; k < points.cols(); ++k) race.enter(k, score(points.col(k), centre, lipschitz));
  return race.winner();
}

Index ExponentialMechanism::choose(const Net& net, double lipschitz, double epsilon,
                                   VectorRef out) {
  expect_in_range("lipschitz", lipschitz);
  check_point("centre of the net", net.centre());
  const Index indices = net.indices();
  const Opened opened = open("exponential_net", epsilon, range(lipschitz, net.reach()));
  Race race(opened, *curator_, indices);
  Vector point(net.dimension());
  for (Index k = 0; k < indices; ++k)
    if (net.point(k, point)) {
      // Rounding far from the origin may put a point beyond the reach that was charged.
      const double beyond = (point - net.centre()).stableNorm() / net.reach();
      race.enter(k, score(point, net.centre(), beyond > 1 ? lipschitz / beyond : lipschitz));
    } else {
      race.pass();
    }
  const Index chosen = race.winner();
  net.point(chosen, point);
  out = point;
  return chosen;
}

void ExponentialMechanism::choose(const ProductGrid& grid, double coordinate_lipschitz,
                                  double epsilon, VectorRef out) {
  const Departures& departures = curator_->shared_->departures;
  expect_in_range("coordinate_lipschitz", coordinate_lipschitz);
  expect_in_range("half_width", grid.half_width);
  if (!(grid.cells >= 1)) reject(where, "cells", static_cast<double>(grid.cells), ">= 1");
  check_point("centre of the grid", grid.centre);
  if (!curator_->own_->sums().separable())
    throw InputError(fmt::format("exponential mechanism: the loss of {} is no sum over coordinates",
                                 curator_->own_->facts.name));
  if (departures.clip_batch_mean)
    throw InputError("exponential mechanism: a product grid has no form that clips the mean");

  const Opened opened = open("exponential_product", epsilon, range(grid, coordinate_lipschitz));
  Vector chosen(grid.centre.size()), values(grid.cells), scores(grid.cells);
  for (Index j = 0; j < chosen.size(); ++j) {
    for (Index k = 0; k < grid.cells; ++k) values[k] = grid.value(j, k);
    // Rounding far from the origin may put a value beyond the width that was charged.
    const double beyond = (values.array() - grid.centre[j]).abs().maxCoeff() / grid.half_width;
    const double limit = departures.no_clipping ? std::numeric_limits<double>::infinity()
                                                : coordinate_lipschitz / std::max(1.0, beyond);
    scores.setZero();
    if (!departures.no_data) {
      const Summand summand = Summand::coordinate_loss(j, values, grid.centre[j]);
      const ClipReport report = curator_->read(summand, view(), limit, scores);
      curator_->note_clipping(report, view().size() * grid.cells, limit);
      scores /= size_;
    }
    Race race(opened, *curator_, grid.cells);
    for (Index k = 0; k < grid.cells; ++k) race.enter(k, scores[k]);
    chosen[j] = values[race.winner()];
  }
  out = chosen;
}

const Vector& ExponentialMechanism::mean_gradient(ConstVectorRef point, double limit) {
  Curator::Own& own = *curator_->own_;
  own.work.setZero(point.size());
  curator_->read_mean(Summand::gradient(Point(point), Block::x), batch_, limit, size_);
  return own.work;
}

Index ExponentialMechanism::choose_vertex(const Matrix& vertices, ConstVectorRef point,
                                          double gradient_limit, double epsilon) {
  expect_in_range("gradient_limit", gradient_limit);
  if (vertices.cols() < 1) throw InputError("exponential mechanism: an empty list of vertices");
  check_point("point", point);
  for (Index k = 0; k < vertices.cols(); ++k) check_point("vertex", vertices.col(k));
  const Vector middle = 0.5 * (vertices.rowwise().minCoeff() + vertices.rowwise().maxCoeff());
  double reach = 0.0;
  for (Index k = 0; k < vertices.cols(); ++k)
    reach = std::max(reach, (vertices.col(k) - middle).stableNorm());
  const Opened opened =
      open("exponential_vertex", epsilon, vertex_range(gradient_limit, 2.0 * reach));
  // Vertices that are all one cost nothing: a curator that clips reads nothing.
  const Vector& gradient =
      mean_gradient(point, opened.inverse_temperature > 0 ? gradient_limit : 0.0);
  Race race(opened, *curator_, vertices.cols());
  // From the middle: an offset of the vertices would be rounded by more than a record may move.
  for (Index k = 0; k < vertices.cols(); ++k)
    race.enter(k, (vertices.col(k) - middle).dot(gradient));
  return race.winner();
}

Index ExponentialMechanism::choose_l1_vertex(double radius, ConstVectorRef point,
                                             double gradient_limit, double epsilon) {
  expect_in_range("gradient_limit", gradient_limit);
  expect_in_range("radius", radius);
  check_point("point", point);
  const Opened opened =
      open("exponential_vertex", epsilon, vertex_range(gradient_limit, 2.0 * radius));
  const Vector& gradient = mean_gradient(point, gradient_limit);
  Race race(opened, *curator_, 2 * gradient.size());
  for (Index k = 0; k < 2 * gradient.size(); ++k)
    race.enter(k, (k % 2 == 0 ? radius : -radius) * gradient[k / 2]);
  return race.winner();
}

}  // namespace dpsosp::door
