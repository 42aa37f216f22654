// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>

#include "dpsosp/core/errors.hpp"

/// TOML with the errors of this suite: one line that begins with SOURCE:LINE.
namespace dpsosp {

class TomlTable;

class TomlNode {
 public:
  /// \param name  for messages: the key, or "entry 2 of KEY"
  TomlNode(const toml::node& node, const std::string& source, std::string name)
      : node_(&node), source_(&source), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  bool is_table() const { return node_->is_table(); }
  bool is_array() const { return node_->is_array(); }
  TomlTable table() const;              ///< \throws InputError if it is none, as all below
  std::vector<TomlNode> array() const;  ///< tables under one [[name]] too
  std::string text() const;
  double number() const;  ///< finite; an integer or not
  bool boolean() const;
  /// [low, high] with low <= high, or one number, which is both.
  std::pair<double, double> range() const;
  /// Also 1e6.
  std::int64_t integer(std::int64_t least, std::int64_t most = std::int64_t{1} << 62) const;
  nlohmann::json scalar() const;  ///< text, number or boolean

  /// Throws InputError "SOURCE:LINE: WHAT".
  [[noreturn]] void fail(const std::string& what) const;
  /// Throws InputError "SOURCE:LINE: NAME = VALUE, expected EXPECTED".
  [[noreturn]] void refuse(std::string_view expected) const;
  /// Calls f and puts the place before the text of an InputError.
  template <class F>
  auto checked(const F& f) const {
    try {
      return f();
    } catch (const InputError& e) {
      fail(e.what());
    }
  }

 private:
  const toml::node* node_;
  const std::string* source_;
  std::string name_;
};

class TomlTable {
 public:
  /// \param name  for messages; empty: the whole file
  TomlTable(const toml::table& table, const std::string& source, std::string name)
      : table_(&table), source_(&source), name_(std::move(name)) {}

  bool has(std::string_view name) const { return table_->contains(name); }
  /// \throws InputError "SOURCE:LINE: KEY is missing in NAME"
  TomlNode at(std::string_view name) const;
  /// Entries in the order of the names' bytes.
  std::vector<std::pair<std::string, TomlNode>> entries() const;
  /// \throws InputError for any other name, with the nearest of these
  void allow(const std::vector<std::string>& names) const;

 private:
  const toml::table* table_;
  const std::string* source_;
  std::string name_;
};

class TomlDocument {
 public:
  /// \throws InputError with the place if the text is no TOML
  TomlDocument(std::string_view text, std::string source);
  TomlDocument(const TomlDocument&) = delete;
  TomlDocument& operator=(const TomlDocument&) = delete;
  TomlTable root() const { return {table_, source_, ""}; }

 private:
  std::string source_;
  toml::table table_;
};

}  // namespace dpsosp
