// SPDX-License-Identifier: Apache-2.0
#include "toml_reader.hpp"

#include <cmath>

#include <fmt/format.h>

namespace dpsosp {
namespace {

std::string place(const std::string& source, const toml::source_region& region) {
  return fmt::format("{}:{}", source, region.begin.line);
}

std::string shown(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& n) { text << n; });
  return text.str();
}

}  // namespace

void TomlNode::fail(const std::string& what) const {
  throw InputError(fmt::format("{}: {}", place(*source_, node_->source()), what));
}

TomlTable TomlNode::table() const {
  if (!node_->is_table()) fail(fmt::format("{} is no table", shown(*node_)));
  return {*node_->as_table(), *source_};
}

std::vector<TomlNode> TomlNode::array() const {
  if (!node_->is_array()) fail(fmt::format("{}, expected an array", shown(*node_)));
  std::vector<TomlNode> items;
  for (const toml::node& item : *node_->as_array()) items.emplace_back(item, *source_);
  return items;
}

std::string TomlNode::text() const {
  if (!node_->is_string()) fail(fmt::format("{}, expected text in quotes", shown(*node_)));
  return node_->as_string()->get();
}

double TomlNode::number() const {
  const auto value = node_->is_number() ? node_->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value))
    fail(fmt::format("{}, expected a finite number", shown(*node_)));
  return *value;
}

std::int64_t TomlNode::integer(std::int64_t least) const {
  const double value = number();
  if (value != std::floor(value) || value < static_cast<double>(least) || std::abs(value) > 0x1p62)
    fail(fmt::format("{}, expected an integer >= {}", shown(*node_), least));
  return node_->is_integer() ? node_->as_integer()->get() : static_cast<std::int64_t>(value);
}

nlohmann::json TomlNode::scalar() const {
  if (node_->is_string()) return text();
  if (node_->is_boolean()) return node_->as_boolean()->get();
  if (node_->is_integer()) return node_->as_integer()->get();
  if (node_->is_floating_point()) return number();
  fail(fmt::format("{}, expected text, a number or a boolean", shown(*node_)));
}

TomlNode TomlTable::at(std::string_view name) const {
  if (const toml::node* node = table_->get(name)) return {*node, *source_};
  throw InputError(fmt::format("{}: {} is missing", place(*source_, table_->source()), name));
}

std::vector<std::pair<std::string, TomlNode>> TomlTable::entries() const {
  std::vector<std::pair<std::string, TomlNode>> all;
  for (const auto& [name, node] : *table_)
    all.emplace_back(std::string(name.str()), TomlNode(node, *source_));
  return all;
}

void TomlTable::allow(const std::vector<std::string>& names) const {
  for (const auto& [name, node] : entries())
    if (std::find(names.begin(), names.end(), name) == names.end())
      node.checked([&, &word = name] { reject_unknown("name", word, names); });
}

TomlDocument::TomlDocument(std::string_view text, std::string source) : source_(std::move(source)) {
  try {
    table_ = toml::parse(text, source_);
  } catch (const toml::parse_error& e) {
    throw InputError(fmt::format("{}: {}", place(source_, e.source()), e.description()));
  }
}

}  // namespace dpsosp
