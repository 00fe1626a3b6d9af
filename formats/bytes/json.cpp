// SPDX-License-Identifier: Apache-2.0
// simdjson checks the grammar and the UTF-8, but its values are gone once the walk is past them.
// So one walk writes each value as a node, in pre-order, with its offset and the node after all
// that is in it: an object is skipped in one step. A key is a string node before its value, and
// all strings lie unescaped in one text. Whoever takes one member at a time has the nodes cleared
// before each, so memory is that of the text, of simdjson's index of it and of the largest
// member.
//
// Where no key may come twice, up to 8 of an object are compared one by one and more in a table,
// so that time stays linear. An integer beyond 64 bits is kept as a real. The text must be one
// object or array with nothing behind it, of less than 4 GiB, as offsets take 32 bits. A fault
// ends the document with an Error; only then is the text searched for the byte that is no UTF-8.

#include "formats/bytes/json.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <bit>
#include <limits>
#include <span>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kFewKeys = 8;  // up to here a linear search beats a table

std::string_view name(Json::Kind kind) {
  constexpr std::array<std::string_view, 7> kNames = {
      "null", "true or false", "an integer", "a real", "a string", "an array", "an object"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// Offset of the first byte that is not part of valid UTF-8. REQUIRES that there is one.
std::size_t first_invalid(std::string_view text) {
  std::size_t good = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    if (simdjson::validate_utf8(text.substr(good, end - good))) {
      good = end;
    } else if (end - good >= 4) {
      return good;
    }
  }
  return good;
}

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

/// Gives the text the room behind it that simdjson reads into.
void pad(std::string& text, const std::string& file, std::uint64_t base) {
  static_cast<void>(checked_cast<std::uint32_t>(text.size()));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw Error("JSON text was expected, found nothing", {file, base, {}});
  }
  text.reserve(checked_add(text.size(), kJsonPadding));
}

}  // namespace

/// Walks simdjson's values once and writes the flat tree.
class JsonBuilder {
 public:
  /// REQUIRES that the text is padded.
  JsonBuilder(JsonDocument& document, const std::string& text, Duplicates duplicates)
      : document_(document), text_(text), duplicates_(duplicates) {}

  void build() {
    walk([&](Value root) { value(root, 0); });
  }

  void visit_members(const std::function<void(const JsonMember&)>& visit) {
    walk([&](Value root) {
      for_each_field(root, 0, [&](simdjson::ondemand::field& field) {
        document_.nodes_.clear();
        document_.strings_.clear();
        add_key(field);
        value(field.value(), 1);
        visit({document_.string_of(document_.nodes_[0]), Json(document_, 1)});
      });
    });
  }

 private:
  using Tag = JsonDocument::Tag;
  using Value = simdjson::ondemand::value;

  /// The keys of an object so far, by their nodes.
  struct Keys {
    std::array<std::uint32_t, kFewKeys> few{};
    std::size_t count = 0;  ///< in `few`; once it is full, all are in `many`
    NameMap<std::uint32_t> many;
  };

  /// The one value of the text, which must be an object or an array.
  template <class Visit>
  void walk(const Visit& visit) {
    simdjson::ondemand::parser parser(text_.size() + simdjson::SIMDJSON_PADDING);
    simdjson::ondemand::document json;
    check(parser.iterate(simdjson::padded_string_view(text_)).get(json), 0);
    bool scalar = false;
    check(json.is_scalar().get(scalar), 0);
    if (scalar) fail("an object or array was expected", 0);
    simdjson::ondemand::value root;
    check(json.get_value().get(root), 0);
    visit(root);
    const char* rest = nullptr;
    if (json.current_location().get(rest) == simdjson::SUCCESS) {
      fail("there is more after the end of the JSON text", at(rest));
    }
  }

  template <class Visit>
  void for_each_field(Value item, std::size_t offset, const Visit& visit) {
    simdjson::ondemand::object members;
    check(item.get_object().get(members), offset);
    for (auto member : members) {
      simdjson::ondemand::field field;
      check(std::move(member).get(field), offset);
      visit(field);
    }
  }

  std::uint32_t add_key(simdjson::ondemand::field& field) {
    const std::size_t key_at = at(field.key().raw()) - 1;
    std::string_view key;
    check(field.unescaped_key().get(key), key_at);
    return add_string(key, key_at);
  }

  std::size_t at(const char* place) const { return static_cast<std::size_t>(place - text_.data()); }

  [[noreturn]] void fail(const std::string& message, std::size_t offset) const {
    throw Error(message,
                {document_.file_, checked_add<std::uint64_t>(document_.base_, offset), {}});
  }

  void check(simdjson::error_code error, std::size_t offset) const {
    if (error != simdjson::SUCCESS) [[unlikely]]
      malformed(error, offset);
  }

  [[noreturn, gnu::cold]] void malformed(simdjson::error_code error, std::size_t offset) const {
    if (error == simdjson::UTF8_ERROR) {
      fail("bytes that are not UTF-8 in JSON text", first_invalid(text_));
    }
    std::string reason = simdjson::error_message(error);
    while (reason.ends_with('.')) reason.pop_back();
    fail("malformed JSON: " + reason, offset);
  }

  std::uint32_t add(Tag tag, std::size_t offset) {
    const auto index = checked_cast<std::uint32_t>(document_.nodes_.size());
    JsonDocument::Node node;
    node.tag = tag;
    node.at = checked_cast<std::uint32_t>(offset);
    node.next = checked_add<std::uint32_t>(index, 1);
    document_.nodes_.push_back(node);
    return index;
  }

  std::uint32_t add_string(std::string_view text, std::size_t offset) {
    const std::uint32_t index = add(Tag::string, offset);
    document_.nodes_[index].payload = document_.strings_.size();
    document_.nodes_[index].length = checked_cast<std::uint32_t>(text.size());
    document_.strings_.append(text);
    return index;
  }

  void close(std::uint32_t index) {
    document_.nodes_[index].next = checked_cast<std::uint32_t>(document_.nodes_.size());
  }

  // Recursion is at most kMaxJsonDepth deep.
  void value(Value item, int depth) {  // NOLINT(misc-no-recursion)
    const std::size_t offset = at(item.raw_json_token().data());
    if (depth >= kMaxJsonDepth)
      fail(fmt::format("nested deeper than {} levels", kMaxJsonDepth), offset);
    simdjson::ondemand::json_type type{};
    check(item.type().get(type), offset);
    switch (type) {
      case simdjson::ondemand::json_type::object:
        return object(item, offset, depth);
      case simdjson::ondemand::json_type::array:
        return array(item, offset, depth);
      case simdjson::ondemand::json_type::number:
        return number(item, offset);
      case simdjson::ondemand::json_type::string: {
        std::string_view text;
        check(item.get_string().get(text), offset);
        add_string(text, offset);
        return;
      }
      case simdjson::ondemand::json_type::boolean: {
        bool truth = false;
        check(item.get_bool().get(truth), offset);
        document_.nodes_[add(Tag::boolean, offset)].payload = truth ? 1 : 0;
        return;
      }
      case simdjson::ondemand::json_type::null: {
        bool null = false;
        check(item.is_null().get(null), offset);
        if (!null) fail("malformed JSON: an unknown word", offset);
        add(Tag::null, offset);
        return;
      }
    }
    fail("malformed JSON: an unknown value", offset);
  }

  void object(Value item, std::size_t offset, int depth) {  // NOLINT(misc-no-recursion)
    const std::uint32_t index = add(Tag::object, offset);
    Keys keys;
    for_each_field(item, offset, [&](simdjson::ondemand::field& field) {
      const std::uint32_t node = add_key(field);
      if (duplicates_ == Duplicates::refuse) see_key(node, keys);
      value(field.value(), depth + 1);
    });
    close(index);
  }

  void see_key(std::uint32_t node, Keys& keys) {
    const std::string_view key = document_.string_of(document_.nodes_[node]);
    const auto refuse = [&](std::uint32_t first) {
      fail(fmt::format("duplicate key '{}', first at 0x{:x}", key,
                       checked_add<std::uint64_t>(document_.base_, document_.nodes_[first].at)),
           document_.nodes_[node].at);
    };
    if (keys.count < kFewKeys) {
      const auto seen = std::span(keys.few).first(keys.count);
      for (const std::uint32_t other : seen) {
        if (document_.string_of(document_.nodes_[other]) == key) refuse(other);
      }
      keys.few.at(keys.count++) = node;
      if (keys.count < kFewKeys) return;
      for (const std::uint32_t other : keys.few) {
        keys.many.emplace(document_.string_of(document_.nodes_[other]), other);
      }
      return;
    }
    const auto [known, is_new] = keys.many.emplace(key, node);
    if (!is_new) refuse(known->second);
  }

  void array(Value item, std::size_t offset, int depth) {  // NOLINT(misc-no-recursion)
    const std::uint32_t index = add(Tag::array, offset);
    simdjson::ondemand::array items;
    check(item.get_array().get(items), offset);
    for (auto element : items) {
      Value next;
      check(std::move(element).get(next), offset);
      value(next, depth + 1);
    }
    close(index);
  }

  void number(Value item, std::size_t offset) {
    const bool negative = text_.data()[offset] == '-';
    simdjson::ondemand::number parsed;
    if (item.get_number().get(parsed) != simdjson::SUCCESS) {
      double real = 0;  // more digits than 64 bits hold
      check(item.get_double().get(real), offset);
      document_.nodes_[add(Tag::real, offset)].payload = std::bit_cast<std::uint64_t>(real);
    } else if (parsed.is_double()) {
      document_.nodes_[add(Tag::real, offset)].payload =
          std::bit_cast<std::uint64_t>(parsed.get_double());
    } else {
      const std::uint64_t bits =
          parsed.is_uint64() ? parsed.get_uint64() : static_cast<std::uint64_t>(parsed.get_int64());
      document_.nodes_[add(negative ? Tag::negative : Tag::positive, offset)].payload = bits;
    }
  }

  JsonDocument& document_;
  const std::string& text_;
  Duplicates duplicates_;
};

JsonDocument::JsonDocument(std::string text, std::string file, std::uint64_t base,
                           Duplicates duplicates)
    : file_(std::move(file)), base_(base) {
  pad(text, file_, base_);
  JsonBuilder(*this, text, duplicates).build();
}

void for_each_member(std::string text, std::string file, std::uint64_t base,
                     const std::function<void(const JsonMember&)>& visit) {
  JsonDocument document(std::move(file), base);
  pad(text, document.file_, base);
  JsonBuilder(document, text, Duplicates::keep).visit_members(visit);
}

std::uint64_t Json::offset() const {
  return checked_add<std::uint64_t>(document_->base_, document_->nodes_[node_].at);
}

Where Json::where() const { return {document_->file_, offset(), {}}; }

void Json::fail(const std::string& message, std::string_view object) const {
  throw Error(message, {document_->file_, offset(), std::string(object)});
}

namespace {

void must_be(const Json& value, bool good, std::string_view wanted) {
  if (!good) value.fail(fmt::format("{} was expected, found {}", wanted, name(value.kind())));
}

}  // namespace

bool Json::boolean() const {
  must_be(*this, is(Kind::boolean), "true or false");
  return document_->nodes_[node_].payload != 0;
}

std::int64_t Json::integer() const {
  must_be(*this, is(Kind::integer), "an integer");
  const JsonDocument::Node& node = document_->nodes_[node_];
  if (node.tag == JsonDocument::Tag::positive &&
      node.payload > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    fail("number does not fit a signed 64-bit integer");
  }
  return static_cast<std::int64_t>(node.payload);
}

std::uint64_t Json::natural() const {
  must_be(*this, is(Kind::integer), "an unsigned integer");
  const JsonDocument::Node& node = document_->nodes_[node_];
  if (node.tag == JsonDocument::Tag::negative)
    fail("an unsigned integer was expected, found a sign");
  return node.payload;
}

double Json::number() const {
  must_be(*this, is(Kind::integer) || is(Kind::real), "a number");
  const JsonDocument::Node& node = document_->nodes_[node_];
  if (node.tag == JsonDocument::Tag::real) return std::bit_cast<double>(node.payload);
  if (node.tag == JsonDocument::Tag::positive) return static_cast<double>(node.payload);
  return static_cast<double>(static_cast<std::int64_t>(node.payload));
}

std::string_view Json::string() const {
  must_be(*this, is(Kind::string), "a string");
  return document_->string_of(document_->nodes_[node_]);
}

JsonRange<JsonMember> Json::members() const {
  must_be(*this, is(Kind::object), "an object");
  return {*document_, node_};
}

JsonRange<Json> Json::items() const {
  must_be(*this, is(Kind::array), "an array");
  return {*document_, node_};
}

std::optional<Json> Json::find(std::string_view key) const {
  if (!is(Kind::object)) return std::nullopt;
  for (const auto& [name, value] : members()) {
    if (name == key) return value;
  }
  return std::nullopt;
}

}  // namespace ttcheck::formats
