#pragma once
// JSON text as a flat tree that remembers where everything stood: strict UTF-8 and grammar, exact
// 64-bit integers, duplicate keys seen, nesting capped.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/source.hpp"

namespace ttcheck::formats {

class JsonDocument;

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
  std::uint64_t natural() const;    ///< no sign at all, so not `-0` either
  double number() const;            ///< an integer or a real
  std::string_view string() const;  ///< unescaped; lives as long as the document
  std::vector<std::pair<std::string_view, Json>> members()
      const;  ///< in file order, with duplicates
  std::vector<Json> items() const;

  /// The first member of that name; nothing when there is none or this is no object.
  std::optional<Json> find(std::string_view key) const;

  [[noreturn]] void fail(const std::string& message, std::string_view object = {}) const;

 private:
  friend class JsonDocument;
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

  enum class Tag : std::uint8_t { null, boolean, positive, negative, real, string, array, object };
  struct Node {
    Tag tag = Tag::null;
    std::uint32_t next = 0;     ///< node after this value and all that is in it
    std::uint32_t at = 0;       ///< offset in the text
    std::uint32_t length = 0;   ///< of a string
    std::uint64_t payload = 0;  ///< number's bits, or a string's place in strings_
  };

  std::string_view string_of(const Node& node) const;

  std::string file_;
  std::uint64_t base_;
  std::vector<Node> nodes_;  ///< pre-order; a member is a string node, then its value
  std::string strings_;
};

inline constexpr int kMaxJsonDepth = 64;

}  // namespace ttcheck::formats
