// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pickle as a graph of values. Nothing is imported, called or built: a class is two strings, a
// call is a node that names its callee. Nodes lie in an arena and refer to each other by number, so
// the graph may share and cycle, and taking it apart needs no recursion. Text is kept; byte strings
// stay where they are and are read on demand.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/source.hpp"
#include "formats/bytes/trivial_vector.hpp"

namespace ttcheck::formats {

using NodeId = std::uint32_t;

enum class NodeKind : std::uint8_t {
  none,
  boolean,
  integer,
  big_integer,
  real,
  text,
  bytes,
  list,
  tuple,
  dict,
  set,
  frozen_set,
  global,      ///< a name that a reader would import
  object,      ///< a call or construction, with what was built into it afterwards
  persistent,  ///< a persistent id; its one child is the id
  extension,   ///< a code of the copyreg registry
  buffer,      ///< an out-of-band buffer
};

/// A name that a reader would import. Python 2's module names are given in their Python 3 spelling.
struct Global {
  std::string module;
  std::string name;
  std::uint64_t offset = 0;  ///< of the first opcode that asks for it
  std::uint64_t count = 0;   ///< how often it is asked for
  bool called = false;       ///< the result need not be in the final value
  bool computed = false;     ///< the name was not a constant of the stream
};

/// A byte range of the source.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// How an object came about.
enum class Construction : std::uint8_t { reduce, new_object, instance };

/// Something odd that did not end the reading, with its place.
struct Oddity {
  std::string message;
  std::uint64_t offset = 0;
  bool elsewhere = false;  ///< it stands for a value that no file holds
};

class Value;

/// One pickle. Cheap to move; Values refer to it and must not outlive it.
class Pickle {
 public:
  /// The value at STOP; after a fault, what had been put together until then. Empty when nothing
  /// was.
  Value root() const;
  Value at(NodeId id) const;
  std::size_t node_count() const { return nodes_.size(); }

  std::uint64_t begin() const { return begin_; }  ///< offset of the first opcode
  std::uint64_t end() const { return end_; }      ///< offset behind STOP, or of the fault
  int protocol() const { return protocol_; }
  const std::optional<Error>& fault() const { return fault_; }
  const std::vector<Oddity>& oddities() const { return oddities_; }
  const std::vector<Global>& globals() const { return globals_; }
  const Source& source() const { return *source_; }

 private:
  friend class Value;
  friend class PickleBuilder;

  /// Two words: a large pickle has tens of millions of them.
  struct Node {
    NodeKind kind : 8 = NodeKind::none;
    std::uint64_t offset : 56 = 0;  ///< of the opcode
    /// Bits of a number; index of the list, object, range or global; of a tuple or a text the start
    /// in tuples_ or chars_ above its count.
    std::uint64_t value = 0;

    std::uint32_t start() const { return static_cast<std::uint32_t>(value >> 32); }
    std::uint32_t count() const { return static_cast<std::uint32_t>(value); }
  };
  static_assert(sizeof(Node) == 16);
  struct List {
    std::uint64_t start = 0;  ///< in children_
    std::uint32_t size = 0;
    std::uint32_t room = 0;  ///< kept for it from `start` on
  };
  struct Object {
    Construction how = Construction::reduce;
    NodeId callable = 0, args = 0, kwargs = 0, state = 0;  ///< kNone: absent
    std::uint32_t items = 0, entries = 0;                  ///< lists; 0: none
  };

  std::string_view text(const Node& node) const {
    return std::string_view(chars_).substr(node.start(), node.count());
  }
  std::span<const NodeId> list(std::uint64_t index) const {
    return std::span(children_).subspan(lists_[index].start, lists_[index].size);
  }

  const Source* source_ = nullptr;
  TrivialVector<Node> nodes_;
  TrivialVector<NodeId> tuples_;
  TrivialVector<List> lists_;       ///< lists_[0] stays empty; a dict alternates key, value
  TrivialVector<NodeId> children_;  ///< of lists; one that outgrew its room moved behind the others
  TrivialVector<Object> objects_;
  std::vector<ByteRange> ranges_;
  std::vector<Global> globals_;
  std::vector<Oddity> oddities_;
  std::string chars_;
  std::optional<NodeId> root_;
  std::optional<Error> fault_;
  std::uint64_t begin_ = 0, end_ = 0;
  int protocol_ = 0;
};

/// A node of a pickle, or nothing. Asking for what a node is not gives an empty answer, never an
/// error: readers of hostile graphs ask, they do not assume.
class Value {
 public:
  Value() = default;
  Value(const Pickle& pickle, NodeId id) : pickle_(&pickle), id_(id) {}

  explicit operator bool() const { return pickle_ != nullptr; }
  NodeId id() const { return id_; }
  const Pickle& pickle() const { return *pickle_; }
  NodeKind kind() const;         ///< of an empty Value: none
  std::uint64_t offset() const;  ///< of the opcode that made it
  Where where() const;

  bool is(NodeKind wanted) const { return pickle_ != nullptr && kind() == wanted; }
  bool is_none() const { return is(NodeKind::none); }
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;          ///< a real or an integer
  std::optional<std::string_view> text() const;  ///< also a big integer's decimal digits
  std::optional<ByteRange> bytes() const;
  std::optional<std::uint64_t> extension() const;

  /// The children of a list, tuple, set or persistent id; of a dict key, value, key, value.
  std::span<const NodeId> children() const;
  /// Children of a list, tuple, set or persistent id; pairs of a dict.
  std::size_t size() const;
  Value operator[](std::size_t i) const;  ///< i-th child; empty when there is none
  Value key(std::size_t i) const;         ///< of the i-th pair of a dict
  Value value(std::size_t i) const;
  Value find(std::string_view key) const;  ///< value of the last pair with that text key

  const Global* global() const;
  bool is_global(std::string_view module, std::string_view name) const;

  /// How an object came about, and what it was made of; empty for what is no object.
  std::optional<Construction> how() const;
  Value callable() const;
  Value args() const;
  Value kwargs() const;
  Value state() const;                      ///< what BUILD gave it
  std::span<const NodeId> items() const;    ///< appended to it
  std::span<const NodeId> entries() const;  ///< set into it: key, value, key, value

 private:
  const Pickle::Node* node(NodeKind wanted) const;
  const Pickle::Object* object() const;

  const Pickle* pickle_ = nullptr;
  NodeId id_ = 0;
};

inline Value Pickle::at(NodeId id) const { return id < nodes_.size() ? Value(*this, id) : Value(); }

inline NodeKind Value::kind() const {
  return pickle_ == nullptr ? NodeKind::none : pickle_->nodes_[id_].kind;
}

inline std::uint64_t Value::offset() const {
  return pickle_ == nullptr ? 0 : pickle_->nodes_[id_].offset;
}

inline const Pickle::Node* Value::node(NodeKind wanted) const {
  return is(wanted) ? &pickle_->nodes_[id_] : nullptr;
}

inline const Pickle::Object* Value::object() const {
  const Pickle::Node* found = node(NodeKind::object);
  return found == nullptr ? nullptr : &pickle_->objects_[found->value];
}

inline std::optional<std::int64_t> Value::integer() const {
  const Pickle::Node* found = node(NodeKind::integer);
  if (found == nullptr) return std::nullopt;
  return std::bit_cast<std::int64_t>(found->value);
}

inline std::optional<std::string_view> Value::text() const {
  const Pickle::Node* found = node(NodeKind::text);
  if (found == nullptr) found = node(NodeKind::big_integer);
  if (found == nullptr) return std::nullopt;
  return pickle_->text(*found);
}

inline std::span<const NodeId> Value::children() const {
  if (pickle_ == nullptr) return {};
  const Pickle::Node& self = pickle_->nodes_[id_];
  switch (self.kind) {
    case NodeKind::list:
    case NodeKind::dict:
    case NodeKind::set:
      return pickle_->list(self.value);
    case NodeKind::tuple:
    case NodeKind::frozen_set:
    case NodeKind::persistent:
      return std::span<const NodeId>(pickle_->tuples_).subspan(self.start(), self.count());
    default:
      return {};
  }
}

inline std::size_t Value::size() const {
  return is(NodeKind::dict) ? children().size() / 2 : children().size();
}

inline Value Value::operator[](std::size_t i) const {
  const std::span<const NodeId> all = children();
  return !is(NodeKind::dict) && i < all.size() ? Value(*pickle_, all[i]) : Value();
}

inline Value Value::key(std::size_t i) const {
  return is(NodeKind::dict) && i < size() ? Value(*pickle_, children()[2 * i]) : Value();
}

inline Value Value::value(std::size_t i) const {
  return is(NodeKind::dict) && i < size() ? Value(*pickle_, children()[2 * i + 1]) : Value();
}

inline const Global* Value::global() const {
  const Pickle::Node* found = node(NodeKind::global);
  return found == nullptr ? nullptr : &pickle_->globals_[found->value];
}

inline Value Value::callable() const {
  const Pickle::Object* found = object();
  return found == nullptr ? Value() : pickle_->at(found->callable);
}

inline Value Value::args() const {
  const Pickle::Object* found = object();
  return found == nullptr ? Value() : pickle_->at(found->args);
}

inline Value Value::state() const {
  const Pickle::Object* found = object();
  return found == nullptr ? Value() : pickle_->at(found->state);
}

inline std::span<const NodeId> Value::items() const {
  const Pickle::Object* found = object();
  return found == nullptr ? std::span<const NodeId>() : pickle_->list(found->items);
}

inline std::span<const NodeId> Value::entries() const {
  const Pickle::Object* found = object();
  return found == nullptr ? std::span<const NodeId>() : pickle_->list(found->entries);
}

inline Value Value::find(std::string_view wanted) const {
  const Pickle::Node* found = node(NodeKind::dict);
  if (found == nullptr) return {};
  const std::span<const NodeId> pairs = pickle_->list(found->value);
  for (std::size_t i = pairs.size() / 2; i-- > 0;) {
    const Pickle::Node& key = pickle_->nodes_[pairs[2 * i]];
    if (key.kind == NodeKind::text && pickle_->text(key) == wanted)
      return {*pickle_, pairs[2 * i + 1]};
  }
  return {};
}

class Stream;

/// Reads one pickle from the stream's place on and leaves the stream behind its STOP. Bad content
/// does not throw: it ends the pickle with a `fault`, and what came before it is kept.
/// Time is linear in the bytes read, memory at most 64 MiB + 16 x the bytes read.
Pickle read_pickle(Stream& in);

/// Throws Error for a pickle that lies in a compressed member of more than 16 MiB: such a one says
/// far more than its bytes in the file, and no framework compresses any.
void check_pickle_size(const Source& source);

}  // namespace ttcheck::formats
