// SPDX-License-Identifier: Apache-2.0
// toml++ is compiled here alone. A key that begins with a wrong character fails an assertion of it,
// and is refused in one line right after: so assertions say nothing, and are not assumed either.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_IMPLEMENTATION
#include "dpsosp/experiments/toml_reader.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "dpsosp/core/utf8.hpp"

namespace dpsosp {
namespace {

std::string place(const std::string& source, const toml::source_region& region) {
  return fmt::format("{}:{}", source, region.begin.line);
}

/// The value in one line, cut where it is long.
std::string shown(const toml::node& node) {
  constexpr std::size_t most = 60;
  std::ostringstream text;
  node.visit([&](const auto& n) { text << n; });
  std::string line = text.str();
  std::ranges::replace(line, '\n', ' ');
  return line.size() <= most ? line : line.substr(0, most) + " ...";
}

/// Length of the quotes at the start of the text: 3, 1 or 0.
std::size_t quotes_at(std::string_view text) {
  if (text.starts_with("\"\"\"") || text.starts_with("'''")) return 3;
  return text.starts_with('"') || text.starts_with('\'') ? 1 : 0;
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 128; }

/// The character that the text begins with as \UXXXXXXXX.
std::string escaped(std::string_view character) {
  auto code = static_cast<unsigned>(static_cast<unsigned char>(character[0]));
  code &= 0xFFU >> (character.size() + 1);
  for (const char c : character.substr(1))
    code = code << 6U | (static_cast<unsigned char>(c) & 63U);
  return fmt::format("\\U{:08X}", code);
}

/// The text without what toml++ (3.3 and 3.4) has undefined behaviour for: a character that is not
/// ASCII where it asks whether it is white space. Outside of quotes and comments, and right after a
/// backslash, such a character is refused; after a line that ends in a backslash it is escaped.
std::string without_letters_as_space(std::string_view text, const std::string& source) {
  std::string out;
  std::size_t line = 1;
  std::string_view quotes;  // what ends the string that the place is in
  bool comment = false, joined = false;
  const auto refuse = [&](std::string_view where) {
    throw InputError(
        fmt::format("{}:{}: not TOML: a character that is not ASCII {}", source, line, where));
  };
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // the mark of UTF-8
  for (std::size_t k = 0, taken = 1; k < text.size(); k += taken) {
    const std::string_view rest = text.substr(k);
    const char c = rest[0];
    taken = 1;
    if (!is_ascii(c) && !comment && quotes.empty()) refuse("outside of quotes");
    if (!is_ascii(c) && joined && utf8_character(rest) > 0) {
      taken = utf8_character(rest);
      out += escaped(rest.substr(0, taken));
      joined = false;
      continue;
    }
    joined = joined && (c == ' ' || c == '\t' || c == '\r' || c == '\n');
    if (c == '\n') {
      ++line;
      comment = false;
      if (quotes.size() == 1) quotes = {};  // not closed: the parser says so
    } else if (quotes.empty() && !comment) {
      comment = c == '#';
      quotes = rest.substr(0, quotes_at(rest));
      taken = std::max<std::size_t>(1, quotes.size());
    } else if (c == '\\' && !quotes.empty() && quotes.front() == '"' && rest.size() > 1) {
      if (!is_ascii(rest[1])) refuse("after a backslash");
      joined = rest[1] == '\n' || rest[1] == '\r' || rest[1] == ' ' || rest[1] == '\t';
      if (rest[1] == '\n') ++line;
      taken = 2;
    } else if (!quotes.empty() && rest.starts_with(quotes)) {
      taken = quotes.size();
      quotes = {};
    }
    out += rest.substr(0, taken);
  }
  return out;
}

}  // namespace

void TomlNode::fail(const std::string& what) const {
  throw InputError(fmt::format("{}: {}", place(*source_, node_->source()), what));
}

void TomlNode::refuse(std::string_view expected) const {
  fail(fmt::format("{} = {}, expected {}", name_, shown(*node_), expected));
}

TomlTable TomlNode::table() const {
  if (!node_->is_table()) refuse("a table");
  return {*node_->as_table(), *source_, name_};
}

std::vector<TomlNode> TomlNode::array() const {
  if (node_->is_table() && !node_->as_table()->is_inline())
    fail(fmt::format("[{}] is one table, expected [[{}]]", name_, name_));
  if (!node_->is_array()) refuse("an array [...]");
  std::vector<TomlNode> items;
  for (const toml::node& item : *node_->as_array())
    items.emplace_back(item, *source_, fmt::format("entry {} of {}", items.size() + 1, name_));
  return items;
}

std::string TomlNode::text() const {
  if (!node_->is_string()) refuse("text in quotes");
  return node_->as_string()->get();
}

double TomlNode::number() const {
  const auto value = node_->is_number() ? node_->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value)) refuse("a finite number");
  return *value;
}

bool TomlNode::boolean() const {
  const nlohmann::json value = scalar();
  if (!value.is_boolean()) refuse("true or false");
  return value;
}

std::pair<double, double> TomlNode::range() const {
  if (!is_array()) return {number(), number()};
  const std::vector<TomlNode> ends = array();
  if (ends.size() != 2)
    fail(fmt::format("{} is an array of {}, expected a number or [low, high]", name_, ends.size()));
  if (ends[0].number() > ends[1].number())
    ends[1].refuse(fmt::format("at least the low end, {:g}", ends[0].number()));
  return {ends[0].number(), ends[1].number()};
}

std::int64_t TomlNode::integer(std::int64_t least, std::int64_t most) const {
  const std::optional<double> value = node_->is_number() ? node_->value<double>() : std::nullopt;
  if (!value || *value != std::floor(*value) || *value < static_cast<double>(least))
    refuse(fmt::format("an integer >= {}", least));
  if (*value > static_cast<double>(most)) refuse(fmt::format("an integer <= {}", most));
  return node_->is_integer() ? node_->as_integer()->get() : static_cast<std::int64_t>(*value);
}

nlohmann::json TomlNode::scalar() const {
  if (node_->is_string()) return text();
  if (node_->is_boolean()) return node_->as_boolean()->get();
  if (node_->is_integer()) return node_->as_integer()->get();
  if (node_->is_floating_point()) return number();
  refuse("text, a number or a boolean");
}

TomlNode TomlTable::at(std::string_view name) const {
  if (const toml::node* node = table_->get(name)) return {*node, *source_, std::string(name)};
  throw InputError(fmt::format("{}: {} is missing {}", place(*source_, table_->source()), name,
                               name_.empty() ? "at the top of the file" : "in " + name_));
}

std::vector<std::pair<std::string, TomlNode>> TomlTable::entries() const {
  std::vector<std::pair<std::string, TomlNode>> all;
  for (const auto& [name, node] : *table_) {
    const std::string key(name.str());
    all.emplace_back(key, TomlNode(node, *source_, key));
  }
  return all;
}

void TomlTable::allow(const std::vector<std::string>& names) const {
  for (const auto& [name, node] : entries())
    if (std::ranges::find(names, name) == names.end())
      node.checked([&, &word = name] { reject_unknown("key", word, names); });
}

TomlDocument::TomlDocument(std::string_view text, std::string source) : source_(std::move(source)) {
  const std::string plain = without_letters_as_space(text, source_);
  try {
    table_ = toml::parse(plain, source_);
  } catch (const toml::parse_error& e) {
    throw InputError(fmt::format("{}: not TOML: {}", place(source_, e.source()), e.description()));
  }
}

}  // namespace dpsosp
