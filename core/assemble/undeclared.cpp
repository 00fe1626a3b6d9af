// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/undeclared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
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

/// The starts of the arrays along `dim`, in the order of `parts`; empty when they do not make it
/// up.
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

void place_at(Record& part, const Shape& whole, std::size_t dim, std::int64_t start) {
  part.logical = whole;
  part.box_lo = Extents(whole.size(), 0);
  (*part.box_lo)[dim] = start;
}

bool place(std::span<Record* const> parts, const Shape& whole, const Mesh& mesh) {
  const auto dim = differing(parts.front()->shape, whole);
  if (!dim || std::ranges::any_of(parts, [&](const Record* part) {
        return differing(part->shape, whole) != dim;
      })) {
    return false;
  }
  const std::vector<std::int64_t> starts = starts_of(parts, whole[*dim], *dim, mesh);
  const std::set<std::int64_t> distinct(starts.begin(), starts.end());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    place_at(*parts[i], whole, *dim, starts[i]);
    parts[i]->by_shape = true;
    parts[i]->undeclared = distinct.size() < starts.size();  // copies, or addends
  }
  return !starts.empty();
}

using ByIdentity = std::unordered_map<Identity, std::vector<Record*>, IdentityHash>;

/// Undeclared records of several ranks, in rank order.
ByIdentity undeclared(std::span<Record> records) {
  ByIdentity found;
  for (Record& record : records) {
    if (record.undeclared) found[record.identity].push_back(&record);
  }
  for (auto& [identity, parts] : found) {
    std::ranges::sort(parts, {}, [](const Record* part) { return part->piece.rank; });
  }
  return found;
}

/// Whether all dimensions but the first are the same, so that they can stand one behind the other;
/// numbers without a dimension can, too.
bool can_stand(std::span<Record* const> parts) {
  const Record& first = *parts.front();
  return parts.size() > 1 && std::ranges::all_of(parts, [&](const Record* part) {
           const auto rest = [](const Shape& shape) {
             return std::span(shape).subspan(std::min<std::size_t>(shape.size(), 1));
           };
           return part->dtype == first.dtype && part->shape.size() == first.shape.size() &&
                  std::ranges::equal(rest(part->shape), rest(first.shape));
         });
}

void stand(std::span<Record* const> parts) {
  for (Record* part : parts) {
    if (!part->shape.empty()) continue;
    part->shape = {1};
    for (Cell& cell : part->piece.cells) cell = {whole(part->shape), cell.start, {1}};
  }
  Shape whole = parts.front()->shape;
  whole[0] = 0;
  for (const Record* part : parts) whole[0] = checked_add(whole[0], part->shape[0]);
  std::int64_t start = 0;
  for (Record* part : parts) {
    place_at(*part, whole, 0, start);
    part->undeclared = false;
    part->by_rank = true;
    start += part->shape[0];
  }
}

/// What ranks hold under one name is not one tensor: each gets the rank into its name.
void part_names(std::span<Record* const> parts) {
  for (Record* part : parts) {
    std::string& name = part->identity.name;
    const std::size_t slash = std::min(name.rfind('/'), name.size());
    name.insert(slash, fmt::format(" (rank {})", part->piece.rank));
    part->undeclared = false;
  }
}

void compare_apart(std::span<Record* const> parts) {
  if (can_stand(parts)) {
    stand(parts);
  } else {
    part_names(parts);
  }
}

}  // namespace

std::int64_t place_by_rank(std::span<Record> a, std::span<Record> b) {
  if (std::ranges::none_of(a, &Record::undeclared)) return 0;
  const ByIdentity left = undeclared(a);
  const ByIdentity right = undeclared(b);
  std::int64_t placed = 0, unlike = 0;
  std::vector<const std::vector<Record*>*> counted;  // alone, or other shapes there
  const auto put_off = [&](const std::vector<Record*>& parts) {
    const auto& trace = parts.front()->trace;
    if (parts.size() > 1 && trace && !trace->counted.base.empty()) counted.push_back(&parts);
  };
  for (const auto& [identity, parts] : left) {
    const auto others = right.find(identity);
    const auto alike = [](const Record* one, const Record* other) {
      return one->piece.rank == other->piece.rank && one->shape == other->shape &&
             one->dtype == other->dtype;
    };
    if (others == right.end() || parts.size() < 2 ||
        !std::ranges::equal(parts, others->second, alike)) {
      put_off(parts);
      if (others != right.end()) put_off(others->second);
      if (others != right.end()) ++unlike;
      continue;
    }
    compare_apart(parts);
    compare_apart(others->second);
    ++placed;
  }
  for (const auto& [identity, parts] : right) {
    if (!left.contains(identity)) put_off(parts);
  }
  if (placed <= unlike) return placed;
  for (const auto* parts : counted) compare_apart(*parts);  // names alone do not tell them
  return placed;
}

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

std::int64_t leave_out_unlike(std::span<Record> records) {
  static const auto kUncompared = std::make_shared<const Placement>(parse_dims("* # rep=any"));
  const auto told_apart = [](const Record* record) {
    return record->stored || !record->trace ||
           (record->trace->stats && record->trace->stats->l2.has_value());
  };
  std::set<std::int32_t> ranks;
  for (const Record& record : records) ranks.insert(record.piece.rank);
  std::int64_t left_out = 0;
  for (const auto& [identity, parts] : undeclared(records)) {
    if (std::ranges::any_of(parts, told_apart)) continue;
    const TraceRecord& first = *parts.front()->trace;
    const bool on_all = parts.size() == ranks.size() || first.counted.base.empty();
    const auto like_first = [&](const Record* part) { return part->trace->hash == first.hash; };
    if (on_all && std::ranges::all_of(parts, like_first)) continue;
    for (Record* part : parts) part->placement = kUncompared;
    ++left_out;
  }
  return left_out;
}

}  // namespace ttcheck::assemble
