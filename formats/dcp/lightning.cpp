// SPDX-License-Identifier: Apache-2.0
#include "formats/dcp/lightning.hpp"

#include "formats/bytes/findings.hpp"
#include "formats/folder/parts.hpp"
#include "formats/torch/state.hpp"

namespace ttcheck::formats {

LightningMeta::LightningMeta(const Root& root) {
  if (!root.entry(kName)) return;
  try {
    file_.emplace(read_torch(root.file(kName)));
  } catch (const Error& error) {
    fault_ = unreadable(error);
  }
}

void LightningMeta::add_to(State& state) const {
  if (file_) append(state, torch_state(*file_));
  if (fault_) {
    state.findings.push_back(*fault_);
    ++state.unreadable;
  }
}

}  // namespace ttcheck::formats
