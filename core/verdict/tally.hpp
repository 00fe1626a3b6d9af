#pragma once
// One pair's result -> counts, and a row where somebody will read it.

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

void count(const TensorResult& result, Tally& tally);

/// As `count` for an equal pair that is no more than that: its cast, and the words of its limit and
/// of its rule.
void count_equal(const std::string& cast, const std::string& limit, const std::string& rule,
                 std::optional<std::int64_t> step, Tally& tally);

void add_tally(const Tally& part, Tally& whole);

/// Counts the result; an equal one is kept only when `keep_equal`.
void add_result(TensorResult&& result, bool keep_equal, Verdict& verdict);

}  // namespace ttcheck::verdict
