// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must agree before two traces can be compared at all: the model, initial parameters, the
// batch, and random numbers where dropout is on.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/codes.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::locate {

struct Precondition {
  std::string reason;  ///< "initial parameters differ", "the batch differs"
  Code code;
  std::size_t record = 0;    ///< the result that shows it, the first in causal order
  std::string message = {};  ///< how it shows, where that is not the record's own error
};

/// `results` of the first common step, in causal order. Initial parameters fail when most of the
/// `state` parameters diverged; the batch fails when the integer inputs of the first forward
/// module, of the first embedding or of the loss diverged, or a record of the tokens by that name;
/// random numbers fail when facts of both sides say that dropout is on and either their random
/// states differ or the first record that diverged is what a dropout put out, and no multiple of
/// what it should be. Nothing where the records are not there.
std::optional<Precondition> failed_precondition(std::span<const TensorResult> results,
                                                std::span<const FactResult> facts);

/// Says in words which is the first fact by which both sides state models of other depth, width or
/// attention; nothing where none differs. Whether what was recorded is of other shapes for it is
/// not looked at.
std::optional<std::string> other_model(std::span<const FactResult> facts);

}  // namespace ttcheck::locate
