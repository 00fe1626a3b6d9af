#pragma once
// What alone is beyond its limit: one part of a model, or its optimizer.

#include <string>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

/// "the optimizer's state alone", "running statistics alone", "lm_head alone": where several
/// tensors of stored states diverged, all of them are that, and others agree. Else empty.
std::string only_words(const Verdict& verdict);

}  // namespace ttcheck::reports
