// SPDX-License-Identifier: Apache-2.0
#pragma once
// The norm that a step logged before it clipped, held to the gradients it is the norm of.

#include <cstddef>
#include <optional>
#include <span>

#include "core/model/verdict.hpp"

namespace ttcheck::locate {

/// What both sides logged as the norm of their gradients.
struct LoggedNorm {
  double reference = 0, candidate = 0;
  std::optional<std::size_t> record;  ///< the result that holds both, where they are a record
};

/// The record of phase `clip` named `grad_norm`, one number.
std::optional<LoggedNorm> logged_norm(std::span<const TensorResult> results);

/// The candidate's logged norm against sqrt(sum of squares) of its own gradients, ranks merged.
struct GradientNorm {
  double actual = 0;
  double error = 0;  ///< relative to `actual`
  double limit = 0;  ///< more is wrong
};

/// Holds the candidate's logged norm to its gradients, of a step whose `sync` phase has them
/// (`main_grad`). Nothing unless the reference's norm is that of its own gradients: a norm of
/// another order, or of gradients that were not all dumped, says nothing. Norms of 16-bit gradients
/// may be rounded once for each tensor (torch.nn.utils.clip_grad_norm_), so the reference's may be
/// 2 eps off, at least 1e-3, and the candidate's 4 times that. Nothing, too, where the norm is the
/// larger one and no gradients of phase `clip` tell that those of `sync` were not clipped in place.
/// `results` are of one step and have every gradient of both sides.
std::optional<GradientNorm> gradient_norm(std::span<const TensorResult> results,
                                          const LoggedNorm& logged);

}  // namespace ttcheck::locate
