// SPDX-License-Identifier: Apache-2.0
#include "core/bisect/chains.hpp"

#include <algorithm>

#include "core/base/digits.hpp"

namespace ttcheck::bisect {
namespace {

bool flows(Phase phase) {
  return phase == Phase::forward || phase == Phase::loss || phase == Phase::backward;
}

/// What is handed on from op to op.
bool is_output(const RecordPlace& record) {
  if (record.identity->phase == Phase::backward) {
    return record.kind == Kind::grad_input || record.kind == Kind::grad_output;
  }
  return record.kind == Kind::output || record.kind == Kind::loss;
}

/// `layers.12` of `layers.12.mlp.act`; a module without a number is a block by itself.
std::string_view block_of(std::string_view module) {
  for (std::size_t at = 0; at < module.size();) {
    const std::size_t dot = std::min(module.find('.', at), module.size());
    if (is_number(module.substr(at, dot - at))) return module.substr(0, dot);
    at = dot + 1;
  }
  return module;
}

}  // namespace

std::vector<Chain> chains_of(std::span<const RecordPlace> records) {
  std::vector<Chain> chains;
  const Identity* last = nullptr;  // of the chain
  std::string_view block;          // of the record before
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Identity& identity = *records[i].identity;
    if (!flows(identity.phase) || records[i].behind) continue;
    const bool fresh =
        last == nullptr || last->phase != identity.phase || last->microbatch != identity.microbatch;
    if (fresh) chains.push_back({i, i, {}});
    Chain& chain = chains.back();
    chain.end = i + 1;
    last = &identity;
    if (!is_output(records[i])) continue;
    const std::string_view own = block_of(module_of(identity));
    if (!chain.ends.empty() && own == block) chain.ends.pop_back();
    chain.ends.push_back(i);
    block = own;
  }
  std::erase_if(chains, [](const Chain& chain) { return chain.ends.empty(); });
  return chains;
}

}  // namespace ttcheck::bisect
