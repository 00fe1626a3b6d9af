// SPDX-License-Identifier: Apache-2.0
// A directory may hold the same weights several times. The known bases are tried in the order of
// preference, then those of other indices. Of a base its index is taken, else numbered shards,
// else the single file; a single file beside an index goes first, but for diffusers. Then come a
// variant that stands alone and the folder that FSDP's ranks wrote. Other models are found by the
// same choice among the names that are left, of which each round takes at least one away.
// The index is input like any other. A shard whose name is no plain path inside the directory is
// not opened, and its tensors count as missing. Of a tensor that is listed twice the first shard
// counts. A shard that is not there is a finding and costs its tensors alone. An index that
// cannot be read, or has more than 1 GiB, is a finding, and shards are then taken by their
// numbers, in which gaps are missing shards.

#include "formats/hf/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "formats/bytes/beneath.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"
#include "formats/folder/shard_name.hpp"
#include "formats/folder/step_name.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kMaxIndex = 1ULL << 30;
constexpr std::string_view kIndexEnd = ".index.json";

/// Bases of weight files, the preferred first. Each stands alone, is cut into shards or has an
/// index.
constexpr std::array<std::string_view, 7> kBases = {
    "model.safetensors",     "adapter_model.safetensors", "diffusion_pytorch_model.safetensors",
    "pytorch_model.bin",     "adapter_model.bin",         "diffusion_pytorch_model.bin",
    "pytorch_model_fsdp.bin"};

/// Folders with a distributed checkpoint of the model of that number.
constexpr std::string_view kFolders = "pytorch_model_fsdp_";

bool is_shard_of(std::string_view name, std::string_view base) {
  const auto shard = parse_shard_name(name);
  return shard && shard->before + shard->after == base;
}

/// `model.fp16.safetensors`, as `save_pretrained(variant="fp16")` names a single file.
bool is_variant_of(std::string_view name, std::string_view base) {
  const std::size_t dot = base.find('.');
  if (name.size() <= base.size() + 1 || !name.starts_with(base.substr(0, dot + 1)) ||
      !name.ends_with(base.substr(dot))) {
    return false;
  }
  const std::string_view variant = name.substr(dot + 1, name.size() - base.size() - 1);
  return variant.find_first_of(".-") == std::string_view::npos;
}

std::vector<std::string> shards_of(const std::vector<std::string>& names, std::string_view base) {
  std::vector<std::string> shards;
  for (const std::string& name : names) {
    if (is_shard_of(name, base)) shards.push_back(name);
  }
  return shards;
}

void use_index(const Root& root, const std::string& file, WeightFiles& weights) {
  weights.index = read_weight_index(root, file);
  WeightIndex& index = *weights.index;
  for (Finding& finding : index.findings) weights.findings.push_back(std::move(finding));
  weights.missing_tensors += index.refused;
  std::map<std::string_view, std::int64_t> counts;
  for (const auto& [tensor, shard] : index.shard_of) ++counts[shard];
  for (const std::string& shard : index.shards) {
    if (root.entry(shard)) {
      weights.files.push_back(shard);
      continue;
    }
    weights.missing_tensors += counts[shard];
    weights.findings.push_back(found(
        Code::unreadable,
        fmt::format("shard {} is missing: {} lists it for {} tensors", shard, file, counts[shard]),
        {root.given() + "/" + shard, {}, {}}));
  }
}

void use_shards(const Root& root, std::vector<std::string> shards, WeightFiles& weights) {
  for (const std::string& name : missing_shards(shards)) {
    weights.findings.push_back(found(Code::unreadable,
                                     fmt::format("shard {} is missing: its numbered siblings are "
                                                 "there, an index is not",
                                                 name),
                                     {root.given() + "/" + name, {}, {}}));
    ++weights.missing_tensors;  // at least one
  }
  weights.files = std::move(shards);
}

bool choose(const Root& root, const std::vector<std::string>& names, std::string_view base,
            WeightFiles& weights) {
  const std::string index = std::string(base) + std::string(kIndexEnd);
  const auto has = [&](std::string_view name) {
    return std::binary_search(names.begin(), names.end(), name);
  };
  std::vector<std::string> shards = shards_of(names, base);
  // transformers takes the single file (modeling_utils.py `_get_resolved_checkpoint_files`),
  // diffusers the index (models/modeling_utils.py).
  if (has(index) && has(base) && !base.starts_with("diffusion_")) {
    Finding both = found(
        Code::overlap,
        fmt::format("{} and {} numbered shards are here too: loaders take the single file, and "
                    "so is it done here",
                    index, shards.size()),
        {root.given() + "/" + std::string(base), {}, {}});
    both.severity = Severity::warning;
    weights.findings.push_back(std::move(both));
    weights.files = {std::string(base)};
    return true;
  }
  if (has(index)) {
    try {
      use_index(root, index, weights);
      return true;
    } catch (const Error& error) {
      weights.findings.push_back(unreadable(error));
    }
  }
  if (!shards.empty()) {
    use_shards(root, std::move(shards), weights);
  } else if (has(base)) {
    weights.files = {std::string(base)};
  }
  return !weights.files.empty();
}

/// The file of a variant, where there is one and no other.
std::vector<std::string> only_variant(const std::vector<std::string>& names) {
  for (const std::string_view base : kBases) {
    std::vector<std::string> variants;
    std::ranges::copy_if(names, std::back_inserter(variants),
                         [&](const std::string& name) { return is_variant_of(name, base); });
    if (variants.size() == 1) return variants;
    if (!variants.empty()) return {};
  }
  return {};
}

/// The text around a shard's numbers; no name has a NUL.
std::string form_of(const ShardName& shard) { return shard.before + '\0' + shard.after; }

void find_repeated_keys(const Json& object, Findings& findings) {
  std::set<std::string_view> keys;
  for (const auto& [key, value] : object.members()) {
    if (keys.insert(key).second) continue;
    findings.add(found(Code::unreadable,
                       fmt::format("the index has the key {} twice: only the first is used", key),
                       value.where()));
  }
}

}  // namespace

bool is_weight_file(std::string_view name) {
  return std::any_of(kBases.begin(), kBases.end(), [&](std::string_view base) {
    return name == base || is_shard_of(name, base) || is_variant_of(name, base);
  });
}

bool is_weight_folder(std::string_view name) { return numbered_folder(name, kFolders).has_value(); }

WeightIndex read_weight_index(const Root& root, const std::string& file) {
  const JsonDocument document(root.text(file, kMaxIndex), root.file(file).where(0).file, 0,
                              Duplicates::keep);
  const std::optional<Json> map = document.root().find("weight_map");
  if (!map) document.root().fail("an index needs a weight_map", "weight_map");
  WeightIndex index;
  index.file = file;
  Findings findings;
  find_repeated_keys(document.root(), findings);
  if (const std::optional<Json> about = document.root().find("metadata")) {
    if (about->is(Json::Kind::object)) find_repeated_keys(*about, findings);
  }
  std::set<std::string> refused;
  std::set<std::string> shards;
  for (const auto& [tensor, value] : map->members()) {
    const std::string shard(value.string());
    if (!is_plain_path(shard)) {
      ++index.refused;
      if (refused.insert(shard).second) {
        findings.add(found(Code::unreadable,
                           fmt::format("the index names '{}', which is no path inside the "
                                       "directory: it is not opened",
                                       shard),
                           value.where()));
      }
      continue;
    }
    const auto [known, is_new] = index.shard_of.emplace(tensor, shard);
    if (!is_new) {
      findings.add(found(
          Code::unreadable,
          fmt::format("the index lists this tensor twice, for {} and {}", known->second, shard),
          value.where(), std::string(tensor)));
    }
    shards.insert(shard);
  }
  index.shards.assign(shards.begin(), shards.end());
  for (const std::string& shard : index.shards) {
    if (const auto parsed = parse_shard_name(shard)) ++index.shards_like[form_of(*parsed)];
  }
  index.findings = findings.take();
  return index;
}

std::map<std::int64_t, std::string> further_models(const std::vector<std::string>& names) {
  std::map<std::int64_t, std::string> models;
  for (const std::string_view base :
       {"model.safetensors", "pytorch_model.bin", "pytorch_model_fsdp.bin"}) {
    const std::size_t dot = base.find('.');
    for (const std::string& name : names) {
      if (!name.starts_with(base.substr(0, dot)) || !name.ends_with(base.substr(dot))) continue;
      const std::string_view stem =
          std::string_view(name).substr(0, name.size() - (base.size() - dot));
      const auto number = trailing_number(stem);
      if (!number || *number < 1 || stem != fmt::format("{}_{}", base.substr(0, dot), *number))
        continue;
      models.emplace(*number, name);
    }
  }
  for (const std::string& name : names) {
    const auto number = numbered_folder(name, kFolders);
    if (number.value_or(0) > 0) models.emplace(*number, name);
  }
  return models;
}

std::optional<std::int64_t> numbered_folder(std::string_view name, std::string_view start) {
  const auto number = trailing_number(name);
  return number && name == fmt::format("{}{}", start, *number) ? number : std::nullopt;
}

std::string model_prefix(std::int64_t number) {
  return number == 0 ? std::string() : fmt::format("model_{}", number);
}

WeightFiles find_weights(const Root& root, const std::vector<std::string>& names) {
  WeightFiles weights;
  std::vector<std::string> bases(kBases.begin(), kBases.end());
  for (const std::string& name : names) {  // variants such as model.fp16.safetensors.index.json
    if (!name.ends_with(kIndexEnd)) continue;
    const std::string base = name.substr(0, name.size() - kIndexEnd.size());
    if (std::find(bases.begin(), bases.end(), base) == bases.end()) bases.push_back(base);
  }
  for (const std::string& base : bases) {
    if (choose(root, names, base, weights)) break;
  }
  if (weights.files.empty()) weights.files = only_variant(names);
  const std::string folder = fmt::format("{}0", kFolders);
  if (weights.files.empty() && std::ranges::binary_search(names, folder)) weights.files = {folder};
  const std::set<std::string_view> used(weights.files.begin(), weights.files.end());
  for (const std::string& name : names) {
    if (is_weight_file(name) && !used.contains(name)) weights.ignored.push_back(name);
  }
  return weights;
}

std::vector<std::pair<std::string, WeightFiles>> other_weights(
    const Root& root, const std::vector<std::string>& names, const WeightFiles& weights) {
  std::vector<std::pair<std::string, WeightFiles>> others;
  std::vector<std::string> left = names;
  const auto take = [&](const WeightFiles& used) {
    const std::set<std::string_view> files(used.files.begin(), used.files.end());
    std::erase_if(left, [&](const std::string& name) {
      return files.contains(name) || (used.index && name == used.index->file) ||
             is_unlisted_shard(used, name);
    });
  };
  take(weights);
  WeightFiles other = find_weights(root, left);
  for (; !other.files.empty(); other = find_weights(root, left)) {
    take(other);  // its index or a file of it: there are fewer names each time
    const auto shard = parse_shard_name(other.files.front());
    std::string name = shard ? shard->before + shard->after : other.files.front();
    if (std::ranges::find(weights.files, name) != weights.files.end()) name = other.files.front();
    others.emplace_back(std::move(name), std::move(other));
  }
  for (const std::string& name : left) {
    if (!is_weight_file(name)) continue;
    WeightFiles alone;
    alone.files = {name};
    others.emplace_back(name, std::move(alone));
  }
  return others;
}

bool is_unlisted_shard(const WeightFiles& weights, std::string_view name) {
  const auto shard = parse_shard_name(name);
  if (!shard || !weights.index) return false;
  const auto like = weights.index->shards_like.find(form_of(*shard));
  if (like == weights.index->shards_like.end()) return false;
  return like->second > (std::ranges::binary_search(weights.index->shards, name) ? 1U : 0U);
}

}  // namespace ttcheck::formats
