#pragma once
// Which of a pipeline's parameters each stage trains, where no file says so (ZeRO 0).

#include <cstddef>
#include <vector>

#include "formats/torch_groups.hpp"

namespace ttcheck::formats {

/// For each group of all stages, stage by stage, the parameters that its numbers stand for.
using StagesMatched = std::vector<std::vector<std::size_t>>;

/// As `match_groups`, the first layers to the first stage. A layer that is tied is on several
/// stages, and comes first there (deepspeed/runtime/pipe/module.py makes `tied_modules` before the
/// layers): `parameters` gets it once more.
StagesMatched match_stages(const std::vector<std::vector<Shape>>& shapes,
                           std::vector<Candidate>& parameters, bool& ambiguous);

}  // namespace ttcheck::formats
