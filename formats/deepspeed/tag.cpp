// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/tag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMaxRanksNamed = 65'536;

}  // namespace

std::int32_t DeepspeedRanks::rank(std::int64_t data, std::int64_t mp) const {
  return checked_cast<std::int32_t>(
      checked_add(checked_mul(checked_add(checked_mul(mp / tp, dp), data), tp), mp % tp));
}

Mesh DeepspeedRanks::mesh() const {
  Mesh mesh;
  const std::vector<Axis> axes = {{"pp", pp}, {"dp", dp}, {"tp", tp}};
  std::ranges::copy_if(axes, std::back_inserter(mesh.axes),
                       [](const Axis& axis) { return axis.size > 1; });
  const std::int64_t world = mesh.world_size();
  if (ep == 1 || world > kMaxRanksNamed) return mesh;
  // Expert ranks are data-parallel ranks, no more of them: the world is listed.
  Mesh listed = mesh;
  for (std::int64_t i = 0; i < world; ++i) listed.ranks.push_back(mesh.coordinates(i));
  listed.axes.push_back({"ep", ep});
  return listed;
}

std::vector<const DeepspeedPart*> DeepspeedTag::of(DeepspeedKind kind) const {
  std::vector<const DeepspeedPart*> found;
  for (const DeepspeedPart& part : parts) {
    if (part.file.kind == kind && part.torch != nullptr) found.push_back(&part);
  }
  return found;
}

Finding exchanged(std::string_view file, std::string_view written, Where where) {
  return found(Code::mixed_step,
               fmt::format("{} was written as {}: files were exchanged or renamed", file, written),
               std::move(where));
}

}  // namespace ttcheck::formats
