// SPDX-License-Identifier: Apache-2.0
#include "core/explain/layer_part.hpp"

#include "core/base/digits.hpp"
#include "core/base/words.hpp"

namespace ttcheck::explain {
namespace {

/// What one dotted part of a name says.
LayerPart said_by(std::string_view part) {
  // Norms of queries and keys are as long as a head and go with it.
  if (has_any(part, {"q_norm", "k_norm", "q_layernorm", "k_layernorm"})) return LayerPart::rotary;
  if (has_any(part, {"norm", "ln_", "embed", "wte", "wpe", "lm_head", "output_layer"})) {
    return LayerPart::plain;
  }
  // `kv_a_proj_with_mqa` and `linear_kv_down_proj` end in the rows of the one rotary key.
  if (has_any(part, {"qkv", "query_key_value", "kv_a", "kv_down"})) return LayerPart::rotary;
  if (has_any(part, {"kv", "key_value"})) return LayerPart::key_value;
  if (has_any(part, {"q_proj", "k_proj", "q_a", "q_b", "q_up", "q_down", "query", "rope"}) ||
      part == "wq" || part == "wk") {
    return LayerPart::rotary;
  }
  if (has_any(part, {"v_proj", "o_proj", "out_proj", "linear_proj"}) || part == "wv" ||
      part == "wo" || part == "value") {
    return LayerPart::heads;
  }
  if (has_any(part, {"down_proj", "fc2", "4h_to_h"}) || part == "w2") return LayerPart::plain;
  if (has_any(part, {"gate", "up_proj", "fc1", "w1", "w3", "glu", "mlp", "h_to_4h"})) {
    return LayerPart::gated;
  }
  return part.find("att") == std::string_view::npos ? LayerPart::unknown : LayerPart::rotary;
}

/// Whether the name has that word with a number behind it, as a part or in one: `experts.7.`,
/// `linear_fc1.weight7`.
bool is_numbered(std::string_view name, std::string_view word) {
  for (std::size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
    const std::size_t next = at + word.size();
    if (next < name.size() && is_digit(name[next])) return true;
  }
  return false;
}

}  // namespace

LayerPart layer_part_of(std::string_view name) {
  const bool behind = has_any(name, {".dense.", ".c_proj."});  // attention, or an MLP
  while (!name.empty()) {
    const std::size_t dot = name.rfind('.');
    const LayerPart part = said_by(name.substr(dot + 1));  // behind npos is all of it
    if (part == LayerPart::rotary && behind) return LayerPart::heads;
    if (part == LayerPart::gated && behind) return LayerPart::plain;
    if (part != LayerPart::unknown) return part;
    name = name.substr(0, dot == name.npos ? 0 : dot);
  }
  return LayerPart::unknown;
}

bool may_be_fused_qkv(std::string_view name) {
  return !has_any(name, {"q_proj", "k_proj", "q_a", "q_b", "q_up", ".wq", ".wk"});
}

bool stacks_experts(std::string_view name) {
  if (has_any(name, {"router", ".gate.weight", ".gate.bias", ".wg."})) return true;
  if (name.find("expert") == name.npos || name.find("shared") != name.npos) return false;
  // `linear_fc1.weight7` is one expert's; `weight1` of a grouped MLP has all.
  const bool one = is_numbered(name, "experts.") || is_numbered(name, "fc1.weight") ||
                   is_numbered(name, "fc2.weight") || is_numbered(name, "fc1.bias") ||
                   is_numbered(name, "fc2.bias");
  return !one;
}

}  // namespace ttcheck::explain
