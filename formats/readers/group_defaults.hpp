// SPDX-License-Identifier: Apache-2.0
#pragma once
// What torch's optimizers take for options that a saved group of parameters does not state.

#include <vector>

#include "core/model/fact.hpp"

namespace ttcheck::formats {

/// Adds `<..>.groups.N.<option>`, assumed, for each group of `facts` with a learning rate and
/// without that option: `amsgrad`, `maximize` and `nesterov` are false (torch 2.13, torch/optim/
/// adam.py, adamw.py, sgd.py, nadam.py, radam.py, adamax.py: `__setstate__`, group.setdefault).
void assume_group_options(std::vector<Fact>& facts);

}  // namespace ttcheck::formats
