// SPDX-License-Identifier: Apache-2.0
#pragma once
// A TOML text of ours (layouts, limits), read strictly: keys that the format does not have are
// mistakes, and every error shows the line and a caret under the place.

#include <cstdint>  // toml++'s tables of characters need it and do not include it

// toml++ asserts, or lets the compiler assume, what a text like `[[^x]]` makes false before it
// refuses it.
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/glob.hpp"
#include "core/model/caret.hpp"

namespace ttcheck {

/// Base of a reader of one text. `text` must outlive it; `file` is for messages. Nodes belong to
/// the table that `document` gave.
class TomlReader {
 public:
  TomlReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

 protected:
  toml::table document() const;

  std::string_view line_at(const toml::source_position& at) const;
  static std::int64_t line_of(const toml::table& table);

  /// Throws Error; `more` columns behind the place.
  [[noreturn]] void fail(const toml::source_position& at, std::string_view what,
                         std::size_t more = 0) const;
  [[noreturn]] void fail(const toml::node& node, std::string_view what) const;
  /// The place of a byte of a string: right for strings on one line without escapes.
  [[noreturn]] void fail_inside(const toml::node& node, const LineError& error) const;

  /// Refuses keys that are not `known`; `what` names the table in the message.
  void keys(const toml::table& table, std::initializer_list<std::string_view> known,
            std::string_view what) const;

  const toml::table* table(const toml::table& root, std::string_view key) const;  ///< or null
  std::vector<const toml::table*> tables(const toml::table& root, std::string_view key) const;
  const toml::node& string_node(const toml::table& table, std::string_view key) const;
  std::string string(const toml::table& table, std::string_view key) const;
  /// The strings of a list; none where there is no such key.
  std::vector<const toml::node*> string_nodes(const toml::table& table, std::string_view key) const;
  std::vector<std::string> strings(const toml::table& table, std::string_view key) const;

  /// The glob of a string, with errors at the string.
  std::shared_ptr<const Glob> glob(const toml::node& node, char separator = '.') const;

 private:
  std::string_view text_;
  std::string file_;
};

}  // namespace ttcheck
