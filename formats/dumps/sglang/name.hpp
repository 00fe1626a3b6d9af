// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of the files that SGLang's dumper writes, one tensor each: tags joined by `___`
// (sglang/srt/debug_utils/dumper.py),
// `step=0___rank=1___dump_index=3___name=attn.q___layer_id=0.pt`; up to 0.5.5 with
// `forward_pass_id` for the step. on_forward_pass_start counted before a pass, the later `step()`
// after it: the pass 1 of the one is the step 0 of the other, and so is what was dumped before it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ttcheck::formats {

struct SglangName {
  std::int64_t step = 0;
  std::int32_t rank = 0;
  std::int64_t index = 0;  ///< counts the dumps of a rank
  std::string name;
  bool recomputed = false;  ///< on the way back: another copy of what was dumped on the way forth
  std::map<std::string, std::string> tags;  ///< the others, but those that tell nothing apart

  /// `layer_id=0 name=attn.q`: what the tensor is called on every rank, tags by name.
  std::string identity() const;
};

/// Nothing for a name that lacks step, rank, index or name, or repeats a tag. A value may hold `=`
/// and, where what follows is no tag, `___`.
std::optional<SglangName> parse_sglang_name(std::string_view file_name);

}  // namespace ttcheck::formats
