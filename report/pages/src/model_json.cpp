// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

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
double rounded(double v, int digits) { return std::stod(fmt::format("{:.{}g}", v, digits)); }
constexpr int most_digits = 8, digits_of_a_curve = 6;

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
      const bool is_text = std::same_as<Member, Content> && value.is_string();  // "" is no dash
      if (std::same_as<Member, double> || is_text || (!says_nothing && value != *standard))
        object[std::string(name)] = std::move(value);
      ++standard;
    });
    return object;
  } else if constexpr (std::same_as<T, double>) {
    return std::isfinite(v) ? json(rounded(v, most_digits)) : json();
  } else if constexpr (WithWords<T>) {
    return word_of(v);
  } else if constexpr (Optional<T>) {
    return v ? written(*v) : json();
  } else if constexpr (std::same_as<T, std::vector<double>>) {
    json list = json::array();
    for (const double entry : v)
      list.push_back(std::isfinite(entry) ? json(rounded(entry, digits_of_a_curve)) : json());
    return list;
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

/// "ClaimPage", as in a schema.
template <class T>
std::string name_of() {
  const std::string_view whole = __PRETTY_FUNCTION__;
  const std::string_view type = whole.substr(0, whole.find_first_of("];", whole.find("T = ")));
  return std::string(type.substr(type.rfind(':') + 1));
}

// Schemas in the words of JSON Schema. No templates, which would be compiled for each type.
json of_type(const char* type) { return {{"type", type}}; }
json entries_of(const char* type, const char* keyword, json schema) {
  json of = of_type(type);
  of[keyword] = std::move(schema);
  return of;
}
json any_of(std::vector<json> schemas) { return {{"anyOf", std::move(schemas)}}; }
json object_of(json members, json required) {
  json of = entries_of("object", "properties", std::move(members));
  of["required"] = std::move(required);
  of["additionalProperties"] = false;
  return of;
}

class Schema {
 public:
  template <class T>
  json of() {
    if constexpr (Listed<T>) {
      const std::string name = name_of<T>();
      if (!definitions.contains(name)) definitions[name] = object<T>();
      return {{"$ref", "#/$defs/" + name}};
    } else if constexpr (std::same_as<T, double>) {
      return {{"type", std::vector<json>{"number", "null"}}};
    } else if constexpr (WithWords<T>) {
      std::vector<json> words;
      for (const auto& [value, word] : words_of(T{}).list) words.emplace_back(word);
      return entries_of("string", "enum", std::move(words));
    } else if constexpr (Optional<T>) {
      return any_of({of_type("null"), of<typename T::value_type>()});
    } else if constexpr (List<T>) {
      return entries_of("array", "items", of<typename T::value_type>());
    } else if constexpr (is_pair<T>) {
      return entries_of(
          "array", "prefixItems",
          std::vector<json>{of<typename T::first_type>(), of<typename T::second_type>()});
    } else if constexpr (TextTable<T>) {
      return entries_of("object", "additionalProperties", of<typename T::mapped_type>());
    } else if constexpr (std::same_as<T, Content>) {
      return any_of({of_type("null"), of_type("string"), of<plots::Number>(), of<plots::Spread>()});
    } else {
      return of_type(std::same_as<T, bool> ? "boolean" : std::integral<T> ? "integer" : "string");
    }
  }

  json definitions = json::object();

 private:
  template <class T>
  json object() {
    json members = json::object(), required = json::array();
    auto standard = standard_members<T>().begin();
    const T standard_model{};
    for_each_member(standard_model, [&]<class Member>(std::string_view name, const Member&) {
      json& schema = members[std::string(name)] = of<Member>();
      schema["default"] = *standard++;
      if (std::same_as<Member, double>) required.push_back(name);
    });
    return object_of(std::move(members), std::move(required));
  }
};

}  // namespace

template <class Page>
json model_json(const Page& page) {
  return written(page);
}
template <class Page>
std::string model_kind(const Page&) {
  return name_of<Page>();
}

template <class... Pages>
json schema_of() {
  Schema schema;
  (schema.of<Pages>(), ...);
  return schema.definitions;
}
json model_schema() {
  return schema_of<SiteFile, IndexPage, ClaimsPage, ClaimPage, ExhibitPage, PaperPage,
                   AlgorithmPage, AlgorithmsPage, ProblemPage, ProblemsPage, WhichPage, TextPage>();
}

#define DPSOSP_WRITTEN(Page)             \
  template json model_json(const Page&); \
  template std::string model_kind(const Page&)
DPSOSP_WRITTEN(SiteFile);
DPSOSP_WRITTEN(IndexPage);
DPSOSP_WRITTEN(ClaimsPage);
DPSOSP_WRITTEN(ClaimPage);
DPSOSP_WRITTEN(ExhibitPage);
DPSOSP_WRITTEN(PaperPage);
DPSOSP_WRITTEN(AlgorithmPage);
DPSOSP_WRITTEN(AlgorithmsPage);
DPSOSP_WRITTEN(ProblemPage);
DPSOSP_WRITTEN(ProblemsPage);
DPSOSP_WRITTEN(WhichPage);
DPSOSP_WRITTEN(TextPage);

}  // namespace dpsosp::report
