// SPDX-License-Identifier: Apache-2.0
#include "groups.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/experiments/public_constants.hpp"

namespace dpsosp::league {
namespace {

constexpr std::uint64_t seeds_of_a_use = 1'000'000;

/// Three digits, so that a setting can be typed.
std::string rounded(double value) { return fmt::format("{:.3g}", value); }

std::string between(Stream& random, double low, double high) {
  return rounded(low + (high - low) * random.uniform());
}
/// Uniform in the logarithm.
std::string by_factor(Stream& random, double low, double high) {
  return rounded(low * std::pow(high / low, random.uniform()));
}
/// A whole number from low to high.
Index whole(Stream& random, Index low, Index high) {
  return low + random.below(std::max(low, high) - low + 1);
}
std::string one_of(Stream& random, std::initializer_list<const char*> words) {
  return words.begin()[random.below(std::ssize(words))];
}
/// Seed of a public orthogonal matrix; 0 would be none.
std::string rotation(Stream& random) { return std::to_string(1 + random.below(1'000'000)); }

/// A saddle with `negative` ways out; the ball holds the minima, which are √(kγ/b) away.
Draw quartic(Stream& random, Index negative, double least_gamma, double most_gamma) {
  const std::string gamma = by_factor(random, least_gamma, most_gamma);
  const double minima = std::sqrt(static_cast<double>(negative) * std::stod(gamma));
  return {.problem = "quartic-saddle",
          .settings = {{"sampling", "whole"},
                       {"negative", std::to_string(negative)},
                       {"gamma", gamma},
                       {"least_positive", by_factor(random, 0.1, 1)},
                       {"largest_positive", between(random, 1, 3)},
                       {"radius", rounded(1.25 * minima + 0.25)},
                       {"rotation", rotation(random)},
                       {"tilt", between(random, 0.3, 1)},
                       {"start", one_of(random, {"saddle", "near_saddle"})}}};
}

Draw wells(Stream& random, Index count) {
  return {.problem = "double-well",
          .settings = {{"sampling", "whole"},
                       {"wells", std::to_string(count)},
                       {"half_width", between(random, 2, 3)},
                       {"tilt", between(random, 0.3, 1.5)},
                       {"start", one_of(random, {"saddle", "near_saddle"})}}};
}

Draw benign_saddle(Stream& random, Index kind, Index d) {
  if (kind == 0)
    return {.problem = "cosine-saddle",
            .settings = {{"sampling", "whole"},
                         {"amplitude", by_factor(random, 0.5, 2)},
                         {"spread", between(random, 0.2, 1)},
                         {"start", one_of(random, {"saddle", "near_saddle"})}}};
  const Index negative = whole(random, (d + 1) / 2, d);
  if (kind == 1) return wells(random, negative);
  return quartic(random, negative, 0.5, 2);
}

Draw hard_escape(Stream& random, Index kind, Index) {
  return kind == 0 ? wells(random, 1) : quartic(random, 1, 0.3, 1);
}

Draw descent(Stream& random, Index kind, Index) {
  if (kind == 0)
    return {.problem = "ramp",
            .settings = {{"sampling", "whole"},
                         {"slope", by_factor(random, 0.05, 0.5)},
                         {"drop", by_factor(random, 0.5, 2)},
                         {"tilt", between(random, 0.3, 1)}}};
  if (kind == 1)
    return {.problem = "separable-pl",
            .settings = {{"sampling", "whole"},
                         {"tilt", between(random, 0.3, 1)},
                         {"start", one_of(random, {"standard", "random", "far"})}}};
  return {.problem = "cosine-saddle",
          .settings = {{"sampling", "whole"},
                       {"amplitude", by_factor(random, 0.5, 2)},
                       {"spread", between(random, 0.2, 1)},
                       {"start", one_of(random, {"random", "far"})}}};
}

Draw plateau(Stream& random, Index kind, Index) {
  if (kind == 0)
    return {.problem = "trig-radial",
            .settings = {{"sampling", "whole"},
                         {"radius", between(random, 1.8, 2.2)},
                         {"start", one_of(random, {"standard", "random", "far"})}}};
  return {.problem = "glm-sigmoid",
          .settings = {{"sampling", "whole"},
                       {"support", "500"},
                       {"labels", one_of(random, {"realisable", "binary"})},
                       {"planted_norm", between(random, 2, 6)},
                       {"radius", "12"},
                       {"start", "far"}}};
}

/// Rows, columns and rank with (rows + columns)·rank = d, as square as they get.
Draw low_rank(Stream& random, Index kind, Index d) {
  if (kind == 0)
    return {.problem = "phase-retrieval",
            .settings = {{"loss", one_of(random, {"intensity", "amplitude"})},
                         {"signal_norm", between(random, 0.7, 1.4)},
                         {"label_noise", between(random, 0, 0.2)},
                         {"start", one_of(random, {"random", "far"})}}};
  const Index rank = d >= 8 ? 2 : 1;
  const Index side = d / (2 * rank);
  return {.problem = "matrix-completion",
          .settings = {{"rows", std::to_string(side)},
                       {"cols", std::to_string(side)},
                       {"rank", std::to_string(rank)},
                       {"planted_rank", std::to_string(rank)},
                       {"condition", between(random, 1, 3)},
                       {"label_noise", between(random, 0, 0.2)},
                       {"start", one_of(random, {"standard", "random", "far"})}},
          .sized_by_settings = true};
}

Draw generalised_linear(Stream& random, Index kind, Index) {
  const std::string features = one_of(random, {"ball", "sphere", "gaussian"});
  const std::string start = one_of(random, {"standard", "random", "far"});
  if (kind == 0)
    return {.problem = "glm-logistic",
            .settings = {{"features", features},
                         {"start", start},
                         {"radius", "12"},
                         {"regulariser", by_factor(random, 0.01, 0.3)},
                         {"flips", between(random, 0, 0.2)},
                         {"planted_norm", between(random, 1, 4)}}};
  if (kind == 1)
    return {.problem = "glm-sigmoid",
            .settings = {{"features", features},
                         {"start", start},
                         {"labels", one_of(random, {"realisable", "binary"})},
                         {"planted_norm", between(random, 1, 3)}}};
  return {.problem = "glm-welsch",
          .settings = {{"features", features},
                       {"start", start},
                       {"opposed", one_of(random, {"0", "0.5"})},
                       {"outliers", between(random, 0, 0.3)},
                       {"planted_norm", between(random, 2, 4)}}};
}

Draw tensor(Stream& random, Index, Index d) {
  const std::string start = one_of(random, {"near_saddle", "random", "random"});
  return {
      .problem = "orthogonal-tensor",
      .settings = {{"sampling", "whole"},
                   {"basis", "rotated"},
                   {"basis_seed", rotation(random)},
                   {"penalty", between(random, 1.5, 3)},
                   {"saddle_components", std::to_string(whole(random, 2, std::min<Index>(d, 4)))},
                   {"start", start}}};
}

/// A saddle of which the dual holds some coordinates; with a box its gradients have a bound.
Draw coupled_cosines(Stream& random, Index d, Settings more) {
  const Index coupled = whole(random, d / 4, d / 2);
  Draw drawn{.problem = "cosine-minimax",
             .settings = {{"coupled", std::to_string(coupled)},
                          {"free", std::to_string(d - coupled)},
                          {"coupling", between(random, 1, 2)},
                          {"coupling_ratio", between(random, 0.8, 1)},
                          {"strong_concavity", by_factor(random, 0.5, 1)},
                          {"gamma", by_factor(random, 0.2, 0.6)},
                          {"start", one_of(random, {"saddle", "near_saddle"})}},
             .sized_by_settings = true};
  drawn.settings.merge(more);
  return drawn;
}

Draw simulated_minimax(Stream& random, Index kind, Index d) {
  if (kind == 0) return coupled_cosines(random, d, {{"sampling", "whole"}, {"half_width", "4"}});
  if (kind == 1)
    return {.problem = "auc",
            .settings = {{"sampling", "whole"},
                         {"points", "20"},
                         {"radius", "10"},
                         {"prior", between(random, 0.3, 0.7)},
                         {"separation", between(random, 0.1, 0.5)},
                         {"start", one_of(random, {"standard", "random"})}}};
  const std::string signal = between(random, 1.5, 3);
  return {.problem = "group-dro",
          .settings = {{"sampling", "whole"},
                       {"points", "10"},
                       {"radius", rounded(2 * std::stod(signal))},
                       {"groups", std::to_string(whole(random, 2, 4))},
                       {"strong_concavity", by_factor(random, 1, 4)},
                       {"signal", signal},
                       {"disagreement", between(random, 0.2, 1)},
                       {"alignment", between(random, 1, 3)},
                       {"start", one_of(random, {"saddle", "near_saddle", "random"})}}};
}

Draw clipped_minimax(Stream& random, Index kind, Index d) {
  if (kind == 0) return coupled_cosines(random, d, {{"sampling", "balanced"}});
  const Index rank = d >= 32 ? 4 : d >= 8 ? 2 : 1;
  return {.problem = "covariance-gan",
          .settings = {{"rows", std::to_string(d / rank)},
                       {"rank", std::to_string(rank)},
                       {"planted_rank", std::to_string(rank)},
                       {"planted_norm", between(random, 1, 2)},
                       {"condition", between(random, 1, 2)},
                       {"floor", between(random, 0, 0.2)},
                       {"strong_concavity", by_factor(random, 0.5, 2)},
                       {"start", one_of(random, {"near_saddle", "random"})}},
          .sized_by_settings = true};
}

const std::vector<Index> many{3000, 30000, 300000, 3000000};
const std::vector<Index> in_memory{300, 1000};

}  // namespace

std::uint64_t seed_of(Use use, std::uint64_t k) {
  if (k >= seeds_of_a_use) reject("league", "instance", static_cast<double>(k), "below 1 000 000");
  return seeds_of_a_use * (1 + static_cast<std::uint64_t>(use)) + k;
}

const std::vector<Index>& dimensions(Contest contest) {
  static const std::vector<Index> list{2, 8, 32}, of_minimax{4, 8, 32};
  return contest == Contest::minimax ? of_minimax : list;
}

const std::vector<Group>& groups(Contest contest) {
  static const std::vector<Group> of_minimax{
      {.id = "minimax-sums",
       .title = "minimax",
       .about = "cosine-minimax in a box, auc, group-dro, whose dual is shared; coupling, "
                "curvatures, prior, groups, start",
       .records = many,
       .kinds = 3,
       .draw = simulated_minimax,
       .contest = Contest::minimax},
      {.id = "minimax-records",
       .title = "minimax, clipped",
       .about = "cosine-minimax without a box and covariance-gan; coupling, curvatures, spectrum, "
                "start",
       .simulated = false,
       .records = {2000, 8000},
       .kinds = 2,
       .draw = clipped_minimax,
       .contest = Contest::minimax}};
  if (contest == Contest::minimax) return of_minimax;
  static const std::vector<Group> list{
      {.id = "saddles",
       .title = "benign saddles",
       .about = "cosine-saddle, double-well and quartic-saddle from a saddle out of which half of "
                "the directions lead or more; amplitude, spread, curvatures, rotation and tilt",
       .records = many,
       .kinds = 3,
       .draw = benign_saddle},
      {.id = "escapes",
       .title = "hard escapes",
       .about = "double-well and quartic-saddle from a saddle with one way out; curvatures, "
                "rotation and tilt",
       .records = many,
       .kinds = 2,
       .draw = hard_escape},
      {.id = "descents",
       .title = "descents",
       .about = "ramp, separable-pl and cosine-saddle from afar; slope, length, amplitude, tilt",
       .records = many,
       .kinds = 3,
       .draw = descent},
      {.id = "plateaus",
       .title = "plateaus",
       .about = "trig-radial about its sphere without curvature, and glm-sigmoid from where it is "
                "flat; radius, labels, planted vector",
       .records = many,
       .kinds = 2,
       .draw = plateau},
      {.id = "low-rank",
       .title = "low-rank recovery",
       .about = "phase-retrieval and matrix-completion; loss, conditioning, noise of labels",
       .simulated = false,
       .records = in_memory,
       .kinds = 2,
       .draw = low_rank},
      {.id = "linear-models",
       .title = "generalised linear models",
       .about = "glm-logistic with a bounded regulariser, glm-sigmoid, glm-welsch; features, "
                "labels, outliers, planted vector",
       .simulated = false,
       .records = in_memory,
       .kinds = 3,
       .draw = generalised_linear},
      {.id = "tensors",
       .title = "tensors",
       .about = "orthogonal-tensor in a rotated basis; penalty, order of the saddle",
       .records = many,
       .draw = tensor}};
  return list;
}

const Group& find_group(std::string_view id) {
  const auto found = std::ranges::find(groups(), id, &Group::id);
  if (found != groups().end()) return *found;
  std::vector<std::string> ids;
  for (const Group& g : groups()) ids.push_back(g.id);
  reject_unknown("group", id, ids);
}

std::size_t ordinal_of(const Group& group) {
  const auto place = static_cast<std::size_t>(&group - groups(group.contest).data());
  return group.contest == Contest::minimax ? 100 + place : place;
}

double Instance::constant(std::string_view name) const {
  const auto found = constants.find(std::string(name));
  if (found == constants.end()) throw MissingConstant(name);
  return found->second;
}

Instance instance_of(const Group& group, Index d, std::uint64_t seed) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, Index, std::uint64_t>, Instance> known;
  const std::tuple key{group.id, d, seed};
  {
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  Stream random({.seed = seed,
                 .run = static_cast<std::uint32_t>(ordinal_of(group)),
                 .purpose = Purpose::statistics,
                 .path = static_cast<std::uint64_t>(d)});
  const auto kind = static_cast<Index>(seed % seeds_of_a_use) % group.kinds;
  const Draw drawn = group.draw(random, kind, d);
  Instance instance{.group = &group, .dimension = d, .seed = seed, .spec = {}, .constants = {}};
  instance.spec.problem = drawn.problem;
  instance.spec.problem_settings = drawn.settings;
  if (!drawn.sized_by_settings) instance.spec.dimension = d;
  instance.spec.seed = instance.spec.data_seed = seed;
  instance.spec.observations = 0;  // outputs alone count
  RunDescription run{instance.spec};
  run.records = group.records.front();
  instance.constants = public_constants(run);
  const std::scoped_lock lock(mutex);
  return known.emplace(key, std::move(instance)).first->second;
}

}  // namespace dpsosp::league
