// SPDX-License-Identifier: Apache-2.0
#include "core/model/placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ttcheck {
namespace {

std::string text(const Size& size) {
  if (const auto* number = std::get_if<std::int64_t>(&size)) return fmt::format("{}", *number);
  return std::get<std::string>(size);
}

std::string text(Reduce how) {
  if (how == Reduce::avg) return "partial=avg";
  return how == Reduce::max ? "partial=max" : "partial";
}

std::string text(const ShardSpec& shard) {
  std::vector<std::string> mods;
  if (shard.even) mods.emplace_back("even");
  if (!shard.sizes.empty()) mods.push_back(fmt::format("sizes={}", fmt::join(shard.sizes, "/")));
  if (shard.zigzag) mods.emplace_back("zigzag");
  if (shard.stride != 0) mods.push_back(fmt::format("stride={}", shard.stride));
  if (shard.interleave != 0) mods.push_back(fmt::format("interleave={}", shard.interleave));
  if (shard.pad) mods.push_back("pad=" + text(*shard.pad));
  if (shard.align) mods.push_back("align=" + text(*shard.align));
  if (shard.partial != Reduce::none) mods.push_back(text(shard.partial));
  return mods.empty() ? shard.axis : fmt::format("{}:{}", shard.axis, fmt::join(mods, "+"));
}

std::string text(const std::vector<ShardSpec>& shards) {
  std::vector<std::string> list;
  for (const ShardSpec& shard : shards) list.push_back(text(shard));
  return fmt::format("[{}]", fmt::join(list, ","));
}

std::string text(const DimSpec& dim) {
  std::string line = dim.name;
  if (!dim.parts.empty()) {
    std::vector<std::string> list;
    for (const PartSpec& part : dim.parts) {
      list.push_back(part.size ? part.name + ":" + text(*part.size) : part.name);
    }
    line = fmt::format("({})", fmt::join(list, "|"));
  }
  return dim.shards.empty() ? line : line + text(dim.shards);
}

}  // namespace

std::string to_string(const Placement& placement) {
  std::vector<std::string> words;
  if (placement.flat) words.push_back("flat" + text(placement.flat_shards));
  if (placement.flat_of) words.emplace_back("of");
  for (const DimSpec& dim : placement.dims) words.push_back(text(dim));
  std::vector<std::string> notes;
  for (const auto& axis : placement.replicated) notes.push_back(axis + ":replicated");
  for (const auto& [axis, how] : placement.partial) notes.push_back(axis + ":" + text(how));
  for (const auto& [from, to] : placement.renamed) notes.push_back(from + ":=" + to);
  if (placement.rep_any) notes.emplace_back("rep=any");
  if (!notes.empty()) words.push_back(fmt::format("# {}", fmt::join(notes, " ")));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace ttcheck
