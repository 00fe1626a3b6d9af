// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON text as a flat tree that remembers where everything stood: strict UTF-8 and grammar, exact
// 64-bit integers, duplicate keys seen, nesting capped.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/source.hpp"

namespace ttcheck::formats {

class Json;
class JsonDocument;

using JsonMember = std::pair<std::string_view, Json>;  ///< key, value
template <class Item>
class JsonRange;  ///< of Json: the items of an array; of JsonMember: the members of an object

/// One value: a light handle. REQUIRES that its document outlives it.
class Json {
 public:
  enum class Kind : std::uint8_t { null, boolean, integer, real, string, array, object };

  Kind kind() const;
  bool is(Kind wanted) const { return kind() == wanted; }
  std::uint64_t offset() const;  ///< in the file
  Where where() const;

  // Each throws Error (file, offset, what was expected) when the value is something else.
  bool boolean() const;
  std::int64_t integer() const;
  std::uint64_t natural() const;          ///< no sign at all, so not `-0` either
  double number() const;                  ///< an integer or a real
  std::string_view string() const;        ///< unescaped; lives as long as the document
  JsonRange<JsonMember> members() const;  ///< in file order, with duplicates
  JsonRange<Json> items() const;

  /// Finds the first member of that name; nothing when there is none or this is no object.
  std::optional<Json> find(std::string_view key) const;

  [[noreturn]] void fail(const std::string& message, std::string_view object = {}) const;

 private:
  friend class JsonBuilder;
  friend class JsonDocument;
  template <class Item>
  friend class JsonRange;
  Json(const JsonDocument& document, std::uint32_t node) : document_(&document), node_(node) {}

  const JsonDocument* document_;
  std::uint32_t node_;
};

enum class Duplicates : std::uint8_t { refuse, keep };

/// Memory: about 24 bytes a value, plus the text of the strings.
class JsonDocument {
 public:
  /// Parses `text`, whose first byte stands at `base` of `file`. Throws Error with the offset of
  /// what is wrong: grammar, UTF-8, a duplicate key (both places), more than `kMaxJsonDepth`
  /// levels.
  JsonDocument(std::string text, std::string file, std::uint64_t base = 0,
               Duplicates duplicates = Duplicates::refuse);

  Json root() const { return Json(*this, 0); }
  const std::string& file() const { return file_; }

 private:
  friend class Json;
  friend class JsonBuilder;
  friend void for_each_member(std::string text, std::string file, std::uint64_t base,
                              const std::function<void(const JsonMember&)>& visit);
  template <class Item>
  friend class JsonRange;

  enum class Tag : std::uint8_t { null, boolean, positive, negative, real, string, array, object };
  struct Node {
    Tag tag = Tag::null;
    std::uint32_t next = 0;     ///< node after this value and all that is in it
    std::uint32_t at = 0;       ///< offset in the text
    std::uint32_t length = 0;   ///< of a string
    std::uint64_t payload = 0;  ///< number's bits, or a string's place in strings_
  };

  JsonDocument(std::string file, std::uint64_t base) : file_(std::move(file)), base_(base) {}
  std::string_view string_of(const Node& node) const;

  std::string file_;
  std::uint64_t base_;
  std::vector<Node> nodes_;  ///< pre-order; a member is a string node, then its value
  std::string strings_;
};

inline constexpr int kMaxJsonDepth = 64;
inline constexpr std::size_t kJsonPadding = 64;  ///< room behind a text that saves parsing a copy

/// Visits the members of the object that `text` is, duplicates too, in file order. Holds one member
/// at a time: key and value are gone after the call. Throws as JsonDocument does, after the members
/// before the fault were visited.
void for_each_member(std::string text, std::string file, std::uint64_t base,
                     const std::function<void(const JsonMember&)>& visit);

inline std::string_view JsonDocument::string_of(const Node& node) const {
  return std::string_view(strings_).substr(node.payload, node.length);
}

inline Json::Kind Json::kind() const {
  using Tag = JsonDocument::Tag;
  constexpr std::array kKindOfTag = {Kind::null, Kind::boolean, Kind::integer, Kind::integer,
                                     Kind::real, Kind::string,  Kind::array,   Kind::object};
  static_assert(kKindOfTag.size() == static_cast<std::size_t>(Tag::object) + 1);
  return kKindOfTag[static_cast<std::size_t>(document_->nodes_[node_].tag)];
}

template <class Item>
class JsonRange {
 public:
  class Iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Item operator*() const {
      if constexpr (kKeyed) {
        return {document_->string_of(document_->nodes_[node_]), Json(*document_, node_ + 1)};
      } else {
        return Json(*document_, node_);
      }
    }
    Iterator& operator++() {
      node_ = document_->nodes_[node_ + (kKeyed ? 1 : 0)].next;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    friend class JsonRange;
    static constexpr bool kKeyed = std::is_same_v<Item, JsonMember>;
    Iterator(const JsonDocument& document, std::uint32_t node)
        : document_(&document), node_(node) {}
    const JsonDocument* document_ = nullptr;
    std::uint32_t node_ = 0;  ///< of the key, where there is one
  };

  Iterator begin() const { return {document_, first_}; }
  Iterator end() const { return {document_, end_}; }
  std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }

 private:
  friend class Json;
  JsonRange(const JsonDocument& document, std::uint32_t node)
      : document_(document), first_(node + 1), end_(document.nodes_[node].next) {}

  const JsonDocument& document_;
  std::uint32_t first_, end_;
};

}  // namespace ttcheck::formats
