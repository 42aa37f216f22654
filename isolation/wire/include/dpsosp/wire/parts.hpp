// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/algorithms/preparation.hpp"
#include "dpsosp/core/point.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"
#include "dpsosp/privacy/line_search.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/wire/channel.hpp"

// What messages are made of: put() writes the parts of a value, get() reads them in the same order.
// Doubles in bytes are IEEE-754 binary64 with the lowest byte first.

namespace dpsosp {

template <>
struct Words<Block> {
  static constexpr std::string_view kind = "block";
  static constexpr WordList<Block, 3> list{
      {{Block::x, "x"}, {Block::y, "y"}, {Block::joint, "joint"}}};
};
template <>
struct Words<Noise::Unit> {
  static constexpr std::string_view kind = "noise unit";
  static constexpr WordList<Noise::Unit, 2> list{
      {{Noise::Unit::sensitivity_ratio, "sensitivity_ratio"},
       {Noise::Unit::standard_deviation, "standard_deviation"}}};
};
template <>
struct Words<BatchUse> {
  static constexpr std::string_view kind = "batch use";
  static constexpr WordList<BatchUse, 2> list{
      {{BatchUse::one_query, "one_query"}, {BatchUse::several_queries, "several_queries"}}};
};
template <>
struct Words<HessianMode> {
  static constexpr std::string_view kind = "Hessian mode";
  static constexpr WordList<HessianMode, 2> list{
      {{HessianMode::dense, "dense"}, {HessianMode::lazy, "lazy"}}};
};
template <>
struct Words<SelectionForm> {
  static constexpr std::string_view kind = "selection form";
  static constexpr WordList<SelectionForm, 3> list{{{SelectionForm::scalar, "scalar"},
                                                    {SelectionForm::two_tests, "two_tests"},
                                                    {SelectionForm::independent, "independent"}}};
};
template <>
struct Words<SelectionScales> {
  static constexpr std::string_view kind = "selection scales";
  static constexpr WordList<SelectionScales, 2> list{
      {{SelectionScales::replace_one, "replace_one"}, {SelectionScales::zero_out, "zero_out"}}};
};
template <>
struct Words<GibbsMethod> {
  static constexpr std::string_view kind = "Gibbs method";
  static constexpr WordList<GibbsMethod, 3> list{{{GibbsMethod::stochastic, "stochastic"},
                                                  {GibbsMethod::exact, "exact"},
                                                  {GibbsMethod::rejection, "rejection"}}};
};
template <>
struct Words<Domain::Kind> {
  static constexpr std::string_view kind = "domain";
  static constexpr WordList<Domain::Kind, 4> list{{{Domain::Kind::everywhere, "everywhere"},
                                                   {Domain::Kind::ball, "ball"},
                                                   {Domain::Kind::box, "box"},
                                                   {Domain::Kind::simplex, "simplex"}}};
};

namespace wire {

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
};

template <class Enum>
requires requires { Words<Enum>::kind; }
void put(Channel& channel, Enum value) { put(channel, word_of(value)); }
void put(Channel& channel, const Vector& vector);
void put(Channel& channel, const ConstVectorRef& vector);
void put(Channel& channel, const Matrix& matrix);
void put(Channel& channel, const std::vector<std::uint64_t>& words);
void put(Channel& channel, const Point& point);
void put(Channel& channel, const BatchPolicy& policy);
void put(Channel& channel, const Noise& noise);
void put(Channel& channel, const GradientQuery& query);
void put(Channel& channel, const CombinationQuery& query);
void put(Channel& channel, const HessianQuery& query);
void put(Channel& channel, const HessianProductQuery& query);
void put(Channel& channel, const ChildSpec& spec);
void put(Channel& channel, const StationaritySpec& spec);
void put(Channel& channel, const LineSearchSpec& spec);
void put(Channel& channel, const GibbsSpec& spec);
void put(Channel& channel, const Net& net);
void put(Channel& channel, const ProductGrid& grid);
void put(Channel& channel, const Domain& domain);
void put(Channel& channel, const PublicFacts& facts);
void put(Channel& channel, const Remaining& remaining);
void put(Channel& channel, const Preparation& preparation);
void put(Channel& channel, const Ready& ready);
void put(Channel& channel, const Outcome& outcome);
void put(Channel& channel, const std::map<std::string, std::string>& texts);
template <class T>
void put(Channel& channel, const std::optional<T>& value) {
  if (value)
    put(channel, *value);
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

template <class Enum>
requires requires { Words<Enum>::kind; }
struct Get<Enum> {
  static Enum from(Message& message) { return from_word<Enum>(std::string(message.text())); }
};
template <class T>
struct Get<std::optional<T>> {
  static std::optional<T> from(Message& message) {
    if (message.nil()) return {};
    return get<T>(message);
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
template <> struct Get<BatchPolicy> { static BatchPolicy from(Message& message); };
template <> struct Get<GradientQuery> { static GradientQuery from(Message& message); };
template <> struct Get<CombinationQuery> { static CombinationQuery from(Message& message); };
template <> struct Get<HessianQuery> { static HessianQuery from(Message& message); };
template <> struct Get<HessianProductQuery> { static HessianProductQuery from(Message& message); };
template <> struct Get<ChildSpec> { static ChildSpec from(Message& message); };
template <> struct Get<StationaritySpec> { static StationaritySpec from(Message& message); };
template <> struct Get<LineSearchSpec> { static LineSearchSpec from(Message& message); };
template <> struct Get<GibbsSpec> { static GibbsSpec from(Message& message); };
template <> struct Get<Net> { static Net from(Message& message); };
template <> struct Get<ProductGrid> { static ProductGrid from(Message& message); };
template <> struct Get<Domain> { static Domain from(Message& message); };
template <> struct Get<PublicFacts> { static PublicFacts from(Message& message); };
template <> struct Get<Remaining> { static Remaining from(Message& message); };
template <> struct Get<Preparation> { static Preparation from(Message& message); };
template <> struct Get<Ready> { static Ready from(Message& message); };
template <> struct Get<Outcome> { static Outcome from(Message& message); };
template <> struct Get<std::map<std::string, std::string>> {
  static std::map<std::string, std::string> from(Message& message);
};
// clang-format on

/// Reads the entries of a vector into `out`, of the size that came.
void read(Message& message, Vector& out);
/// Into `out`. \throws Broken if another size came
void read_exactly(Message& message, VectorRef out);

}  // namespace wire
}  // namespace dpsosp
