// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace dpsosp {

template <class Struct, class Value>
struct Member {
  std::string_view name;
  Value Struct::*pointer;
};
template <class Struct, class Value>
constexpr Member<Struct, Value> member(std::string_view name, Value Struct::*pointer) {
  return {name, pointer};
}

/// A struct whose members are listed by DPSOSP_MEMBERS. One list serves every reader and writer:
/// of messages, of JSON, of tables.
template <class T>
concept Listed = requires(const T* of) {
  members_of(of);
};

template <Listed T>
inline constexpr std::size_t member_count =
    std::tuple_size_v<decltype(members_of(std::declval<const T*>()))>;

/// Calls visit(name, member) for every member of `object`, which may be const, in the list's order.
template <class T, class Visit>
constexpr void for_each_member(T& object, Visit&& visit) {
  constexpr const T* of = nullptr;
  std::apply([&](const auto&... m) { (visit(m.name, object.*m.pointer), ...); }, members_of(of));
}

}  // namespace dpsosp

/// Lists the members of a struct, in its namespace, as in DPSOSP_MEMBERS(Domain, kind, radius). A
/// list that lacks a member does not compile.
// clang-format off
#define DPSOSP_MEMBERS(Struct, ...)                                             \
  [[maybe_unused]] constexpr auto members_of(const Struct*) {                   \
    _Pragma("GCC diagnostic push")                                              \
    _Pragma("GCC diagnostic ignored \"-Wshadow\"")                              \
    [[maybe_unused]] constexpr auto all_are_listed = [](const Struct& object) { \
      [[maybe_unused]] const auto& [__VA_ARGS__] = object;                      \
    };                                                                          \
    _Pragma("GCC diagnostic pop")                                               \
    return std::tuple{DPSOSP_REPEAT(DPSOSP_LIST(Struct, __VA_ARGS__))};         \
  }                                                                             \
  static_assert(::dpsosp::Listed<Struct>)
// clang-format on

// The preprocessor has no loop: a macro that names itself is expanded again by each rescan, here as
// often as a list of 48 members needs.
#define DPSOSP_LIST(Struct, name, ...)   \
  ::dpsosp::member(#name, &Struct::name) \
      __VA_OPT__(, DPSOSP_LIST_REST DPSOSP_NONE(Struct, __VA_ARGS__))
#define DPSOSP_LIST_REST() DPSOSP_LIST
#define DPSOSP_NONE ()
#define DPSOSP_REPEAT(...) DPSOSP_REPEAT_16(DPSOSP_REPEAT_16(DPSOSP_REPEAT_16(__VA_ARGS__)))
#define DPSOSP_REPEAT_16(...) \
  DPSOSP_REPEAT_4(DPSOSP_REPEAT_4(DPSOSP_REPEAT_4(DPSOSP_REPEAT_4(__VA_ARGS__))))
#define DPSOSP_REPEAT_4(...) DPSOSP_RESCAN(DPSOSP_RESCAN(DPSOSP_RESCAN(DPSOSP_RESCAN(__VA_ARGS__))))
#define DPSOSP_RESCAN(...) __VA_ARGS__
