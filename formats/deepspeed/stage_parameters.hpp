// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of a pipeline's parameters each stage trains, where no file says so (ZeRO 0): layers go to
// the stages in order, and how much each stage's optimizer holds says where the next one begins. A
// tied module is on several stages, before the layers of each (deepspeed/runtime/pipe/module.py
// makes `tied_modules` first), and is stored as the layer in whose place it stands: once, or under
// a second number too when it is called as it is on both.

#include <cstdint>
#include <string>
#include <vector>

#include "formats/torch/groups.hpp"

namespace ttcheck::formats {

/// What the sizes of stages count.
enum class StageUnit : std::uint8_t { parameters, elements };

/// One way to deal them out.
struct StageDeal {
  std::vector<std::vector<Candidate>> stages;
  std::string tied;  ///< `0.`, the layer that several stages hold; its state has this name on all
  std::string twin;  ///< `4.`, the layer that is the same module; empty: it is stored once
};

/// The ways that fit `sizes`, one for each stage: without a tied layer, then with one, then with
/// one that is stored twice; not more than a bounded number. `parameters` are in the order of the
/// layers, by names that begin with a layer's number.
std::vector<StageDeal> deal_stages(const std::vector<Candidate>& parameters,
                                   const std::vector<std::int64_t>& sizes, StageUnit unit);

}  // namespace ttcheck::formats
