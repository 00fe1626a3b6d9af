// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors that one side alone has since it stores them twice: a head beside the embedding that it
// is tied to, the embeddings of encoder and decoder, a module that stages of a pipeline share.

#include <cstddef>
#include <map>
#include <set>
#include <span>

#include "core/model/tensor.hpp"

namespace ttcheck::diff {

/// The rule, in the coverage.
inline constexpr const char* kStoredTwice = "stored-twice";

struct StoredTwice {
  std::set<std::size_t> copies;
  std::map<std::size_t, std::size_t> others;  ///< no copies of any: one that may be meant
};

/// Those of `alone` that are, bit for bit, one of `met` (indices into `tensors` all): of the same
/// kind, dtype and shape, and both of a role that models tie, or the same parameter of what such a
/// module lies in (`cls.predictions.bias` of `cls.predictions.decoder.bias`). Of the former
/// constants do not count. Reads only tensors of these roles. What cannot be read is no copy.
StoredTwice stored_twice(std::span<const Tensor> tensors, std::span<const std::size_t> alone,
                         std::span<const std::size_t> met);

}  // namespace ttcheck::diff
