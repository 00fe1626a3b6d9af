#include "core/assemble/undeclared.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/assemble/groups.hpp"
#include "core/base/checked.hpp"

namespace ttcheck::assemble {
namespace {

/// The one dimension in which the shapes differ.
std::optional<std::size_t> differing(const Shape& part, const Shape& whole) {
  if (part.size() != whole.size()) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (part[d] == whole[d]) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found;
}

/// Where each array starts along `dim`, in the order of `parts`; empty when they do not make it up.
std::vector<std::int64_t> starts_of(std::span<Record* const> parts, std::int64_t extent,
                                    std::size_t dim, const Mesh& mesh) {
  std::vector<std::int64_t> starts;
  std::int64_t total = 0;
  for (const Record* part : parts) {
    starts.push_back(total);
    total = checked_add(total, part->shape[dim]);
  }
  if (total == extent) return starts;
  const std::int64_t length = parts.front()->shape[dim];
  const Axis* cut = nullptr;
  for (const Axis& axis : mesh.axes) {
    if (length == 0 || axis.size != extent / length || extent % length != 0) continue;
    if (cut != nullptr) return {};
    cut = &axis;
  }
  if (cut == nullptr) return {};
  starts.clear();
  for (const Record* part : parts) {
    if (part->shape[dim] != length) return {};
    starts.push_back(coordinate(part->at, cut->name) * length);
  }
  return starts;
}

bool place(std::span<Record* const> parts, const Shape& whole, const Mesh& mesh) {
  const auto dim = differing(parts.front()->shape, whole);
  if (!dim || std::ranges::any_of(parts, [&](const Record* part) {
        return differing(part->shape, whole) != dim;
      })) {
    return false;
  }
  const std::vector<std::int64_t> starts = starts_of(parts, whole[*dim], *dim, mesh);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Record& part = *parts[i];
    part.logical = whole;
    part.box_lo = Extents(whole.size(), 0);
    (*part.box_lo)[*dim] = starts[i];
    part.undeclared = false;
  }
  return !starts.empty();
}

}  // namespace

std::int64_t place_by_shape(std::span<Record> records, std::span<const Record> others,
                            const Mesh& mesh) {
  if (std::ranges::none_of(records, &Record::undeclared)) return 0;
  std::unordered_map<Identity, const Record*, IdentityHash> wholes;
  for (const Record& record : others) {
    const auto [slot, fresh] = wholes.emplace(record.identity, &record);
    if (!fresh) slot->second = nullptr;  // parts, or copies
  }
  const Groups groups = group_by_identity(records);
  std::int64_t placed = 0;
  for (std::size_t g = 0; g < groups.first.size(); ++g) {
    const Record& first = records[groups.first[g]];
    const auto whole = wholes.find(first.identity);
    if (!first.undeclared || whole == wholes.end() || whole->second == nullptr) continue;
    std::vector<Record*> parts;
    for (const std::uint32_t i : groups.members(g)) parts.push_back(&records[i]);
    std::ranges::sort(parts, {}, [](const Record* part) { return part->piece.rank; });
    if (place(parts, whole->second->shape, mesh)) ++placed;
  }
  return placed;
}

std::optional<Tensor> as_addends(const Tensor& tensor) {
  const auto is_whole = [](const Piece& piece) { return piece.cells.empty(); };
  if (!tensor.undeclared || tensor.pieces.size() != 1 || tensor.replicas.empty() ||
      is_exact(tensor.dtype) || !is_whole(tensor.pieces[0]) ||
      !std::ranges::all_of(tensor.replicas, is_whole)) {
    return std::nullopt;
  }
  Tensor sum = tensor;
  sum.reduce = Reduce::sum;
  sum.terms = {std::move(sum.pieces)};
  for (Piece& piece : sum.replicas) sum.terms.push_back({std::move(piece)});
  sum.term_replicas.resize(sum.terms.size());
  sum.pieces.clear();
  sum.replicas.clear();
  return sum;
}

}  // namespace ttcheck::assemble
