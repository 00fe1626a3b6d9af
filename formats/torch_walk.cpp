#include "formats/torch_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "formats/bytes/pickle_known.hpp"
#include "formats/torch_file.hpp"

namespace ttcheck::formats {
namespace {

/// Children looked at: so many, and so many more for each byte of the pickle. Bytes of paths
/// likewise.
constexpr std::uint64_t kFreeSteps = 4096;
constexpr std::uint64_t kStepsPerByte = 8;
constexpr std::uint64_t kFreePathBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kPathBytesPerByte = 16;
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

void add_pairs(const std::vector<Pair>& pairs, std::vector<Child>& children) {
  for (const auto& [key, value] : pairs) children.push_back({path_part(key), value});
}

bool has_key(const std::vector<Pair>& pairs, std::string_view wanted) {
  return std::any_of(pairs.begin(), pairs.end(),
                     [&](const Pair& pair) { return pair.first.text() == wanted; });
}

/// A module keeps parameters, buffers and submodules in dicts of its own, which its names leave
/// out.
void add_attributes(const std::vector<Pair>& pairs, std::vector<Child>& children) {
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

/// What an object was made from and what it was given.
std::vector<Child> object_children(Value value) {
  std::vector<Child> children;
  const auto pairs = mapping(value);
  const auto items = sequence(value);
  const std::vector<Pair> given = attributes(value);
  if (pairs) add_pairs(*pairs, children);
  if (items) add_positions(*items, children);
  if (!is_ordered_dict(value)) add_attributes(given, children);
  const Value state = value.state();
  if (state && given.empty() && !state.is(NodeKind::dict)) {
    const auto parts = sequence(state);
    add_positions(parts ? *parts : std::vector<Value>{state}, children);
  }
  if (!pairs && !items && given.empty() && !state) add_positions(construction(value), children);
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

std::size_t child_count(Value value) {
  return 1 + value.size() + value.items().size() + value.entries().size();
}

/// The walk: frames for the values on the path, and what it may still spend.
class Walker {
 public:
  Walker(const Pickle& pickle, std::string_view prefix, bool top, Leaves& leaves)
      : leaves_(leaves), path_(prefix), top_(top) {
    const std::uint64_t bytes = pickle.end() - pickle.begin();
    steps_ = kFreeSteps + kStepsPerByte * bytes;
    path_bytes_ = kFreePathBytes + kPathBytesPerByte * bytes;
  }

  void walk(Value value) {
    enter(value, 0);
    while (!frames_.empty() && !leaves_.cut) {
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
    const std::uint64_t cost = child_count(value);
    if (cost > steps_ || path_.size() > path_bytes_ || frames_.size() > kDeepest) {
      leaves_.cut = true;
      return false;
    }
    steps_ -= cost;
    if (is_leaf(value)) {
      path_bytes_ -= path_.size();
      (TorchFile::is_tensor(value) ? leaves_.tensors : leaves_.others).push_back({path_, value});
      return false;
    }
    if (!open_.insert(value.id()).second) return false;
    frames_.push_back({children_of(value), 0, path_size, value.id()});
    return true;
  }

  Leaves& leaves_;
  std::string path_;
  bool top_;
  std::uint64_t steps_ = 0;
  std::uint64_t path_bytes_ = 0;
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

void add_leaves(Value value, std::string_view prefix, bool top, Leaves& leaves) {
  if (value) Walker(value.pickle(), prefix, top, leaves).walk(value);
}

}  // namespace ttcheck::formats
