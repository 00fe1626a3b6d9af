// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gradients of what ranks, or micro-batches, each made of a loss of their own.

#include <span>

#include "core/model/tensor.hpp"

namespace ttcheck::assemble {

/// Where a step's loss is stated to be the mean along axes (`loss ... # dp:partial=avg`), each rank
/// ran backward from its own, so that what arrived at its outputs is as many times the gradient of
/// the step's loss: those gradients that these axes cut become the step's (Tensor::mean_of).
/// Parameters' gradients state themselves how they are joined. Nothing where losses are stated in
/// several ways.
void set_gradients_of_step(std::span<Tensor> tensors);

}  // namespace ttcheck::assemble
