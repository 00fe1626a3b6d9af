// SPDX-License-Identifier: Apache-2.0
// A DeepSpeed tag directory of two different files, through to records and the first byte of each:
// two bytes, then both files. The first 13 bits say how long the first file is, the other 3 which
// names the files have.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/deepspeed/missing_files.hpp"
#include "formats/deepspeed/state.hpp"
#include "tests/support/memory_source.hpp"

namespace {

using namespace ttcheck;

struct Names {
  formats::DeepspeedRanks ranks;
  std::vector<const char*> first, second;
};

const std::vector<Names>& kinds() {
  static const std::vector<Names> all = {
      {{1, 2, 1, 1}, {"mp_rank_00_model_states.pt"}, {"zero_pp_rank_1_mp_rank_00_optim_states.pt"}},
      {{1, 1, 2, 1},
       {"mp_rank_00_model_states.pt", "mp_rank_01_model_states.pt"},
       {"zero_pp_rank_0_mp_rank_01_optim_states.pt"}},
      {{1, 2, 1, 2},
       {"mp_rank_00_model_states.pt", "expp_rank_1_mp_rank_00_optim_states.pt"},
       {"layer_0_expert_1_mp_rank_00_model_states.pt"}},
      {{1, 2, 2, 2},
       {"mp_rank_00_model_states.pt", "mp_rank_01_model_states.pt",
        "expp_rank_0_mp_rank_01_optim_states.pt"},
       {"expert_0_mp_rank_00_model_states.pt", "expert_1_mp_rank_01_model_states.pt"}},
      {{2, 1, 2, 1},
       {"mp_rank_00_model_states.pt", "mp_rank_03_model_states.pt"},
       {"layer_00-model_00-model_states.pt", "layer_01-model_01-model_states.pt"}},
      {{1, 2, 1, 1},
       {"zero_pp_rank_0_mp_rank_00_model_states.pt"},
       {"zero_pp_rank_1_mp_rank_00_optim_states.pt"}},
      {{1, 4, 1, 2},
       {"mp_rank_00_model_states.pt"},
       {"zero_pp_rank_1_mp_rank_00_optim_states.pt", "zero_pp_rank_2_mp_rank_00_optim_states.pt"}},
      {{2, 1, 1, 1},
       {"mp_rank_00_model_states.pt", "mp_rank_01_model_states.pt"},
       {"layer_02-model_states.pt", "zero_pp_rank_0_mp_rank_01_optim_states.pt"}},
  };
  return all;
}

void add(formats::DeepspeedTag& tag, const char* name, const Source& source) {
  formats::DeepspeedPart& part = tag.parts.emplace_back();
  part.file = *formats::parse_deepspeed_name(name);
  part.torch = std::make_unique<formats::TorchFile>(formats::read_torch(source));
  part.budget = std::make_unique<formats::WalkBudget>(part.torch->pickle());
  tag.pipeline = tag.pipeline || part.file.kind == formats::DeepspeedKind::layer;
}

void read_parameters(formats::DeepspeedTag& tag, std::vector<Finding>& findings) {
  for (const formats::DeepspeedPart* part : tag.of(formats::DeepspeedKind::model)) {
    const formats::Value root = part->torch->root();
    tag.parameters.emplace(part->file.mp, formats::parameters_of(root, *part->budget));
    if (tag.rules) continue;
    tag.rules = formats::DeepspeedRules::read(root, *part->budget, {}, findings);
    if (!tag.rules) continue;
    formats::DeepspeedPartShapes shapes;
    for (const auto& [name, shape] : tag.parameters.at(part->file.mp).shapes()) {
      shapes[name].emplace(part->file.mp % tag.ranks.tp, shape);
    }
    tag.rules->check(shapes, tag.ranks.tp, {}, findings);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(data) + 2;
  const std::size_t rest = size - 2;
  const Names& names = kinds()[data[1] >> 5];
  const std::size_t length = data[0] + std::size_t{256} * (data[1] & 31U);
  const std::size_t first = std::min(length, rest);
  const tests::MemorySource one({bytes, bytes + first});
  const tests::MemorySource other({bytes + first, bytes + rest});
  try {
    formats::DeepspeedTag tag;
    tag.ranks = names.ranks;
    for (const char* name : names.first) add(tag, name, one);
    for (const char* name : names.second) add(tag, name, other);
    std::vector<Finding> findings;
    read_parameters(tag, findings);
    formats::find_missing(tag);
    const State state = formats::deepspeed_state(tag);
    for (const Record& record : state.records) {
      std::byte byte{};
      if (element_count(record.shape) == 0 || record.piece.source->sequential()) continue;
      record.piece.source->read(record.piece.offset, std::span(&byte, 1));
    }
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
