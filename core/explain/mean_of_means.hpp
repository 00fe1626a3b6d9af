// SPDX-License-Identifier: Apache-2.0
#pragma once
// Was each micro-batch normalised by its own number of tokens before the mean was taken?

#include <optional>

#include "core/explain/subject.hpp"

namespace ttcheck::explain {

/// The candidate is made of addends, one a micro-batch, and a tensor of `subject.beside`, cut in as
/// many along its first dimension, counts n_i tokens in each: with addend i multiplied by M n_i / N
/// (M addends, N the sum of n_i) the sum is the reference.
std::optional<Explanation> mean_of_means(const Subject& subject);

}  // namespace ttcheck::explain
