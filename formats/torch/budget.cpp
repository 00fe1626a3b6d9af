// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/budget.hpp"

#include <string>

namespace ttcheck::formats {
namespace {

/// Values looked at: so many, and so many more for each byte of the pickle. An honest value is
/// looked at a few times by each of the three levels above it.
constexpr std::uint64_t kFreeSteps = 4096;
constexpr std::uint64_t kStepsPerByte = 32;
constexpr std::uint64_t kBytesPerStep = 64;  ///< of text and arrays, read as fast as one value
constexpr std::uint64_t kFreeBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kBytesPerByte = 32;
constexpr std::uint64_t kLeafBytes = sizeof(std::string) + sizeof(Value);
constexpr int kDepth = 3;

}  // namespace

WalkBudget::WalkBudget(const Pickle& pickle) : WalkBudget(pickle.end() - pickle.begin()) {}

WalkBudget::WalkBudget(std::uint64_t pickled)
    : steps_(kFreeSteps + kStepsPerByte * pickled), bytes_(kFreeBytes + kBytesPerByte * pickled) {}

bool WalkBudget::take(std::uint64_t& left, std::uint64_t cost) {
  if (cost > left) spent_ = true;
  if (spent_) return false;
  left -= cost;
  return true;
}

bool WalkBudget::look_at(Value value) { return look(value, kDepth); }

bool WalkBudget::keep(std::size_t path_bytes) { return take(bytes_, kLeafBytes + path_bytes); }

bool WalkBudget::look(Value value, int depth) {
  const auto text = value.text();
  const auto range = value.bytes();
  const std::uint64_t content = (text ? text->size() : 0) + (range ? range->size : 0);
  if (!take(steps_, 1 + content / kBytesPerStep)) return false;
  if (depth == 0) return true;
  if (!value.is(NodeKind::object)) return look_at_children(value, depth - 1);
  for (const auto ids : {value.items(), value.entries()}) {
    for (const NodeId id : ids) {
      if (!look(value.pickle().at(id), depth - 1)) return false;
    }
  }
  return look_within(value.args(), depth - 1) && look_within(value.kwargs(), depth - 1) &&
         look_within(value.state(), depth - 1);
}

/// What an object was made of or given is mostly a tuple or a dict, whose children are told as its
/// own; it may be an object with items, too, a level deeper.
bool WalkBudget::look_within(Value value, int depth) {
  return value.is(NodeKind::object) ? look(value, depth) : look_at_children(value, depth);
}

bool WalkBudget::look_at_children(Value value, int depth) {
  const bool dict = value.is(NodeKind::dict);
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (dict && !look(value.key(i), depth)) return false;
    if (!look(dict ? value.value(i) : value[i], depth)) return false;
  }
  return true;
}

}  // namespace ttcheck::formats
