// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dpsosp/algorithms/preparation.hpp"
#include "dpsosp/core/members.hpp"
#include "dpsosp/core/point.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"
#include "dpsosp/privacy/line_search.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/wire/channel.hpp"

// What messages are made of: put() writes the parts of a value, get() reads them in the same order.
// The parts of a struct are its listed members, in the list's order.
// Doubles in bytes are IEEE-754 binary64 with the lowest byte first.

namespace dpsosp {

constexpr auto words_of(Block) {
  using enum Block;
  return word_list<Block>("block", {{x, "x"}, {y, "y"}, {joint, "joint"}});
}
constexpr auto words_of(Noise::Unit) {
  using enum Noise::Unit;
  return word_list<Noise::Unit>("noise unit", {{sensitivity_ratio, "sensitivity_ratio"},
                                               {standard_deviation, "standard_deviation"}});
}
constexpr auto words_of(BatchUse) {
  using enum BatchUse;
  return word_list<BatchUse>("batch use",
                             {{one_query, "one_query"}, {several_queries, "several_queries"}});
}
constexpr auto words_of(SelectionScales) {
  using enum SelectionScales;
  return word_list<SelectionScales>("selection scales",
                                    {{replace_one, "replace_one"}, {zero_out, "zero_out"}});
}
constexpr auto words_of(Domain::Kind) {
  using enum Domain::Kind;
  return word_list<Domain::Kind>(
      "domain", {{everywhere, "everywhere"}, {ball, "ball"}, {box, "box"}, {simplex, "simplex"}});
}

DPSOSP_MEMBERS(BatchPolicy, kind, size, rate);
DPSOSP_MEMBERS(Noise, unit, value);
DPSOSP_MEMBERS(GradientQuery, limit, noise, block);
DPSOSP_MEMBERS(CombinationQuery, limit, difference_limit, noise, block);
DPSOSP_MEMBERS(HessianQuery, limit, rank, noise);
DPSOSP_MEMBERS(HessianProductQuery, limit, noise);
DPSOSP_MEMBERS(RecordRange, begin, end);
DPSOSP_MEMBERS(Projection, map, cap);
DPSOSP_MEMBERS(ChildSpec, name, share, range, initial_point, suboptimality, pure_share,
               delta_extra_share, pure, projection);
DPSOSP_MEMBERS(StationaritySpec, epsilon, gradient_scale, curvature_scale, gradient_limit,
               hessian_limit, slack, form, scales, candidates, failure);
DPSOSP_MEMBERS(LineSearchSpec, epsilon, loss_limit, reach);
DPSOSP_MEMBERS(Domain, kind, radius);
DPSOSP_MEMBERS(GibbsSpec, inverse_temperature, regularizer, lipschitz, domain, method, step, rounds,
               sampling_error);
DPSOSP_MEMBERS(ProductGrid, centre, half_width, cells);
DPSOSP_MEMBERS(Constant, value, origin, region, proof, attained);
DPSOSP_MEMBERS(PublicFacts, name, dimension, records, dual_kind, dual_dimension, feature_bound,
               domain, dual_domain, initial_point, initial_dual, separable, constants);
DPSOSP_MEMBERS(Remaining, share, fresh_records, pure_share);
DPSOSP_MEMBERS(PrivacyBudget, epsilon, delta);
DPSOSP_MEMBERS(Preparation, budget, calibrator, variant, schedule, noise, noise_queries,
               facts_changed, settings);
DPSOSP_MEMBERS(PlannedQuery, policy, count, use);
DPSOSP_MEMBERS(Outcome, status, steps, point, counts);

namespace wire {

/// Of the protocol: raised by every change of a message that both sides know.
inline constexpr std::int64_t version = 3;

/// The noise of a plan: the least that fits the budget.
struct PlanNoise {
  double sensitivity_ratio = 0;  ///< standard deviation over sensitivity, of every query
  Calibrator calibrator = Calibrator::cks;
  std::optional<double> order;  ///< of the filter, for `rdp`
  std::int64_t queries = 0;     ///< of the whole plan
  /// Of each row of the plan: the standard deviation for a query whose limit is 1.
  Vector deviations;
};

/// A point of a query, which holds its vectors.
struct OwnPoint {
  Vector x, y;
  Point point() const { return y.size() > 0 ? Point(x, y) : Point(x); }
};

/// What a guest says of itself before it may ask.
struct Ready {
  /// Checked against the budget by the host. Without a capacity: the whole budget's.
  FilterRule rule;
  bool whole = false;
  Scheduled scheduled;  ///< its rule is not set
  std::map<std::string, std::string> parameters;
  std::vector<PlannedQuery> plan;  ///< the most Gaussian queries of the run; empty: not told
};

template <class Enum>
requires requires { words_of(Enum{}); }
void put(Channel& channel, Enum value) { put(channel, word_of(value)); }
void put(Channel& channel, const Vector& vector);
void put(Channel& channel, ConstVectorRef vector);
void put(Channel& channel, const Matrix& matrix);
void put(Channel& channel, const std::vector<std::uint64_t>& words);
void put(Channel& channel, const Point& point);
void put(Channel& channel, const Net& net);
void put(Channel& channel, const Constants& constants);
void put(Channel& channel, const Ready& ready);
void put(Channel& channel, const PlanNoise& noise);
template <class T>
void put(Channel& channel, const std::map<std::string, T>& table);
template <class T>
void put(Channel& channel, const std::optional<T>& value);
template <Listed T>
void put(Channel& channel, const T& value) {
  for_each_member(value, [&](std::string_view, const auto& part) { put(channel, part); });
}
template <Listed T>
void put(Channel& channel, const std::vector<T>& rows) {
  put(channel, static_cast<std::int64_t>(rows.size()));
  for (const T& row : rows) put(channel, row);
}
template <class T>
void put(Channel& channel, const std::map<std::string, T>& table) {
  put(channel, static_cast<std::int64_t>(table.size()));
  for (const auto& [name, value] : table) {
    put(channel, name);
    put(channel, value);
  }
}
/// Nil for each part of what is not there.
template <class T>
void put(Channel& channel, const std::optional<T>& value) {
  if (value)
    put(channel, *value);
  else if constexpr (Listed<T>)
    for (std::size_t k = 0; k < member_count<T>; ++k) channel.put_nil();
  else
    channel.put_nil();
}

template <class T>
struct Get;
/// \throws Broken for a part of the wrong kind; InputError for an unknown word
template <class T>
T get(Message& message) {
  return Get<T>::from(message);
}
/// The number of entries of a table. \throws Broken for more than 4096
std::int64_t get_count(Message& message);

template <class Enum>
requires requires { words_of(Enum{}); }
struct Get<Enum> {
  static Enum from(Message& message) { return from_word<Enum>(std::string(message.text())); }
};
template <Listed T>
struct Get<T> {
  static T from(Message& message) {
    T value{};
    for_each_member(value, [&](std::string_view, auto& part) {
      part = get<std::remove_reference_t<decltype(part)>>(message);
    });
    return value;
  }
};
template <Listed T>
struct Get<std::vector<T>> {
  static std::vector<T> from(Message& message) {
    std::vector<T> rows;
    for (std::int64_t k = get_count(message); k > 0; --k) rows.push_back(get<T>(message));
    return rows;
  }
};
template <class T>
struct Get<std::map<std::string, T>> {
  static std::map<std::string, T> from(Message& message) {
    std::map<std::string, T> table;
    for (std::int64_t k = get_count(message); k > 0; --k) {
      std::string name = get<std::string>(message);
      table[std::move(name)] = get<T>(message);
    }
    return table;
  }
};
template <class T>
struct Get<std::optional<T>> {
  static std::optional<T> from(Message& message) {
    if (message.nil()) return {};
    return get<T>(message);
  }
};
/// Not there if one of its parts is not.
template <Listed T>
struct Get<std::optional<T>> {
  static std::optional<T> from(Message& message) {
    std::optional<T> value(std::in_place);
    bool whole = true;
    for_each_member(*value, [&](std::string_view, auto& part) {
      auto sent = get<std::optional<std::remove_reference_t<decltype(part)>>>(message);
      whole = whole && sent;
      if (sent) part = std::move(*sent);
    });
    if (!whole) value.reset();
    return value;
  }
};

// clang-format off
template <> struct Get<bool> { static bool from(Message& message); };
template <> struct Get<double> { static double from(Message& message); };
template <> struct Get<std::int64_t> { static std::int64_t from(Message& message); };
template <> struct Get<std::string> { static std::string from(Message& message); };
template <> struct Get<Vector> { static Vector from(Message& message); };
template <> struct Get<Matrix> { static Matrix from(Message& message); };
template <> struct Get<std::vector<std::uint64_t>> {
  static std::vector<std::uint64_t> from(Message& message);
};
template <> struct Get<OwnPoint> { static OwnPoint from(Message& message); };
template <> struct Get<Net> { static Net from(Message& message); };
template <> struct Get<Constants> { static Constants from(Message& message); };
template <> struct Get<Ready> { static Ready from(Message& message); };
// clang-format on

/// Reads the entries of a vector into `out`, of the size that came.
void read(Message& message, Vector& out);
/// Into `out`. \throws Broken if another size came
void read_exactly(Message& message, VectorRef out);

}  // namespace wire
}  // namespace dpsosp
