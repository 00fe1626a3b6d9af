// SPDX-License-Identifier: Apache-2.0
// One model in several folders that a file declares, as diffusers' pipelines are saved: the folders
// that `model_index.json` lists (unet, vae, text_encoder) are read as one run, each with its name
// in front (diffusers/pipelines/pipeline_utils.py `save_pretrained`).

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"
#include "formats/folder/parts.hpp"
#include "formats/folder/shard_name.hpp"
#include "formats/readers/auction.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kIndex = "model_index.json";
constexpr std::uint64_t kMaxIndex = 16ULL << 20;

/// Names of the parts that are there, by `"unet": ["diffusers", "UNet2DConditionModel"]`: those
/// that are null were left out when it was saved.
std::vector<std::string> declared(const Root& root) {
  const JsonDocument document(root.text(kIndex, kMaxIndex), root.file(kIndex).where(0).file);
  std::vector<std::string> parts;
  for (const auto& [key, value] : document.root().members()) {
    if (!value.is(Json::Kind::array)) continue;
    const auto items = value.items();
    const bool saved =
        std::ranges::all_of(items, [](const Json& item) { return item.is(Json::Kind::string); });
    if (saved) parts.emplace_back(key);
  }
  return parts;
}

bool is_folder(const Probe& probe, const std::string& part) {
  if (!std::ranges::binary_search(probe.names, part)) return false;
  const std::optional<Entry> entry = probe.root.entry(part);  // it may be gone since it was listed
  return entry && entry->kind == EntryKind::directory;
}

Bid bid_parts(const Probe& probe) {
  if (!probe.file.empty() || !std::ranges::binary_search(probe.names, kIndex)) return Bid::none;
  try {
    return std::ranges::any_of(declared(probe.root),
                               [&](const std::string& part) {
                                 return is_folder(probe, part) && is_known(probe, part);
                               })
               ? Bid::diffusers
               : Bid::none;
  } catch (const Error&) {
    return Bid::none;
  }
}

struct Pipeline {
  Parts parts;
  std::vector<std::string> names;  ///< of each part
  std::vector<Finding> findings;
  std::int64_t unreadable = 0;
  std::uint64_t unclaimed = 0;

  State read() {
    State whole;
    whole.findings = findings;
    whole.unreadable = unreadable;
    whole.bytes_unclaimed = unclaimed;
    for (std::size_t i = 0; i < parts.size(); ++i) append(whole, only_state(parts[i]), names[i]);
    return whole;
  }
};

/// Whether a folder that no format knows holds what promises arrays: schedulers and tokenizers,
/// which a pipeline lists too, do not.
bool promises_weights(const Root& root, const std::string& part) {
  return std::ranges::any_of(root.glance(part).list(), promises_arrays, &Entry::path);
}

void add_part(const Probe& probe, const OpenOptions& options, const std::string& part,
              Pipeline& pipeline, Findings& missing) {
  const Where where{probe.root.given() + "/" + part, {}, {}};
  try {
    if (!is_folder(probe, part)) {
      missing.add(odd(where, fmt::format("{} lists this part, which is not there", kIndex),
                      Code::omission));
      return;
    }
    if (!is_known(probe, part) && !promises_weights(probe.root, part)) return;
    pipeline.parts.add(open_below(probe, part, options));
    pipeline.names.push_back(part);
  } catch (const Error& error) {
    pipeline.findings.push_back(unreadable(error));
    ++pipeline.unreadable;
  }
}

Run open_parts(const Probe& probe, const OpenOptions& options) {
  auto pipeline = std::make_shared<Pipeline>();
  Run run;
  const std::vector<std::string> parts = declared(probe.root);
  Findings missing;
  for (const std::string& part : parts) add_part(probe, options, part, *pipeline, missing);
  std::ranges::move(missing.take(), std::back_inserter(pipeline->findings));
  if (pipeline->parts.size() == 0)
    throw Error("none of its parts can be read", {probe.root.given(), {}, {}});
  const NameViewSet ours(parts.begin(), parts.end());
  const Beside others = beside(
      probe, [&](const Entry& entry) { return entry.path == kIndex || ours.contains(entry.path); });
  pipeline->unclaimed = others.rest_bytes;
  run.named = named_states(others);
  std::ranges::move(rest_beside(others, probe.root), std::back_inserter(pipeline->findings));
  run.format = pipeline->parts[0].format;
  run.mesh = pipeline->parts[0].mesh;
  Pipeline* raw = pipeline.get();
  run.open = [raw](std::size_t) { return raw->read(); };
  run.close = [raw, &root = probe.root] {
    std::vector<Finding> findings = root.changed();
    std::ranges::move(raw->parts.close(), std::back_inserter(findings));
    return findings;
  };
  run.owner = pipeline;
  return run;
}

}  // namespace

const Format kDiffusers = {"parts", "one model in folders that a file declares", bid_parts,
                           open_parts};

}  // namespace ttcheck::formats
