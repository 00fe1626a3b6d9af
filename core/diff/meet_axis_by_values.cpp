// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet_axis_by_values.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/assemble/ways.hpp"
#include "core/base/interrupted.hpp"
#include "core/compare/compare.hpp"

namespace ttcheck::diff {
namespace {

/// A tensor to be cut, and the axes along which it may be.
struct Uncut {
  Tensor* tensor = nullptr;
  const Shape* whole = nullptr;
  std::vector<std::string_view> axes;
};

std::vector<Uncut> uncut_of(std::span<Tensor> tensors, std::span<const Tensor> others,
                            std::span<const align::PairIndex> pairs, bool reference,
                            const Mesh& mesh) {
  std::vector<Uncut> found;
  for (const align::PairIndex& pair : pairs) {
    Tensor& tensor = tensors[reference ? pair.reference : pair.candidate];
    const Tensor& other = others[reference ? pair.candidate : pair.reference];
    if (!tensor.undeclared || !tensor.stored || !other.stored) continue;
    const bool again = std::ranges::find(found, &tensor, &Uncut::tensor) != found.end();
    if (again) continue;  // a copy met it, too
    auto axes = assemble::axes_of_cut(tensor, other.shape, mesh);
    if (!axes.empty()) found.push_back({&tensor, &other.shape, std::move(axes)});
  }
  return found;
}

/// The axis along which alone ranks are unlike the first.
std::optional<std::string_view> proven(const Uncut& uncut, std::span<const std::int32_t> unlike,
                                       const Mesh& mesh) {
  const std::int32_t first = uncut.tensor->pieces.front().rank;
  std::optional<std::string_view> found;
  for (const std::string_view axis : uncut.axes) {
    const std::int64_t own = coordinate(mesh.coordinates(first), axis);
    std::vector<std::int32_t> beyond;
    for (const std::int32_t rank : ranks_of(*uncut.tensor)) {
      if (coordinate(mesh.coordinates(rank), axis) != own) beyond.push_back(rank);
    }
    if (!std::ranges::equal(beyond, unlike)) continue;
    if (found) return std::nullopt;
    found = axis;
  }
  return found;
}

/// The axis that its own values prove, for each.
std::vector<std::optional<std::string_view>> told_by_values(std::span<const Uncut> all,
                                                            const Mesh& mesh) {
  std::vector<compare::Pair> pairs;
  for (const Uncut& uncut : all) pairs.push_back({uncut.tensor, uncut.tensor});
  compare::CompareOptions how;
  how.stop = interrupted;
  const auto compared = compare::compare(pairs, how);
  std::vector<std::optional<std::string_view>> axes(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!compared[i].whole()) continue;
    axes[i] = proven(all[i], compared[i].reference_differs, mesh);
  }
  return axes;
}

/// The axis that most of them name; nothing where two are named as often.
std::optional<std::string_view> most_named(std::span<const std::optional<std::string_view>> axes) {
  std::map<std::string_view, std::int64_t> votes;
  for (const auto& axis : axes) {
    if (axis) ++votes[*axis];
  }
  std::optional<std::string_view> best;
  std::int64_t most = 0;
  for (const auto& [axis, count] : votes) {
    if (count == most) best.reset();
    if (count > most) best = axis;
    most = std::max(most, count);
  }
  return best;
}

}  // namespace

CutTotal cut_by_values(std::span<Tensor> tensors, std::span<const Tensor> others,
                       std::span<const align::PairIndex> pairs, bool reference, const Mesh& mesh) {
  const std::vector<Uncut> all = uncut_of(tensors, others, pairs, reference, mesh);
  CutTotal cut;
  if (all.empty()) return cut;
  const auto told = told_by_values(all, mesh);
  const auto usual = most_named(told);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto axis = told[i] ? told[i] : usual;
    if (!axis || std::ranges::find(all[i].axes, *axis) == all[i].axes.end()) continue;
    auto made = assemble::cut_along(*all[i].tensor, *all[i].whole, mesh, *axis);
    if (!made) continue;
    cut.bytes += logical_bytes(*made) - logical_bytes(*all[i].tensor);
    *all[i].tensor = std::move(*made);
    ++cut.tensors;
  }
  return cut;
}

}  // namespace ttcheck::diff
