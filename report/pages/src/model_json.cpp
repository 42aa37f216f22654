// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "dpsosp/report/site.hpp"
#include "model_members.hpp"

namespace dpsosp::report {
namespace {

using nlohmann::json;

template <class T>
concept WithWords = std::is_enum_v<T>;
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class T>
concept Optional = std::same_as<T, std::optional<typename T::value_type>>;
template <class T>
concept List = std::same_as<T, std::vector<typename T::value_type>>;
template <class T>
concept TextTable = std::same_as<T, std::map<std::string, typename T::mapped_type>>;
using Content = decltype(plots::Cell::content);

bool is_empty(const json& v) {
  return v.is_null() || v == false || v == "" || (v.is_structured() && v.empty());
}

/// To what a page shows; all digits are in the tables as CSV.
double rounded(double v) { return std::stod(fmt::format("{:.8g}", v)); }

template <class T>
json written(const T& v);

/// What the members have where nothing is said of them.
template <class T>
const std::vector<json>& standard_members() {
  static const std::vector<json> all = [] {
    const T standard{};
    std::vector<json> values;
    for_each_member(
        standard, [&](std::string_view, const auto& member) { values.push_back(written(member)); });
    return values;
  }();
  return all;
}

/// What is empty, none or as in a default model has no key, but a real number always has one, and
/// so has what is true in a default model and false here.
template <class T>
json written(const T& v) {
  if constexpr (Listed<T>) {
    json object = json::object();
    auto standard = standard_members<T>().begin();
    for_each_member(v, [&]<class Member>(std::string_view name, const Member& member) {
      json value = written(member);
      const bool says_nothing = is_empty(value) && value != false;
      if (std::same_as<Member, double> || (!says_nothing && value != *standard))
        object[std::string(name)] = std::move(value);
      ++standard;
    });
    return object;
  } else if constexpr (std::same_as<T, double>) {
    return std::isfinite(v) ? json(rounded(v)) : json();
  } else if constexpr (WithWords<T>) {
    return word_of(v);
  } else if constexpr (Optional<T>) {
    return v ? written(*v) : json();
  } else if constexpr (List<T>) {
    json list = json::array();
    for (const auto& entry : v) list.push_back(written(entry));
    return list;
  } else if constexpr (is_pair<T>) {
    return json::array({written(v.first), written(v.second)});
  } else if constexpr (TextTable<T>) {
    json object = json::object();
    for (const auto& [key, entry] : v) object[key] = written(entry);
    return object;
  } else if constexpr (std::same_as<T, Content>) {
    return std::visit([](const auto& content) { return written(content); }, v);
  } else if constexpr (std::same_as<T, std::monostate>) {
    return json();
  } else {
    return v;
  }
}

template <class T>
void read(const json& j, T& v) {
  if constexpr (Listed<T>) {
    for_each_member(v, [&](std::string_view name, auto& member) {
      if (const auto found = j.find(std::string(name)); found != j.end()) read(*found, member);
    });
  } else if constexpr (std::same_as<T, double>) {
    v = j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>();
  } else if constexpr (WithWords<T>) {
    v = from_word<T>(j.get<std::string>());
  } else if constexpr (Optional<T>) {
    read(j, v.emplace());
  } else if constexpr (List<T>) {
    for (const json& entry : j) read(entry, v.emplace_back());
  } else if constexpr (is_pair<T>) {
    read(j.at(0), v.first);
    read(j.at(1), v.second);
  } else if constexpr (TextTable<T>) {
    for (const auto& [key, entry] : j.items()) read(entry, v[key]);
  } else if constexpr (std::same_as<T, Content>) {
    if (j.is_string())
      v = j.get<std::string>();
    else if (j.contains("median"))
      read(j, v.template emplace<plots::Spread>());
    else
      read(j, v.template emplace<plots::Number>());
  } else {
    v = j.get<T>();
  }
}

}  // namespace

template <class Page>
json model_json(const Page& page) {
  return written(page);
}
template <class Page>
Page model_of(const json& j) {
  Page page;
  read(j, page);
  return page;
}

template json model_json(const IndexPage&);
template json model_json(const ClaimsPage&);
template json model_json(const ClaimPage&);
template json model_json(const ExhibitPage&);
template json model_json(const PaperPage&);
template json model_json(const AlgorithmPage&);
template json model_json(const ProblemPage&);
template json model_json(const WhichPage&);
template json model_json(const TextPage&);
template IndexPage model_of(const json&);
template ClaimPage model_of(const json&);
template ExhibitPage model_of(const json&);
template AlgorithmPage model_of(const json&);
template WhichPage model_of(const json&);

}  // namespace dpsosp::report
