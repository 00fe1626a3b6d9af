// SPDX-License-Identifier: Apache-2.0
// Containers grow while others grow, too, and their children all lie in one array. The list at
// the end of it grows in place; any other moves to the end when its room is used up and takes
// twice what it needs, so that an item costs constant time on average. Tuples and texts never
// grow: they are a start and a count in a node. None, the booleans, the empty tuple and small
// integers have one node each.
//
// An opcode of one byte can make a container. So what is made is charged where it is made, the
// room that a list leaves behind is not given back, and the budget grows with the bytes that were
// read. When it is spent, that is an Error of a limit of ours, as is more text or more members of
// tuples than 32 bits count. To append to a value that takes none is an Error; the machine makes
// both the fault of the pickle. Of the oddities the first 100 are kept.

#include "formats/bytes/pickle/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kSmallIntegers = 256;  ///< shared nodes, as in most interpreters
constexpr std::size_t kOddities = 100;       ///< kept; one more says that there are others

/// Python 2 wrote other names for the same modules.
std::string_view python3_module(std::string_view module) {
  constexpr std::array kRenamed = {
      std::pair<std::string_view, std::string_view>{"__builtin__", "builtins"},
      std::pair<std::string_view, std::string_view>{"copy_reg", "copyreg"},
      std::pair<std::string_view, std::string_view>{"numpy.core.multiarray",
                                                    "numpy._core.multiarray"},
      std::pair<std::string_view, std::string_view>{"numpy.core.numeric", "numpy._core.numeric"},
  };
  for (const auto& [old, current] : kRenamed) {
    if (module == old) return current;
  }
  return module;
}

}  // namespace

PickleBuilder::PickleBuilder(const Source& source, std::uint64_t begin)
    : offset_(begin), read_(begin), small_integers_(kSmallIntegers, kNoNode) {
  made_.source_ = &source;
  made_.begin_ = begin;
  made_.lists_.push_back({});
}

void PickleBuilder::overcharged() const {
  refuse(fmt::format("values take more than {} MiB + {} x the bytes read", kFreeMemory >> 20,
                     kMemoryPerByte));
}

void PickleBuilder::refuse(std::string_view limit) const {
  throw Error::unable(fmt::format("limit reached: {}", limit), made_.source_->where(offset_));
}

NodeId PickleBuilder::none() {
  if (singletons_[0] == kNoNode) singletons_[0] = make(NodeKind::none, 0);
  return singletons_[0];
}

NodeId PickleBuilder::empty_tuple() {
  if (singletons_[3] == kNoNode) singletons_[3] = tuple({});
  return singletons_[3];
}

NodeId PickleBuilder::boolean(bool value) {
  NodeId& shared = singletons_[value ? 2 : 1];
  if (shared == kNoNode) shared = make(NodeKind::boolean, value ? 1 : 0);
  return shared;
}

NodeId PickleBuilder::integer(std::uint64_t bits) {
  if (bits >= kSmallIntegers) return make(NodeKind::integer, bits);
  NodeId& shared = small_integers_[bits];
  if (shared == kNoNode) shared = make(NodeKind::integer, bits);
  return shared;
}

NodeId PickleBuilder::real(std::uint64_t bits) { return make(NodeKind::real, bits); }

NodeId PickleBuilder::text(std::string_view value) {
  charge(value.size());
  const std::uint64_t start = made_.chars_.size();
  made_.chars_.append(value);
  return make(NodeKind::text, start, value.size());
}

NodeId PickleBuilder::big_integer(std::string_view digits) {
  const NodeId id = text(digits);
  made_.nodes_[id].kind = NodeKind::big_integer;
  return id;
}

NodeId PickleBuilder::bytes(ByteRange range) {
  charge(sizeof range);
  made_.ranges_.push_back(range);
  return make(NodeKind::bytes, made_.ranges_.size() - 1);
}

NodeId PickleBuilder::tuple(std::span<const NodeId> children, NodeKind kind) {
  charge(children.size_bytes());
  const std::uint64_t start = made_.tuples_.size();
  made_.tuples_.append(children);
  return make(kind, start, children.size());
}

NodeId PickleBuilder::container(NodeKind kind) {
  charge(sizeof(Pickle::List));
  made_.lists_.push_back({});
  return make(kind, made_.lists_.size() - 1);
}

NodeId PickleBuilder::global(std::string_view module, std::string_view name, bool computed) {
  module = python3_module(module);
  std::string key = fmt::format("{}\n{}", module, name);
  const auto [found, fresh] =
      global_index_.try_emplace(std::move(key), static_cast<std::uint32_t>(made_.globals_.size()));
  if (fresh) {
    charge(3 * (module.size() + name.size()) + sizeof(Global));
    made_.globals_.push_back({std::string(module), std::string(name), offset_, 0, false, false});
  }
  Global& global = made_.globals_[found->second];
  ++global.count;
  global.computed = global.computed || computed;
  return make(NodeKind::global, found->second);
}

NodeId PickleBuilder::object(Construction how, NodeId callable, NodeId args, NodeId kwargs) {
  charge(sizeof(Pickle::Object));
  made_.objects_.push_back({how, callable, args, kwargs, kNoNode, 0, 0});
  return make(NodeKind::object, made_.objects_.size() - 1);
}

NodeId PickleBuilder::persistent(NodeId id) {
  return tuple(std::span<const NodeId>(&id, 1), NodeKind::persistent);
}

NodeId PickleBuilder::number_of(NodeKind kind, std::uint64_t value) { return make(kind, value); }

void PickleBuilder::extend(std::uint64_t list, std::span<const NodeId> children) {
  Pickle::List& held = made_.lists_[list];
  const std::uint64_t size = std::uint64_t{held.size} + children.size();
  if (size > held.room) make_room(held, size);
  std::ranges::copy(children, made_.children_.begin() + held.start + held.size);
  held.size = static_cast<std::uint32_t>(size);
}

/// An object's lists are made when something comes into them.
void PickleBuilder::extend_object(std::uint32_t& list, std::span<const NodeId> children) {
  if (list == 0) {
    charge(sizeof(Pickle::List));
    made_.lists_.push_back({});
    list = checked_cast<std::uint32_t>(made_.lists_.size() - 1);
  }
  extend(list, children);
}

/// The last list grows where it is; another one moves behind it, with as much room again so that it
/// seldom does.
void PickleBuilder::make_room(Pickle::List& list, std::uint64_t size) {
  TrivialVector<NodeId>& all = made_.children_;
  const bool last = list.start + list.room == all.size();
  const auto room = checked_cast<std::uint32_t>(last || list.room == 0 ? size : 2 * size);
  charge((last ? room - list.room : room) * sizeof(NodeId));
  const std::uint64_t start = last ? list.start : all.size();
  all.resize(start + room);
  if (!last) std::copy_n(all.begin() + list.start, list.size, all.begin() + start);
  list.start = start;
  list.room = room;
}

void PickleBuilder::misuse(std::string_view what, NodeId target) {
  throw Error(
      fmt::format("{} to a value of kind {}", what, static_cast<int>(made_.nodes_[target].kind)),
      made_.source_->where(offset_));
}

void PickleBuilder::append(NodeId target, std::span<const NodeId> children) {
  Pickle::Node& node = made_.nodes_[target];
  if (node.kind == NodeKind::list) return extend(node.value, children);
  if (node.kind == NodeKind::object)
    return extend_object(made_.objects_[node.value].items, children);
  misuse("appends", target);
}

void PickleBuilder::add(NodeId target, std::span<const NodeId> children) {
  Pickle::Node& node = made_.nodes_[target];
  if (node.kind == NodeKind::set) return extend(node.value, children);
  if (node.kind == NodeKind::object)
    return extend_object(made_.objects_[node.value].items, children);
  misuse("adds items", target);
}

void PickleBuilder::set(NodeId target, std::span<const NodeId> pairs) {
  Pickle::Node& node = made_.nodes_[target];
  if (node.kind == NodeKind::dict) return extend(node.value, pairs);
  if (node.kind == NodeKind::object)
    return extend_object(made_.objects_[node.value].entries, pairs);
  misuse("sets items", target);
}

void PickleBuilder::build(NodeId target, NodeId state) {
  Pickle::Node& node = made_.nodes_[target];
  if (node.kind != NodeKind::object) return misuse("builds state in", target);
  NodeId& held = made_.objects_[node.value].state;
  if (held != kNoNode) oddity("builds the state of one object twice; the last one is used");
  held = state;
}

void PickleBuilder::call(NodeId callee) {
  const Pickle::Node& node = made_.nodes_[callee];
  if (node.kind == NodeKind::global) made_.globals_[node.value].called = true;
}

void PickleBuilder::oddity(std::string message, bool elsewhere) {
  if (made_.oddities_.size() > kOddities) return;
  const bool last = made_.oddities_.size() == kOddities;
  if (last) message = "further oddities are not listed";
  made_.oddities_.push_back({std::move(message), offset_, elsewhere || last});
}

Pickle PickleBuilder::finish(std::optional<NodeId> root, std::optional<Error> fault,
                             std::uint64_t end) {
  made_.root_ = root;
  made_.fault_ = std::move(fault);
  made_.end_ = end;
  return std::move(made_);
}

}  // namespace ttcheck::formats
