// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far one update of an optimizer can move an element.

#include <optional>

#include "core/noise/memory.hpp"
#include "core/noise/step_records.hpp"

namespace ttcheck::noise {

/// Whether steps record what their update left. Where they do not, the next step's state tells.
bool records_updates(const StepRecords& step);

struct UpdateLength {
  double most = 0;   ///< that an element moves, whatever its gradient
  double times = 0;  ///< the gradient, of an optimizer whose updates are multiples of it; else 0
};

/// How many times the largest gradient so far an element moves by updates that are multiples of
/// gradients, both sides stating so: lr (1 + momentum + ... + momentum^t), t updates having been
/// made; one term more than plain momentum has is Nesterov's. Nothing of other optimizers.
std::optional<double> stated_multiple(const StepRecords& step);

/// The part of what an update differs by that no later one repeats: 1 - momentum of an RMSprop that
/// has any, whose updates go on with what they were; 1 of others, of which Adam's remember
/// gradients and SGD's are told by them (`multiple`).
double new_part(const StepRecords& step);

/// The longest update of either side: lr x max(1, (1 - beta1) / sqrt(1 - beta2)) of an Adam-like
/// optimizer that the runs state (Kingma and Ba, "Adam", 2014, section 2.1), lr of one that takes
/// the sign (Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023, Lion),
/// lr / sqrt(1 - alpha) of RMSprop, over 1 - momentum (torch.optim.RMSprop: a first gradient over
/// the root of 1 - alpha times its square). Of others that they state, SGD for one,
/// lr / (1 - momentum) times the gradient. Where they state none, or no learning rate: the most by
/// which an element of the reference's parameters moved in the update before this step's records,
/// or in this step where those hold what it left; that reads them. Nothing where neither is known.
std::optional<UpdateLength> longest_update(const StepRecords& step, const Carried& carried);

}  // namespace ttcheck::noise
