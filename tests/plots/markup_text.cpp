// SPDX-License-Identifier: Apache-2.0
#include "markup_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dpsosp::plots {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string markup_fault(std::string_view text) {
  static constexpr std::array void_tags = std::to_array<std::string_view>(
      {"meta", "link", "img", "col", "br", "wbr", "input", "!DOCTYPE", "?xml"});
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') {
      const auto end = text.find(';', i);
      if (end == std::string_view::npos || end - i > 8)
        return "a bare & at " + std::string(text.substr(i, 20));
    }
    if (text[i] != '<') continue;
    const auto name_end = text.find_first_of(" \n>/", i + 2);
    std::string name(text.substr(i + 1, name_end - i - 1));
    char quote = 0;
    std::size_t end = i + 1;
    for (; end < text.size() && (quote != 0 || text[end] != '>'); ++end) {
      if (quote == 0 && text[end] == '<') return "< inside the tag " + name;
      if (quote == 0 && (text[end] == '"' || text[end] == '\'')) {
        quote = text[end];
      } else if (text[end] == quote) {
        quote = 0;
      }
    }
    if (end >= text.size()) return "the tag " + name + " does not end";
    const bool closes_itself = text[end - 1] == '/';
    if (name[0] == '/') {
      if (open.empty() || open.back() != name.substr(1)) return name + " closes nothing";
      open.pop_back();
    } else if (!closes_itself && std::ranges::find(void_tags, name) == void_tags.end()) {
      open.push_back(name);
    }
    i = end;
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

std::vector<std::string> attributes(std::string_view text, std::string_view name) {
  std::vector<std::string> values;
  const std::string key = fmt::format(" {}=\"", name);
  for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const auto begin = at + key.size();
    values.emplace_back(text.substr(begin, text.find('"', begin) - begin));
  }
  return values;
}

std::string latex_fault(std::string_view text) {
  int depth = 0;
  bool math = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '\\':
        ++i;
        break;
      case '{':
        ++depth;
        break;
      case '}':
        if (--depth < 0) return "} closes nothing";
        break;
      case '$':
        math = !math;
        break;
      case '#':
      case '<':
      case '>':
      case '"':
        return std::string("a raw ") + text[i];
      case '_':
      case '^':
        if (!math) return std::string("a raw ") + text[i];
        break;
      default:
        break;
    }
  }
  if (depth != 0) return "{ is not closed";
  return math ? "$ is not closed" : "";
}

std::vector<std::vector<std::string>> read_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.push_back(std::move(field));
      field.clear();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      row.push_back(std::move(field));
      field.clear();
      rows.push_back(std::move(row));
      row.clear();
      ++i;
    } else {
      field += c;
    }
  }
  return rows;
}

}  // namespace dpsosp::plots
