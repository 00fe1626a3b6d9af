// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/data_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/assemble/groups.hpp"
#include "core/base/checked.hpp"

namespace ttcheck::assemble {
namespace {

bool is_of_a_pass(const Record& record) {
  const Phase phase = record.identity.phase;
  return record.trace &&
         (phase == Phase::forward || phase == Phase::loss || phase == Phase::backward);
}

bool is_placed(const Record& record) {
  return record.placement || record.box_lo || record.undeclared;
}

/// The one axis, where it is one of data parallelism.
const Axis* only_axis(const Mesh& mesh) {
  const Axis* found = nullptr;
  for (const Axis& axis : mesh.axes) {
    if (axis.size == 1) continue;
    if (found != nullptr) return nullptr;
    found = &axis;
  }
  return found != nullptr && (found->name == "dp" || found->name == "fsdp") ? found : nullptr;
}

/// How the arrays of all ranks are to the whole one.
enum class Fit : std::uint8_t { copies, pieces, neither };

Fit fit(const std::vector<Record*>& parts, const Shape& whole) {
  const auto is_whole = [&](const Record* part) { return part->shape == whole; };
  if (std::ranges::all_of(parts, is_whole)) return Fit::copies;
  std::int64_t length = 0;
  for (const Record* part : parts) {
    if (whole.empty() || part->shape.size() != whole.size() ||
        !std::equal(whole.begin() + 1, whole.end(), part->shape.begin() + 1)) {
      return Fit::neither;
    }
    length = checked_add(length, part->shape.front());
  }
  return length == whole.front() ? Fit::pieces : Fit::neither;
}

/// What the ranks made of one tensor.
struct Parts {
  std::vector<Record*> records;
  Fit fit = Fit::neither;
  bool mean = false;
};

/// Whether a tensor that all ranks hold whole is each one's addend: the loss, and what backward
/// makes of it for a parameter, or for what is of no batch (positions).
bool is_mean(const Record& record, Fit fit) {
  const Phase phase = record.identity.phase;
  return fit == Fit::copies && (phase == Phase::loss || phase == Phase::backward);
}

}  // namespace

DataParallel state_data_parallel(std::span<Record> records, std::span<const Record> others,
                                 const Mesh& mesh) {
  DataParallel made;
  const Axis* const axis = only_axis(mesh);
  if (axis == nullptr || others.empty()) return made;
  if (std::ranges::any_of(records, [](const Record& record) {
        return is_of_a_pass(record) && is_placed(record);
      })) {
    return made;
  }
  std::unordered_map<Identity, const Record*, IdentityHash> wholes;
  for (const Record& record : others) {
    if (record.piece.rank != others.front().piece.rank) return made;
    if (is_of_a_pass(record)) wholes.emplace(record.identity, &record);
  }
  const Groups groups = group_by_identity(records);
  std::vector<Parts> all;
  bool pieces = false;
  for (std::size_t g = 0; g < groups.first.size(); ++g) {
    const Record& first = records[groups.first[g]];
    const auto whole = wholes.find(first.identity);
    if (whole == wholes.end()) continue;
    Parts parts;
    for (const std::uint32_t i : groups.members(g)) parts.records.push_back(&records[i]);
    if (std::ssize(parts.records) != axis->size) return made;
    parts.fit = fit(parts.records, whole->second->shape);
    const bool may_be_cut = first.identity.phase != Phase::loss && first.kind != Kind::grad;
    if (parts.fit == Fit::neither || (parts.fit == Fit::pieces && !may_be_cut)) return made;
    parts.mean = is_mean(first, parts.fit);
    pieces = pieces || parts.fit == Fit::pieces;
    if (parts.mean || parts.fit == Fit::pieces) all.push_back(std::move(parts));
  }
  if (!pieces) return made;
  made.cut = fmt::format("b[{}] *", axis->name);
  made.mean = fmt::format("* # {}:partial=avg", axis->name);
  const auto cut = std::make_shared<const Placement>(parse_dims(made.cut));
  const auto mean = std::make_shared<const Placement>(parse_dims(made.mean));
  for (const Parts& parts : all) {
    for (Record* record : parts.records) record->placement = parts.mean ? mean : cut;
  }
  made.tensors = std::ssize(all);
  return made;
}

}  // namespace ttcheck::assemble
