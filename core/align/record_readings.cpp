// SPDX-License-Identifier: Apache-2.0
#include "core/align/record_readings.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/name_map.hpp"

namespace ttcheck::align {
namespace {

/// How a record lies to its module's weight.
enum class Lies : std::uint8_t { like_it, along_rows, beside, unknown };

Lies lies(Kind kind) {
  switch (kind) {
    case Kind::weight:
    case Kind::master:
    case Kind::moment1:
    case Kind::moment2:
    case Kind::grad:
    case Kind::main_grad:
      return Lies::like_it;
    case Kind::output:
    case Kind::grad_output:
      return Lies::along_rows;
    case Kind::input:
    case Kind::grad_input:
      return Lies::beside;
    default:
      return Lies::unknown;
  }
}

/// Ops on rows that mean as much along the last dim of what a projection puts out.
bool acts_on_rows(const MapOp& op) {
  switch (op.kind) {
    case OpKind::same:
    case OpKind::glu:
    case OpKind::qkv_interleave:
    case OpKind::qkv_v0:
    case OpKind::qkv_v1:
    case OpKind::rope_permute:
      return true;
    case OpKind::concat:
      return !op.arguments.empty() && op.arguments[0] == "0";
    default:
      return false;
  }
}

/// The weight that stands for a record: `<module>.weight`, or `<module>.bias` of a bias's own.
std::optional<Tensor> weight_of(const Tensor& record) {
  const std::string_view name = record.identity.name;
  const std::size_t slash = name.rfind('/');
  const std::size_t dot = slash == std::string_view::npos ? slash : name.find('.', slash);
  const Lies how = lies(record.kind);
  if (dot == std::string_view::npos || how == Lies::unknown) return std::nullopt;
  const std::string_view slot = name.substr(dot + 1);
  if (how == Lies::like_it ? slot != "weight" && slot != "bias" : slot != "0") return std::nullopt;
  Tensor weight;
  weight.identity.name = std::string(name.substr(0, slash)) + '.';
  weight.identity.name += how == Lies::like_it ? slot : "weight";
  weight.shape = how == Lies::like_it ? record.shape : Shape{};
  if (how == Lies::along_rows && !record.shape.empty()) weight.shape = {record.shape.back()};
  return weight;
}

/// What parts of one record have in common behind their weights' names.
std::string place_of(const Tensor& record) {
  const std::string_view name = record.identity.name;
  return keyed(record, name.substr(name.rfind('/')));
}

std::vector<Reading> readings_of(const Tensor& record, const Readings& of_weights) {
  const auto weight = weight_of(record);
  if (!weight) return {};
  const bool rows = lies(record.kind) != Lies::like_it;
  std::vector<Reading> readings = of_weights(*weight);
  std::erase_if(readings, [&](const Reading& one) { return rows && !acts_on_rows(one.op); });
  const std::string place = place_of(record);
  for (Reading& reading : readings) {
    reading.features = rows;
    for (std::string& part : reading.parts) part += place;
  }
  return readings;
}

bool is_beside(const Tensor& tensor) {
  return tensor.identity.phase != Phase::none && lies(tensor.kind) == Lies::beside;
}

using PlaceByName = NameMap<std::size_t>;

/// Records that are one part each, by that part.
PlaceByName single(std::span<const Tensor> tensors, std::span<const std::size_t> alone,
                   const Readings& readings) {
  PlaceByName places;
  for (const std::size_t i : alone) {
    if (!is_beside(tensors[i])) continue;
    for (const Reading& one : readings(tensors[i])) {
      if (one.parts.size() == 1 && one.op.kind == OpKind::same) places.emplace(one.parts[0], i);
    }
  }
  return places;
}

struct Side {
  std::span<const Tensor> tensors;
  std::vector<std::size_t>& alone;
  const Readings& readings;
};

/// What of `fused` is beside a whole of which `parts` has all parts.
std::vector<std::pair<std::size_t, std::vector<std::size_t>>> shared(const Side& fused,
                                                                     const Side& parts) {
  std::vector<std::pair<std::size_t, std::vector<std::size_t>>> found;
  const PlaceByName places = single(parts.tensors, parts.alone, parts.readings);
  if (places.empty()) return found;
  for (const std::size_t i : fused.alone) {
    if (!is_beside(fused.tensors[i])) continue;
    for (const Reading& one : fused.readings(fused.tensors[i])) {
      std::vector<std::size_t> met;
      for (const std::string& part : one.parts) {
        const auto place = places.find(part);
        if (place == places.end()) break;
        if (parts.tensors[place->second].shape != fused.tensors[i].shape) break;
        met.push_back(place->second);
      }
      if (one.parts.size() < 2 || met.size() != one.parts.size()) continue;
      found.emplace_back(i, std::move(met));
      break;
    }
  }
  return found;
}

}  // namespace

Readings of_records(const Readings& of_weights) {
  return [of_weights](const Tensor& tensor) {
    const bool record = tensor.identity.phase != Phase::none;
    return record ? readings_of(tensor, of_weights) : of_weights(tensor);
  };
}

void pair_shared_inputs(Bench& bench, const Readings& reference, const Readings& candidate) {
  const Side left{bench.reference, bench.left, reference};
  const Side right{bench.candidate, bench.right, candidate};
  std::set<std::size_t> used_left, used_right;
  std::int64_t excluded = 0;
  const auto meet = [&](const Side& fused, const Side& parts, bool forward) {
    for (const auto& [whole, members] : shared(fused, parts)) {
      (forward ? used_left : used_right).insert(whole);
      (forward ? used_right : used_left).insert(members.begin(), members.end());
      if (fused.tensors[whole].kind == Kind::grad_input) {
        excluded += 1 + std::ssize(members);
        continue;
      }
      for (const std::size_t member : members) {
        bench.done.pairs.push_back(
            {forward ? whole : member, forward ? member : whole, "input of fused modules"});
      }
    }
  };
  meet(left, right, true);
  meet(right, left, false);
  if (excluded > 0) bench.done.excluded_by.emplace_back("grad_input of fused modules", excluded);
  std::erase_if(bench.left, [&](std::size_t i) { return used_left.contains(i); });
  std::erase_if(bench.right, [&](std::size_t j) { return used_right.contains(j); });
}

}  // namespace ttcheck::align
