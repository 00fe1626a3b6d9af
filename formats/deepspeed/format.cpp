// SPDX-License-Identifier: Apache-2.0
// deepspeed: a tag directory that DeepSpeedEngine.save_checkpoint wrote, with ZeRO 0 to 3,
// BF16_Optimizer, pipelines and experts. Its parent with `latest` is a series.

#include <algorithm>

#include "formats/deepspeed/open_tag.hpp"
#include "formats/deepspeed/state.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

/// Names only, and so many of them: files may be damaged, and are still DeepSpeed's.
Bid bid_deepspeed(const Probe& probe) {
  if (!probe.file.empty() || std::ranges::binary_search(probe.names, "zero")) return Bid::none;
  const bool any = std::ranges::any_of(probe.names, [](const std::string& name) {
    const auto file = parse_deepspeed_name(name);
    return file && file->kind != DeepspeedKind::layer;
  });
  return any ? Bid::deepspeed : Bid::none;
}

Run open_deepspeed_run(const Probe& probe, const OpenOptions&) {
  const std::shared_ptr<const DeepspeedTag> tag = open_deepspeed(probe);
  Run run;
  run.format = "deepspeed";
  run.named = tag->named;
  run.mesh = tag->ranks.mesh();
  run.steps = {tag->step()};
  run.open = [tag](std::size_t) { return deepspeed_state(*tag); };
  run.owner = std::make_shared<std::shared_ptr<const DeepspeedTag>>(tag);
  return run;
}

}  // namespace

const Format kDeepspeed = {
    "deepspeed", "checkpoint of DeepSpeed: ZeRO 0 to 3, BF16_Optimizer, pipelines, experts",
    bid_deepspeed, open_deepspeed_run};

}  // namespace ttcheck::formats
