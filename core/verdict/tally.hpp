#pragma once
// One pair's result -> counts, and a row where somebody will read it.

#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

void count(const TensorResult& result, Tally& tally);

/// Counts the result; an equal one is kept only when `keep_equal`.
void add_result(TensorResult&& result, bool keep_equal, Verdict& verdict);

}  // namespace ttcheck::verdict
