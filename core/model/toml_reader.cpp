// SPDX-License-Identifier: Apache-2.0
#include "core/model/toml_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "core/model/toml_text.hpp"

namespace ttcheck {

std::string_view TomlReader::line_at(const toml::source_position& at) const {
  std::string_view line = text_;
  for (toml::source_index i = 1; i < at.line && !line.empty(); ++i) {
    const std::size_t end = line.find('\n');
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return line.substr(0, line.find_first_of("\r\n"));
}

void TomlReader::fail(const toml::source_position& at, std::string_view what,
                      std::size_t more) const {
  const std::string_view line = line_at(at);
  const std::size_t column = at.column > 0 ? at.column - 1 : 0;
  const Error error = caret_error(what, line, column + more);
  throw error.saying(fmt::format("line {}: {}", at.line, error.message()))
      .at({file_, std::nullopt, {}});
}
void TomlReader::fail(const toml::node& node, std::string_view what) const {
  fail(node.source().begin, what);
}

toml::table TomlReader::document() const {
  if (const auto fault = toml_fault(text_)) {
    fail({static_cast<toml::source_index>(fault->line),
          static_cast<toml::source_index>(fault->column)},
         fault->what);
  }
  try {
    return toml::parse(text_);
  } catch (const toml::parse_error& error) {
    fail(error.source().begin, error.description());
  }
}

void TomlReader::keys(const toml::table& table, std::initializer_list<std::string_view> known,
                      std::string_view what) const {
  for (const auto& [key, value] : table) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      fail(key.source().begin,
           fmt::format("{} has no key {}; expected {}", what, key.str(), fmt::join(known, " ")));
    }
  }
}

const toml::table* TomlReader::table(const toml::table& root, std::string_view key) const {
  const toml::node* node = root.get(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) fail(*node, fmt::format("{} must be a table: [{}]", key, key));
  return node->as_table();
}

std::vector<const toml::table*> TomlReader::tables(const toml::table& root,
                                                   std::string_view key) const {
  std::vector<const toml::table*> list;
  const toml::node* node = root.get(key);
  if (node == nullptr) return list;
  const toml::array* array = node->as_array();
  if (array == nullptr) fail(*node, fmt::format("{} must be a list of tables: [[{}]]", key, key));
  for (const toml::node& one : *array) {
    if (!one.is_table()) fail(one, fmt::format("expected a table: [[{}]]", key));
    list.push_back(one.as_table());
  }
  return list;
}

const toml::node& TomlReader::string_node(const toml::table& table, std::string_view key) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) fail(table, fmt::format("{} is missing", key));
  if (!node->is_string()) fail(*node, fmt::format("{} must be a string", key));
  return *node;
}

std::string TomlReader::string(const toml::table& table, std::string_view key) const {
  return string_node(table, key).as_string()->get();
}

std::vector<const toml::node*> TomlReader::string_nodes(const toml::table& table,
                                                        std::string_view key) const {
  std::vector<const toml::node*> list;
  const toml::node* node = table.get(key);
  if (node == nullptr) return list;
  if (!node->is_array()) fail(*node, fmt::format("{} must be a list of strings", key));
  for (const toml::node& one : *node->as_array()) {
    if (!one.is_string()) fail(one, fmt::format("{} holds strings", key));
    list.push_back(&one);
  }
  return list;
}

std::vector<std::string> TomlReader::strings(const toml::table& table, std::string_view key) const {
  std::vector<std::string> list;
  for (const toml::node* one : string_nodes(table, key)) {
    list.push_back(one->as_string()->get());
  }
  return list;
}

std::int64_t TomlReader::line_of(const toml::table& table) {
  return static_cast<std::int64_t>(table.source().begin.line);
}

std::shared_ptr<const Glob> TomlReader::glob(const toml::node& node, char separator) const {
  try {
    return std::make_shared<const Glob>(node.as_string()->get(), separator);
  } catch (const Error& error) {
    fail(node, error.message());
  }
}

void TomlReader::fail_inside(const toml::node& node, const LineError& error) const {
  fail(node.source().begin, error.said(), error.at() + 1);
}

}  // namespace ttcheck
