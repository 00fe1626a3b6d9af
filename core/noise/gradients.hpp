#pragma once
// Gradients that are zero but for round-off. What a bias adds may be seen by nothing behind it: of
// keys in front of a softmax, of a convolution in front of a batch norm. The terms of its gradient
// then cancel, and what is left of them is round-off, which is relative to the terms. The gradient
// of the weight beside the bias sums the same terms, each times an input, and shows their size.

#include <span>

#include "core/model/verdict.hpp"
#include "core/noise/step_records.hpp"

namespace ttcheck::noise {

/// Statistics of a record whose values were not kept; null of others.
const StoredStats* statistics_alone(const Tensor& tensor);

/// Gradients of parameters, and what is made of them.
bool is_slope(Kind kind);

/// Makes a result that diverged noise where its difference is within the limit of what sums the
/// same terms, element by element too. `reference` and `candidate` are the pair it is of, `terms`
/// the reference's gradient of the weight beside. False where it is not, or cannot be read.
bool settle_by_terms(TensorResult& result, const Tensor& reference, const Tensor& candidate,
                     const Tensor& terms);

/// Whether statistics of both sides' gradients of a bias are so small that round-off of the terms
/// is all they can be. `limit` is a gradient's, `terms` as above.
bool is_noise_by_statistics(const Tensor& reference, const Tensor& candidate, const Tensor& terms,
                            const Limit& limit);

/// Gradients and moments of biases that diverged become noise where their difference is within the
/// limit of their weight's, element by element too. `results` are of this step. Nothing is done
/// where limits are not the model's or measured. False where nothing had to be settled.
bool settle_gradients(const StepRecords& step, std::span<TensorResult> results);

}  // namespace ttcheck::noise
