// SPDX-License-Identifier: Apache-2.0
// The walk is depth first with a stack of its own, as a file may nest deeper than the machine's
// stack allows; at 1000 levels it is cut. One path string grows and shrinks with it. A value is a
// leaf if it is a tensor, a scalar, an array, a list of scalars, or has nothing in it. Shared
// values are entered on every path, since each path is a name; the paths of a short pickle may be
// exponentially many, which only the budget ends. An object's children are its pairs and items,
// then its attributes, where a module's dicts of parameters, buffers and submodules are left out
// of the path; then a state that is no dict, by position; and of what is neither mapping nor
// sequence, what its class was called with.

#include "formats/torch/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "formats/objects/known.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kDeepest = 1000;

struct Child {
  std::string part;
  Value value;
};

struct Frame {
  std::vector<Child> children;
  std::size_t next = 0;
  std::size_t path_size = 0;  ///< of the path above
  NodeId id = 0;
};

void add_pairs(const std::vector<KeyValue>& pairs, std::vector<Child>& children) {
  for (const auto& [key, value] : pairs) children.push_back({path_part(key), value});
}

bool has_key(const std::vector<KeyValue>& pairs, std::string_view wanted) {
  return std::any_of(pairs.begin(), pairs.end(),
                     [&](const KeyValue& pair) { return pair.first.text() == wanted; });
}

/// A module keeps parameters, buffers and submodules in dicts of its own, which its names leave
/// out.
void add_attributes(const std::vector<KeyValue>& pairs, std::vector<Child>& children) {
  const bool module = has_key(pairs, "_parameters") && has_key(pairs, "_modules");
  for (const auto& [key, value] : pairs) {
    const std::string_view name = key.text().value_or("");
    const bool held = name == "_parameters" || name == "_buffers" || name == "_modules";
    const auto inner = module && held ? mapping(value) : std::nullopt;
    if (inner) {
      add_pairs(*inner, children);
    } else {
      children.push_back({path_part(key), value});
    }
  }
}

void add_positions(const std::vector<Value>& values, std::vector<Child>& children) {
  for (std::size_t i = 0; i < values.size(); ++i)
    children.push_back({fmt::format("{}", i), values[i]});
}

bool is_ordered_dict(Value value) {
  return value.callable().is_global("collections", "OrderedDict");
}

/// What the class was called with; `(i)` where the object was given something afterwards, too.
void add_construction(Value value, bool given, std::vector<Child>& children) {
  const std::vector<Value> values = construction(value);
  for (std::size_t i = 0; i < values.size(); ++i) {
    children.push_back({given ? fmt::format("({})", i) : fmt::format("{}", i), values[i]});
  }
  if (const auto named = mapping(value.kwargs())) add_pairs(*named, children);
}

/// What an object was made from and what it was given.
std::vector<Child> object_children(Value value) {
  std::vector<Child> children;
  const auto pairs = mapping(value);
  const auto items = sequence(value);
  const std::vector<KeyValue> given = attributes(value);
  if (pairs) add_pairs(*pairs, children);
  if (items) add_positions(*items, children);
  if (!is_ordered_dict(value)) add_attributes(given, children);
  const Value state = value.state();
  if (state && given.empty() && !state.is(NodeKind::dict)) {
    const auto parts = sequence(state);
    add_positions(parts ? *parts : std::vector<Value>{state}, children);
  }
  if (!pairs && !items) add_construction(value, !given.empty() || state, children);
  return children;
}

std::vector<Child> children_of(Value value) {
  std::vector<Child> children;
  if (value.is(NodeKind::object)) return object_children(value);
  if (const auto pairs = mapping(value)) add_pairs(*pairs, children);
  if (const auto items = sequence(value)) add_positions(*items, children);
  return children;
}

bool is_leaf(Value value) {
  if (TorchFile::is_tensor(value) || scalar(value) || numpy_array(value)) return true;
  if (value.is(NodeKind::object)) return object_children(value).empty();
  const auto items = sequence(value);
  if (!items) return !mapping(value) || value.size() == 0;
  return std::all_of(items->begin(), items->end(),
                     [](const Value& item) { return scalar(item).has_value(); });
}

/// The walk: frames for the values on the path.
class Walker {
 public:
  Walker(std::string_view prefix, bool top, WalkBudget& budget, Leaves& leaves)
      : budget_(budget), leaves_(leaves), path_(prefix), top_(top) {}

  /// Ends early at the first tensor when no more is asked for.
  void walk(Value value, bool one_tensor) {
    enter(value, 0);
    while (!frames_.empty() && !leaves_.cut && !(one_tensor && !leaves_.tensors.empty())) {
      Frame& frame = frames_.back();
      if (frame.next == frame.children.size()) {
        open_.erase(frame.id);
        path_.resize(frame.path_size);
        frames_.pop_back();
        continue;
      }
      const Child child = std::move(frame.children[frame.next++]);
      const std::size_t size = path_.size();
      path_ += top_ && frames_.size() == 1 ? child.part : "." + child.part;
      if (!enter(child.value, size)) path_.resize(size);
    }
  }

 private:
  /// True when a frame was opened; else the value was a leaf, is open already, or is too much.
  bool enter(Value value, std::size_t path_size) {
    if (frames_.size() > kDeepest || !budget_.look_at(value)) {
      leaves_.cut = true;
      return false;
    }
    if (is_leaf(value)) {
      leaves_.cut = !budget_.keep(path_.size());
      if (leaves_.cut) return false;
      (TorchFile::is_tensor(value) ? leaves_.tensors : leaves_.others).push_back({path_, value});
      return false;
    }
    if (!open_.insert(value.id()).second) return false;
    frames_.push_back({children_of(value), 0, path_size, value.id()});
    return true;
  }

  WalkBudget& budget_;
  Leaves& leaves_;
  std::string path_;
  bool top_;
  std::vector<Frame> frames_;
  std::unordered_set<NodeId> open_;
};

}  // namespace

std::string path_part(Value key) {
  if (const auto known = scalar(key)) {
    switch (known->type) {
      case Scalar::Type::boolean:
        return known->integer != 0 ? "True" : "False";
      case Scalar::Type::integer:
        return fmt::format("{}", known->integer);
      case Scalar::Type::real:
        return fmt::format("{}", known->real);
      default:
        return known->text;
    }
  }
  if (!key.is(NodeKind::tuple)) return fmt::format("key@{}", key.offset());
  std::string text = "(";
  for (std::size_t i = 0; i < key.size(); ++i) {
    const bool nested = key[i].is(NodeKind::tuple);
    text += (i == 0 ? "" : ", ") +
            (nested ? fmt::format("key@{}", key[i].offset()) : path_part(key[i]));
  }
  return text + ")";
}

void add_leaves(Value value, std::string_view prefix, bool top, WalkBudget& budget,
                Leaves& leaves) {
  if (value) Walker(prefix, top, budget, leaves).walk(value, false);
}

bool holds_tensor(Value value, WalkBudget& budget) {
  Leaves leaves;
  if (value) Walker("", true, budget, leaves).walk(value, true);
  return !leaves.tensors.empty();
}

}  // namespace ttcheck::formats
