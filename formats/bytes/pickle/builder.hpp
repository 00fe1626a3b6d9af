// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arena that a pickle's values are made in: the only writer of a Pickle. It knows nothing of
// opcodes or of a stack.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/name_map.hpp"
#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

inline constexpr NodeId kNoNode = ~NodeId{0};

/// Makes nodes; charges each against a budget of 64 MiB + 16 x the bytes read so far, and throws
/// Error when it is spent.
class PickleBuilder {
 public:
  PickleBuilder(const Source& source, std::uint64_t begin);

  /// Sets the offsets of the opcode being executed (the place of what is made next), and behind
  /// its argument.
  void at(std::uint64_t opcode, std::uint64_t read) {
    offset_ = opcode;
    read_ = read;
  }

  NodeId none();
  NodeId empty_tuple();
  NodeId boolean(bool value);
  NodeId integer(std::uint64_t bits);
  NodeId big_integer(std::string_view digits);
  NodeId real(std::uint64_t bits);
  NodeId text(std::string_view value);
  NodeId bytes(ByteRange range);
  NodeId tuple(std::span<const NodeId> children, NodeKind kind = NodeKind::tuple);
  NodeId container(NodeKind kind);  ///< an empty list, dict or set
  NodeId global(std::string_view module, std::string_view name, bool computed);
  NodeId object(Construction how, NodeId callable, NodeId args, NodeId kwargs);
  NodeId persistent(NodeId id);
  NodeId number_of(NodeKind kind, std::uint64_t value);  ///< extension, buffer

  void append(NodeId target, std::span<const NodeId> children);  ///< list or object
  void add(NodeId target, std::span<const NodeId> children);     ///< set or object
  void set(NodeId target, std::span<const NodeId> pairs);        ///< dict or object
  void build(NodeId target, NodeId state);                       ///< object

  /// Marks the callee as called, if it is a global.
  void call(NodeId callee);
  void oddity(std::string message, bool elsewhere = false);
  void protocol(int number) { made_.protocol_ = number; }

  Value value(NodeId id) const { return Value(made_, id); }
  Pickle finish(std::optional<NodeId> root, std::optional<Error> fault, std::uint64_t end);

 private:
  NodeId make(NodeKind kind, std::uint64_t value) {
    charge(sizeof(Pickle::Node));
    if (made_.nodes_.size() >= kNoNode) refuse("too many values");
    made_.nodes_.push_back({kind, offset_ & kOffsets, value});
    return static_cast<NodeId>(made_.nodes_.size() - 1);
  }

  /// Makes the node of a tuple or a text.
  NodeId make(NodeKind kind, std::uint64_t start, std::uint64_t count) {
    if (start >= kMost || count >= kMost) refuse("4 GiB of text or 2^32 members of tuples");
    return make(kind, start << 32 | count);
  }

  void charge(std::uint64_t bytes) {
    charged_ += bytes;
    const bool free = charged_ <= kFreeMemory;
    if (!free && (charged_ - kFreeMemory) / kMemoryPerByte > read_ - made_.begin_) overcharged();
  }

  [[noreturn]] void overcharged() const;
  [[noreturn]] void refuse(std::string_view limit) const;
  void extend(std::uint64_t list, std::span<const NodeId> children);
  void extend_object(std::uint32_t& list, std::span<const NodeId> children);
  void make_room(Pickle::List& list, std::uint64_t size);
  [[noreturn]] void misuse(std::string_view what, NodeId target);

  static constexpr std::uint64_t kFreeMemory = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kMemoryPerByte = 16;
  static constexpr std::uint64_t kOffsets = (std::uint64_t{1} << 56) - 1;
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 32;

  Pickle made_;
  std::uint64_t offset_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t charged_ = 0;
  NameMap<std::uint32_t> global_index_;
  std::vector<NodeId> small_integers_;
  NodeId singletons_[4] = {kNoNode, kNoNode, kNoNode, kNoNode};  ///< none, false, true, ()
};

}  // namespace ttcheck::formats
