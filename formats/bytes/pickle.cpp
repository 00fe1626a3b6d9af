#include "formats/bytes/pickle.hpp"

#include <bit>

namespace ttcheck::formats {

Value Pickle::root() const { return root_ ? Value(*this, *root_) : Value(); }

Value Pickle::at(NodeId id) const { return id < nodes_.size() ? Value(*this, id) : Value(); }

NodeKind Value::kind() const {
  return pickle_ == nullptr ? NodeKind::none : pickle_->nodes_[id_].kind;
}

std::uint64_t Value::offset() const { return pickle_ == nullptr ? 0 : pickle_->nodes_[id_].offset; }

Where Value::where() const {
  return pickle_ == nullptr ? Where{} : pickle_->source_->where(offset());
}

const Pickle::Node* Value::node(NodeKind wanted) const {
  return is(wanted) ? &pickle_->nodes_[id_] : nullptr;
}

const Pickle::Object* Value::object() const {
  const Pickle::Node* found = node(NodeKind::object);
  return found == nullptr ? nullptr : &pickle_->objects_[found->link];
}

std::optional<bool> Value::boolean() const {
  const Pickle::Node* found = node(NodeKind::boolean);
  if (found == nullptr) return std::nullopt;
  return found->value != 0;
}

std::optional<std::int64_t> Value::integer() const {
  const Pickle::Node* found = node(NodeKind::integer);
  if (found == nullptr) return std::nullopt;
  return std::bit_cast<std::int64_t>(found->value);
}

std::optional<double> Value::number() const {
  if (const auto whole = integer()) return static_cast<double>(*whole);
  const Pickle::Node* found = node(NodeKind::real);
  if (found == nullptr) return std::nullopt;
  return std::bit_cast<double>(found->value);
}

std::optional<std::string_view> Value::text() const {
  const Pickle::Node* found = node(NodeKind::text);
  if (found == nullptr) found = node(NodeKind::big_integer);
  if (found == nullptr) return std::nullopt;
  return std::string_view(pickle_->chars_).substr(found->value, found->link);
}

std::optional<ByteRange> Value::bytes() const {
  const Pickle::Node* found = node(NodeKind::bytes);
  if (found == nullptr) return std::nullopt;
  return pickle_->ranges_[found->link];
}

std::optional<std::uint64_t> Value::extension() const {
  const Pickle::Node* found = node(NodeKind::extension);
  if (found == nullptr) return std::nullopt;
  return found->value;
}

std::span<const NodeId> Value::children() const {
  if (pickle_ == nullptr) return {};
  const Pickle::Node& self = pickle_->nodes_[id_];
  switch (self.kind) {
    case NodeKind::list:
    case NodeKind::dict:
    case NodeKind::set:
      return pickle_->lists_[self.link];
    case NodeKind::tuple:
    case NodeKind::frozen_set:
    case NodeKind::persistent:
      return std::span<const NodeId>(pickle_->tuples_).subspan(self.value, self.link);
    default:
      return {};
  }
}

std::size_t Value::size() const {
  return is(NodeKind::dict) ? children().size() / 2 : children().size();
}

Value Value::operator[](std::size_t i) const {
  const std::span<const NodeId> all = children();
  return !is(NodeKind::dict) && i < all.size() ? Value(*pickle_, all[i]) : Value();
}

Value Value::key(std::size_t i) const {
  return is(NodeKind::dict) && i < size() ? Value(*pickle_, children()[2 * i]) : Value();
}

Value Value::value(std::size_t i) const {
  return is(NodeKind::dict) && i < size() ? Value(*pickle_, children()[2 * i + 1]) : Value();
}

Value Value::find(std::string_view wanted) const {
  if (!is(NodeKind::dict)) return {};
  const std::span<const NodeId> pairs = children();
  const std::string_view chars = pickle_->chars_;
  for (std::size_t i = pairs.size() / 2; i-- > 0;) {
    const Pickle::Node& key = pickle_->nodes_[pairs[2 * i]];
    const bool same = key.kind == NodeKind::text && chars.substr(key.value, key.link) == wanted;
    if (same) return {*pickle_, pairs[2 * i + 1]};
  }
  return {};
}

const Global* Value::global() const {
  const Pickle::Node* found = node(NodeKind::global);
  return found == nullptr ? nullptr : &pickle_->globals_[found->link];
}

bool Value::is_global(std::string_view module, std::string_view name) const {
  const Global* found = global();
  return found != nullptr && found->module == module && found->name == name;
}

std::optional<Construction> Value::how() const {
  const Pickle::Object* found = object();
  if (found == nullptr) return std::nullopt;
  return found->how;
}

Value Value::callable() const {
  const Pickle::Object* found = object();
  return found == nullptr ? Value() : pickle_->at(found->callable);
}

Value Value::args() const {
  const Pickle::Object* found = object();
  return found == nullptr ? Value() : pickle_->at(found->args);
}

Value Value::kwargs() const {
  const Pickle::Object* found = object();
  return found == nullptr ? Value() : pickle_->at(found->kwargs);
}

Value Value::state() const {
  const Pickle::Object* found = object();
  return found == nullptr ? Value() : pickle_->at(found->state);
}

std::span<const NodeId> Value::items() const {
  const Pickle::Object* found = object();
  return found == nullptr ? std::span<const NodeId>() : pickle_->lists_[found->items];
}

std::span<const NodeId> Value::entries() const {
  const Pickle::Object* found = object();
  return found == nullptr ? std::span<const NodeId>() : pickle_->lists_[found->entries];
}

}  // namespace ttcheck::formats
