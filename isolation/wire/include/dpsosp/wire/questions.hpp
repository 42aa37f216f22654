// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dpsosp/wire/parts.hpp"

/// What a guest may ask: the one description of it, from which docs/protocol.md is made and by
/// which the guest's handles are checked while they are compiled.
namespace dpsosp::wire {

/// A question, the types of its parts in their order.
template <class... Parts>
struct Question {
  std::string_view name;
  std::array<std::string_view, sizeof...(Parts)> parts;
  std::string_view answer;  ///< "vector: the noisy mean"; empty: no parts
  std::string_view meaning;
};

/// Whether a value of type `Sent` is written as a part of type `Part` is read.
template <class Part, class Sent>
constexpr bool is_part = std::is_same_v<Part, Sent> ||
                         (std::is_same_v<Part, Vector> &&
                          std::is_convertible_v<const Sent&, ConstVectorRef>) ||
                         (std::is_same_v<Part, OwnPoint> && std::is_same_v<Sent, Point>);

namespace question {

using Id = std::int64_t;
using Words = std::vector<std::uint64_t>;

// Before the run:
inline constexpr Question<std::vector<PlannedQuery>> noise{
    "noise",
    {"plan"},
    "number: the least ratio of standard deviation to sensitivity with which the plan fits the "
    "budget (the run's common noise, where that is set); text: calibrator; number or nil: order of "
    "its filter, for `ready`; integer: queries of the plan; vector: for each row the standard "
    "deviation of a query of limit 1",
    "may be asked between `start` and `ready`, as often as a plan is looked for"};

// Random numbers and what an observer sees:
inline constexpr Question<Words, std::int64_t, std::int64_t> words{
    "words",
    {"path", "first", "number"},
    "bytes: that many words of 64 bits, the lowest byte first",
    "uniform words of the algorithm's own stream from word `first` on; `path`: indices of "
    "children"};
inline constexpr Question<Words, std::int64_t, std::int64_t> normals{
    "normals",
    {"path", "first", "number"},
    "vector: standard normal, one word each",
    "the same words as normal numbers"};
inline constexpr Question<Words, std::int64_t, double, std::int64_t> ball{
    "ball",
    {"path", "first", "radius", "dimension"},
    "vector: uniform in the ball around 0; takes dimension + 1 words",
    "the same words as a point of a ball of at most 2^20 dimensions"};
inline constexpr Question<Index, Vector> iterate{
    "iterate",
    {"t", "x"},
    "none: it is posted",
    "x before step t, for the trace; nothing flows back"};
inline constexpr Question<Index, Vector, Vector> estimate{
    "estimate",
    {"t", "x", "gradient"},
    "none: it is posted",
    "the method's own estimate of the gradient at x; nothing flows back"};

// Curators and batches:
inline constexpr Question<Id> remaining{"remaining",
                                        {"curator"},
                                        "number: share of the budget that is left; integer: fresh "
                                        "records; number: share of the pure account",
                                        "what is left, of the most charged record"};
inline constexpr Question<Id> fresh_records{
    "fresh_records", {"curator"}, "integer", "records that no fresh batch of this curator had"};
inline constexpr Question<Id> label{
    "label", {"curator"}, "text: privacy label", "what the curator's answers guarantee"};
inline constexpr Question<Id> answers_second_order{
    "answers_second_order", {"curator"}, "boolean", "whether the records have Hessians"};
inline constexpr Question<Id, ChildSpec> child{
    "child",
    {"curator", "spec"},
    "handle: curator; then its public facts, as in `start`",
    "a curator of a part of the budget, of a range of the records, or of projected features"};
inline constexpr Question<Id, BatchPolicy, BatchUse> draw{
    "draw",
    {"curator", "policy", "use"},
    "handle: batch",
    "draws records; a secret batch for `one_query` is charged as a sample, for `several_queries` "
    "in "
    "full"};

// Gaussian queries:
inline constexpr Question<Id, OwnPoint, Id, GradientQuery> gradient{
    "gradient",
    {"curator", "point", "batch", "query"},
    "vector: the mean of the clipped gradients, with noise",
    "gradients of the records at a point"};
inline constexpr Question<Id, OwnPoint, OwnPoint, Id, GradientQuery> gradient_difference{
    "gradient_difference",
    {"curator", "point", "previous", "batch", "query"},
    "vector: the mean of the clipped differences, with noise",
    "each record's gradient at `point` less that at `previous`"};
inline constexpr Question<Id, double, OwnPoint, OwnPoint, Id, CombinationQuery>
    gradient_combination{
        "gradient_combination",
        {"curator", "gamma", "point", "previous", "batch", "query"},
        "vector: the mean, with noise",
        "gamma of each record's clipped gradient and 1 − gamma of its clipped difference"};
inline constexpr Question<Id, OwnPoint, Id, HessianQuery> hessian{
    "hessian",
    {"curator", "point", "batch", "query"},
    "matrix: the mean of the weighed Hessians, with symmetric noise",
    "Hessians of the records; not amplified by sampling"};
inline constexpr Question<Id, OwnPoint, Vector, Id, HessianProductQuery> hessian_product{
    "hessian_product",
    {"curator", "point", "v", "batch", "query"},
    "vector: the mean of the weighed products, with noise",
    "Hessians of the records times v; not amplified by sampling"};

// Trees: sums of queries whose noise grows with the logarithm of their number.
inline constexpr Question<Id, double, std::int64_t> tree{
    "tree",
    {"curator", "sigma", "leaves"},
    "handle: tree",
    "opens a tree with room for so many queries; sigma: standard deviation of the noise of a node, "
    "per coordinate, in the unit of the means that are added"};
inline constexpr Question<Id> tree_restart{
    "tree_restart", {"tree"}, "", "begins a new sum; the old one is charged"};
inline constexpr Question<Id, OwnPoint, Id, GradientQuery> tree_gradient{
    "tree_gradient",
    {"tree", "point", "batch", "query"},
    "vector: the sum so far, with the tree's noise",
    "adds the mean of the clipped gradients; the query's noise is not looked at"};
inline constexpr Question<Id, OwnPoint, OwnPoint, Id, GradientQuery> tree_difference{
    "tree_difference",
    {"tree", "point", "previous", "batch", "query"},
    "vector: the sum so far, with the tree's noise",
    "adds the mean of the clipped differences"};
inline constexpr Question<Id> tree_leaves{
    "tree_leaves", {"tree"}, "integer", "queries of this sum"};

// Running Hessians, which stay with the curator:
inline constexpr Question<Id, HessianMode> hessian_stream{"hessian_stream",
                                                          {"curator", "mode"},
                                                          "handle: Hessian stream",
                                                          "opens an empty sum of Hessians"};
inline constexpr Question<Id> hessian_stream_copy{
    "hessian_stream_copy", {"stream"}, "handle: Hessian stream", "a copy that goes on by itself"};
inline constexpr Question<Id, OwnPoint, Id, double> hessian_stream_refresh{
    "hessian_stream_refresh",
    {"stream", "point", "batch", "limit"},
    "",
    "begins anew with the Hessians at a point, each weighed to operator norm `limit`"};
inline constexpr Question<Id, OwnPoint, OwnPoint, Id, double> hessian_stream_add{
    "hessian_stream_add",
    {"stream", "point", "previous", "batch", "limit"},
    "",
    "adds differences of Hessians at two points, weighed to `limit`"};
inline constexpr Question<Id> hessian_stream_groups{
    "hessian_stream_groups", {"stream"}, "integer", "batches in the sum"};
inline constexpr Question<Id, Vector, double> hessian_stream_product{
    "hessian_stream_product",
    {"stream", "v", "standard_deviation"},
    "vector: the sum times v, with noise",
    "the standard deviation is per coordinate"};

// Selections:
inline constexpr Question<Id, Id, StationaritySpec> stationarity_test{
    "stationarity_test",
    {"curator", "batch", "spec"},
    "handle: test",
    "opens AboveThreshold on stationarity over a public batch, and charges it"};
inline constexpr Question<Id, Vector> stationarity_accepts{
    "stationarity_accepts", {"test", "x"}, "boolean", "whether x passes; the first yes ends it"};
inline constexpr Question<Id> stationarity_sensitivity{
    "stationarity_sensitivity", {"test"}, "number", "of the scalar that is compared"};
inline constexpr Question<Id> stationarity_questions{
    "stationarity_questions", {"test"}, "integer", "points that were asked"};
inline constexpr Question<Id, Id, Vector, LineSearchSpec> line_search{
    "line_search",
    {"curator", "batch", "from", "spec"},
    "handle: line search",
    "opens AboveThreshold on decreases of the loss from one point, and charges it"};
inline constexpr Question<Id, Vector, double> line_search_decreases{
    "line_search_decreases",
    {"search", "to", "decrease"},
    "boolean",
    "whether the loss falls by at least `decrease`; the first yes ends it"};
inline constexpr Question<Id> line_search_sensitivity{
    "line_search_sensitivity", {"search"}, "number", "of the mean loss difference"};
inline constexpr Question<Id> line_search_questions{
    "line_search_questions", {"search"}, "integer", "points that were asked"};

// Exponential mechanisms and samplers:
inline constexpr Question<Id, Id> exponential{
    "exponential",
    {"curator", "batch"},
    "handle: mechanism",
    "scores are mean losses over a public batch; each choice is charged its epsilon"};
inline constexpr Question<Id, double, double> exponential_range{
    "exponential_range",
    {"mechanism", "lipschitz", "reach"},
    "number",
    "of scores within `reach` of the centre"};
inline constexpr Question<Id, ProductGrid, double> exponential_grid_range{
    "exponential_grid_range",
    {"mechanism", "grid", "coordinate_lipschitz"},
    "number",
    "of scores on a product grid"};
inline constexpr Question<Id, double, double> exponential_vertex_range{
    "exponential_vertex_range",
    {"mechanism", "gradient_limit", "diameter"},
    "number",
    "of linear scores of vertices"};
inline constexpr Question<Id, Matrix, Vector, double, double> exponential_choose{
    "exponential_choose",
    {"mechanism", "points", "centre", "lipschitz", "epsilon"},
    "integer: column of the chosen point",
    "chooses a column of `points` by its loss"};
inline constexpr Question<Id, Net, double, double> exponential_choose_net{
    "exponential_choose_net",
    {"mechanism", "net", "lipschitz", "epsilon"},
    "integer: index of the point; vector: the point",
    "chooses a point of a net by its loss"};
inline constexpr Question<Id, ProductGrid, double, double> exponential_choose_grid{
    "exponential_choose_grid",
    {"mechanism", "grid", "coordinate_lipschitz", "epsilon"},
    "vector: the point",
    "chooses a point of a product grid by a separable loss"};
inline constexpr Question<Id, Matrix, Vector, double, double> exponential_choose_vertex{
    "exponential_choose_vertex",
    {"mechanism", "vertices", "point", "gradient_limit", "epsilon"},
    "integer: column of the vertex",
    "chooses a vertex by its product with the gradient at `point`"};
inline constexpr Question<Id, double, Vector, double, double> exponential_choose_l1_vertex{
    "exponential_choose_l1_vertex",
    {"mechanism", "radius", "point", "gradient_limit", "epsilon"},
    "integer: 2j for +radius of coordinate j, 2j + 1 for −radius",
    "the same for the vertices of an l1 ball"};
inline constexpr Question<Id, Id, GibbsSpec> gibbs{
    "gibbs", {"curator", "batch", "spec"}, "handle: sampler", "opens a sampler of exp(−beta F)"};
inline constexpr Question<Id> gibbs_epsilon{
    "gibbs_epsilon", {"sampler"}, "number", "epsilon of one draw"};
inline constexpr Question<Id> gibbs_sample{"gibbs_sample", {"sampler"}, "vector", "one draw"};

}  // namespace question

/// A part as MessagePack has it.
struct PartText {
  std::string name, kind, meaning;
};
struct QuestionText {
  std::string_view name;
  std::vector<PartText> parts;
  std::string_view answer, meaning;
};
/// Every question, in the order of this file, but `drop_...`, of which each handle has one.
const std::vector<QuestionText>& all_questions();

/// `docs/protocol.md`: a line for every question. A function of the code alone.
std::string protocol_table();
/// The page of `./run site`: the messages of a run, every question with its parts and its answer.
std::string protocol_page();

}  // namespace dpsosp::wire
