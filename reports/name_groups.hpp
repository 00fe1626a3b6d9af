// SPDX-License-Identifier: Apache-2.0
#pragma once
// Many names in a few words: whole layers by a pattern, others one by one.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ttcheck::reports {

/// "model.layers.{2,3}.** (18), lm_head.weight and 3 more": names that agree up to their first
/// number are one group, in order of first appearance, whose names stand there where they are three
/// or fewer; at most `most` groups are told. Escaped.
std::string grouped_names(std::span<const std::string_view> names, std::size_t most);

}  // namespace ttcheck::reports
