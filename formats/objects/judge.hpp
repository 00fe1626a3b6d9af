// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a pickle would ask a reader to import and call, as findings. Nothing here is a verdict of
// safety.

#include <string_view>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

/// The pickle's fault, its oddities, and what it would call outside of the known set (TT509).
/// `what` names the pickle in messages.
void judge_pickle(const Pickle& pickle, std::string_view what, std::vector<Finding>& findings);

}  // namespace ttcheck::formats
