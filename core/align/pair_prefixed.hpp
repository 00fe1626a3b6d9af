// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rule of the bench for names that differ by one constant prefix: what wraps a model on one
// side (`net.`, `student.`, `model.model.`) or the key of the dict that holds it.

#include "core/align/bench.hpp"
#include "core/align/contents.hpp"

namespace ttcheck::align {

/// Pairs what is still alone where one prefix of one side is proved: every name of the smaller side
/// has its counterpart behind it, of the same shape, and these are at least half of that side's; or
/// every name behind it has, of many, and these are at least half of both sides.
/// Where several prefixes are, the one is meant behind which the values are the other side's; then
/// the one that does not say that it holds an average. Else nothing is paired.
void pair_prefixed(Bench& bench, const ContentOf& content);

}  // namespace ttcheck::align
