// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dpsosp {

/// Something that a user may name: "arora-2023/dp-spider", "DP-SPIDER".
struct Named {
  std::string name;
  std::string title{};  ///< for people; may be empty
};

/// The name that `word` stands for: itself, or else the only name which it is, or whose last part
/// after '/' or title it is, without regard to case.
/// \param list  the command that lists the names, "dpsosp list algorithms"; may be empty
/// \throws InputError in one line, with all names where it may be several, with the nearest one or
///         `list` where it is none
std::string resolve_name(std::string_view kind, std::string_view word, std::span<const Named> known,
                         std::string_view list);

}  // namespace dpsosp
