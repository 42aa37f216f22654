// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/wire/questions.hpp"

#include <cctype>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dpsosp::wire {
namespace {

/// What the members of structs mean, by the names that DPSOSP_MEMBERS lists; units where they have
/// any.
const std::map<std::string_view, std::string_view>& meanings() {
  static const std::map<std::string_view, std::string_view> all{
      {"kind", "of batch, domain or dual"},
      {"size", "records of `fresh` and `sample`, in [1, n]; else 0"},
      {"rate", "of `poisson`, in (0, 1]; else 0"},
      {"unit", "of the noise's value"},
      {"value",
       "of the noise: standard deviation per coordinate, in units of the sensitivity or of "
       "the query"},
      {"limit", "clip of each record: 0 or in [1e-150, 1e150], in the unit of what is clipped"},
      {"difference_limit", "clip of each record's difference, likewise"},
      {"block", "coordinates that are answered: of x, of a shared dual y, or both"},
      {"rank", "no record's Hessian has a larger one; 0: the dimension"},
      {"count", "queries at most"},
      {"use", "of a batch; secret ones are charged in full for several queries"},
      {"name", "of a child: unique among its siblings"},
      {"share", "of the parent's capacity, in (0, 1]"},
      {"begin", "first record of the child, relative to the parent's"},
      {"end", "after its last record"},
      {"initial_point", "in place of the public start"},
      {"suboptimality", "in place of the public constant"},
      {"pure_share", "of the pure account, in [0, 1]; nil: as `share`"},
      {"delta_extra_share", "of the delta for inexact releases; nil: as `share`"},
      {"pure", "the whole budget of the range for pure mechanisms; needs share = 1"},
      {"map", "of features from R^d to R^k, k rows"},
      {"cap", "longest projected feature, in units of the public bound; > 0"},
      {"epsilon", "of the whole session, > 0"},
      {"gradient_scale", "alpha, > 0; unit of the gradient"},
      {"curvature_scale", "sqrt(rho alpha), > 0; unit of the Hessian"},
      {"gradient_limit", "clip of each record's gradient"},
      {"hessian_limit", "clip of each record's Hessian, operator norm"},
      {"slack", "accept where the scaled scalar is at most about this"},
      {"form", "of the test"},
      {"scales", "of its noise"},
      {"candidates", "of `two_tests`: points that will be asked"},
      {"failure", "of `two_tests`, in (0, 1)"},
      {"loss_limit", "G: a record's loss difference is clamped to G times the distance"},
      {"reach", "largest distance that will be asked"},
      {"radius", "of a domain; 0: everywhere"},
      {"inverse_temperature", "beta, > 0; one over a loss"},
      {"regularizer", "mu >= 0"},
      {"lipschitz", "G: losses are clamped to f(c) + G times the distance"},
      {"method", "of the sampler"},
      {"step", "h of alternating methods"},
      {"rounds", "T of alternating methods"},
      {"sampling_error", "total variation from the law; 0 for rejection"},
      {"centre", "of the grid"},
      {"half_width", "of the grid, in every coordinate"},
      {"cells", "of the grid, in every coordinate"},
  };
  return all;
}

template <class T>
void add_parts(std::vector<PartText>& out, std::string_view name, bool may_be_nil = false);

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

std::string meaning_of(std::string_view name) {
  const auto found = meanings().find(name);
  return found == meanings().end() ? std::string() : std::string(found->second);
}

template <class T>
void add_parts(std::vector<PartText>& out, std::string_view name, bool may_be_nil) {
  const auto add = [&](std::string_view part, std::string kind) {
    if (may_be_nil) kind += " or nil";
    out.push_back({std::string(part), std::move(kind), meaning_of(part)});
  };
  if constexpr (IsOptional<T>::value) {
    add_parts<typename T::value_type>(out, name, true);
  } else if constexpr (requires { words_of(T{}); }) {
    std::vector<std::string> words;
    for (const auto& [value, word] : words_of(T{}).list) words.push_back(fmt::format("`{}`", word));
    add(name, fmt::format("one of {}", fmt::join(words, ", ")));
  } else if constexpr (std::is_same_v<T, std::vector<PlannedQuery>>) {
    add(name, "integer: number of rows, each of");
    add_parts<PlannedQuery>(out, name);
  } else if constexpr (Listed<T>) {
    const T value{};
    for_each_member(value, [&](std::string_view member, const auto& part) {
      add_parts<std::remove_cvref_t<decltype(part)>>(out, member, may_be_nil);
    });
  } else if constexpr (std::is_same_v<T, OwnPoint>) {
    add(fmt::format("{}.x", name), "vector");
    add(fmt::format("{}.y", name), "vector; empty: none, or each record's own maximiser");
  } else if constexpr (std::is_same_v<T, Net>) {
    for (const auto& [part, kind] : {std::pair("ball", "boolean: a ball, else a box"),
                                     {"net centre", "vector"},
                                     {"extent", "number: radius or half width"},
                                     {"net radius", "number: no point is farther from the net"}})
      add(part, kind);
  } else if constexpr (std::is_same_v<T, Matrix>) {
    add(name, "matrix");
  } else if constexpr (std::is_same_v<T, Vector>) {
    add(name, "vector");
  } else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>) {
    add(name, "bytes: words of 64 bits");
  } else if constexpr (std::is_same_v<T, bool>) {
    add(name, "boolean");
  } else if constexpr (std::is_same_v<T, double>) {
    add(name, "number");
  } else if constexpr (std::is_same_v<T, std::string>) {
    add(name, "text");
  } else {
    static_assert(std::is_same_v<T, std::int64_t>);
    const bool handle = name == "curator" || name == "tree" || name == "stream" || name == "test" ||
                        name == "search" || name == "mechanism" || name == "sampler";
    add(name, name == "batch" ? "handle; −1: none" : handle ? "handle" : "integer");
  }
}

/// A part that is no struct is explained by its question; members of structs have meanings.
template <class Part>
void add_part(std::vector<PartText>& out, std::string_view name) {
  const std::size_t first = out.size();
  add_parts<Part>(out, name);
  if constexpr (!Listed<Part> && !std::is_same_v<Part, std::vector<PlannedQuery>>)
    for (std::size_t k = first; k < out.size(); ++k) out[k].meaning.clear();
}

template <class... Parts>
QuestionText text_of(const Question<Parts...>& question) {
  QuestionText text{question.name, {}, question.answer, question.meaning};
  std::size_t k = 0;
  (add_part<Parts>(text.parts, question.parts[k++]), ...);
  return text;
}

/// With a capital letter.
std::string sentence(std::string_view text) {
  std::string out(text);
  out.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(out.front())));
  return out;
}

}  // namespace

const std::vector<QuestionText>& all_questions() {
  using namespace question;
  static const std::vector<QuestionText> all{text_of(noise),
                                             text_of(words),
                                             text_of(normals),
                                             text_of(ball),
                                             text_of(iterate),
                                             text_of(estimate),
                                             text_of(remaining),
                                             text_of(fresh_records),
                                             text_of(label),
                                             text_of(answers_second_order),
                                             text_of(child),
                                             text_of(draw),
                                             text_of(gradient),
                                             text_of(gradient_difference),
                                             text_of(gradient_combination),
                                             text_of(hessian),
                                             text_of(hessian_product),
                                             text_of(tree),
                                             text_of(tree_restart),
                                             text_of(tree_gradient),
                                             text_of(tree_difference),
                                             text_of(tree_leaves),
                                             text_of(hessian_stream),
                                             text_of(hessian_stream_copy),
                                             text_of(hessian_stream_refresh),
                                             text_of(hessian_stream_add),
                                             text_of(hessian_stream_groups),
                                             text_of(hessian_stream_product),
                                             text_of(stationarity_test),
                                             text_of(stationarity_accepts),
                                             text_of(stationarity_sensitivity),
                                             text_of(stationarity_questions),
                                             text_of(line_search),
                                             text_of(line_search_decreases),
                                             text_of(line_search_sensitivity),
                                             text_of(line_search_questions),
                                             text_of(exponential),
                                             text_of(exponential_range),
                                             text_of(exponential_grid_range),
                                             text_of(exponential_vertex_range),
                                             text_of(exponential_choose),
                                             text_of(exponential_choose_net),
                                             text_of(exponential_choose_grid),
                                             text_of(exponential_choose_vertex),
                                             text_of(exponential_choose_l1_vertex),
                                             text_of(gibbs),
                                             text_of(gibbs_epsilon),
                                             text_of(gibbs_sample)};
  return all;
}

std::string protocol_table() {
  std::string page = fmt::format(
      "# The protocol of programs, version {}\n\n"
      "Written by `dpsosp list protocol --document docs` from the code. `./run site` makes the "
      "page "
      "with the messages of a run\nand the parts and answer of every question; `dpsosp list "
      "protocol` prints it.\n\n| question | meaning |\n|---|---|\n",
      version);
  for (const QuestionText& q : all_questions())
    page += fmt::format("| `{}` | {} |\n", q.name, q.meaning);
  return page;
}

std::string protocol_page() {
  std::string page = fmt::format(
      R"(# The protocol of programs, version {}

This page is made from the description that the suite itself is compiled with.
[isolation.md](isolation.md) says what a program is and what it may do; `python/` has it all as a package.

A message travels through a socket, the descriptor that the environment variable `DPSOSP_SOCKET` names; in version 2 it was standard
input. Standard input is empty now, and what is written to standard output and standard error is for people.

A message is its length in bytes (four bytes, lowest first, at most 256 MiB) and a sequence of MessagePack values: a name, then its
parts. Parts are booleans, integers, numbers, texts, nil and bytes; arrays and maps are refused. A vector is bytes of binary64
numbers, lowest byte first. A matrix is two parts: its number of columns, and its entries column by column. A table is its number of
entries, then name and value of each. A handle is an integer that the host gave; the root curator is 0.

## A run
1. The host says `start`: version; key; epsilon, delta, calibrator, variant, schedule, noise rule, noise queries; whether facts were
   changed; the settings that were given (a table of texts); the common noise that is set, or nil; the defaults of the other settings that
   its card declares (a table). Then the public facts: {}; the constants are a table, of which each value is {}.
2. The program may ask `noise`, and answers `ready`: version; calibrator, order or nil, capacity or nil for the whole budget's, pure
   capacity, delta for inexact releases, epsilon alone; alpha, utility, note, excess risk, bound failure; its parameters (a table of texts);
   its plan, as in `noise`. Of these a program needs calibrator and order, as `noise` answered them, its parameters and its plan; nil, 0, `heuristic` and an empty text
   stand for the rest.
3. The host says `run`. The program asks. An answer is `ok` with its parts, or `budget`, `data`, `input` or `unsupported` with a text;
   nothing was charged for a question that is not answered by `ok`.
4. The program says `done`: status (one of {}), steps, point, counts (a table of integers). `failed` with `input` or `exception` and a
   text ends the run as failed. Where the status is `not_finite` the run has failed, too.

A program that speaks another version is refused in one line. A handle is let go by `drop_batch`, `drop_tree`, `drop_hessian_stream`,
`drop_stationarity_test`, `drop_line_search`, `drop_exponential` or `drop_gibbs` with its number, which is not answered.

## Questions
)",
      version,
      "name, d, n, kind of dual, dual dimension, feature bound, domain (kind, radius), dual "
      "domain, initial point, initial dual, separable",
      "number, origin, region, proof, attained", [] {
        std::vector<std::string> words;
        for (const auto& [value, word] : words_of(Status{}).list)
          words.push_back(fmt::format("`{}`", word));
        return fmt::format("{}", fmt::join(words, ", "));
      }());
  for (const QuestionText& q : all_questions()) {
    page += fmt::format("\n### {}\n{}.\n\n| part | is | |\n|---|---|---|\n", q.name,
                        sentence(q.meaning));
    for (const PartText& part : q.parts)
      page += fmt::format("| {} | {} | {} |\n", part.name, part.kind, part.meaning);
    page += fmt::format("\nAnswer: {}.\n", q.answer.empty() ? "`ok`" : q.answer);
  }
  return page;
}

}  // namespace dpsosp::wire
