// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"

/// Small readers with which the tests check what the back ends wrote.
namespace dpsosp::plots {

/// The message of the InputError that `action` throws; empty if it throws none.
std::string message_of(const auto& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::size_t count_of(std::string_view text, std::string_view part);

/// What is wrong with the nesting of tags, the quoting of attributes or the entities of HTML or
/// XML; empty if nothing is.
std::string markup_fault(std::string_view text);

/// The values of all attributes of that name, entities left as they are.
std::vector<std::string> attributes(std::string_view text, std::string_view name);

/// What is wrong with the braces, the $ signs or a raw special character of LaTeX; empty if
/// nothing is.
std::string latex_fault(std::string_view text);

/// RFC 4180: rows of fields.
std::vector<std::vector<std::string>> read_csv(std::string_view text);

}  // namespace dpsosp::plots
