#pragma once
// Two checkpoints that are not of one model: most names of the smaller have no partner.

#include <string>

#include "core/diff/aligned.hpp"

namespace ttcheck::diff {

/// The reason why they cannot be compared; empty: they can, or what may make names meet is not
/// known. Asks weights, of which half must lack a partner on the side that has fewer.
std::string another_model(const Aligned& aligned);

}  // namespace ttcheck::diff
