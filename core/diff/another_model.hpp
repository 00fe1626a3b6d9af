// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two checkpoints that are not of one model: most names of the smaller have no partner.

#include <string>

#include "core/diff/aligned.hpp"

namespace ttcheck::diff {

/// The reason why they cannot be compared; empty: they can, or what may make names meet is not
/// known. Asks weights, of which half must lack a partner on the side that has fewer. `renamed`: a
/// map is proposed that gives all of them one, which no other model has.
std::string another_model(const Aligned& aligned, bool renamed);

}  // namespace ttcheck::diff
