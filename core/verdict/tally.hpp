// SPDX-License-Identifier: Apache-2.0
#pragma once
// One pair's result -> counts, and a row where somebody will read it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

/// Counts results whose rows are kept, once nothing changes them any more.
void count_kept(std::span<const TensorResult> results, Tally& tally);

/// Counts an equal pair of which no row is kept: its cast, and the words of its limit and of its
/// rule.
void count_equal(const std::string& cast, const std::string& limit, const std::string& rule,
                 std::optional<std::int64_t> step, Tally& tally);

void add_tally(const Tally& part, Tally& whole);

/// Keeps the result, uncounted; an equal one only when `keep_equal`, else it is counted.
void add_result(TensorResult&& result, bool keep_equal, Verdict& verdict);

}  // namespace ttcheck::verdict
