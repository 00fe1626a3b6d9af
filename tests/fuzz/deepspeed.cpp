// A DeepSpeed tag directory of a model_states file and one rank's optim_states file, through to
// records and the first byte of each: two bytes that say how long the first file is, both files.

#include <cstddef>
#include <cstdint>

#include "formats/deepspeed_state.hpp"
#include "tests/support/memory_source.hpp"

namespace {

using namespace ttcheck;

void add(formats::DeepspeedTag& tag, const char* name, const Source& source) {
  formats::DeepspeedPart& part = tag.parts.emplace_back();
  part.file = *formats::parse_deepspeed_name(name);
  part.torch = std::make_unique<formats::TorchFile>(formats::read_torch(source));
  part.budget = std::make_unique<formats::WalkBudget>(part.torch->pickle());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(data) + 2;
  const std::size_t rest = size - 2;
  const std::size_t first = std::min(std::size_t{data[0]} + 256 * std::size_t{data[1]}, rest);
  const tests::MemorySource model({bytes, bytes + first});
  const tests::MemorySource optimizer({bytes + first, bytes + rest});
  try {
    formats::DeepspeedTag tag;
    tag.ranks.dp = 2;
    add(tag, "mp_rank_00_model_states.pt", model);
    add(tag, "zero_pp_rank_1_mp_rank_00_optim_states.pt", optimizer);
    const formats::DeepspeedPart& part = tag.parts.front();
    tag.parameters.emplace(0, formats::parameters_of(part.torch->root(), *part.budget));
    std::vector<Finding> findings;
    tag.rules = formats::DeepspeedRules::read(part.torch->root(), *part.budget, {}, findings);
    if (tag.rules) tag.rules->check(tag.parameters.at(0).shapes(), 2, {}, findings);
    const State state = formats::deepspeed_state(tag);
    for (const Record& record : state.records) {
      std::byte one{};
      if (element_count(record.shape) == 0 || record.piece.source->sequential()) continue;
      record.piece.source->read(record.piece.offset, std::span(&one, 1));
    }
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
