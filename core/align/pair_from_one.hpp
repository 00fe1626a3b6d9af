// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rule of the bench for layers that one side counts from 0 and the other from 1.

#include "core/align/bench.hpp"
#include "core/align/contents.hpp"

namespace ttcheck::align {

/// Pairs a checkpoint's names with a number with those of the next number where that is proved, of
/// all names at once that are the same up to their first number: these are each other's counted on
/// by one, of the same shapes, and weights go with those of the next number beyond chance, more
/// than with those of the same number. Names alone are no proof: a layer may be lost at one end and
/// added at the other.
void pair_from_one(Bench& bench, const ValuesOf& values);

}  // namespace ttcheck::align
